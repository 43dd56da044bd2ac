"""The newest epochs of a Claude Code session, read from the end of its file: as in the complete file, or None."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import (
    assistant,
    boundary,
    call,
    jsonl,
    line,
    read_bytes,
    result,
    summary,
    text,
    user,
)
from workbench.analysis.why.overflow import overflowed_epoch
from workbench.formats import files
from workbench.formats.claude_code.newest import newest
from workbench.formats.files import load, load_newest
from workbench.session import Message, Session
from workbench.session.fingerprint import fingerprint

Line = dict[str, Any]
REAL = {"entire-432b48f-progress": 2, "entire-cd95add-3compactions": 3, "spotter-fa812bfe": 0}
"""Recorded sessions, each with the first epoch read from its end; 0 if the end is not sufficient."""


def part(name: str, parent: str | None, turns: int = 2) -> list[Line]:
    """Return turns of two calls in one response each, with a progress line and a sub-agent's line."""
    made: list[Line] = []
    for turn in range(turns):
        id = f"{name}{turn}"
        made += [
            user(f"{id}-u", parent, f"Do part {id}."),
            assistant(f"{id}-a1", f"{id}-u", f"msg_{id}", call(f"t1-{id}")),
            result(f"{id}-r1", f"{id}-a1", f"t1-{id}", f"one of {id}"),
            line("progress", f"{id}-p", f"{id}-a1", data={"type": "hook_progress"}),
            assistant(f"{id}-side", f"{id}-p", f"msg_side_{id}", text("Beside."), isSidechain=True),
            assistant(f"{id}-a2", f"{id}-a1", f"msg_{id}", call(f"t2-{id}")),
            result(f"{id}-r2", f"{id}-a2", f"t2-{id}", f"two of {id}"),
            assistant(f"{id}-a3", f"{id}-r2", f"msg_{id}_end", text(f"Done with {id}.")),
        ]
        parent = f"{id}-a3"
    return made


def compacted(name: str, last: str, **about: Any) -> list[Line]:
    edge = boundary(f"{name}-b", last)
    return [{**edge, "compactMetadata": edge["compactMetadata"] | about}, summary(f"{name}-s", f"{name}-b")]


KEPT = {"preservedMessages": {"anchorUuid": "c1-s", "uuids": ["b1-a1", "b1-r1", "b1-a2", "b1-r2", "b1-a3"]}}
CHAIN = {"preservedSegment": {"headUuid": "b1-u", "anchorUuid": "c1-s", "tailUuid": "b1-a3"}}


def conversation(**about: Any) -> list[Line]:
    """Return four epochs; `about` is the metadata of the second boundary."""
    return [
        *part("a", None), *compacted("c0", "a1-a3"),
        *part("b", "c0-s"), *compacted("c1", "b1-a3", **about),
        *part("c", "c1-s"), *compacted("c2", "c1-a3"),
        *part("d", "c2-s", 1),
    ]  # fmt: skip


def said(messages: tuple[Message, ...]) -> list[Message]:
    """Return messages without record numbers, which differ in a part of a file."""
    return [replace(message, source=()) for message in messages]


def agrees(data: bytes) -> Session | None:
    """Compare the epochs read from the end with those of the complete file."""
    found = newest(Path("session.jsonl"), data)
    if found is not None:
        whole = read_bytes(data)
        ahead = len(whole.epochs) - len(found.epochs)
        assert ahead >= 0
        assert found.begins_at > 0
        assert fingerprint(found) == fingerprint(whole)
        assert overflowed_epoch(found) + ahead == overflowed_epoch(whole)
        for key in ("id", "model", "cwd", "system", "tools"):
            assert getattr(found, key) == getattr(whole, key), key
        assert found.facts.version == whole.facts.version
        for epoch in found.epochs:
            there = whole.epochs[epoch.number + ahead - 1]
            assert said(found.context(epoch.number)) == said(whole.context(there.number))
            assert (epoch.ended_by, epoch.window, len(epoch.copies)) == (
                there.ended_by,
                there.window,
                len(there.copies),
            )
    return found


@pytest.mark.parametrize("about", [{}, KEPT, CHAIN, KEPT | CHAIN], ids=["nothing", "a list", "a chain", "both"])
def test_the_last_two_epochs_are_as_the_whole_gives_them(about: Line) -> None:
    found = agrees(jsonl(*conversation(**about)))
    assert found is not None
    assert [epoch.number for epoch in found.epochs] == [1, 2]
    ids = [message.id for message in found.context(1)]
    assert ids[0] == "c1-s"
    assert ("b1-a3" in ids) == bool(about)


@pytest.mark.parametrize("name", REAL)
def test_recorded_sessions(shared: Path, name: str) -> None:
    path = shared / "sessions" / "claude-code" / f"{name}.jsonl"
    found = agrees(path.read_bytes())
    assert (found is not None) == bool(REAL[name])
    if found is not None:
        assert overflowed_epoch(load(path)) == REAL[name]


def at(uuid: str, lines: list[Line]) -> int:
    return next(number for number, one in enumerate(lines) if one.get("uuid") == uuid)


Damage = Callable[[list[Line]], list[Line | bytes]]


def changed(uuid: str, /, **more: Any) -> Damage:
    return lambda lines: [one | more if one.get("uuid") == uuid else one for one in lines]


def behind(uuid: str, *more: Line | bytes) -> Damage:
    def damage(lines: list[Line]) -> list[Line | bytes]:
        place = at(uuid, lines) + 1
        return [*lines[:place], *more, *lines[place:]]

    return damage


def answer(api_id: str) -> Line:
    return {"message": assistant("", None, api_id, text("x"))["message"]}


def mute(one: Line) -> Line:
    """An answer after the second compaction has no model."""
    later = one["type"] == "assistant" and one["uuid"] > "c"
    return one | {"message": one["message"] | {"model": None}} if later else one


CLEARING = line(
    "system",
    "clear",
    "b1-a3",
    subtype="microcompact_boundary",
    microcompactMetadata={"compactedToolIds": ["t2-b1", "t2-d0"]},
)
REPLACED: Line = {"type": "content-replacement", "replacements": [{"toolUseId": "t2-b1", "replacement": "Saved."}]}


def anchored(lines: list[Line]) -> list[Line | bytes]:
    """The last boundary keeps a line after an unread one, and the conversation continues from it."""
    about = {"preservedMessages": {"anchorUuid": "b0-u", "uuids": ["c1-a3"]}}
    made = changed("d0-u", parentUuid="c1-a3")(lines)
    return [one | {"compactMetadata": about} if one["uuid"] == "c2-b" else one for one in made if isinstance(one, dict)]


SNAPSHOT = line("attachment", "snap", "b0-u", attachment={"type": "prompt_snapshot", "systemPrompt": ["Be brief."]})


@pytest.mark.parametrize(
    ("why", "about", "damage"),
    [
        ("only one boundary", {}, lambda lines: lines[at("c1-b", lines) :]),
        ("its newest two epochs are the whole", {}, lambda lines: [*lines[:8], *lines[at("c1-b", lines) :]][8:]),
        ("the branch goes on from an older line", {}, changed("d0-u", parentUuid="a0-a3")),
        ("a line whose parent is not there", {}, changed("c1-u", parentUuid="elsewhere")),
        ("a line without a parent", {}, changed("c1-u", parentUuid=None)),
        ("a turn was taken back", {}, changed("d0-u", parentUuid="c0-a3")),
        ("a line without a name", {}, changed("c1-u", uuid=None)),
        ("a line with the name of an older one", {}, changed("d0-a3", uuid="b0-a3")),
        ("an older line again, word for word", {}, lambda lines: [*lines, lines[at("b0-a3", lines)]]),
        (
            "an answer with the name of an older one",
            {},
            changed("d0-a3", **answer("msg_b0_end")),
        ),
        ("an answer that began before what is kept", KEPT, changed("b1-a2", **answer("msg_b0_end"))),
        ("a kept chain's call was answered before", CHAIN, behind("b0-u", result("x", "b0-u", "t2-b1", "early"))),
        ("a kept chain's call was answered at once", CHAIN, behind("a0-u", result("x", "a0-u", "t2-b1", "early"))),
        ("a kept line stands among the first", {"preservedMessages": {"uuids": ["a0-a1", "b1-a3"]}}, list),
        ("a kept result was replaced", KEPT, behind("b1-a3", REPLACED)),
        ("what is kept stands behind an older line", {}, anchored),
        ("it begins with an answer", {}, lambda lines: lines[1:]),
        ("a kept line that is nowhere", {"preservedMessages": {"uuids": ["elsewhere"]}}, list),
        ("a kept chain that is none", {"preservedSegment": {"headUuid": "b1-a3", "tailUuid": "b1-u"}}, list),
        ("a kept result was emptied", KEPT, behind("b1-a3", CLEARING)),
        ("the prompt was told in what is not read", {}, behind("b0-u", SNAPSHOT)),
        ("the newest line does not say the folder", {}, changed("d0-a3", cwd=None)),
        ("no model answered since", {}, lambda lines: [mute(one) for one in lines]),
        ("a list in one document", {}, lambda lines: [b"[", b",\n".join(jsonl(one).strip() for one in lines), b"]"]),
        ("a byte order mark", {}, lambda lines: [b"\xef\xbb\xbf" + jsonl(*lines)]),
    ],
)  # fmt: skip
def test_it_is_not_told_where_it_could_be_another(why: str, about: Line, damage: Damage) -> None:
    assert newest(Path("session.jsonl"), jsonl(*conversation())) is not None
    assert newest(Path("session.jsonl"), jsonl(*damage(conversation(**about)))) is None, why


TOLD = boundary("told", "d0-u")


@pytest.mark.parametrize(
    ("damage", "epochs"),
    [
        (behind("d0-a3", user("x", "d0-a3", jsonl(TOLD).decode())), 2),
        (behind("d0-a3", user("x", "d0-a3", "It says so.", toolUseResult={"line": TOLD})), 2),
        (behind("d0-u", boundary("side", "d0-side") | {"isSidechain": True}), 2),
        (lambda lines: [*lines, jsonl(boundary("cut", "d0-a3"))[:-40]], 2),
        (lambda lines: [jsonl(*lines) + jsonl(boundary("cut", "d0-a3")).rstrip()], 2),
        (behind("d0-a3", CLEARING | {"parentUuid": "d0-a3"}, assistant("x", "clear", "msg_x", text("On."))), 3),
    ],
    ids=["in a text", "in a result's object", "a sub-agent's", "in a broken last line", "as the last line", "clearing"],
)
def test_only_a_boundary_of_the_conversation_itself_is_one(damage: Damage, epochs: int) -> None:
    found = agrees(jsonl(*damage(conversation())))
    assert found is not None
    assert len(found.epochs) == epochs


@pytest.mark.parametrize("seed", range(40))
def test_however_a_file_is_damaged_nothing_else_is_told(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(10):
        lines: list[Line] = [dict(one) for one in conversation(**dice.choice([{}, KEPT, CHAIN]))]
        names = [one["uuid"] for one in lines]
        for _ in range(dice.randint(1, 3)):
            place, other = dice.randrange(len(lines)), dice.randrange(len(lines))
            match dice.randrange(7):
                case 0:
                    del lines[place]
                case 1:
                    lines.insert(place, lines[other])
                case 2:
                    lines[place] |= {"parentUuid": dice.choice([None, "elsewhere", *names])}
                case 3:
                    lines[place] |= {"uuid": dice.choice([None, *names])}
                case 4:
                    lines[place] |= {"isSidechain": not lines[place]["isSidechain"]}
                case 5:
                    lines[place], lines[other] = lines[other], lines[place]
                case _ if lines[place].get("subtype"):
                    lines[place] |= {"logicalParentUuid": dice.choice([None, *names])}
                case _:
                    lines[place] |= {"message": lines[other].get("message")}
        agrees(jsonl(*lines))


def test_only_of_a_large_file_and_only_a_small_part_is_read_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session.jsonl"
    lines = conversation()
    path.write_bytes(jsonl(*part("z", None, 20), *[lines[0] | {"parentUuid": "z19-a3"}], *lines[1:]))
    size = path.stat().st_size
    assert load_newest(path).begins_at == 0
    monkeypatch.setattr(files, "LARGE", size)
    assert load_newest(path).begins_at == 0
    monkeypatch.setattr(files, "LARGE", size - 1)
    assert load_newest(path).begins_at > size // 2
    path.write_bytes(jsonl(*lines[:2], *lines[at("b1-r2", lines) :]))
    assert newest(path, path.read_bytes()) is not None
    monkeypatch.setattr(files, "LARGE", 1)
    assert load_newest(path).begins_at == 0, "more than half of it would be read"
