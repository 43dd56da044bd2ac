"""What a file's two ends tell, whatever lies between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import session_lines, write_lines
from tests.finding.test_discover import session_at
from tests.formats.claude_code_build import assistant, text, user
from tests.paths import SAMPLES
from workbench.compaction.opening import context_at
from workbench.finding import glances
from workbench.finding.glances import Unreadable, glance
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.formats.glance import SessionGlance
from workbench.formats.kit.file_ends import FURTHER, REACH
from workbench.tokens import Counter


def seen(path: Path) -> SessionGlance:
    found = glance(path)
    assert isinstance(found, SessionGlance), found
    return found


def test_a_long_file_is_known_by_its_two_ends_alone(tmp_path: Path) -> None:
    path = session_at(tmp_path / "long.jsonl", "build the wall", 1_000, filler=100)
    assert path.stat().st_size > 2 * REACH
    found = seen(path)
    assert (found.request, found.title, found.whole) == ("build the wall", "title of build the wall", None)
    assert not found.complete


def test_lines_longer_than_what_is_read_leave_the_format(tmp_path: Path) -> None:
    found = seen(session_at(tmp_path / "wide.jsonl", "x" * 2 * FURTHER, 1_000))
    assert (found.format, found.request, found.title) == ("claude-code", "", "")


@pytest.mark.parametrize("short", [0, 1])
def test_a_document_is_told_by_all_its_keys_where_it_is_not_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    body = {"instructions": "be kind " * 30_000, "model": "m", "input": [{"role": "user", "content": "build the wall"}]}
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body))
    monkeypatch.setattr(glances, "LOOKED_AT", path.stat().st_size - short)
    found = glance(path)
    assert isinstance(found, SessionGlance) is not bool(short)


def test_a_request_behind_a_long_system_prompt_is_found(tmp_path: Path) -> None:
    lines = (SAMPLES / "codex-two-compactions.jsonl").read_text().splitlines()
    meta = json.loads(lines[0])
    meta["payload"]["base_instructions"] = {"text": "be kind " * 12_000}
    path = tmp_path / "rollout-x.jsonl"
    path.write_text("\n".join([json.dumps(meta), *lines[1:], *['{"type":"event_msg","payload":{}}'] * 5_000]) + "\n")
    assert seen(path).request == seen(SAMPLES / "codex-two-compactions.jsonl").request


def test_a_long_document_is_known_by_the_elements_that_stand_whole_in_its_ends(tmp_path: Path) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Mend the gate", "ts": 1}]
    messages += [{"role": "assistant", "content": f'answer {{"n": [{n}]}} ' * 40, "ts": n} for n in range(2, 600)]
    messages.append({"role": "assistant", "content": "The last word", "ts": 601})
    for indent in (None, 2):
        path = tmp_path / f"{indent}.json"
        path.write_text(json.dumps(messages, indent=indent))
        assert path.stat().st_size > 3 * REACH
        found = seen(path)
        assert (found.format, found.request, found.complete) == ("roo-cline", "Mend the gate", False)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json*")), ids=lambda path: path.name)
def test_a_sample_tells_at_a_glance_what_the_whole_file_tells(path: Path) -> None:
    found, session = seen(path), load(path)
    assert (found.format, found.title or found.request) == (session.format, session.title or found.request)
    assert found.compactions <= sum(epoch.ended_by is not None for epoch in session.epochs)
    if found.complete:
        assert found.compactions == sum(epoch.ended_by is not None for epoch in session.epochs)


def test_tokens_of_long_files_are_those_of_their_last_call(shared: Path) -> None:
    """Taken from the tail alone, they are what the whole file gives."""
    wanted = {
        "claude-code/entire-cd95add-3compactions.jsonl": 62_842,
        "claude-code/spotter-fa812bfe.jsonl": 76_351,
        "codex/agentv-a60726a-2compacted.jsonl": 161_435,
        "pi/pimono-before-compaction.jsonl": 168_018,
        "opencode/sbridge-13dddd4-compaction.json": 53_158,
    }
    for name, tokens in wanted.items():
        path = shared / "sessions" / name
        last = next(m.usage for m in reversed(load(path).context()) if m.usage and m.usage.context)
        assert last.context + last.output == tokens, name
        assert seen(path).tokens == tokens, name
        assert not seen(path).complete
    assert seen(shared / "sessions/codex/agentv-a60726a-2compacted.jsonl").window == 258_400


def test_a_folder_that_is_a_session_is_glanced_at(shared: Path) -> None:
    for name in ("openhands/v1-conv-cd945624", "roo-cline/roo-natural-already-condensed"):
        found = seen(shared / "sessions" / name)
        assert found.path.name == Path(name).name
        assert found.request
    plain = glance(shared / "sessions")
    assert isinstance(plain, Unreadable)


def test_a_hostile_tail_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    said = [{"role": "user", "content": f"word {n}", "ts": n} for n in range(3_000)]
    path.write_text(json.dumps(said)[:-1] + "," + '{"a":[{},' * 30_000)
    assert seen(path).request == "word 0"


def test_a_search_looks_at_all_that_is_known() -> None:
    found = SessionGlance(
        Path("/p/x.jsonl"), 1, 0.0, "codex", "Codex", "Title", "Mend the GATE", "/home/ada/farm", "gpt-5"
    )
    assert found.matches("")
    assert found.matches("gate FARM codex")
    assert not found.matches("gate barn")


def test_an_export_is_read_whole_for_what_was_billed_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark on its last bill may stand between the two ends: without it an older one would be taken for the size."""
    long = "The tide comes in at nine.\n" * (REACH // 9)
    billed = {"usage": {"input_tokens": 90_000, "output_tokens": 5}}
    lines = [*session_lines(3), user("u3", "a2", long), assistant("a3", "u3", "msg_a3", text("At nine."), body=billed)]
    path = write_lines(tmp_path / "s.jsonl", [*lines, user("u4", "a3", long)])
    session = load(path)
    context = context_at(session, None, Counter())
    kept = [session.context()[0], *session.context()[4:]]
    where = save(export(session, kept, export_note=context.export_note), tmp_path / "shorter.jsonl").where
    size = where.stat().st_size
    assert size > 4 * REACH
    assert (seen(where).tokens, seen(where).complete) == (None, True)
    monkeypatch.setattr(glances, "EXPORT", size - REACH)
    assert seen(where).complete
    monkeypatch.setattr(glances, "EXPORT", size - REACH - 1)
    assert not seen(where).complete
    went_on = assistant(
        "a4", "u4", "msg_a4", text("It does."), body={"usage": {"input_tokens": 9_000, "output_tokens": 5}}
    )
    monkeypatch.setattr(glances, "EXPORT", size + REACH)
    last = json.loads(where.read_text().splitlines()[-1])
    went_on |= {"parentUuid": last["uuid"], "sessionId": last["sessionId"]}
    where.write_text(where.read_text() + json.dumps(went_on) + "\n")
    assert seen(where).tokens == 9_005


Said = tuple[str, int | str]
"""The id of a line, and what the user says in it or what was billed for the answer in it."""

FILLER: list[Said] = [(f"x{n}", "y" * 900) for n in range(200)]


def chain(path: Path, said: list[Said]) -> Path:
    """A Claude Code session of these lines, each the child of the one before."""
    lines, parent = [], None
    for id, what in said:
        if isinstance(what, str):
            lines.append(user(id, parent, what))
        else:
            body = {"usage": {"input_tokens": what, "output_tokens": 5}, "stop_reason": "end_turn"} if what else {}
            lines.append(assistant(id, parent, f"msg-{id}", text("ok"), body=body if what else {"usage": None}))
        parent = id
    return write_lines(path, lines)


@pytest.mark.parametrize(
    ("wide", "tokens"),
    [
        (REACH, 20_005),  # nothing but a part of this line is in a tail of `REACH`
        (15 * REACH, 20_005),
        (17 * REACH, 20_005),
        (255 * REACH, 20_005),
        (257 * REACH, None),  # too far back: unknown, and not the size of the first call
    ],
)
def test_a7_the_newest_call_is_sought_behind_long_lines(tmp_path: Path, wide: int, tokens: int | None) -> None:
    said: list[Said] = [("u", "build"), ("a", 10_000), *FILLER, ("b", 20_000), ("v", "w" * wide)]
    found = seen(chain(tmp_path / "wide.jsonl", said))
    assert (found.tokens, found.request, found.complete) == (tokens, "build", False)


def test_a7_a_file_without_any_usage_is_not_read_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glances, "FURTHER_BACK", ("never a number",))
    assert seen(chain(tmp_path / "silent.jsonl", [("u", "build"), ("a", 0), *FILLER])).tokens is None


def test_a7_the_newest_element_of_a_document_is_sought_too(tmp_path: Path) -> None:
    def message(n: int, tokens: int, text: str) -> dict[str, object]:
        return {"id": f"m{n}", "type": "gemini", "content": text, "tokens": {"input": tokens, "output": 5}}

    asked = {"id": "u", "type": "user", "content": "build"}
    filler = [{"id": f"x{n}", "type": "user", "content": "y" * 900} for n in range(200)]
    messages = [asked, message(1, 10_000, "ok"), *filler, message(2, 20_000, "w" * 2 * REACH)]
    path = tmp_path / "session-x.json"
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "startTime": "", "messages": messages}))
    assert seen(path).tokens == 20_005


def test_a3_usage_that_cannot_be_is_no_size_at_a_glance(tmp_path: Path) -> None:
    said: list[Said] = [("u", "build"), ("a", 10_000), *FILLER, ("b", 20_000), ("c", 4_280_000)]
    assert seen(chain(tmp_path / "long.jsonl", said)).tokens == 20_005


def test_c_tokens_from_before_a_compaction_are_not_the_size_now(tmp_path: Path) -> None:
    """A kept answer still has its usage: it counts what the compaction took away."""
    stamp = "2026-05-20T10:{:02}:00.000Z"
    head = {"type": "session", "version": 3, "id": "s", "timestamp": stamp.format(0), "cwd": "/w"}
    used = {"input": 89_000, "output": 500, "cacheRead": 1_000, "cacheWrite": 0, "totalTokens": 90_500}

    def entry(minute: int, kind: str, **more: object) -> dict[str, object]:
        parent = f"e{minute - 1}" if minute > 1 else None
        return {"type": kind, "id": f"e{minute}", "parentId": parent, "timestamp": stamp.format(minute), **more}

    def said(minute: int, role: str, **more: object) -> dict[str, object]:
        at = 1_779_271_200_000 + minute * 60_000
        message = {"role": role, "content": [{"type": "text", "text": "word"}], "timestamp": at, **more}
        return entry(minute, "message", message=message)

    answered = {"api": "a", "provider": "p", "model": "m-1", "stopReason": "stop"}
    lines = [head, said(1, "user"), said(2, "assistant", usage=used, **answered)]
    kept = {"summary": "Short.", "firstKeptEntryId": "e2", "tokensBefore": 90_500}
    compacted = [*lines, entry(3, "compaction", **kept)]
    small = {**used, "input": 4_000, "totalTokens": 5_500}
    went_on = [*compacted, said(4, "user"), said(5, "assistant", usage=small, **answered)]
    sizes = []
    for number, each in enumerate((lines, compacted, went_on)):
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in each))
        sizes.append(seen(path).tokens)
    assert sizes == [90_500, None, 5_500]
