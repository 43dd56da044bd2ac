"""A way out for a session that its own tool can no longer compact, because the request would be too long: which one is
meant, and how it is compacted without a model."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.files import same_file
from workbench.base.in_use import still_written
from workbench.bench import Bench, choose_preset, set_policy
from workbench.compaction.of_tool import agent_preset_id
from workbench.compaction.preset import default_preset, load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.finding.discover import discover
from workbench.formats.glance import SessionGlance
from workbench.formats.registry import by_id
from workbench.repairs.engine import Repair, repair


def newest_session_in(folder: Path) -> SessionGlance:
    """The session of `folder` that was changed last, of all tools that keep theirs where they usually do.

    Raises BadInput where there is none, where its tool's sessions cannot be written, and while it is being written.
    """
    found = next((one for one in discover() if isinstance(one, SessionGlance) and _belongs_to(one, folder)), None)
    if found is None:
        raise BadInput(
            f"No session of {folder} is in an agent's usual folder; name its file (`cwb audit --quick` lists all)."
        )
    if by_id(found.format).codec.write is None:
        raise BadInput(
            f"The newest session of {folder} is {found.path}, and {found.tool} is read-only here; name another file, "
            "or convert it to another agent's format with `cwb compact FILE --to FORMAT -o NEW`."
        )
    if why := still_written(found.path):
        raise BadInput(
            f"The newest session of {folder}, {found.path}, is still being written ({why}); let its agent finish or "
            "exit, or name the file to use it as it is."
        )
    return found


def _belongs_to(found: SessionGlance, folder: Path) -> bool:
    """Whether a session was held in the folder, or lies in it."""
    return same_file(found.folder, folder) if found.folder else found.path.is_relative_to(folder)


def repaired_copy(path: Path, part: str = "") -> Repair | None:
    """The repair of a damaged session; None where nothing is wrong, or nothing that can be repaired."""
    with suppress(BadInput):
        made = repair(path, part=part)
        if made.fixes and made.is_sound:
            return made
    return None


def without_model(bench: Bench) -> Bench:
    """The bench under its tool's own preset where that asks no model and makes the context fit, else under the ledger,
    without its narrative."""
    if own := agent_preset_id(bench.session):
        tried = choose_preset(bench, load_preset(own))
        fits = bench.window is None or tried.plan.after.tokens < bench.window
        if not tried.plan.requests and tried.plan.outcome.status == "compacted" and fits:
            return tried
    ledger = choose_preset(bench, default_preset(DEFAULT))
    return set_policy(ledger, ledger.policy.model_copy(update={"narrative_percent": 0.0}))


def with_model(bench: Bench) -> Bench:
    """The bench under its tool's own preset, which may ask a model; under the ledger where the tool has none."""
    own = agent_preset_id(bench.session)
    return choose_preset(bench, load_preset(own) if own else default_preset(DEFAULT))
