"""Tab of facts: those of the replaced messages that the compaction keeps, by kind, and the ones it loses."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from workbench.bench import Bench
from workbench.bench.assessment import Assessment
from workbench.facts.fact import FactKind
from workbench.tui.keys import shared
from workbench.tui.plain import plain
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.retention.words import assessed, fact_words, kind_lines, summary_line, whose
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.facts_list import HEADS, FactsList
from workbench.tui.widgets.text_list import TextList


class FactsPane(RetentionPane):
    TITLE = "Facts"
    HELP = """\
Facts of the replaced messages, and which of them the compaction keeps: instructions, requests, decisions, file paths, \
commands, errors, identifiers, numbers and addresses. A finished run is judged by its result; a preview is judged by \
an offline run with extractive summaries, without a model. "kept" is the share still in the context; "correct" leaves \
out facts that are wrong (turned into their opposite, another value) or stale (stated as if they still held). "used" \
facts are needed again by later messages: "weighted" counts them four times. Below are the lost, wrong and stale \
facts, the gravest first, with the tokens that pinning their message costs.

← and → choose a kind. p pins the message of a fact, W watches its sentence, Enter goes to its message. Pins are steps \
of the bench: u undoes the last one, here or there. t shows what the agent's own compaction kept of the same context, \
in an epoch that one ended ({ and } on the bench go there)."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("move.right", "kind(1)", "Kind", "Only the next kind of fact, or all again.", priority=True),
        shared("move.left", "kind(-1)", "Previous kind", "Only the previous kind of fact.", show=False, priority=True),
        shared("filter", "kind(1)", "Kind", "Only the next kind of fact, or all again.", show=False),
    ]

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(state, id=id)
        self.found: Assessment | None = None
        self.kinds: tuple[FactKind | None, ...] = (None,)
        self.kind: FactKind | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="said")
        with Horizontal(classes="both"):
            with Vertical(classes="by-kind"):
                yield Static(classes="heads kind-heads")
                yield TextList()
            with Vertical(classes="lost"):
                yield Static(Text(HEADS, no_wrap=True), classes="heads")
                yield FactsList(classes="lines")
        yield CutText(classes="fact")

    # --- judging ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Assess the present bench; the former result stays until that is done."""
        self.say("looking for the facts of the replaced messages …")
        self.judge(self.bench, self.state.is_recorded)

    @work(exclusive=True, group="facts", exit_on_error=False, description="judge")
    async def judge(self, bench: Bench, is_recorded: bool) -> None:
        self.found = await asyncio.to_thread(assessed, bench, is_recorded)
        self.draw()

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        self.say(summary_line(found))
        shares = found.retention.kinds
        self.kinds = (None, *shares)
        if self.kind not in self.kinds:
            self.kind = None
        kind_heads, *lines = kind_lines(found.retention)
        self.query_one(".kind-heads", Static).update(Text(kind_heads, no_wrap=True))
        self.query_one(TextList).show((Text(line) for line in lines), self.kinds.index(self.kind))
        self._list()

    def _list(self) -> None:
        if self.found is not None:
            lost = self.found.retention.lacking
            facts = lost if self.kind is None else [fact for fact in lost if fact.kind == self.kind]
            self.query_one(FactsList).show(facts)

    def say(self, words: str) -> None:
        """Show two lines: the last action with the compaction that is assessed, and its figures."""
        first = " · ".join(filter(None, (self.state.status, whose(self.bench, self.state.is_recorded))))
        self.query_one(".said", Static).update(Text(plain(f"{first}\n{words}")))

    @on(FactsList.Highlighted)
    def _marked(self, event: FactsList.Highlighted) -> None:
        self.query_one(".fact", Static).update(fact_words(event.fact, self.bench.pins), layout=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    def action_kind(self, by: int) -> None:
        at = (self.kinds.index(self.kind) + by) % len(self.kinds)
        self.query_one(TextList).go(at)

    @on(TextList.Highlighted)
    def _kind_marked(self, event: TextList.Highlighted) -> None:
        # By the time the event arrives, the list may have become shorter.
        kind = self.kinds[event.at] if event.at < len(self.kinds) else None
        if kind != self.kind:
            self.kind = kind
            self._list()

    @on(TextList.Selected)
    def _kind_chosen(self) -> None:
        self.query_one(FactsList).focus()

    def pin(self) -> bool:
        fact = self.query_one(FactsList).fact
        if fact is not None:
            self.state.pin(fact.message, fact.index, fact.pin_tokens)
        return fact is not None

    @property
    def sentence(self) -> str:
        fact = self.query_one(FactsList).fact
        return fact.text if fact else ""

    @on(FactsList.Selected)
    def _chosen(self, event: FactsList.Selected) -> None:
        self.post_message(self.GoToMessage(event.fact.message))
