"""Search, jump, filter and sort, without a terminal."""

from __future__ import annotations

from functools import partial

import pytest

from tests.tui.app import story
from tests.tui.bench.desk import Desk
from workbench.base.errors import BadInput
from workbench.bench import open_bench, steps
from workbench.compaction.outcome import Fate
from workbench.tokens import Counter
from workbench.tui.bench import finding
from workbench.tui.bench.finding import place_of
from workbench.tui.bench.host import take_step
from workbench.tui.filters import Filter, about, as_words, read


def searched(text: str, at: tuple[int, bool] = (0, True), by_size: bool = False) -> Desk:
    desk = Desk(story())
    desk.at = at
    if by_size:
        desk.do("sort")
        desk.rest()
    desk.do("find")
    finding.search_typed(desk, text)
    desk.rest()
    finding.accept_line(desk, "search", text)
    return desk


def only(desk: Desk, chosen: Filter) -> None:
    desk.do("filter")
    desk.rest()
    screen, then = desk.asked.pop()
    then(screen.read(as_words(chosen)))
    desk.rest()


@pytest.mark.parametrize(
    ("text", "at", "found", "words"),
    [
        ("PART 1: the check", (8, True), 15, "PART 1: the check: 1 of 1 message"),
        ("/done with part [0-9]/", (16, True), 23, "/done with part [0-9]/: 3 of 4 messages"),
        ("token", (8, False), 8, "token: 5 of 14 messages"),
        ("token", (31, False), 0, "token: 1 of 14 messages"),
        ("[/red]nowhere", (5, False), 5, "[/red]nowhere: not found"),
        ("", (5, False), 5, ""),
    ],
)
def test_a_search_goes_to_the_first_hit_from_where_it_began(
    text: str, at: tuple[int, bool], found: int, words: str
) -> None:
    desk = searched(text, at)
    assert (desk.at[0], desk.view.finding.words) == (found, words)


def test_what_is_no_regular_expression_is_said() -> None:
    desk = searched("/(/", (5, False))
    assert desk.at == (5, False)
    assert desk.view.finding.words.startswith("✘ /(/ is not a valid regular expression")


def test_from_hit_to_hit_and_round_the_end() -> None:
    desk = searched("/done with part [0-9]/", (16, True))
    seen = []
    for way in (1, 1, 1, -1, -1):
        desk.do(f"find-next.{way}")
        seen.append(desk.at[0])
    assert seen == [31, 7, 15, 7, 31]
    desk.at = (8, True)
    desk.do("find-next.-1")
    assert desk.at[0] == 7


def test_hits_go_in_the_order_of_the_list() -> None:
    desk = searched("export const", by_size=True)
    made = desk.view.finding.arrangement
    assert made is not None
    listed = [index for index in made.members if index % 8 in (2, 4, 6)]
    seen = []
    for _ in range(13):
        seen.append(desk.at[0])
        desk.do("find-next.1")
    start = listed.index(seen[0])
    assert seen == [*listed[start:], *listed[:start], seen[0]]
    assert desk.view.finding.words == f"export const: {start + 2} of 12 messages · largest first (z by time)"


def test_a_search_that_is_given_up_leads_back() -> None:
    desk = Desk(story())
    desk.at = (3, False)
    desk.do("find")
    finding.search_typed(desk, "CI fail")
    desk.rest()
    assert desk.at == (16, False)
    finding.cancel_line(desk, "search")
    assert (desk.at, desk.view.finding.words, desk.view.finding.search_query) == ((3, False), "", None)


@pytest.mark.parametrize(
    ("typed", "place"),
    [("1", (0, False)), ("#32", (31, False)), (" 1 5 ", (14, False)), ("r1", (0, True)), ("R4", (24, True))],
)
def test_a_place_is_a_message_or_a_round(typed: str, place: tuple[int, bool]) -> None:
    assert place_of(open_bench(story(), Counter()), typed) == place


@pytest.mark.parametrize("typed", ["0", "33", "-1", "r0", "r5", "x", "1.5", "²", "9" * 12])
def test_what_is_no_place_is_refused(typed: str) -> None:
    with pytest.raises(BadInput, match=r"type the number of a (message|round) from 1 to (32|4)"):
        place_of(open_bench(story(), Counter()), typed)


def test_a_filter_hides_the_rest_and_is_taken_off_again() -> None:
    desk = Desk(story())
    only(desk, Filter(role="result"))
    assert desk.view.finding.words == "only result: 12 shown, 20 hidden (esc shows all)"
    desk.do("jump")
    finding.accept_line(desk, "jump", "1")
    assert desk.toasts == ["Message 1 is hidden by the filter; esc shows all."]
    finding.clear(desk)
    assert (desk.view.finding.arrangement, desk.view.finding.words) == (None, "")


def test_hits_that_the_filter_hides_are_counted_and_not_gone_to() -> None:
    desk = searched("token")
    only(desk, Filter(errors=True))
    assert desk.view.finding.words == (
        "token: not found (14 more hidden by the filter) · only errors: 0 shown, 32 hidden (esc shows all)"
    )
    desk.do("find-next.1")
    assert desk.toasts == ["No listed message matches the search."]
    still = []
    for _ in range(2):
        finding.clear(desk)
        still.append(desk.view.finding.is_on)
    assert still == [True, False], "first the search, then the filter"


@pytest.mark.parametrize("chosen", [Filter(pinned=True), Filter(fate=Fate.PINNED)])
def test_a_filter_follows_the_plan(chosen: Filter) -> None:
    desk = Desk(story())
    only(desk, chosen)
    assert "0 shown, 32 hidden" in desk.view.finding.words
    take_step(desk, partial(steps.toggle_pin, id="m3"))
    desk.rest()
    assert "2 shown, 30 hidden" in desk.view.finding.words


TOOLS = ("Read", "mcp tool", "mcp other", "user")


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        ("", Filter()),
        ("result errors Pinned >2k", Filter(role="result", errors=True, pinned=True, larger_than=2_000)),
        ("summarized read", Filter(fate=Fate.SUMMARIZED, tool="Read")),
        ("mcptool", Filter(tool="mcp tool")),
        ("user", Filter(role="user")),
    ],
)
def test_a_filter_is_read_as_it_is_written(typed: str, chosen: Filter) -> None:
    assert read(typed, TOOLS) == chosen
    assert read(as_words(chosen), TOOLS) == chosen


def test_a_tool_named_like_another_word_of_a_filter_has_a_word_of_its_own() -> None:
    tools = ("user", "Errors", "tool:x", "Read")
    for name in tools:
        assert read(as_words(Filter(tool=name)), tools) == Filter(tool=name)
    assert read("tool:user user", tools) == Filter(role="user", tool="user")
    assert "tool:user (3), Read (1)" in about([("user", 3), ("Read", 1)])


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("mcp", "'mcp' begins several tools, type more of it: mcptool, mcpother"),
        ("nothing", "'nothing' is no role, fate or tool here."),
        (">many", "A size is > and a whole number of tokens, as >2000 or >2k."),
        (">1234567890123", "A size is > and a whole number of tokens, as >2000 or >2k."),
    ],
)
def test_a_word_that_is_no_filter_says_what_would_be_one(typed: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(typed, TOOLS)
    assert str(refused.value) == why


def test_the_tools_of_a_filter_are_named_as_they_are_typed_and_the_rest_counted() -> None:
    many = [(f"tool {n}", 20 - n) for n in range(12)]
    assert about(many).split("tool   ")[1].startswith("tool0 (20), tool1 (19)")
    assert "tool9 (11), 2 more by their beginning\n" in about(many)
