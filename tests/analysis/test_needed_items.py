"""Items that were needed again later: which ones, until when, and where a compacted context keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.analysis.courses import session_of
from tests.facts.talk import agent, call, ran, result, user
from workbench.analysis.mentions import words_of
from workbench.analysis.needed_items import (
    Item,
    ItemSearch,
    Kind,
    LaterUse,
    _contains,
    _spellings,
    later_use,
    needed_after,
    needed_items,
    project_folder,
    used_after,
)
from workbench.compaction.outcome import unchanged
from workbench.session import Message

PATH = Item("path", "src/gates.py", ("src/gates.py",))
NUMBER = Item("number", "1536", ("1536", "1,536", "1_536", "1 536", "1\u202f536"))
HASH = Item("id", "4f2a91c", ("4f2a91c",))
TICKET = Item("id", "WEIR-12", ("WEIR-12",))
COMMAND = Item("command", "make canal", ("make canal",))


def sentence(kind: Kind, text: str) -> Item:
    return Item(kind, text, words=words_of(text))


def looked(text: str) -> tuple[Message, Message]:
    used = call("Look", {})
    return agent("", used), result(used, text)


STATED = "Barges from Utrecht carry turf upstream."
HEAD = (
    user(f"Keep src/gates.py. {STATED}"),
    *looked("window of 1,536 tokens; see WEIR-12 window\ncommit 4f2a91c"),
    *ran("make canal", "done"),
    agent("Let's go with the northern harbour basin."),
)


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ([agent("Now gates.py")], [Item("path", "gates.py", ("gates.py",))]),
        ([agent("src/gates.py and src/gates.py")], [PATH]),
        ([agent("src/locks.py")], []),
        ([agent("The window has 1536 tokens")], [NUMBER]),
        ([agent("The barge has 1536 bytes")], []),
        ([agent("window WEIR-12")], [TICKET]),
        ([agent("WEIR-12")], [TICKET]),
        ([agent("4f2a91c")], [HASH]),
        ([*ran("make canal", "x")], [COMMAND]),
        ([*ran("make canals", "x")], []),
        ([user("run make canal"), *ran("make canal", "x")], []),
        ([user("see gates.py"), agent("src/gates.py")], []),
        ([agent("src/gates.py"), user("see gates.py"), agent("4f2a91c")], [PATH, HASH]),
        ([user("4f2a91c"), agent("4f2a91c")], []),
        ([user("1,536 tokens"), agent("window of 1536 tokens")], []),
        ([agent("4f2a91c src/gates.py", call("Bash", {"command": "make canal"}))], [PATH, COMMAND, HASH]),
        ([agent("Carry the turf from Utrecht")], [sentence("stated", STATED)]),
        ([agent("northern harbour")], [sentence("decision", "Let's go with the northern harbour basin.")]),
        ([user("Barges carry turf to Utrecht"), agent("Barges carry turf upstream")], []),
        ([], []),
    ],
)
def test_items_that_the_agent_uses_before_they_are_stated_again(later: Sequence[Message], found: list[Item]) -> None:
    assert needed_items(HEAD, later) == tuple(found)


def test_results_state_an_item_unless_lookups_count() -> None:
    later = (*looked("gates.py of 4f2a91c"), agent("src/gates.py 4f2a91c"))
    assert needed_items(HEAD, later) == ()
    assert needed_items(HEAD, later, looked_up=True) == (PATH, HASH)


def test_the_system_prompt_and_the_projects_folder_are_known() -> None:
    later = [agent("src/gates.py 4f2a91c WEIR-12")]
    assert needed_items(HEAD, later, system="See gates.py and 4f2a91c") == (TICKET,)
    head = [agent("See /home/canal/src/gates.py and docs/canal.md and index.html")]
    later = [agent("/home/canal/src/gates.py docs/canal.md index.html")]
    assert needed_items(head, later, "/home/canal") == (Item("path", "docs/canal.md", ("docs/canal.md",)), PATH)
    assert needed_items(head, later, "/home/canal.md") == (
        Item("path", "/home/canal/src/gates.py", ("/home/canal/src/gates.py",)),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We decided on Utrecht barges.", True),
        ("We decided.", False),
        ("Shall we go with Utrecht barges?", False),
        ("Let me know whether we decided Utrecht barges.", False),
        ("```\nWe decided on Utrecht barges.\n```", False),
        ("We decided on Utrecht barges" + "x" * 271 + ".", True),
        ("We decided on Utrecht barges" + "x" * 272 + ".", False),
    ],
)
def test_decisions_of_the_agent(text: str, found: bool) -> None:
    needed = needed_items([agent(text)], [agent("decided Utrecht barges")])
    assert [item.kind for item in needed] == (["decision"] if found else [])


def test_a_word_that_is_everywhere_tells_nothing() -> None:
    """Of a sentence's words one must be in at most 3 messages of the head."""
    text = "Barges carry turf upstream."
    for often, found in ((2, 1), (3, 0)):
        head = [user(text), *(agent("barges carry turf upstream") for _ in range(often))]
        assert len(needed_items(head, [agent("barges carry turf upstream")])) == found


@pytest.mark.parametrize(
    ("form", "text", "begins", "found"),
    [
        ("gates.py", "gates.py", False, True),
        ("gates.py", "xgates.py", False, False),
        ("gates.py", "gates.pyc", False, False),
        ("gates.py", "src/gates.py:7", False, True),
        ("gates.py", "gates.pyc gates.py", False, True),
        ("#12", "x#12", False, True),
        ("#12", "#123", False, False),
        ("5.5", "5.5ms", False, False),
        ("5.5", "5.5ms", True, True),
        ("5.5", "5.51", True, False),
        ("1,536", "1,536ms", True, True),
        ("1,536", "1,5367", True, False),
        ("4f2a91c", "4f2a91cd3", True, True),
        ("4f2a91c", "4f2a91cd3", False, False),
        ("4f2a91c", "a4f2a91c", True, False),
        ("a", "", False, False),
    ],
)
def test_a_text_has_a_form_by_itself(form: str, text: str, begins: bool, found: bool) -> None:
    assert _contains(form, text, begins) is found


def test_spellings_of_a_number() -> None:
    assert _spellings("1234567.5") == (
        "1234567.5", "1,234,567.5", "1_234_567.5", "1 234 567.5", "1\u202f234\u202f567.5",
    )  # fmt: skip
    assert _spellings("12") == ("12",)
    assert _spellings("1.5") == ("1.5",)


@pytest.mark.parametrize(
    ("item", "parts", "held"),
    [
        (PATH, ["see src/gates.py"], True),
        (PATH, ["see /canal/src/gates.py"], True),
        (PATH, ["see gates.py"], False),
        (PATH, ["src/: locks.py, gates.py"], True),
        (PATH, ["in src: locks.py, gates.py"], True),
        (PATH, ["in src: locks.py", "gates.py"], False),
        (PATH, ["in src: gates.pyc"], False),
        (Item("path", "gates.py", ("gates.py",)), ["gates.py"], True),
        (COMMAND, ["make\n  canal"], True),
        (COMMAND, ["make", "canal"], True),
        (COMMAND, ["make canals"], False),
        (NUMBER, ["1 536ms"], True),
        (NUMBER, ["15367"], False),
        (HASH, ["4f2a91cd"], True),
        (TICKET, ["WEIR-123"], False),
        (TICKET, ["WEIR-12a"], False),
        (sentence("stated", "barge utrecht turf harbour sluice"), ["barge utrecht turf"], True),
        (sentence("stated", "barge utrecht turf harbour sluice"), ["barge utrecht. turf"], False),
        (sentence("stated", "barge utrecht turf harbour sluice"), ["barge utrecht", "turf"], False),
    ],
)
def test_a_compacted_context_keeps_an_item(item: Item, parts: list[str], held: bool) -> None:
    assert ItemSearch(parts, "/canal").holds(item) is held
    assert ItemSearch(parts).holds(item) is held


def test_the_projects_folder_is_no_part_of_a_line() -> None:
    item = Item("path", "canal/gates.py", ("canal/gates.py",))
    assert ItemSearch(["/canal/x: gates.py"], "/canal").holds(item) is False
    assert ItemSearch(["/canal/x: gates.py"]).holds(item) is True


def test_the_share_that_is_kept() -> None:
    outcome = unchanged([user("4f2a91c in src/gates.py")], "made for this")
    found = later_use((PATH, HASH, TICKET, COMMAND), outcome, "")
    assert found == LaterUse(((PATH, True), (HASH, True), (TICKET, False), (COMMAND, False)))
    assert found.kinds == {"path": (1, 1), "command": (0, 1), "id": (1, 2)}
    assert (found.share, found.lost) == (0.5, (TICKET, COMMAND))
    assert later_use((), outcome, "") is None


def test_what_a_session_used_after_an_epoch() -> None:
    later = (
        agent("follow_sluice, then readGauge and follow_sluice in gates.py"),
        user("Now GateKeeper waits, and open_lock."),
        *looked("4f2a91c and LockMaster"),
        agent("open_lock GateKeeper LockMaster 4f2a91c not_there"),
    )
    head = (*HEAD, agent("follow_sluice readGauge GateKeeper LockMaster open_lock"))
    several = (*head, *later)
    one = session_of(several, range(len(head)), range(len(head), len(several)))
    path = Item("path", "gates.py", ("gates.py",))
    names = [Item("name", name, (name,)) for name in ("follow_sluice", "readGauge", "LockMaster")]
    assert needed_after(one, 1) == (path,)
    assert used_after(one, 1) == (path, HASH, *names)
    assert used_after(replace(one, system="see follow_sluice, gates.py"), 1) == (HASH, *names[1:])
    assert needed_after(one, 2) == used_after(one, 2) == ()


@pytest.mark.parametrize(("folder", "plain"), [("/canal/", "/canal"), ("/canal", "/canal"), (None, "")])
def test_the_projects_folder(folder: str | None, plain: str) -> None:
    assert project_folder(replace(session_of(HEAD), cwd=folder)) == plain


def test_items_that_were_looked_up_again_come_after_the_others() -> None:
    later = (*looked("4f2a91c"), agent("4f2a91c"), agent("gates.py"))
    several = (*HEAD, *later)
    one = session_of(several, range(len(HEAD)), range(len(HEAD), len(several)))
    assert used_after(one, 1) == (Item("path", "gates.py", ("gates.py",)), HASH)


def test_two_sentences_are_used_at_once() -> None:
    told = ("Barges from Utrecht carry turf.", "Keepers in Leiden ring bells.")
    needed = needed_items([user(" ".join(told))], [agent("Barges carry turf.\nKeepers ring bells.")])
    assert needed == tuple(sentence("stated", one) for one in told)


@pytest.mark.parametrize(("length", "found"), [(400, (PATH,)), (401, ())])
def test_a_long_value_of_a_call_uses_nothing(length: int, found: tuple[Item, ...]) -> None:
    written = call("Write", {"content": "src/gates.py ".ljust(length, ".")})
    assert needed_items(HEAD, [agent("", written)]) == found
