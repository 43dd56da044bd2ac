"""Paths, commands, numbers and ids in texts: their borders, and the words near them."""

from __future__ import annotations

import re

import pytest

from tests.facts.talk import agent, call, result, user
from workbench.analysis.mentions import (
    Mentions,
    _is_specific_command,
    _is_specific_number,
    _shell_commands,
    _tag_spans,
    _without_long_tags,
    _without_redirections,
    _words_near,
    commands,
    file_name,
    plain_path,
    sentences,
    texts,
    words_of,
)
from workbench.session import Message, Thinking


def mentioned(text: str) -> Mentions:
    found = Mentions()
    found.add(text, "/canal")
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "see /canal/src/a.py, ./b.md, ././c.toml, https://x.org/d.py",
            Mentions(paths={"src/a.py", "b.md", "c.toml"}),
        ),
        ("  12\tdef e.py\n  13→f.go\n14  g.rs", Mentions(paths={"e.py", "f.go", "g.rs"})),
        ("upper v1.2.3 sluice\nother line", Mentions(ids={"1.2.3": {"upper", "sluice"}})),
        (
            "Ticket WEIR-12 on UTF-8 #34 basin",
            Mentions(ids={key: {"ticket", "weir", "basin"} for key in ("WEIR-12", "#34")}),
        ),
        (
            "first line\nharbour takes 1,024 bytes today\nnext line",
            Mentions(numbers={"1024": {"harbou", "takes", "bytes", "today"}}),
        ),
        ("barge of 55 ms\nsluice of 55 ms", Mentions(numbers={"55": {"barge", "sluice"}})),
        ("commit 4f2a91c\nbarge 4f2a91c", Mentions(ids={"4f2a91c": {"commit", "barge"}})),
        ("harbour 5 ms and 12_000", Mentions(numbers={"12000": {"harbou"}})),
    ],
)
def test_a_text_mentions_exactly_this(text: str, found: Mentions) -> None:
    assert mentioned(text) == found


def test_paths_alone_leave_the_text_without_addresses_and_line_numbers() -> None:
    found = Mentions()
    assert (
        found.add_paths("  7\tsee /canal/a.py 4f2a91c\n8→https://x.org/d.py", "/canal") == "see /canal/a.py 4f2a91c\n "
    )
    assert found == Mentions(paths={"a.py"})


@pytest.mark.parametrize(
    ("number", "unit", "specific"),
    [
        ("123", "", False),
        ("1234", "", True),
        ("123456789012", "", True),
        ("1234567890123", "", False),
        ("1899", "", True),
        ("1900", "", False),
        ("2099", "", False),
        ("2100", "", True),
        ("5", " ms", False),
        ("12", " ", False),
        ("12", "%", True),
        ("123456789012", "%", True),
        ("1234567890123", "%", False),
        (".5", "", False),
        ("1.5", "", True),
        ("1.23456789012", "", True),
        ("1.234567890123", "", False),
    ],
)
def test_numbers_that_are_specific(number: str, unit: str, specific: bool) -> None:
    assert _is_specific_number(number, unit) is specific


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("abcdef " + "-" * 53 + "7777" + "-" * 54 + " uvwxyz", {"abcdef", "uvwxy"}),
        ("abcdef " + "-" * 54 + "7777" + "-" * 53 + " uvwxyz", {"bcdef", "uvwxyz"}),
        ("kkkk\nmmmm 7777 nnnn\npppp", {"mmmm", "nnnn"}),
        ("mmmm 7777 nnnn", {"mmmm", "nnnn"}),
        ("7777", set()),
    ],
)
def test_words_near_are_on_the_line_within_60_characters(text: str, near: set[str]) -> None:
    match = re.search("7777", text)
    assert match
    assert _words_near(text, match) == near


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a b; c d && e f || g h | i j\nk l", ["a b", "c d", "e f", "g h", "k l"]),
        ("echo 'a; b' \"c && d\" ; x y <<EOF\nzz", ["echo 'a; b' \"c && d\"", "x y"]),
        ("a b | c; d | e", ["a b", "d"]),
        ("a & b X c", ["a & b X c"]),
        ("a <<X <<Y\nb", ["a"]),
        ("a 'x|y' | b", ["a 'x|y'"]),
        ("", [""]),
    ],
)
def test_a_shell_line_has_these_commands(line: str, found: list[str]) -> None:
    assert list(_shell_commands(line)) == found


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("make  x   y >> o", "make x y"),
        ("make x 2>&1", "make x"),
        ("make x 2> out", "make x"),
        ("make x < in", "make x"),
        ("timeout 20 make x", "make x"),
        ("timeout 5s time sudo ( make x )", "make x"),
        ("make sudo x &", "make sudo x"),
    ],
)
def test_a_command_without_redirections_and_wrappers(line: str, plain: str) -> None:
    assert _without_redirections(line) == plain


@pytest.mark.parametrize(
    ("command", "specific"),
    [
        ("make", False),
        ("make x", True),
        ("ls -l", False),
        ("# hi there", False),
        ("- a", False),
        ("$X y", False),
        ("} a", False),
        ("git status", False),
        ("git push", True),
        ("hg status", True),
        ("x " + "y" * 398, True),
        ("x " + "y" * 399, False),
    ],
)
def test_commands_that_are_specific(command: str, specific: bool) -> None:
    assert _is_specific_command(command) is specific


def test_commands_come_from_calls_and_from_fences_and_tags_of_the_agent() -> None:
    fenced = (
        "```bash\nmake a1\n```\n```python\nmake no\n```\n<command>make b2</command><cmd>make c3</cmd><run>make d4</run>"
    )
    calls = (
        call("R", {"command": "make e5", "cmd": "make f6", "commands": ["make", "g7"], "script": "make h8; ls -l"}),
        call(
            "R", {"command": ["bash", "-lc", "make i9"], "cmd": ["sh", "-c", "make k10"], "commands": [], "script": 3}
        ),
        call("R", {"command": ["make", 4], "commands": [], "other": "make no"}),
        call("R", "make no"),
    )
    found = {"a1", "b2", "c3", "e5", "f6", "g7", "h8", "i9", "k10"}
    assert commands(agent(fenced, *calls)) == {f"make {one}" for one in found}
    assert commands(user(fenced)) == set()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a<x>" + "b" * 400 + "</x>c", "a c"),
        ("a<x>" + "b" * 399 + "</x>c", "a<x>" + "b" * 399 + "</x>c"),
        ("<x>" + "b" * 400, "<x>" + "b" * 400),
        ("1<x>" + "b" * 400 + "</x>2<y>" + "c" * 400 + "</y>3", "1 2 3"),
    ],
)
def test_tags_from_400_characters_are_left_out(text: str, kept: str) -> None:
    assert _without_long_tags(text) == kept


def test_tags_that_are_accepted_do_not_nest() -> None:
    text = "<c><a>12</a><b><a>3</a></b><c>"
    assert list(_tag_spans(text, lambda name, size: True)) == [(3, 6, 8, 12), (12, 15, 23, 27)]
    assert list(_tag_spans(text, lambda name, size: (name, size) == ("a", 1))) == [(15, 18, 19, 23)]


def test_texts_of_a_message() -> None:
    given = {"path": "a.py", "offset": 40, "note": 40, "limit": "x", "deep": None, "all": True, "content": "b" * 11}
    used = call("Write", given)
    fence = "```py\n" + "c" * 400 + "\n```"
    told = agent(f"said {fence} on", used)
    message = Message("a", "assistant", (Thinking("thought"), Thinking(""), *told.blocks))
    assert list(texts(message)) == ["thought", f"said {fence} on", "a.py", "40", "40", "x", "b" * 11]
    assert list(texts(message, longest=10)) == ["said   on", "a.py", "40", "x"]
    assert list(texts(message, longest=11)) == ["said   on", "a.py", "40", "x", "b" * 11]
    assert list(texts(result(used, "done"), longest=1)) == ["done"]


@pytest.mark.parametrize(
    ("path", "folder", "plain"),
    [
        ("/canal/a.py", "/canal", "a.py"),
        ("/canals/a.py", "/canal", "/canals/a.py"),
        ("/a.py", "", "/a.py"),
        ("././a.py", "/canal", "a.py"),
    ],
)
def test_a_path_without_the_projects_folder(path: str, folder: str, plain: str) -> None:
    assert plain_path(path, folder) == plain
    assert file_name(path) == file_name("a.py") == "a.py"


def test_sentences_and_their_words() -> None:
    assert sentences(" The weir opens. The sluice follows; it closes!\n\nOK. 水门。") == [
        ("The weir opens.", {"weir", "opens"}),
        ("The sluice follows;", {"sluice", "follow"}),
        ("it closes!", {"closes"}),
        ("水门", {"水门"}),
    ]
    assert words_of("This weir_gate, 12cm with WEIRS and ice") == {"weir", "gate", "weirs"}
