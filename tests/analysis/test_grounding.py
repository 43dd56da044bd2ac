"""Unsupported claims of a summary, with few false alarms."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.facts.talk import agent, call, edited, ran, result, user
from workbench.analysis.grounding import SummaryChecker, claims_in
from workbench.analysis.head_index import HeadIndex, stems
from workbench.compaction.summary_request import Summary, SummaryRequest, TextBody
from workbench.conformance.drawn import conversations
from workbench.formats.files import load
from workbench.session import Message, Opaque
from workbench.summarizers.extractive import extractive

WRITE = call("Write", {"file_path": "/repo/src/parse.py", "content": "def parse_tree(text):\n    return walk(text)\n"})
HEAD: tuple[Message, ...] = (
    user("Please fix the parser in src/parse.py. Never touch the lexer without asking me, it is fragile!"),
    agent("I will look at it. The limit is 1,536 tokens and the timeout 2.5 s."),
    *ran("cd /repo && pytest -q tests/test_parse.py 2>&1 | tail -5", "E   ValueError: bad token\n3 failed, 41 passed"),
    agent("", WRITE),
    result(WRITE, "The file has been written."),
    *ran("cd /repo && pytest -q tests/test_parse.py", "44 passed in 120ms"),
    *edited("/repo/src/walk.py"),
    user("好的。以后请不要修改词法分析器，除非先问我。"),
    agent("Done: `parse_tree` now calls `walk`. See #172 and commit 4f2a91c. It **really** is fixed."),
)
GROUND = SummaryChecker(HEAD)


def missing(summary: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in GROUND.check(summary).unsupported]


@pytest.mark.parametrize(
    "true",
    [
        "I changed `src/parse.py` and /repo/src/walk.py.",
        "See `parse_tree`, parse_tree() and `walk`.",
        "I ran `pytest -q tests/test_parse.py` twice; 44 passed in 120 ms.",
        "I ran `cd /repo && pytest -q tests/test_…`.",
        "The limit is 1536 tokens (1,536) and the timeout 2.5 s.",
        "Fixed #172 in 4f2a91c.",
        "The user said: “Never touch the lexer without asking me”.",
        "The user asked me to fix the parser and never touch the lexer.",
        'The agent said "it really is fixed", and "Please fix … the lexer".',
        "用户要求不要修改词法分析器。",
        "他说「以后请不要修改词法分析器」。",
        "The error was `ValueError: bad token`.",
        "1. First\n2. Second\n13. Thirteenth, … and 27 more, ran 14 times, ×31.",
        "Read and/or write; the CI/CD of GitHub, in TypeScript (see https://example.org/x/y.py).",
        "# What the user asked next, and what I answered",
        '```\nfoo(99999, "three words here")\n```',
        "",
    ],
)
def test_claims_in_the_head_are_not_flagged(true: str) -> None:
    assert missing(true) == []


@pytest.mark.parametrize(
    ("false", "kind", "text"),
    [
        ("I changed `src/lexer.py`.", "path", "src/lexer.py"),
        ("I changed /repo/lib/parse.py.", "path", "/repo/lib/parse.py"),
        ("It is in src/parse.go now.", "path", "src/parse.go"),
        ("See `parse_trees`.", "identifier", "parse_trees"),
        ("It calls walkAll first.", "identifier", "walkAll"),
        ("Fixed in 4f2a91d.", "identifier", "4f2a91d"),
        ("I ran `pytest -q tests/test_walk.py`.", "command", "pytest -q tests/test_walk.py"),
        ("I ran `git push --force`.", "command", "git push --force"),
        ("The limit is 1,537 tokens.", "number", "1,537"),
        ("It took 36 tokens.", "number", "36"),
        ("The timeout is 7 s.", "number", "7"),
        ("“Always touch the lexer without asking me”", "quotation", "Always touch the lexer without asking me"),
        ('He wrote "never touch the parser again".', "quotation", "never touch the parser again"),
        ("The user said to deploy on Fridays only.", "attribution", "to deploy on Fridays only"),
        ("The user explicitly wants a migration to PostgreSQL.", "attribution", "a migration to PostgreSQL"),
        ("用户要求部署到生产环境。", "attribution", "部署到生产环境"),
    ],
)
def test_claims_not_in_the_head_are_flagged_with_their_position(false: str, kind: str, text: str) -> None:
    (one,) = GROUND.check(false).unsupported
    assert (one.kind, one.text) == (kind, text)
    assert text in false[one.start : one.stop]
    if kind != "attribution":
        assert false[one.start : one.stop] == text


def test_statements_of_the_agent_are_not_the_users() -> None:
    assert missing("The timeout is 2.5 s and the limit 1,536 tokens.") == []
    assert [kind for kind, _ in missing("The user specified the timeout and the token limit.")] == ["attribution"]


def test_a_path_may_be_joined_from_a_folder_and_a_path_within() -> None:
    ground = SummaryChecker([user("work in /home/me/project please"), *ran("cat docs/notes/plan.md", "…")])
    assert ground.check("I read /home/me/project/docs/notes/plan.md.").unsupported == ()
    assert len(ground.check("I read /home/you/project/docs/notes/plan.md.").unsupported) == 1
    for path, there in (
        ("~/my/shop/docs/plan.md", True),
        ("C:\\shop\\deep\\docs\\plan.md", True),
        ("shop/deep/docs/plan.md", False),
        ("/shop/docs/plan.md", False),
    ):
        ground = SummaryChecker(
            [user("in ~/my/shop and C:\\shop\\deep and shop/deep and /shops"), *ran("cat docs/plan.md", "…")]
        )
        assert (ground.check(f"I read `{path}`.").unsupported == ()) is there, path


@pytest.mark.parametrize(
    ("number", "head", "there"),
    [
        ("1,536", "1536", True),
        ("1536", "1,536", True),
        ("1536", "1_536", True),
        ("1536", "1 536", True),
        ("12,345.5", "12345.5", True),
        ("12345.5", "12,345.5", True),
        ("12345.5", "12,345.6", False),
        ("1_536", "1536", True),
        ("536", "1_537", False),
        ("9" * 5_000, "9" * 5_000, True),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_number_may_be_spelt_otherwise(number: str, head: str, there: bool) -> None:
    assert (
        SummaryChecker([user(f"It is {head} of them.")]).check(f"About {number} of them.").unsupported == ()
    ) is there


@given(conversations(), st.text(max_size=400))
def test_any_text_can_be_checked_against_any_head(head: tuple[Message, ...], summary: str) -> None:
    got = SummaryChecker(head).check(summary)
    for one in got.unsupported:
        assert 0 <= one.start < one.stop <= len(summary)
    assert got.claims >= len(got.unsupported)
    starts = [one.start for one in got.unsupported]
    assert starts == sorted(starts)


@given(conversations())
def test_a_heads_own_words_are_founded(head: tuple[Message, ...]) -> None:
    texts = [message.text for message in head if message.starts_round]
    quoted = "\n".join(f"“{' '.join(text.split())}”" for text in texts if not {"“", "”", "…"} & set(text))
    unfounded = SummaryChecker(head).check(quoted).unsupported
    assert [one for one in unfounded if one.kind == "quotation" and "..." not in one.text and "[" not in one.text] == []


@pytest.mark.parametrize(
    ("summary", "claims"),
    [
        ("I ran `$ git push --force`, then `--`.", ["command git push --force"]),
        ("`CI=1 ./run all`, `x == 1`, `a = b`, `run`", ["command CI=1 ./run all", "identifier run"]),
        ("`ab`, `abc` and `call()`; see `GitHub`.", ["identifier abc", "identifier call"]),
        ("```\n`first`\n```\nand `second`", ["identifier second"]),
        ('"one two three", "one twos"', ["quotation one two three"]),
        ("「六个字的引用」和「五个字啊啊」", ["quotation 六个字的引用"]),
        ('`say "one two three" now`', ['command say "one two three" now']),
        ('`abc`"one two three"', ["identifier abc", "quotation one two three"]),
        ("See src/a_b/c.py. And src/x_y/z… more", ["path src/a_b/c.py", "path src/x_y/z…"]),
        ("on /1/22, and/or/so, a_b/so", []),
        ("~/notes/plan ./plan C:\\work\\plan", ["path ~/notes/plan", "path ./plan", "path C:\\work\\plan"]),
        ("one/two/ one/two a_b/c/d a_b/c", ["path one/two/", "path a_b/c/d"]),
        ("99) first\n [98] second, 97) third: 96", ["number 97", "number 96"]),
        ("14-day 15 s 16ms 17x 18", ["number 15", "number 16", "number 18"]),
        ("12, 13 and 30 more, 31 个", ["number 13"]),
        ("# The user said one.\nThe user said two. Three", ["attribution two"]),
        ("\n# The user wants one.", []),
        ("The user said two.\n# Three", ["attribution two"]),
        ('The user said "use tabs", which I like.', ["attribution use tabs"]),
        ('The user said "use tabs and so on.', ['attribution "use tabs and so on']),
    ],
)
def test_claims_of_a_summary(summary: str, claims: list[str]) -> None:
    assert [f"{claim.kind} {claim.subject}" for claim in claims_in(summary)] == claims


FENCED = "Look:\n```\nnothing here\n```\nAnd then <note>not mine</note> so on."
INDEX = HeadIndex(
    [
        user("two\n  words in /Repo/src/Parse.py, ~/x\\y and 1,024 at 120ms; v7 is it"),
        agent("", call("Run", {"timeout": 4_321, "deep": [{"key_word": None, "flag": True}]})),
        user(FENCED),
        replace(user(""), blocks=(Opaque("odd", {"kept": "opaque matter"}),)),
        replace(user("a boundary's words"), kind="boundary"),
    ]
)


def test_lookups_in_the_head() -> None:
    for text in ("two words", "wo words in…", "two … at 120ms", "opaque matter", "Run", "key_word", "True"):
        assert INDEX.has(text) is (text != "wo words in…"), text
    assert INDEX.has("…wo words in")
    assert not INDEX.has("words two")
    assert not INDEX.has("a boundary's words")
    paths = "/Repo/src/Parse.py", "src/Parse.py", "./src//Parse.py", "src\\Parse.py", "/Repo/src/Par…", "x/y"
    assert [path for path in (*paths, "src/parse.py", "/Repo/src/Par", "rc/Parse.py/x") if INDEX.has_path(path)] == [
        path for path in (*paths, "/Repo/src/Par") if path != "/Repo/src/Par"
    ]
    numbers = ("1,024", "120", "7", "4321", "12", "43")
    assert [number for number in numbers if INDEX.has_number(number)] == ["1,024", "120", "7", "4321"]
    assert [text for text in ("Look, and then", "TWO WORDS", "so on", "and so") if INDEX.says(text)] == [
        "Look, and then", "TWO WORDS", "so on",
    ]  # fmt: skip


def test_words_are_compared_without_their_endings() -> None:
    said = "The parsers' parsing, it’s tries and don't: a need to use caches"
    assert stems(said) == {"parser", "pars", "tr", "dont", "cach"}
    assert stems(said, ("dont",)) == {"parser", "pars", "tr", "cach"}


@given(st.text(max_size=300))
def test_claims_apart_from_attributions_do_not_overlap(summary: str) -> None:
    claims = [claim for claim in claims_in(summary) if claim.kind != "attribution"]
    assert all(first.stop <= second.start for first, second in pairwise(claims))


@pytest.mark.parametrize("piece", ["`", '"', "a/", "1,", "“", "user ", "a_", "'x", "user wants ", "…", "a.b/"])
def test_hostile_text_comes_to_an_end(piece: str) -> None:
    """A pattern that backtracks would take hours over these, and the suite's time limit would stop it."""
    summary = piece * (6_000 // len(piece))
    assert all(0 <= one.start < one.stop <= len(summary) for one in GROUND.check(summary).unsupported)


def test_extracts_of_real_sessions_raise_hardly_an_alarm(shared: Path) -> None:
    """What the extractive summarizer quotes stands in the session, so every alarm is a false one."""
    claims = alarms = 0
    for path in sorted((shared / "sessions" / "claude-code").glob("*.jsonl")):
        session = load(path)
        for epoch in session.epochs:
            head = session.context(epoch.number)
            ground = SummaryChecker(head)
            for language in ("en", "zh"):
                request = SummaryRequest("s", head, "", TextBody(str), language=language, max_chars=8_000)
                extract = extractive(request)
                assert isinstance(extract, Summary)
                got = ground.check(extract.text)
                claims, alarms = claims + got.claims, alarms + len(got.unsupported)
    assert claims > 1_000
    assert alarms <= claims * 0.005
