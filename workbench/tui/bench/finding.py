"""Search, jump, filter and sort. Results are in the view; the list and the line below draw them."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Literal

from workbench.analysis.search import hits, query_of
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.tui import filters
from workbench.tui.bench.host import Cursor, Host
from workbench.tui.bench.store import BenchView, SearchState, other_fates
from workbench.tui.filters import Filter, matching, tools_of
from workbench.tui.plain import figure, one_line, several
from workbench.tui.rows import Arrangement, Groups, arrange
from workbench.tui.screens.ask import AskScreen, LineAnswer

TYPED_S = 0.1
"""Time that typing rests before the search begins."""


def _put(host: Host, finding: SearchState) -> None:
    host.store.put(replace(host.store.view, finding=finding))


def show_words(host: Host) -> None:
    """Show search, filter and order, and the number of the hit under the cursor."""
    view = host.store.view
    _put(host, replace(view.finding, words=words_of(view.finding, view.groups, host.cursor)))


def words_of(finding: SearchState, groups: Groups, cursor: Cursor) -> str:
    parts = []
    if finding.refused:
        parts.append(f"✘ {finding.refused}")
    elif finding.search_query:
        parts.append(_count(finding, groups, cursor))
    listed = finding.arrangement
    if finding.narrowing and listed is not None:
        shown = f"{figure(len(listed.members))} shown, {figure(listed.hidden)} hidden"
        parts.append(f"only {finding.narrowing}: {shown} (esc shows all)")
    if finding.by_size:
        parts.append("largest first (z by time)")
    return " · ".join(parts)


def _count(finding: SearchState, groups: Groups, cursor: Cursor) -> str:
    found = finding.listed
    what = one_line(finding.search_query.text, 40) if finding.search_query else ""
    out_of = several(len(found), "message")
    hidden = len(finding.hits) - len(found)
    aside = f" ({figure(hidden)} more hidden by the filter)" if hidden else ""
    if found and not cursor.on_header:
        here = bisect_left(finding.ranks, rank(finding, groups, cursor.index, False))
        if here < len(found) and found[here] == cursor.index:
            return f"{what}: {figure(here + 1)} of {out_of}{aside}"
    return f"{what}: in {out_of}{aside}" if found else f"{what}: not found{aside}"


# --- the list ---------------------------------------------------------------------------------------------------------


def search_again(host: Host, was: BenchView | None, now: BenchView) -> None:
    """Search and filter again after another plan or context is drawn."""
    if was is None or not other_fates(was, now):
        return
    finding, messages = now.finding, now.shown.layout.messages
    if was.shown.layout.messages is not messages:
        _put(host, replace(finding, hits=(), listed=(), ranks=()))
        if finding.search_query:
            host.spawn("find", search, host, finding.search_query.text, settle=0)
    _rearrange(host)


def _rearrange(host: Host) -> None:
    """List the messages that meet the filter, in the chosen order; without a filter at once."""
    finding = host.store.view.finding
    if finding.narrowing or finding.by_size:
        host.spawn("arrange", relist, host)
    else:
        host.cancel("arrange")
        if finding.arrangement is not None:
            _list(host, None)


async def relist(host: Host) -> None:
    """Arrange the list in a thread."""
    view = host.store.view
    bench, groups, chosen, by_size = view.shown, view.groups, view.finding.narrowing, view.finding.by_size

    def make() -> Arrangement:
        shown = matching(chosen, bench.layout, bench.outcome, bench.pins) if chosen else None
        return arrange(groups, shown, by_size=by_size)

    arrangement = await asyncio.to_thread(make)
    if groups.layout.messages is host.store.view.shown.layout.messages:
        _list(host, arrangement)


def _list(host: Host, arrangement: Arrangement | None) -> None:
    _put(host, with_listed(replace(host.store.view.finding, arrangement=arrangement)))
    show_words(host)


def with_listed(finding: SearchState) -> SearchState:
    """State with the hits that are listed, in the list's order."""
    listed = finding.arrangement
    if listed is None or not finding.hits:
        return replace(finding, listed=finding.hits, ranks=finding.hits)
    among = frozenset(finding.hits)
    ranks = array("q", (rank for rank, index in enumerate(listed.members) if index in among))
    return replace(finding, ranks=ranks, listed=array("q", (listed.members[rank] for rank in ranks)))


def rank(finding: SearchState, groups: Groups, index: int, header: bool) -> int:
    """Number of messages listed before this one, with every round open; 0 if it is not listed."""
    listed, group = finding.arrangement, groups.group_of(index)
    if listed is None:
        return index
    if header and group in listed.place:
        return listed.starts[listed.place[group]]
    return listed.members.index(index) if index in listed.members else 0


# --- search -----------------------------------------------------------------------------------------------------------


def find(host: Host) -> None:
    finding = _from_here(host)
    host.ask_line("search", finding.search_query.text if finding.search_query else "")


def _from_here(host: Host) -> SearchState:
    cursor = host.cursor
    finding = replace(host.store.view.finding, origin=(cursor.index, cursor.on_header))
    _put(host, finding)
    return finding


def search_typed(host: Host, text: str) -> None:
    host.spawn("find", search, host, text, settle=TYPED_S, go=True)


async def search(host: Host, text: str, *, settle: float, go: bool = False) -> None:
    """Search in a thread. With `go` the cursor goes to the first hit from where the search began."""
    await asyncio.sleep(settle)
    messages = host.store.view.shown.layout.messages
    found: Sequence[int] = ()
    query, refused, given_up = None, "", Event()
    try:
        if text:
            query = query_of(text)
            found = await asyncio.to_thread(hits, messages, query, given_up.is_set)
    except BadInput as error:
        query, refused = None, str(error)
    finally:
        given_up.set()
    view = host.store.view
    if messages is not view.shown.layout.messages:
        return
    finding = replace(view.finding, search_query=query, refused=refused, hits=found)
    finding = with_listed(finding)
    _put(host, finding)
    if go:
        index, header = next_hit(finding, view.groups, *finding.origin, 1, here=True) or finding.origin
        host.go(index, header=header)
    show_words(host)


def no_hit(view: BenchView) -> str:
    if not view.finding.search_query:
        return "No search yet: / searches."
    return "" if view.finding.listed else "No listed message matches the search."


def find_next(host: Host, direction: int) -> None:
    view, cursor = host.store.view, host.cursor
    if place := next_hit(view.finding, view.groups, cursor.index, cursor.on_header, direction):
        host.go(place[0], header=place[1])
        show_words(host)


def next_hit(
    finding: SearchState, groups: Groups, index: int, header: bool, direction: int, *, here: bool = False
) -> tuple[int, bool] | None:
    """Index of the next hit in the list's order, wrapping round the end, and False: a hit is a message, never a header.
    None without hits. `here` allows the place itself."""
    if not finding.listed:
        return None
    place = rank(finding, groups, index, header)
    after = bisect_right if direction > 0 and not (header or here) else bisect_left
    at = after(finding.ranks, place)
    return finding.listed[(at if direction > 0 else at - 1) % len(finding.listed)], False


def accept_line(host: Host, job: Literal["search", "jump"], text: str) -> None:
    """Accept the text of the line."""
    if job == "jump" and text.strip() and not _jump(host, text):
        return
    host.close_line()
    show_words(host)


def cancel_line(host: Host, job: Literal["search", "jump"]) -> None:
    host.close_line()
    if job == "search":
        index, header = host.store.view.finding.origin
        _forget_search(host)
        host.go(index, header=header)
    show_words(host)


def clear(host: Host) -> None:
    """Clear the search; without one, the filter."""
    if host.store.view.finding.search_query:
        _forget_search(host)
        show_words(host)
    else:
        _show_only(host, Filter())


def _forget_search(host: Host) -> None:
    host.cancel("find")
    _put(host, replace(host.store.view.finding, search_query=None, refused="", hits=(), listed=(), ranks=()))


# --- jump -------------------------------------------------------------------------------------------------------------


def jump(host: Host) -> None:
    _from_here(host)
    host.ask_line("jump")


def place_of(bench: Bench, typed: str) -> tuple[int, bool]:
    """Index and header flag of a typed place: a message `15` or `#15`, or a round `r12`. Raises BadInput if there is no
    such place."""
    text = typed.strip().lower().lstrip("#").replace(" ", "")
    by_round = text.startswith("r")
    number = text.removeprefix("r")
    many = len(bench.layout.shape.rounds.rounds) if by_round else len(bench.messages)
    if not (number.isascii() and number.isdecimal() and len(number) < 12 and 1 <= int(number) <= many):
        raise BadInput(f"type the number of a {'round' if by_round else 'message'} from 1 to {figure(many)}")
    return (bench.layout.shape.rounds.rounds[int(number) - 1].start, True) if by_round else (int(number) - 1, False)


def _jump(host: Host, typed: str) -> bool:
    """Go to a typed place; if there is none, say why and return False."""
    try:
        index, header = place_of(host.store.bench, typed)
    except BadInput as refused:
        _put(host, replace(host.store.view.finding, words=f"✘ {refused}"))
        return False
    if header:
        host.go(index, header=True)
    else:
        go_to(host, index)
    return True


def go_to(host: Host, index: int) -> None:
    """Put the cursor on a message of this epoch."""
    if not host.go(index):
        host.show_toast(f"Message {figure(index + 1)} is hidden by the filter; esc shows all.", is_warning=True)


# --- filter and order -------------------------------------------------------------------------------------------------


def change_filter(host: Host) -> None:
    host.spawn("filter", ask_filter, host)


async def ask_filter(host: Host) -> None:
    view = host.store.view
    tools = await asyncio.to_thread(tools_of, view.bench.layout.messages)

    def read(typed: str) -> LineAnswer[Filter]:
        chosen = filters.read(typed, [name for name, _ in tools])
        return LineAnswer(chosen, f"only {chosen}" if chosen else "everything is shown")

    ask = AskScreen("Filter", filters.about(tools), filters.as_words(view.finding.narrowing), read)
    host.ask(ask, lambda answer: _show_only(host, answer.value))


def _show_only(host: Host, narrowing: Filter) -> None:
    _put(host, replace(host.store.view.finding, narrowing=narrowing))
    _rearrange(host)


def toggle_sort(host: Host) -> None:
    finding = host.store.view.finding
    _put(host, replace(finding, by_size=not finding.by_size))
    _rearrange(host)
