"""Retention: which facts of the head the outcome on the bench still holds, by kind, and what it lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from workbench import bench as steps
from workbench.assessment import Assessment
from workbench.bench import Bench
from workbench.facts.fact import FactKind
from workbench.tui.failures import failure_of
from workbench.tui.help_key import help_key
from workbench.tui.history import History
from workbench.tui.plain import figure, plain
from workbench.tui.rules import turned
from workbench.tui.screens.retention_words import (
    fact_words,
    has_theirs,
    judged,
    judged_words,
    kind_lines,
    whose,
)
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.facts_list import HEADS, FactsList
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_list import TextList

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-under"), (170, "-beside")]
"""Columns from which the table stands beside the list."""


@dataclass(frozen=True)
class Ended:
    """How the screen was left: the bench's steps where some were taken here, and the message to go to."""

    history: History | None
    index: int | None = None


class RetentionScreen(ModalScreen[Ended | None]):
    HELP = """\
What the bench's outcome still holds of its head: standing instructions, requests, decisions, file paths, commands, \
errors, identifiers, numbers and addresses, in full, in part or not. A run that was made is judged as it is; a \
preview is run offline, with extractive summaries, made of the session's own sentences without a model. "used" are \
the facts that what stays as it is, or later messages, need again: in "weighted" they count four times. "wrong" are \
in the context, but turned into their opposite, with another value or state, or as if they still held; "correct" \
leaves them out. Below is what was lost or is wrong, the gravest first, with the tokens that a pin of its message \
costs. W \
watches a sentence in the bench's header. Pins are steps of the bench: u takes the last one back, here or there. t \
shows what the agent's own compaction kept of the same context, in an epoch that one ended ({ and } on the bench go \
there); c compacts several times in a row."""
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin", id="retention.pin", tooltip="Pin the message of the marked fact; again: let it go."),
        Binding("W", "watch", "Watch", id="retention.watch", tooltip="Watch the marked sentence, or let it go."),
        Binding("u", "undo", "Undo", id="retention.undo", tooltip="Take back the last pin that was set here."),
        Binding(
            "right,f",
            "kind(1)",
            "Kind",
            priority=True,
            id="retention.kind",
            tooltip="Only the next kind of fact, or all again.",
        ),
        Binding(
            "left,F",
            "kind(-1)",
            "Kind before",
            show=False,
            priority=True,
            id="retention.kind-before",
            tooltip="Only the kind of fact before.",
        ),
        Binding("t", "theirs", "Theirs", id="retention.theirs", tooltip="The agent's own compaction, or ours again."),
        Binding("c", "generations", "Generations", id="retention.generations", tooltip="Compact several times."),
        Binding("escape,q", "leave", "Close", id="retention.close", tooltip="To the bench, with the pins set here."),
        help_key("retention"),
    ]
    AUTO_FOCUS = "FactsList"

    def __init__(self, history: History, watch: Callable[[str], tuple[str, ...]]) -> None:
        """`watch` watches a sentence or lets it go, and gives what is watched then; it raises BadInput."""
        super().__init__()
        self.history, self.turn = history, watch
        self.opened = history.present
        self.theirs = False
        self.found: Assessment | None = None
        self.kinds: tuple[FactKind | None, ...] = (None,)
        self.kind: FactKind | None = None
        self.said = ""

    @property
    def bench(self) -> Bench:
        return self.history.present

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="said")
            with Horizontal(id="both"):
                with Vertical(id="by-kind"):
                    yield Static(id="kind-heads", classes="heads")
                    yield TextList()
                with Vertical(id="lost"):
                    yield Static(Text(HEADS, no_wrap=True), classes="heads")
                    yield FactsList()
            yield CutText(id="fact")
            yield KeysLine()

    def on_mount(self) -> None:
        self.start()

    # --- judging ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Judge the present bench; what was found before stays until that is done."""
        self._say("looking for the facts of the head …")
        self.refresh_bindings()
        self.judge(self.bench, self.theirs)

    @work(exclusive=True, group="retention", exit_on_error=False, description="judge")
    async def judge(self, bench: Bench, theirs: bool) -> None:
        self.found = await asyncio.to_thread(judged, bench, theirs)
        self.draw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(f"✘ {failure}")

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        self._say(judged_words(found))
        shares = found.retention.kinds
        self.kinds = (None, *shares)
        if self.kind not in self.kinds:
            self.kind = None
        kind_heads, *lines = kind_lines(found.retention)
        self.query_one("#kind-heads", Static).update(Text(kind_heads, no_wrap=True))
        self.query_one(TextList).show((Text(line) for line in lines), self.kinds.index(self.kind))
        self._list()

    def _list(self) -> None:
        if self.found is not None:
            lost = self.found.retention.lacking
            facts = lost if self.kind is None else [fact for fact in lost if fact.kind == self.kind]
            self.query_one(FactsList).show(facts)

    def _say(self, words: str) -> None:
        """Two lines: what was done last and whose outcome this is, and how it stands."""
        words = f"{' · '.join(filter(None, (self.said, whose(self.bench, self.theirs))))}\n{words}"
        self.query_one("#said", Static).update(Text(plain(words)))

    @on(FactsList.Moved)
    def _marked(self, event: FactsList.Moved) -> None:
        self.query_one("#fact", Static).update(fact_words(event.fact, self.bench.pins), layout=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    def action_kind(self, by: int) -> None:
        at = (self.kinds.index(self.kind) + by) % len(self.kinds)
        self.query_one(TextList).go(at)

    @on(TextList.Moved)
    def _kind_marked(self, event: TextList.Moved) -> None:
        # By the time the event arrives, the list may have become shorter.
        kind = self.kinds[event.at] if event.at < len(self.kinds) else None
        if kind != self.kind:
            self.kind = kind
            self._list()

    @on(TextList.Chosen)
    def _kind_chosen(self) -> None:
        self.query_one(FactsList).focus()

    def action_theirs(self) -> None:
        self.theirs, self.said = not self.theirs, ""
        self.start()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done now."""
        if action == "theirs" and not has_theirs(self.bench):
            return None
        return None if action == "undo" and self.bench is self.opened else True

    # --- steps of the bench -----------------------------------------------------------------------------------------

    def action_pin(self) -> None:
        fact = self.query_one(FactsList).fact
        if fact is None:
            return
        pinned = fact.message in self.bench.pins
        self.history = self.history.then(steps.toggle_pin(self.bench, fact.message))
        done = "let go" if pinned else f"pinned, +{figure(fact.pin_tokens)} tokens"
        self.said = f"message {figure(fact.index + 1)} {done}"
        self.start()

    def action_watch(self) -> None:
        fact = self.query_one(FactsList).fact
        if fact is not None:
            self.said = turned(self.turn, fact.text)
            self.draw()

    def action_undo(self) -> None:
        if self.bench is not self.opened:
            self.history = self.history.undone()
            self.said = "undone"
            self.start()

    def action_generations(self) -> None:
        from workbench.tui.screens.generations import GenerationsScreen

        self.app.push_screen(GenerationsScreen(self.bench))

    @on(FactsList.Chosen)
    def _chosen(self, event: FactsList.Chosen) -> None:
        self.leave(event.fact.index)

    def action_leave(self) -> None:
        self.leave(None)

    def leave(self, index: int | None) -> None:
        self.dismiss(Ended(None if self.bench is self.opened else self.history, index))
