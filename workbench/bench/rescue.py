"""Compaction of a session that its agent can no longer compact, because the request would be too long."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.files import same_file
from workbench.base.in_use import still_written
from workbench.bench import Bench, choose_preset, set_policy
from workbench.compaction.preset import agent_preset_id, default_preset, load_preset
from workbench.compaction.strategies import DEFAULT
from workbench.finding.discover import discover
from workbench.formats.glance import SessionGlance
from workbench.formats.registry import by_id
from workbench.repairs.engine import Repair, repair


def newest_session_in(folder: Path) -> SessionGlance:
    """Return the most recently changed session of `folder` that is in an agent's usual folder for sessions.

    Raises BadInput if there is none, if its agent's sessions cannot be written, and while the agent writes it.
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
    """True if the session was run in the folder, or its file is there."""
    return same_file(found.folder, folder) if found.folder else found.path.is_relative_to(folder)


def repaired_copy(path: Path, part: str = "") -> Repair | None:
    """Return the repair of a damaged session; None where nothing is damaged, or the damage cannot be repaired."""
    with suppress(BadInput):
        repaired = repair(path, part=part)
        if repaired.fixes and repaired.is_sound:
            return repaired
    return None


def without_model(bench: Bench) -> Bench:
    """Choose the agent's preset if it asks no model and makes the context fit, else the ledger without its
    narrative."""
    if own := agent_preset_id(bench.session):
        under_own = choose_preset(bench, load_preset(own))
        fits = bench.window is None or under_own.plan.after.tokens < bench.window
        if not under_own.plan.requests and under_own.plan.outcome.status == "compacted" and fits:
            return under_own
    ledger = choose_preset(bench, default_preset(DEFAULT))
    return set_policy(ledger, ledger.policy.model_copy(update={"narrative_percent": 0.0}))


def with_model(bench: Bench) -> Bench:
    """Choose the agent's preset, which may ask a model; the ledger where the agent has none."""
    own = agent_preset_id(bench.session)
    return choose_preset(bench, load_preset(own) if own else default_preset(DEFAULT))
