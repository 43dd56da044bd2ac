"""Rules: which sentences are listed, their states, and the screen on which they are watched, pinned and written."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.widgets import Input, Static

from tests.tui.app import brought, on_bench, press, session_of, settled, story
from workbench.base.secrets import MASK
from workbench.bench import Bench, RuleState, choose_preset, open_bench
from workbench.compaction.preset import load_preset
from workbench.session import Compaction, Epoch, Message, Text, ToolResult, ToolUse
from workbench.tokens import Counter
from workbench.tui.rules import RuleEntry, epochs_of, result_sentences, rule_words, rules_of, sentences_in, states
from workbench.tui.screens.rules import LOOKING, BenchAccess, RulesScreen
from workbench.tui.widgets.rules_list import HEADS, ListedRules, RulesList, rule_cells

RULE = "Never log the token."
SAID = (
    "Please fix the parser. Answer in French.",
    "<Pin>The release is frozen until Monday.</Pin> Now run the tests.",
    "Answer in English from now on.",
    "From now on never touch the generated files. " + "Here is the whole log once more, line by line. " * 300,
)


def talk(said: tuple[str, ...] = SAID) -> list[Message]:
    messages: list[Message] = []
    for number, text in enumerate(said):
        messages += [Message(f"u{number}", "user", (Text(text),)), Message(f"a{number}", "assistant", (Text("Done."),))]
    return messages


def rows(screen: RulesScreen) -> list[str]:
    listed = screen.query_one(RulesList)
    return [listed.line_text(line) for line in range(listed.line_count)]


def said(screen: RulesScreen, id: str = "#note") -> str:
    return str(screen.query_one(id, Static).content).replace("\xa0", " ")


async def test_a_call_that_broke_the_marked_rule_is_named() -> None:
    push = ToolUse("c1", "bash", {"command": "git push --force"})
    done = Message("t0", "tool", (ToolResult("c1", (Text("done"),)),))
    told = [Message("u0", "user", (Text("Never run `git push --force`."),)), Message("a0", "assistant", (push,)), done]
    async with on_bench(session_of([*told, Message("a1", "assistant", (Text("Pushed."),))])) as (pilot, _):
        screen = await brought(pilot, RulesScreen, "home", "W")
        assert "✘ 1 rule broken" in said(screen)
        broken = "message 1 · broken by 1 later call: message 2 of epoch 1 (`git push --force`)"
        assert broken in " ".join(said(screen, "#rule").split())


async def test_rules_are_watched_pinned_and_taken_back() -> None:
    async with on_bench(session_of(talk()), size=(100, 30)) as (pilot, bench):
        screen = await brought(pilot, RulesScreen, "home", "W")
        found = {rule.sentence: rule for rule in screen.rules if rule.is_found}
        assert [rule.index for rule in found.values()] == [0, 2, 4, 6]
        assert [rule.is_suggested for rule in found.values()] == [False, True, True, False], "neither long nor replaced"
        assert rule_words(found["Answer in French."]).endswith("message 1, replaced by message 5")
        counts = re.match(r"Rules  3 rules and (\d+) other sentence", said(screen))
        assert counts, said(screen)
        assert 3 + int(counts[1]) == len(rows(screen)), "the first line counts every row"
        assert bench.bench.retention(bench.bench.offline.outcome).rule_counts[1] == 3, "the bench counts the same rules"
        at = next(line for line, row in enumerate(rows(screen)) if "frozen" in row)
        screen.query_one(RulesList).to_line(at)

        await press(pilot, "space", "p")
        assert len(bench.bench.watched) == 1
        assert bench.bench.pins == {"u1"}
        assert rows(screen)[at].startswith(" ◉●")
        assert "message 3 pinned, +" in said(screen)
        await press(pilot, "a")
        assert bench.bench.pins == {"u1", "u2"}
        await press(pilot, "u", "u")
        assert not bench.bench.pins
        assert screen.check_action("undo", ()) is None, "only pins that were set here are taken back here"
        await press(pilot, "space", "enter")
        assert bench.bench.watched == ()
        assert (pilot.app.screen, bench.cursor.index) == (bench, 2)


async def test_words_filter_the_list_and_a_sentence_is_ones_own() -> None:
    """Whoever looked for a rule had its words watched, which stood nowhere by themselves."""
    async with on_bench(story(), size=(80, 30)) as (pilot, screen):
        front = await brought(pilot, RulesScreen, "home", "W", "slash")
        front.query_one(Input).value = "…"
        await press(pilot, "enter")
        assert "no word to watch" in said(front)
        all_watched: list[str] = []
        for typed, watched in (("log the", RULE), ("Log the token.", "Log the token."), ("pnpm", "pnpm")):
            front.query_one(Input).value = typed
            await press(pilot, "enter")
            all_watched.append(watched)
            assert screen.bench.watched == (*all_watched,)
            assert [row[:2] for row in rows(front)[: len(all_watched)]] == [" ◉"] * len(all_watched), "listed first"
            assert isinstance(front.focused, RulesList)
            await press(pilot, "slash")
        await press(pilot, *"CI", "escape")
        assert pilot.app.screen is front
        await press(pilot, "q")
        assert pilot.app.screen is screen


async def test_a_state_is_known_for_every_rule_and_the_epochs_of_the_one_at_hand() -> None:
    told = story(6).messages
    more = (
        Message("s", "user", (Text("Some work was done."),), kind="summary", time=told[-1].time),
        Message("n", "user", (Text(f"Look again. {RULE}"),)),
    )
    ended = Epoch(1, range(len(told)), ended_by=Compaction(trigger="auto", tokens_before=9_000, summary="s"))
    epochs = (ended, Epoch(2, range(len(told), len(told) + 2)))
    session = replace(session_of((*told, *more)), epochs=epochs)
    bench = choose_preset(open_bench(session, Counter(), epoch=1), load_preset("trim"))
    (one,) = states(bench, [RULE], again=True)
    assert (one.now, one.after) == ("verbatim", "verbatim")
    assert [(passed.at, passed.before, passed.after) for passed in epochs_of(bench, RULE)] == [(1, "verbatim", "gone")]
    assert epochs_of(open_bench(story(), Counter()), RULE) == ()
    async with on_bench(session, preset="trim", epoch=1, size=(120, 40)) as (pilot, _):
        screen = await brought(pilot, RulesScreen, "home", "W")
        assert "recorded compactions: epoch 1 ✔ → ○" in said(screen, "#rule")
        assert all(screen.states[rule.sentence] for rule in screen.rules)


def test_a_state_without_a_run_is_the_present_one() -> None:
    empty: Bench = open_bench(session_of([]), Counter())
    assert states(empty, [RULE]) == [RuleState(RULE, "gone", "gone")]


async def test_while_rules_are_looked_for_the_list_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    found = threading.Event()
    monkeypatch.setattr("workbench.tui.screens.rules.rules_of", lambda bench, index: () if found.wait() else None)
    async with on_bench(story(1, 1), size=(80, 24)) as (pilot, _):
        empty = open_bench(session_of([]), Counter())
        screen = RulesScreen(BenchAccess(lambda: empty, lambda sentence: (), lambda make, said: None, lambda: None))
        await pilot.app.push_screen(screen)
        while_looking = screen.query_one(RulesList).empty
        found.set()
        await settled(pilot)
        assert while_looking == LOOKING
        assert screen.query_one(RulesList).empty == RulesList.EMPTY
        assert said(screen).startswith("Rules  0 rules\n")


@pytest.mark.parametrize("width", [40, 78, 98, 138, 198])
def test_a_line_fills_its_width_and_names_the_kind_where_there_is_room(width: int) -> None:
    rule = RuleEntry(
        "Don't rename anything, the URLs are printed on the paper catalogue.", "a prohibition", 182, 12_345
    )
    shown = ListedRules(
        [rule], frozenset([rule.sentence]), frozenset(), {rule.sentence: RuleState(rule.sentence, "verbatim")}
    )
    line = "".join(text for text, _ in rule_cells(rule, shown, width))
    assert cell_len(line) <= max(width, 47)
    assert ("a prohibition" in line) is (width >= 78)
    assert line.index("183") + 3 == HEADS.index("message") + len("message")
    assert line.index("+12") == HEADS.index("pin tokens") + len("pin tokens") - len("+12 345")


PASTED = 'It is swallowed, with the "best\n  effort" comment, but this hides it.'


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        (PASTED, (" ".join(PASTED.split()),)),
        ("Got this feedback:\nLog no token. It ends (so to say", ("Log no token.",)),
        ("```\nwe never log here.\n```\nLog no token.", ("Log no token.",)),
        ("日志里不要写令牌。", ("日志里不要写令牌。",)),
        ("868→", ()),
    ],
)
def test_what_is_offered_are_whole_sentences_and_no_code(text: str, offered: tuple[str, ...]) -> None:
    assert sentences_in(Message("m", "user", (Text(text),))) == offered


def test_of_a_tools_result_only_what_ends_as_a_sentence_is_offered() -> None:
    read = ToolResult("c", (Text("12 rows of the table\nThe token is never logged.\n13 rows of the table"),))
    assert result_sentences(Message("m", "tool", (read,))) == ("The token is never logged.",)
    assert sentences_in(Message("m", "tool", (read,))) == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [("Never log the token.", "a prohibition, message 1"), ("add a small test", "a request, message 1")],
)
def test_what_a_tool_gives_is_offered_after_what_the_user_said(asked: str, words: str) -> None:
    """A tool's "Here are the results from executing the command." was watched by W and enter on an opened session."""
    call = Message("a", "assistant", (ToolUse("c", "run", {}),))
    gave = Message("t", "tool", (ToolResult("c", (Text("Here are the results from the command."),)),))
    bench = open_bench(session_of([Message("u", "user", (Text(asked),)), call, gave]), Counter())
    assert [(one.sentence, rule_words(one)) for one in rules_of(bench, 2)] == [
        (asked, words),
        ("Here are the results from the command.", "from a tool, message 3"),
    ]


def test_where_there_is_no_rule_the_beginnings_of_what_was_asked_are_offered_the_newest_first() -> None:
    asked = ("add a small test", "why is it red?")
    session = session_of([Message(f"m{at}", "user", (Text(text),)) for at, text in enumerate(asked)])
    offered = [(one.sentence, rule_words(one)) for one in rules_of(open_bench(session, Counter()), 5)]
    assert offered == [("why is it red?", "a request, message 2"), ("add a small test", "a request, message 1")]


def test_what_the_user_asked_stands_before_what_an_agent_says_and_what_they_hand_over() -> None:
    """A review that was handed over, and an agent's report, stood before every request."""
    review = "got this feedback:\n\nThe sum of the lines is wrong. It ignores what was removed."
    said = ("The sums look odd to me. Can you check them again?", "add a small test", review)
    session = session_of(
        [
            *(Message(f"u{at}", "user", (Text(text),)) for at, text in enumerate(said)),
            Message("a", "assistant", (Text("The sums are right now."),)),
        ]
    )
    bench = open_bench(session, Counter())
    asked = [("add a small test", "a request, message 2"), ("Can you check them again?", "a request, message 1")]
    wrong = ("The sum of the lines is wrong.", "a request, message 3")
    rest = "It ignores what was removed."
    offers = {at: [(one.sentence, rule_words(one)) for one in rules_of(bench, at)] for at in (0, 2, 3)}
    assert offers == {
        0: [("The sums look odd to me.", "message 1"), ("Can you check them again?", "message 1"), asked[0], wrong],
        2: [*asked, wrong, (rest, "message 3")],
        3: [*asked, wrong, ("The sums are right now.", "message 4")],
    }


@pytest.mark.parametrize(
    ("index", "kind"), [(0, "message 1"), (2, "a request, message 1"), (1, "from a tool, message 2")]
)
def test_a_sentence_that_is_offered_has_no_secret(index: int, kind: str) -> None:
    """One that is watched later is kept by its words, and found again with or without the secret."""
    said = "Please connect with DB_PASSWORD=brass-Heron-77 now."
    given = "Then it failed with DB_PASSWORD=brass-Heron-77 again."
    gave = Message("t", "tool", (ToolResult("c", (Text(given),)),))
    talk = [Message("u", "user", (Text(said),)), gave, Message("a", "assistant", (Text("Yes."),))]
    offered = [one for one in rules_of(open_bench(session_of(talk), Counter()), index) if rule_words(one) == kind]
    assert [one.sentence for one in offered] == [(given if index == 1 else said).replace("brass-Heron-77", MASK)]
