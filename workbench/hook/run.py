"""Answer one event of an agent: JSON on stdin, JSON on stdout.

It never disturbs the agent: on any failure nothing is printed, the exit code is 0, and the log has a line.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.hook import store
from workbench.hook.agents import AGENTS, Agent

if TYPE_CHECKING:
    from workbench.hook.snapshot import Snapshot

MOST_BYTES = 50_000_000
"""Most bytes of an event that are read."""

EVENT_CHARS = 40
"""Characters of an event's name in the log."""


def answer_arguments(args: Sequence[str]) -> bool:
    """Answer the event on stdin if the arguments of `cwb hook` are those that an agent uses: AGENT [--tokens N]. Return
    whether they are."""
    if not args or args[0] not in AGENTS or AGENTS[args[0]].missing or is_typed():
        return False
    match [*args[1:]]:
        case []:
            run(args[0], None)
        case ["--tokens", number] if number.isascii() and number.isdigit():
            run(args[0], int(number))
        case _:
            return False
    return True


def is_typed() -> bool:
    """Return whether stdin is a terminal: the user typed the command, and no agent runs it."""
    return sys.stdin is not None and sys.stdin.isatty()


def run(agent_id: str, tokens: int | None) -> None:
    """Answer the event on stdin, within a number of tokens, by default `injection.TOKENS`."""
    event: Any = None
    try:
        event = json.loads(sys.stdin.buffer.read(MOST_BYTES))
        if answer := answer_to(AGENTS[agent_id], event, tokens):
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()
    except Exception as error:
        name = str(event.get("hook_event_name", "")) if isinstance(event, dict) else "no event"
        store.log(f"{agent_id} {name[:EVENT_CHARS]}: failed, {_place_of(error)}")


def _place_of(error: Exception) -> str:
    """Return kind and place of an error. Its message is left out, because it may hold text of the session."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"


PENDING = ".txt"
"""Ending of the file with the text to add; the snapshot next to it ends with `.json`."""


def answer_to(agent: Agent, event: Mapping[str, Any], tokens: int | None) -> dict[str, Any] | None:
    """Return the output for an event, None for none.

    Before a compaction a snapshot is stored. Once the summary is known, the text with what it lost is stored next to
    the snapshot. The next event that may add to the context gets that text, and both files are removed.
    """
    name = str(event["hook_event_name"])
    place = store.place_of(agent.id, str(event["session_id"]))
    if name == agent.before:
        _store_snapshot(agent, event, place)
    elif not place.exists():
        return None
    elif name == agent.summary[0]:
        if not event.get("agent_type"):
            summary = _without_analysis(str(event.get(agent.summary[1]) or ""))
            store.save(place.with_suffix(PENDING), _text_for(agent, place, [summary], tokens).encode())
    elif name in agent.adds and agent.adds[name] in ("", event.get("source")):
        return _added(agent, name, event, place, tokens)
    return None


def _store_snapshot(agent: Agent, event: Mapping[str, Any], place: Path) -> None:
    from msgspec.json import encode

    from workbench.hook.snapshot import read_session, take_snapshot

    place.with_suffix(PENDING).unlink(missing_ok=True)
    store.save(place, encode(take_snapshot(read_session(agent.reader, Path(event["transcript_path"])))))


def _added(agent: Agent, name: str, event: Mapping[str, Any], place: Path, tokens: int | None) -> dict[str, Any] | None:
    """Return the pending text as output; without one, a text with what the recorded compaction has lost."""
    pending = place.with_suffix(PENDING)
    if pending.exists():
        text = pending.read_text("utf-8")
    else:
        context = _recorded_context(agent, event, place)
        if context is None:
            store.log(f"{agent.id} {name}: no summary known")
            return None
        text = _text_for(agent, place, context, tokens)
    pending.unlink(missing_ok=True)
    place.unlink(missing_ok=True)
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}} if text else None


def _text_for(agent: Agent, place: Path, context: Sequence[str], tokens: int | None) -> str:
    """Return the text with what `context` lacks of the snapshot, "" if nothing; the log counts its parts."""
    from workbench.hook.injection import TOKENS, estimated_tokens, injection
    from workbench.hook.lost import lost_work, rule_file_texts

    snapshot = _snapshot_at(place)
    stays = snapshot.texts[len(snapshot.texts) - snapshot.unanswered :]
    sent = rule_file_texts(agent.rule_files, agent.home(os.environ), snapshot.cwd)
    found = injection(lost_work(snapshot, [*context, *stays, *sent]), TOKENS if tokens is None else tokens)
    about = f"{found.shown}, {estimated_tokens(found.text)} tokens" if found.text else "nothing to add"
    store.log(f"{place.stem}: {about}, {time.process_time():.2f} s CPU")
    return found.text


def _snapshot_at(place: Path) -> Snapshot:
    from msgspec.json import decode

    from workbench.hook.snapshot import Snapshot

    return decode(place.read_bytes(), type=Snapshot)


def _recorded_context(agent: Agent, event: Mapping[str, Any], place: Path) -> list[str] | None:
    """Return the texts of the session's context, without the agent's own answers, if the session records a compaction
    since the snapshot; else None."""
    from workbench.hook.snapshot import read_session

    session = read_session(agent.reader, Path(event["transcript_path"]))
    if len(session.epochs) <= _snapshot_at(place).epochs:
        return None
    return [one.text for one in session.context() if one.role != "assistant" or one.is_summary]


def _without_analysis(summary: str) -> str:
    """Return the part of an answer that stays: Claude Code drops the analysis before the summary."""
    before, end, rest = summary.rpartition("</analysis>")
    return rest if end and "<analysis>" in before else summary
