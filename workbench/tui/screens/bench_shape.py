"""Shaping the plan by hand: messages and rounds dropped or shortened, with what it costs and saves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from textual import work
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker

from workbench import bench as steps
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.edits import named, reach
from workbench.compaction.keeping import with_pairs
from workbench.session import Span
from workbench.tui.history import History
from workbench.tui.plain import figure
from workbench.tui.widgets.rounds_list import RoundsList

KEYS = (
    ("x", "drop", "Drop", "Leave the message or round under the cursor out, with its calls and results; again: back."),
    ("s", "shorten", "Shorten", "Cut the long texts and results under the cursor in the middle; again: whole."),
)
"""Key, action, name and help of the edits."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, tooltip=tooltip, id=f"bench.{action}") for key, action, name, tooltip in KEYS
]


class Shaping(Screen[None]):
    """Mixed into the bench; `bench`, `history`, `step`, `explain` are the bench's."""

    history: History

    if TYPE_CHECKING:

        @property
        def bench(self) -> Bench: ...
        def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None: ...
        def explain(self, sentence: str) -> None: ...
        @property
        def pending(self) -> list[Worker[object]]: ...

    def why_not(self, action: str, parameters: tuple[object, ...] = ()) -> str:
        """Why nothing can be edited now, "" where it can."""
        match action:
            case "drop" | "shorten" | "pin" if not self.bench.messages:
                return "There is no message here."
            case "undo" if not self.history.past and not self.pending:
                return "There is nothing to undo."
            case "redo" if not self.history.future:
                return "There is nothing to do again."
            case "run" if not self.bench.messages:
                return "This epoch holds no messages: there is nothing to compact."
        return str(super().why_not(action, parameters))  # type: ignore[misc]  # the next mixin's

    def action_drop(self) -> None:
        self._shape(steps.toggle_dropped, "dropped")

    def action_shorten(self) -> None:
        self._shape(steps.toggle_shortened, "shortened")

    @work(exclusive=True, group="edit", exit_on_error=False, description="_shape")
    async def _shape(self, toggle: Callable[[Bench, Collection[str]], Bench], done: str) -> None:
        """Plan the edit in a thread, for what it leaves is laid out anew; then take the step."""
        before, span = self.bench, self._edited_span()
        ids = [message.id for message in before.messages[span.start : span.stop]]
        if not ids:
            return

        def planned() -> tuple[Bench, str]:
            after = toggle(before, ids)
            return after, said(before, after, span, done)

        try:
            after, words = await asyncio.to_thread(planned)
        except BadInput as refused:
            self.explain(str(refused))
            return
        if before is self.bench:
            self.step(lambda: after, said=words)

    def _edited_span(self) -> Span:
        span = self.query_one(RoundsList).span
        return Span(span.start, min(span.stop, len(self.bench.messages)))


def said(before: Bench, after: Bench, span: Span, done: str) -> str:
    """What an edit did: the messages, their tokens before and after, and the whole result's before and after."""
    reached = with_pairs(before.layout.shape, range(span.start, span.stop))
    marked = (before.dropped, before.shortened) != (after.dropped, after.shortened)
    lost, short = reach(after.context, after.edits)
    done_to = (lost if done == "dropped" else short) & reached
    asked = len(after.dropped) > len(before.dropped) or len(after.shortened) > len(before.shortened)
    if marked and asked and not done_to:
        return f"{named(range(span.start, span.stop))} will stay as it is: a pin wins"
    if not asked:
        words = f"{named(reached if done == 'dropped' else range(span.start, span.stop))} as before"
        done_to = reached
    else:
        words = f"{done} {named(done_to)}"
    cost = f"{figure(_cost(before, done_to))} → {figure(_cost(after, done_to))} tokens"
    old = before.context.outcome_size(before.outcome)
    new = after.context.outcome_size(after.plan.outcome)
    return f"{words}: {cost}; result {old} → {new}"


def _cost(bench: Bench, indexes: Collection[int]) -> int:
    """What these messages cost the strategy's input: nothing when dropped, what is left of them when shortened."""
    given, whole = bench.plan.given.layout, bench.layout
    total = 0
    for index in indexes:
        at = given.shape.index_of.get(whole.messages[index].id)
        if at is not None:
            total += given.tokens[at + 1] - given.tokens[at]
    return total
