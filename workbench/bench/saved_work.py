"""What a person did to a session, kept from one day to the next: pins, edits, split, policy, epoch.

One small JSON file for each session, found again by the session's fingerprint and not by its name, so that a copied or
growing file keeps its work. What no longer exists in the session is let go and counted, never guessed.
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
from workbench.compaction.of_tool import preset_for_version
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, load_preset
from workbench.session import EpochChoice, Session, fingerprint
from workbench.tokens import Counter


class SavedWork(BaseModel):
    """The work on one session. `epoch` is None for where it opens by itself, "last" for the last one, whichever that is
    by now.

    `changed` are the fields of the policy that differ from the preset's. Ids of messages stand in the order of the
    context.
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
    """A bench with earlier work on it, what came along, and how much of it could not."""

    bench: Bench
    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """`carried over: 3 pins, the split; let go: 1 pin that is no longer in the session`, or ""."""
        kept = f"carried over: {', '.join(self.kept)}" if self.kept else ""
        lost = f"dropped, because it no longer exists: {', '.join(self.lost)}" if self.lost else ""
        return "; ".join(part for part in (kept, lost) if part)


def work_of(bench: Bench) -> SavedWork:
    """What is worth remembering of a bench."""
    preset = _load_preset_or_none(bench.preset, bench.session)
    values = bench.policy.model_dump(mode="json")
    given = preset.policy.model_dump(mode="json") if preset and preset.strategy == bench.strategy.id else {}
    is_last = bench.epoch == len(bench.session.epochs)
    return SavedWork(
        # Of a session whose end alone is read yet no other epoch is on the bench than the one that it is opened at.
        epoch="last" if is_last else None if bench.session.begins_at else bench.epoch,
        preset=bench.preset,
        changed={name: value for name, value in values.items() if name not in given or given[name] != value},
        split_at=bench.split_at,
        pins=_in_order(bench, bench.pins),
        dropped=_in_order(bench, bench.dropped),
        shortened=_in_order(bench, bench.shortened),
        summarizer=bench.summarizer,
        watched=bench.watched,
    )


def restore_work(work: SavedWork, bench: Bench, counter: Counter, *, keep_policy: bool = False) -> RestoredWork:
    """Earlier work put on a freshly opened bench. With `keep_policy` the bench's own strategy and numbers stay."""
    kept: list[str] = []
    lost: list[str] = []
    epoch = len(bench.session.epochs) if work.epoch == "last" else work.epoch
    if epoch is not None and epoch != bench.epoch:
        if epoch <= len(bench.session.epochs):
            bench = steps.at_epoch(bench, epoch, counter)
            kept.append(f"epoch {epoch}")
        else:
            lost.append(f"epoch {epoch}")
    if not keep_policy:
        bench = _with_policy(work, bench, kept, lost)
    bench = steps.with_summarizer(bench, work.summarizer)
    refused = 0
    for sentence in work.watched:
        try:
            # What was named for this visit comes first, and may be there already.
            bench = steps.with_watched_rules(bench, (*bench.watched, sentence))
        except BadInput:
            refused += 1
    if taken := len(work.watched) - refused:
        kept.append(counted(taken, "watched sentence"))
    if refused:
        lost.append(counted(refused, "watched sentence"))
    marked = {"pin": work.pins, "dropped message": work.dropped, "shortened message": work.shortened}
    there: dict[str, frozenset[str]] = {}
    for thing, ids in marked.items():
        there[thing] = frozenset(id for id in ids if id in bench.layout.shape.index_of)
        if there[thing]:
            kept.append(counted(len(there[thing]), thing))
        if len(there[thing]) < len(ids):
            lost.append(counted(len(ids) - len(there[thing]), thing))
    if any(there.values()):
        pins, dropped, shortened = there.values()
        bench = replace(bench, pins=pins, dropped=dropped, shortened=shortened, result=None)
    if work.split_at is not None:
        if work.split_at in bench.layout.shape.index_of and bench.strategy.movable:
            bench = steps.split_at(bench, work.split_at)
            kept.append("the split")
        else:
            lost.append("the split")
    return RestoredWork(bench, tuple(kept), tuple(lost))


def _with_policy(work: SavedWork, bench: Bench, kept: list[str], lost: list[str]) -> Bench:
    preset = _load_preset_or_none(work.preset, bench.session)
    if preset is None:
        if work.preset:
            lost.append(f"the preset {work.preset}")
        return bench
    if preset.id != bench.preset:
        bench = steps.choose_preset(bench, preset)
        kept.append(f"the preset {preset.id}")
    policy, refused = _policy_with_changes(preset.policy, work.changed)
    if taken := len(work.changed) - refused:
        bench = steps.set_policy(bench, policy)
        kept.append(counted(taken, "policy field"))
    if refused:
        lost.append(counted(refused, "policy field"))
    return bench


def _policy_with_changes(policy: Policy, changes: dict[str, Any]) -> tuple[Policy, int]:
    """The policy with every change that it still takes, and how many it does not."""
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
    """The work on `session` that was kept in `folder`, None where there is none.

    Raises BadInput for a file that cannot be read as one.
    """
    key = fingerprint(session)
    path = folder / f"{key}.json"
    if not key or not path.is_file():
        return None
    try:
        return SavedWork.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise BadInput(f"{path} is damaged, so the saved work of this session is lost; delete the file.") from None


def has_saved_work(session: Session, folder: Path) -> bool:
    """Whether there is work on `session` in `folder`."""
    key = fingerprint(session)
    return bool(key) and (folder / f"{key}.json").is_file()


def save_work(session: Session, work: SavedWork, folder: Path) -> None:
    """Write `work` down, whole or not at all. A session without a fingerprint is not kept.

    Raises BadInput where it cannot be written.
    """
    key = fingerprint(session)
    if not key:
        return
    make_folder(folder)
    write_atomically(folder / f"{key}.json", json_of(work), overwrite=True)
