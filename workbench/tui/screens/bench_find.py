"""What the bench does to find things: search, jump, filter, sort, and the growth of the context over the session."""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work
from textual.binding import Binding
from textual.screen import Screen

from workbench.analysis.growth import growth
from workbench.analysis.search import Query, hits, query_of
from workbench.base.errors import BadInput
from workbench.session import Message
from workbench.tui.filters import Filter, matching, tools_of
from workbench.tui.plain import figure, one_line
from workbench.tui.rows import Arrangement, Groups, arranged
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.growth_line import GrowthLine
from workbench.tui.widgets.rounds_list import RoundsList

if TYPE_CHECKING:
    from workbench.bench import Bench
    from workbench.tokens import Counter

KEYS = (
    ("/", "find", "Find", "Search all text of the context; between slashes, by a regular expression."),
    ("n", "find_next(1)", "Next hit", "To the next message that holds what was searched for."),
    ("N", "find_next(-1)", "Hit before", "To the message before that holds what was searched for."),
    ("g", "jump", "Go to", "Go to a message by its number, or to a round: r12."),
    ("f", "filter", "Filter", "Show only some messages: by role, tool, fate, size, errors, pins. Again: show all."),
    ("F", "change_filter", "Change filter", "Change what the list is filtered by."),
    ("z", "sort", "Sort", "The largest rounds and messages first, or in order of time again."),
)
"""Key, action, name and help."""

BINDINGS = [
    Binding(
        key,
        action,
        name,
        show=key == "/",
        tooltip=tooltip,
        id="bench." + action.replace("_", "-").replace("(", ".").rstrip(")"),
    )
    for key, action, name, tooltip in KEYS
]

TYPED_S = 0.1
"""How long typing rests before it is searched for."""


class Finding(Screen[None]):
    """Mixed into the bench; `bench`, `groups` and `explain` are the bench's."""

    groups: Groups
    sought: Query | None = None
    narrowing: Filter = Filter()
    by_size: bool = False
    _hits: Sequence[int] = ()
    _listed_hits: Sequence[int] = ()
    _ranks: Sequence[int] = ()
    _refused: str = ""
    _origin: tuple[int, bool] = (0, True)
    _found_in: Sequence[Message] = ()
    _search: object = None

    if TYPE_CHECKING:
        counter: Counter

        @property
        def bench(self) -> Bench: ...
        def explain(self, sentence: str) -> None: ...
        def _grey(self) -> None: ...

    @property
    def _rounds(self) -> RoundsList:
        return self.query_one(RoundsList)

    @property
    def _bar(self) -> FindBar:
        return self.query_one(FindBar)

    @property
    def finding(self) -> bool:
        """Whether escape has a search or a filter to clear."""
        return bool(self.sought or self.narrowing)

    def why_not(self, action: str, parameters: tuple[object, ...] = ()) -> str:
        """Why something cannot be found now, "" where it can."""
        match action:
            case "find_next" if not self.sought:
                return "Nothing is searched for yet: / searches."
            case "find_next" if not self._listed_hits:
                return "Nothing that is listed holds what was searched for."
            case "find" | "filter" | "change_filter" | "sort" | "jump" if not self.bench.messages:
                return "There is no message here."
            case "epoch":
                return self._no_epoch(1 if parameters == (1,) else -1)
            case _:
                return str(super().why_not(action, parameters))  # type: ignore[misc]  # the next mixin's

    def _no_epoch(self, by: int) -> str:
        """Why the epoch cannot be changed by `by`, "" where it can."""
        number, last = self.bench.epoch + by, len(self.bench.session.epochs)
        if 1 <= number <= last:
            return ""
        if last == 1:
            return "No compaction is recorded in this session: it has only one epoch."
        return f"This is the {'first' if by < 0 else 'last'} of {last} epochs."

    # --- after a drawing --------------------------------------------------------------------------------------------

    def find_again(self) -> None:
        """The bench was drawn: the list shows another plan, or another context. What was asked of it still holds."""
        self.query_one(GrowthLine).stand_at(self.bench.epoch)
        if self.sought and self._found_in is not self.bench.layout.messages:
            self._hits = self._listed_hits = self._ranks = ()
            self.search(self.sought.text, settle=0)
        if self.narrowing or self.by_size:
            self.relist()
        elif self._rounds.arrangement is not None:
            self._list(None)

    @work(exclusive=True, group="arrange", exit_on_error=False)
    async def relist(self) -> None:
        """List what meets the filter, in the order chosen; made in a thread."""
        bench, groups, chosen, by_size = self.bench, self.groups, self.narrowing, self.by_size

        def make() -> Arrangement:
            shown = matching(chosen, bench.layout, bench.outcome, bench.pins) if chosen else None
            return arranged(groups, shown, by_size=by_size)

        made = await asyncio.to_thread(make)
        if groups.layout.messages is self.bench.layout.messages:
            self._list(made)

    def _list(self, made: Arrangement | None) -> None:
        self._rounds.relist(made)
        self._list_hits()
        self._tell()

    def _list_hits(self) -> None:
        """The hits that the list holds, in its order: where `n` goes."""
        made = self._rounds.arrangement
        if made is None or not self._hits:
            self._listed_hits = self._ranks = self._hits
        else:
            among = frozenset(self._hits)
            self._ranks = array("q", (rank for rank, index in enumerate(made.members) if index in among))
            self._listed_hits = array("q", (made.members[rank] for rank in self._ranks))
        self._grey()

    def _tell(self) -> None:
        """Say what is searched, filtered and sorted, on the line under the panes."""
        said = []
        if self._refused:
            said.append(f"✘ {self._refused}")
        elif self.sought:
            said.append(self._count())
        made = self._rounds.arrangement
        if self.narrowing and made is not None:
            shown = f"{figure(len(made.members))} shown, {figure(made.hidden)} hidden"
            said.append(f"only {self.narrowing}: {shown} (f shows all)")
        if self.by_size:
            said.append("largest first (z by time)")
        self._bar.say(" · ".join(said))

    def _count(self) -> str:
        if self.sought is None:
            return ""
        found, rounds = self._listed_hits, self._rounds
        what = one_line(self.sought.text, 40)
        out_of = f"{figure(len(found))} message{'s' * (len(found) != 1)}"
        hidden = len(self._hits) - len(found)
        aside = f" ({figure(hidden)} more hidden by the filter)" if hidden else ""
        if found and not rounds.on_header:
            here = bisect_left(self._ranks, self._rank(rounds.index, False))
            if here < len(found) and found[here] == rounds.index:
                return f"{what}: {figure(here + 1)} of {out_of}{aside}"
        return f"{what}: in {out_of}{aside}" if found else f"{what}: not found{aside}"

    # --- search -----------------------------------------------------------------------------------------------------

    def action_find(self) -> None:
        self._origin = (self._rounds.index, self._rounds.on_header)
        self._bar.ask("search", self.sought.text if self.sought else "")

    @on(FindBar.Typed)
    def _typed(self, event: FindBar.Typed) -> None:
        if event.asked == "search":
            self.search(event.text, settle=TYPED_S, go=True)

    @work(exclusive=True, group="find", exit_on_error=False)
    async def search(self, text: str, *, settle: float, go: bool = False) -> None:
        """Search in a thread. With `go` the cursor goes to the first hit from where the search began."""
        ticket = self._search = object()
        await asyncio.sleep(settle)
        messages = self.bench.layout.messages
        found: Sequence[int] = ()
        query, refused = None, ""
        try:
            if text:
                query = query_of(text)
                found = await asyncio.to_thread(hits, messages, query, lambda: self._search is not ticket)
        except BadInput as error:
            query, refused = None, str(error)
        if messages is not self.bench.layout.messages:
            return
        self.sought, self._refused, self._hits, self._found_in = query, refused, found, messages
        self._rounds.mark(query, found)
        self._list_hits()
        if go:
            self._go_to(*(self._hit_from(*self._origin, 1, here=True) if self._listed_hits else self._origin))
        self._tell()

    def action_find_next(self, way: int) -> None:
        if self._listed_hits:
            rounds = self._rounds
            self._go_to(*self._hit_from(rounds.index, rounds.on_header, way))
            self._tell()

    def _hit_from(self, index: int, header: bool, way: int, *, here: bool = False) -> tuple[int, bool]:
        """The next hit in the list's order, round the end; `here` allows the place itself."""
        rank = self._rank(index, header)
        at = bisect_right(self._ranks, rank) if way > 0 and not (header or here) else bisect_left(self._ranks, rank)
        return self._listed_hits[(at if way > 0 else at - 1) % len(self._listed_hits)], False

    def _rank(self, index: int, header: bool) -> int:
        """How many messages are listed before this one, were every round open."""
        made, group = self._rounds.arrangement, self.groups.group_of(index)
        if made is None:
            return index
        if header and group in made.place:
            return made.starts[made.place[group]]
        return made.members.index(index) if index in made.members else 0

    def _go_to(self, index: int, header: bool) -> None:
        self._rounds.go(index, header=header)

    # --- jump -------------------------------------------------------------------------------------------------------

    def action_jump(self) -> None:
        self._origin = (self._rounds.index, self._rounds.on_header)
        self._bar.ask("jump")

    def _jump(self, text: str) -> bool:
        """Go where `text` says; False, with the reason said, where there is no such place."""
        typed = text.strip().lower().lstrip("#").replace(" ", "")
        by_round = typed.startswith("r")
        number = typed.removeprefix("r")
        many = len(self.bench.layout.shape.rounds.rounds) if by_round else len(self.bench.messages)
        what = "round" if by_round else "message"
        if not (number.isascii() and number.isdecimal() and len(number) < 12 and 1 <= int(number) <= many):
            self._bar.say(f"✘ a {what} is wanted from 1 to {figure(many)}")
            return False
        index = self.bench.layout.shape.rounds.rounds[int(number) - 1].start if by_round else int(number) - 1
        self._go_to(index, by_round)
        rows = self._rounds.rows
        if rows and not by_round and not rows.lists(index):
            self.explain(f"Message {figure(index + 1)} is hidden by the filter; f shows all.")
        return True

    @on(FindBar.Accepted)
    def _accepted(self, event: FindBar.Accepted) -> None:
        if event.asked == "jump" and event.text.strip() and not self._jump(event.text):
            return
        self._bar.close()
        self._rounds.focus()
        self._tell()

    @on(FindBar.Cancelled)
    def _cancelled(self, event: FindBar.Cancelled) -> None:
        self._bar.close()
        self._rounds.focus()
        if event.asked == "search":
            self._forget_search()
            self._go_to(*self._origin)
        self._tell()

    def clear_finding(self) -> None:
        """Forget the search; without one, the filter."""
        if self.sought:
            self._forget_search()
            self._tell()
        else:
            self._show_only(Filter())

    def _forget_search(self) -> None:
        self.workers.cancel_group(self, "find")
        self._search = self.sought = None
        self._refused, self._hits = "", ()
        self._rounds.mark(None, ())
        self._list_hits()

    # --- filter and order -------------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        if self.narrowing:
            self._show_only(Filter())
        else:
            self.action_change_filter()

    @work(exclusive=True, group="filter", exit_on_error=False)
    async def action_change_filter(self) -> None:
        from workbench.tui.screens.filtering import FilterScreen

        def chosen(filter: Filter | None) -> None:
            if filter is not None:
                self._show_only(filter)

        tools = await asyncio.to_thread(tools_of, self.bench.layout.messages)
        self.app.push_screen(FilterScreen(self.narrowing, tools), chosen)

    def _show_only(self, filter: Filter) -> None:
        self.narrowing = filter
        self._rearrange()

    def action_sort(self) -> None:
        self.by_size = not self.by_size
        self._rearrange()

    def _rearrange(self) -> None:
        if self.narrowing or self.by_size:
            self.relist()
        else:
            self.workers.cancel_group(self, "arrange")
            self._list(None)
        self._grey()

    # --- growth -----------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="growth", exit_on_error=False)
    async def show_growth(self) -> None:
        """By what is counted so far; drawn again when everything is."""
        bench, line = self.bench, self.query_one(GrowthLine)
        line.show(await asyncio.to_thread(growth, bench.session, self.counter, bench.scale))

    @on(GrowthLine.Chosen)
    async def _epoch_chosen(self, event: GrowthLine.Chosen) -> None:
        if event.epoch != self.bench.epoch:
            await self.run_action(f"screen.epoch({event.epoch - self.bench.epoch})")
