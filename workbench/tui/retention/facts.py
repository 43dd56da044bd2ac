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

from workbench.analysis.retention import Retention, TrackedFact
from workbench.analysis.retention_report import kinds_table
from workbench.base.tables import text
from workbench.bench import Bench
from workbench.bench.assessment import Assessment, assess, assess_recorded, compute
from workbench.facts.fact import FactKind
from workbench.tui.keys import shared
from workbench.tui.plain import figure, one_line, percent, plain, several
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.facts_list import HEADS, FactsList
from workbench.tui.widgets.text_list import TextList


def assess_compaction(bench: Bench, is_recorded: bool) -> Assessment:
    """Assessment of the recorded compaction if `is_recorded`, else of the run on the bench, else of an offline run.
    Takes seconds for a long session. Raises KeyError if `is_recorded` and no compaction is recorded."""
    found = assess_recorded(bench) if is_recorded else assess(bench, bench.result or bench.offline)
    if found is None:
        raise KeyError(bench.epoch)
    return compute(found, "retention", "later_use", "continuity")


def has_recorded_compaction(bench: Bench) -> bool:
    """True if a recorded compaction ended the bench's epoch."""
    session, epoch = bench.session, bench.epoch
    return epoch < len(session.epochs) and session.epochs[epoch - 1].ended_by is not None


def compaction_words(bench: Bench, is_recorded: bool) -> str:
    """Compaction that is assessed, in words."""
    if is_recorded:
        return f"the agent's own compaction after epoch {bench.epoch}, as recorded"
    policy = bench.as_preset.name
    return f"{policy}, {'the run on the bench' if bench.result else 'run offline with extractive summaries'}"


def summary_line(found: Assessment) -> str:
    """Shares of facts that are kept and correct. Shortened messages of the tail count as replaced."""
    retention, overall = found.retention, found.retention.overall
    if not retention.head:
        return "nothing was compacted, so nothing is lost"
    facts = f"{several(overall.facts, 'fact')} in the {several(retention.head, 'message')} that it replaces"
    if found.is_unreadable:
        return f"not known how much of {facts} is kept: the summary cannot be read (none, or encrypted)"
    words = f"{percent(overall.share)} kept, {percent(overall.right)} correct, of {facts}"
    words += f", {figure(overall.stale)} stale" if overall.stale else ""
    if retention.in_tail:
        words += f" · with the {figure(retention.in_tail)} in the tail: {percent(retention.of_context)}"
    if later := found.later_use:
        words += f" · needed later: {percent(later.share)} of {figure(len(later.items))}"
    words += "".join(f" · {one_line(broken.text, 160)}" for broken in found.continuity)
    return words


def kind_lines(retention: Retention) -> list[str]:
    """Table by kind as lines: headings, all kinds, then each, within 80 columns."""
    heads, *kinds, overall = text(kinds_table(retention).without("stale"))
    return [heads, overall, *kinds]


def fact_words(fact: TrackedFact | None, pins: frozenset[str]) -> Text:
    """Fact under the cursor in full, and the cost of pinning its message."""
    if fact is None:
        return Text("no such fact is lost", "dim")
    state = {"stale": " · stale: stated as if it still held", "wrong": " · wrong"}.get(fact.state, "")
    used = "used again later" if fact.used else "not used again"
    if fact.message in pins:
        cost = "its message is pinned"
    elif fact.pin_tokens:
        cost = f"p pins message {figure(fact.index + 1)}: +{figure(fact.pin_tokens)} tokens"
    else:
        cost = "its message is kept anyway"
    return Text(f"{fact.kind}, {one_line(fact.why, 60)}{state} · {used} · {cost}\n", "dim").append(
        one_line(fact.text, 600), "not dim"
    )


# --- the tab ----------------------------------------------------------------------------------------------------------


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
if one ended this epoch ({ and } on the bench go to the other epochs)."""
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
        yield Static(classes="note")
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
        self.found = await asyncio.to_thread(assess_compaction, bench, is_recorded)
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
        first = " · ".join(filter(None, (self.state.status, compaction_words(self.bench, self.state.is_recorded))))
        self.query_one(".note", Static).update(Text(plain(f"{first}\n{words}")))

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
