"""What an agent needed again, found by hand in invented sessions, and what `benchmarks.keeping` prints of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.keeping import half_of, interval, main
from tests.paths import SAMPLES
from workbench.analysis.mentions import commands
from workbench.analysis.needed_items import Item, ItemSearch, needed_after, needed_items, used_after
from workbench.session import Compaction, Epoch, Message, Records, Session, Text, ToolResult, ToolUse


def user(text: str) -> Message:
    return Message(f"u{hash(text)}", "user", (Text(text),))


def agent(text: str, **given: str) -> Message:
    calls = (ToolUse("c", "shell", given),) if given else ()
    return Message(f"a{hash(text)}", "assistant", (Text(text), *calls))


def told(text: str) -> Message:
    return Message(f"t{hash(text)}", "tool", (ToolResult("c", (Text(text),)),))


def found(head: list[Message], later: list[Message], cwd: str = "/home/ida/loom") -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in needed_items(head, later, cwd)]


HEAD = [
    user("The shed at src/shed/warp.py leaks. The loom tolerates a tension of 4250 grams, see ticket LOOM-31."),
    agent("I look.", command="cd /home/ida/loom && pytest tests/test_warp.py -q | tail -5"),
    told("2 failed\n/home/ida/loom/src/shed/weft.py:12: bad heddle\ncommit 9f3c1ab"),
    agent("Let's go with linen thread instead of nylon thread for every heddle."),
]


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([agent("Now", path="/home/ida/loom/src/shed/weft.py")], [("path", "src/shed/weft.py")]),
        ([told("ls: weft.py warp.py"), agent("Now", path="src/shed/weft.py")], []),
        ([agent("Now", path="src/shed/new.py")], []),
        ([agent("Again", command="pytest tests/test_warp.py -q 2>&1 | head")], "command"),
        ([user("run pytest tests/test_warp.py -q"), agent("Again", command="pytest tests/test_warp.py -q")], []),
        ([agent("The tension is 4,250 grams.")], [("number", "4250")]),
        ([agent("It printed 4250 again.")], []),
        ([agent("This mends LOOM-31, broken since 9f3c1ab.")], [("id", "9f3c1ab"), ("id", "LOOM-31")]),
        ([agent("Every heddle has linen thread now.")], "decision"),
        ([told("Every heddle has linen thread, nylon no longer"), agent("Every heddle has linen thread now.")], []),
    ],
)
def test_needed_is_what_is_used_before_it_is_told_again(
    later: list[Message], expected: list[tuple[str, str]] | str
) -> None:
    items = found(HEAD, later)
    if isinstance(expected, str):
        assert expected in [kind for kind, _ in items]
    else:
        assert sorted(items) == sorted(expected)


LOOKED_UP = told("ls: weft.py warp.py\nEvery heddle has linen thread, nylon no longer")


@pytest.mark.parametrize(
    ("stating", "kinds"),
    [
        (LOOKED_UP, {"path", "decision"}),
        (Message("r", "user", LOOKED_UP.blocks), {"path", "decision"}),
        (user("See weft.py. Every heddle has linen thread, nylon no longer"), set()),
    ],
)
def test_an_agent_that_looks_an_item_up_needs_it_too(stating: Message, kinds: set[str]) -> None:
    later = [stating, agent("Every heddle has linen thread now.", path="src/shed/weft.py")]
    assert found(HEAD, later) == []
    looked_up = needed_items(HEAD, later, "/home/ida/loom", looked_up=True)
    assert {item.kind for item in looked_up} == kinds


def test_what_was_looked_up_follows_what_was_needed() -> None:
    messages = [*HEAD, Message("s", "user", (Text("Went on."),), "summary"), told("ls: weft.py")]
    messages.append(agent("This mends LOOM-31.", path="src/shed/weft.py"))
    epochs = (Epoch(1, range(4), Compaction()), Epoch(2, range(4, 7)))
    session = Session("codex", None, tuple(messages), Records(b""), epochs=epochs, cwd="/home/ida/loom")
    assert [item.text for item in needed_after(session, 1)] == ["LOOM-31"]
    assert [item.text for item in used_after(session, 1)] == ["LOOM-31", "src/shed/weft.py"]
    assert used_after(session, 2) == ()


@pytest.mark.parametrize(
    ("later", "names"),
    [
        ([agent("I call turn_beam and countKnots, then beam.")], ["turn_beam", "countKnots"]),
        ([told("def turn_beam():"), agent("I call turn_beam.")], ["turn_beam"]),
        ([user("Call turn_beam."), agent("I call turn_beam.")], []),
        ([agent("I call turn_beam."), agent("Again turn_beam.")], ["turn_beam"]),
        ([agent("I call cut_thread and LoomParts.")], []),
        ([], []),
    ],
)
def test_a_name_of_code_is_used_until_the_user_states_it_again(later: list[Message], names: list[str]) -> None:
    head = [agent("I wrote turn_beam, countKnots, beam and LoomParts.")]
    epochs = (Epoch(1, range(1), Compaction()), Epoch(2, range(1, 1 + len(later))))
    session = Session("codex", None, (*head, *later), Records(b""), epochs=epochs, system="Use LoomParts.")
    assert [(item.kind, item.text) for item in used_after(session, 1)] == [("name", name) for name in names]
    assert needed_after(session, 1) == ()


def test_what_an_agent_writes_into_a_file_is_no_use_of_it() -> None:
    for body in (
        f"<content>tension is 4250 grams {'x' * 400}</content>",
        f"```py\ntension = 4250 grams {'x' * 400}\n```",
    ):
        assert found(HEAD, [agent(f"I write.\n{body}")]) == []
        assert found(HEAD, [agent("I write.\n" + body.replace("x", ""))]) == [("number", "4250")]


def test_commands_in_words_are_commands() -> None:
    text = "```bash\nmake weave\n```\n<execute_command>\n<command>pytest -q</command>\n</execute_command>"
    assert commands(agent(text)) == {"make weave", "pytest -q"}


@pytest.mark.parametrize("sign", ["\n", " \n", "+"])
def test_a_long_run_of_a_sign_is_read_in_one_pass(sign: str) -> None:
    assert found([told(f"{sign * 100_000}\nsrc/warp.py")], [agent("", path="src/warp.py")]) == [("path", "src/warp.py")]


@pytest.mark.parametrize("mark", ["<td>", "<command>x\n", "```bash\nx\n"])
def test_marks_that_nothing_closes_are_read_in_one_pass(mark: str) -> None:
    assert found([told("src/warp.py")], [agent(f"{mark * 30_000} src/warp.py")]) == [("path", "src/warp.py")]


def test_a_command_is_each_part_of_a_line_that_does_not_merely_look() -> None:
    line = "cd loom && FAST=1 make weave | tail -3; ls -la || echo 'a; b' && timeout 60 pytest -q > out.txt 2>&1"
    assert commands(agent("", command=line)) == {"FAST=1 make weave", "pytest -q"}


@pytest.mark.parametrize(
    ("said", "item", "held"),
    [
        ("see src/shed/weft.py.", Item("path", "src/shed/weft.py", ("src/shed/weft.py",)), True),
        ("see src/shed/weft.pyc", Item("path", "src/shed/weft.py", ("src/shed/weft.py",)), False),
        ("src/shed: warp.py, weft.py", Item("path", "src/shed/weft.py", ("src/shed/weft.py",)), True),
        ("tension 14250", Item("number", "4250", ("4250", "4,250")), False),
        ("tension 4,250 g", Item("number", "4250", ("4250", "4,250")), True),
        ("waits 300ms", Item("number", "300", ("300",)), True),
        ("waits 3000ms", Item("number", "300", ("300",)), False),
        ("of 4,250,000", Item("number", "4,250", ("4,250",)), True),
        ("commit 9f3c1ab", Item("id", "9f3c1ab", ("9f3c1ab",)), True),
        ("commit 9f3c1abd", Item("id", "9f3c1ab", ("9f3c1ab",)), True),
        ("commit a9f3c1ab", Item("id", "9f3c1ab", ("9f3c1ab",)), False),
        ("LOOM-312", Item("id", "LOOM-31", ("LOOM-31",)), False),
    ],
)
def test_an_item_is_held_where_it_stands_by_itself(said: str, item: Item, held: bool) -> None:
    assert ItemSearch([said]).holds(item) is held


def test_names_are_looked_for_without_reading_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("workbench.analysis.needed_items.sentences", lambda text: read.append(text) or [])
    holding = ItemSearch(["see src/shed/weft.py"])
    assert holding.holds(Item("path", "src/shed/weft.py", ("src/shed/weft.py",)))
    assert not read
    assert not holding.holds(Item("stated", "The shed is dry.", words=frozenset(("shed", "dry"))))
    assert read


@pytest.mark.parametrize(("words", "held"), [(5, False), (6, True), (7, True)])
def test_a_sentence_is_held_by_six_of_ten_words_in_one_line(words: int, held: bool) -> None:
    ten = ["alder", "birch", "cedar", "maple", "hazel", "rowan", "aspen", "larch", "beech", "poplar"]
    item = Item("decision", " ".join(ten), words=frozenset(ten))
    assert ItemSearch([" ".join(ten[:words]), " ".join(ten[words:]).replace("poplar", "")]).holds(item) is held


def test_the_halves_are_by_the_sha1_of_the_files_name() -> None:
    # sha1("a") is 86f7…, sha1("ab") is da23…, sha1("c") is 84a5…, sha1("d") is 3c36….
    assert [half_of(Path("x") / name) for name in ("a", "ab", "d")] == ["held-out", "held-out", "tuning"]


def test_an_interval_draws_whole_sessions() -> None:
    one, other = Path("one"), Path("other")
    assert interval([(one, (3, 4)), (one, (0, 4))]) == (37.5, 37.5)
    assert interval([(one, (4, 4)), (other, (0, 4))]) == (0.0, 100.0)


def test_the_benchmark_measures_a_sample(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["keeping", str(SAMPLES / "claude-code-overflow.jsonl"), "--quick"])
    main()
    printed = capsys.readouterr().out
    assert "## 3 cuts at 40, 60, 80 % of the calls, of 1 sessions" in printed
    rows = [line.split("  ")[0] for line in printed.split("\n") if " % " in line[:6]]
    assert rows == [f"{b} % {n}" for b in (5, 10, 20) for n in ("ledger", "newest", "user's words")]


@pytest.mark.parametrize(
    ("sentence", "decides"),
    [
        ("Let's go with linen thread for every heddle", True),
        ("We use linen thread instead of nylon for every heddle", True),
        ("The heddle logs went to a stale linen file instead of the thread", False),
        ("Let me know which thread you would like to choose for the heddle", False),
        ("Should we go with linen thread for every heddle?", False),
    ],
)
def test_what_describes_or_asks_decides_nothing(sentence: str, decides: bool) -> None:
    items = found([agent(sentence)], [agent(sentence.rstrip("?") + " now.")])
    assert ("decision" in [kind for kind, _ in items]) is decides


@pytest.mark.parametrize("part", ["../", "[a]", "[a]/", "a/", "a.", "~/"])
def test_paths_without_end_are_looked_at_once(part: str) -> None:
    """What reads on to the end from every slash or bracket would take minutes over this."""
    assert found([user(part * 8_000)], [agent(f"I open src/shed.py. {part * 8_000}")]) == []
