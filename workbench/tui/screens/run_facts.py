"""Mixin of the run screen for facts: unsupported claims and lost facts of a draft in a list, and actions on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.screen import Screen
from textual.widgets import Static

from workbench.analysis.grounding import Grounding, UnsupportedClaim
from workbench.analysis.retention import TrackedFact
from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.bench.assessment import Assessment
from workbench.runs.drafts import Draft
from workbench.summarizers.sections import SummarySection, add_line, section_for
from workbench.tui.plain import figure, one_line
from workbench.tui.screens.run_words import FactLine, fact_lines, line_for
from workbench.tui.widgets.draft_editor import DraftEditor
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.watched_lines import WatchedLines, Watching


class Facts(Screen["object"]):
    """Mixin that reads and changes the drafts."""

    found: Grounding | None = None

    if TYPE_CHECKING:
        bench: Bench
        assessment: Assessment | None
        sections: tuple[SummarySection, ...]

        @property
        def draft(self) -> Draft | None: ...
        def say(self, sentence: str) -> None: ...
        def grey(self) -> None: ...
        def show_pane(self, name: str) -> None: ...
        def read(self) -> None: ...
        def put_sections(self) -> None: ...

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[FactLine] = []

    @property
    def loss(self) -> TrackedFact | None:
        """Lost fact under the cursor of the list."""
        marked = self.query_one("#facts", TextList).at
        fact = self.facts[marked].fact if 0 <= marked < len(self.facts) else None
        return fact if isinstance(fact, TrackedFact) else None

    def put_grounding(self, found: Grounding | None) -> None:
        """Show the draft's unsupported claims; None while they are computed."""
        self.found = found
        self.query_one(DraftEditor).underline(found.unsupported if found else ())
        self.put_facts()
        if found:
            self.put_sections()

    def put_facts(self) -> None:
        """Fill the list of facts, and the states of watched rules."""
        states = self.assessment.watched if self.assessment else ()
        watched = self.query_one(WatchedLines)
        watched.make_room(self.size.height)
        watched.show(Watching(self.bench.watched, states, moments=("now", "after")))
        texts = self.query_one("#facts", TextList)
        lost = self.assessment.lost if self.assessment else None
        waiting = "looking up the draft's facts …" if self.draft else "no draft, nothing to look up"
        self.facts = fact_lines(self.found, lost) or [FactLine(Text(waiting, "dim"))]
        texts.border_title = f"facts · {figure(len(lost))} lost" if lost is not None else "facts"
        headings = {n for n, line in enumerate(self.facts) if line.fact is None}
        texts.show((line.text for line in self.facts), headings=headings)

    @on(TextList.Highlighted, "#facts")
    def _fact_marked(self, event: TextList.Highlighted) -> None:
        fact = self.facts[event.at].fact if 0 <= event.at < len(self.facts) else None
        words = ""
        if isinstance(fact, UnsupportedClaim):
            words = f"{fact.kind}, not found in the head: {fact.text}\nenter goes to it"
            # The list is filled again while the user types: it moves the editor's cursor only if it has the focus.
            if event.texts.has_focus:
                self.query_one(DraftEditor).go_to(min(fact.start, len(self.query_one(DraftEditor).text)))
        elif isinstance(fact, TrackedFact):
            words = f"{fact.kind}, {fact.why}; in {self._number_of(fact)}\n{fact.text}\np pins it · i inserts it"
        self.query_one("#fact", Static).update(Text("\n".join(one_line(line, 300) for line in words.split("\n"))))
        self.grey()

    @on(TextList.Selected, "#facts")
    def _fact_opened(self, event: TextList.Selected) -> None:
        if isinstance(self.facts[event.at].fact, UnsupportedClaim):
            self.show_pane("centre")
            self.query_one(DraftEditor).focus()

    def _number_of(self, loss: TrackedFact) -> str:
        earlier = ", an earlier summary" if self.bench.messages[loss.index].kind == "summary" else ""
        return f"message {figure(loss.index + 1)}{earlier}"

    def action_pin_fact(self) -> None:
        """Pin the message of a lost fact; the drafts stay valid, because the head only becomes shorter."""
        loss = self.loss
        if loss is None:
            return
        try:
            pinned = steps.toggle_pin(self.bench, loss.message)
        except BadInput:
            self.say("This fact is in an earlier summary, which cannot be pinned; insert it instead (i).")
            return
        self.bench = pinned
        self.say(f"pinned {self._number_of(loss)}: it is kept verbatim")
        self.read()

    def action_insert_fact(self) -> None:
        """Insert a lost fact into the draft's section for such facts."""
        loss, draft = self.loss, self.draft
        if loss is None or draft is None:
            return
        section = self.sections[section_for(loss.kind, self.sections)]
        self.query_one(DraftEditor).change(add_line(draft.text, section, line_for(loss)))
        self.say(f"inserted under “{one_line(section.title or 'the draft', 60)}”; ctrl+z undoes it")
