"""Pins, edits, split, settings and epoch saved per session.

One small JSON file for each session, named by the session's fingerprint, so that a copied or growing file keeps its
work. Saved work that no longer fits the session is dropped and counted, never guessed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, ValidationError

from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.base.text import counted
from workbench.base.values import json_of
from workbench.bench import Bench, steps
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, load_preset, preset_for_version
from workbench.session import EpochChoice, Session, fingerprint
from workbench.tokens import Counter


class SavedWork(BaseModel):
    """Work on one session. `epoch` is None for the one that opens by default, "last" for the last one.

    `changed` are the fields of the policy that differ from the preset's. Message ids are in the order of the context.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    epoch: EpochChoice = None
    preset: str = ""
    changed: dict[str, Any] = {}
    split_at: str | None = None
    pins: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    summarizer: str = "extractive"
    watched: tuple[str, ...] = ()


class RestoredWork(Struct, frozen=True):
    """A bench with restored work, and in words: what was restored, and what no longer exists."""

    bench: Bench
    restored: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """`carried over: 3 pins, the split; dropped, because it no longer exists: 1 pin`, or ""."""
        restored = f"carried over: {', '.join(self.restored)}" if self.restored else ""
        missing = f"dropped, because it no longer exists: {', '.join(self.missing)}" if self.missing else ""
        return "; ".join(part for part in (restored, missing) if part)


def work_of(bench: Bench) -> SavedWork:
    """Return the work to save for a bench."""
    preset = _load_preset_or_none(bench.preset, bench.session)
    values = bench.policy.model_dump(mode="json")
    base = preset.policy.model_dump(mode="json") if preset and preset.strategy == bench.strategy.id else {}
    is_last = bench.epoch == len(bench.session.epochs)
    return SavedWork(
        # While only the end of a session is read, the bench shows the epoch that opens by default.
        epoch="last" if is_last else None if bench.session.begins_at else bench.epoch,
        preset=bench.preset,
        changed={name: value for name, value in values.items() if name not in base or base[name] != value},
        split_at=bench.split_at,
        pins=_in_order(bench, bench.pins),
        dropped=_in_order(bench, bench.dropped),
        shortened=_in_order(bench, bench.shortened),
        summarizer=bench.summarizer,
        watched=bench.watched,
    )


def restore_work(work: SavedWork, bench: Bench, counter: Counter, *, keep_policy: bool = False) -> RestoredWork:
    """Apply saved work to a freshly opened bench. With `keep_policy` the bench's own strategy and numbers stay."""
    restored: list[str] = []
    missing: list[str] = []
    epoch = len(bench.session.epochs) if work.epoch == "last" else work.epoch
    if epoch is not None and epoch != bench.epoch:
        if epoch <= len(bench.session.epochs):
            bench = steps.at_epoch(bench, epoch, counter)
            restored.append(f"epoch {epoch}")
        else:
            missing.append(f"epoch {epoch}")
    if not keep_policy:
        bench = _with_policy(work, bench, restored, missing)
    bench = steps.with_summarizer(bench, work.summarizer)
    refused = 0
    for sentence in work.watched:
        try:
            # Rules that the bench was opened with come first.
            bench = steps.with_watched_rules(bench, (*bench.watched, sentence))
        except BadInput:
            refused += 1
    if accepted := len(work.watched) - refused:
        restored.append(counted(accepted, "watched sentence"))
    if refused:
        missing.append(counted(refused, "watched sentence"))
    marks = {"pin": work.pins, "dropped message": work.dropped, "shortened message": work.shortened}
    found: dict[str, frozenset[str]] = {}
    for mark, ids in marks.items():
        found[mark] = frozenset(id for id in ids if id in bench.layout.shape.index_of)
        if found[mark]:
            restored.append(counted(len(found[mark]), mark))
        if len(found[mark]) < len(ids):
            missing.append(counted(len(ids) - len(found[mark]), mark))
    if any(found.values()):
        pins, dropped, shortened = found.values()
        bench = replace(bench, pins=pins, dropped=dropped, shortened=shortened, result=None)
    if work.split_at is not None:
        if work.split_at in bench.layout.shape.index_of and bench.strategy.movable:
            bench = steps.split_at(bench, work.split_at)
            restored.append("the split")
        else:
            missing.append("the split")
    return RestoredWork(bench, tuple(restored), tuple(missing))


def _with_policy(work: SavedWork, bench: Bench, restored: list[str], missing: list[str]) -> Bench:
    preset = _load_preset_or_none(work.preset, bench.session)
    if preset is None:
        if work.preset:
            missing.append(f"the preset {work.preset}")
        return bench
    if preset.id != bench.preset:
        bench = steps.choose_preset(bench, preset)
        restored.append(f"the preset {preset.id}")
    policy, refused = _policy_with_changes(preset.policy, work.changed)
    if accepted := len(work.changed) - refused:
        bench = steps.set_policy(bench, policy)
        restored.append(counted(accepted, "policy field"))
    if refused:
        missing.append(counted(refused, "policy field"))
    return bench


def _policy_with_changes(policy: Policy, changes: dict[str, Any]) -> tuple[Policy, int]:
    """Return the policy with every change that it accepts, and the number of changes that it rejects."""
    try:
        return policy.with_(**changes), 0
    except ValidationError:
        pass
    refused = 0
    for name, value in changes.items():
        try:
            policy = policy.with_(**{name: value})
        except ValidationError:
            refused += 1
    return policy, refused


def _load_preset_or_none(name: str, session: Session) -> Preset | None:
    try:
        return preset_for_version(load_preset(name), session) if name else None
    except BadInput:
        return None


def _in_order(bench: Bench, ids: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda id: bench.layout.shape.index_of.get(id, -1)))


def load_work(session: Session, folder: Path) -> SavedWork | None:
    """Return the work on `session` that is saved in `folder`, or None. Raises BadInput for a damaged file."""
    key = fingerprint(session)
    path = folder / f"{key}.json"
    if not key or not path.is_file():
        return None
    try:
        return SavedWork.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise BadInput(f"{path} is damaged, so the saved work of this session is lost; delete the file.") from None


def has_saved_work(session: Session, folder: Path) -> bool:
    """True if work on `session` is saved in `folder`."""
    key = fingerprint(session)
    return bool(key) and (folder / f"{key}.json").is_file()


def save_work(session: Session, work: SavedWork, folder: Path) -> None:
    """Write `work` atomically; for a session without a fingerprint nothing is saved. Raises BadInput if it cannot be
    written."""
    key = fingerprint(session)
    if not key:
        return
    make_folder(folder)
    write_atomically(folder / f"{key}.json", json_of(work), overwrite=True)
