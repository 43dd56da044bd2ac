"""Drafts of a run: the user edits them by section while they are checked against the messages, and commits them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.widgets import TextArea

from workbench.analysis.grounding import SummaryChecker
from workbench.base.errors import BadInput
from workbench.base.shielded import run_shielded
from workbench.bench.assessment import Assessment, compute
from workbench.compaction.summary_request import Summary, SummaryFailed, SummaryRequest
from workbench.runs.drafts import Draft, requests_without_draft, rerun_with_drafts
from workbench.runs.live_run import LiveRun
from workbench.session import Usage
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.driver import RequestAnswered, RequestFailed, RequestsStarted, Run, RunEvent, ask
from workbench.summarizers.run_records import sum_usage
from workbench.summarizers.sections import (
    SummarySection,
    bare_title,
    insert_regenerated,
    missing_titles,
    regeneration_request,
    replace_section,
    section_at,
    sections_of,
)
from workbench.summarizers.server_endpoints import ServerSummary
from workbench.summarizers.summarizer import Summarizer
from workbench.tui.plain import one_line
from workbench.tui.screens.ask import AskScreen, LineAnswer
from workbench.tui.screens.run_facts import Facts
from workbench.tui.screens.run_progress import RunLine, RunProgress
from workbench.tui.screens.run_saving import SavedRun, save_call, save_cancelled, save_edited, save_uncommitted
from workbench.tui.screens.run_words import BY_HAND, failure_words, same_section, section_line
from workbench.tui.terminal import edit_outside
from workbench.tui.widgets.draft_editor import DraftEditor
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextPart, TextView

SETTLE_S = 0.3
"""Time without typing before the draft is assessed again."""


class Drafting(Facts):
    """Mixin of the run screen for its drafts."""

    drafts: tuple[Draft, ...] = ()
    at: int | None = None
    assessment: Assessment | None = None
    draft_tokens: int = 0
    is_warned: bool = False
    is_closing: bool = False
    _stale: bool = False
    _is_assessing: bool = False

    if TYPE_CHECKING:
        writer: SummarizerName
        phase: str
        lines: list[RunLine]
        progress: RunProgress
        live: LiveRun
        earlier: Usage
        pane: str

        def draw(self) -> None: ...
        def start(self, drafts: tuple[Draft, ...]) -> None: ...
        def focus_pane(self, name: str) -> None: ...
        async def summarizer(self) -> Summarizer: ...
        def keep(self, record: Callable[[], SavedRun]) -> object: ...
        def leave_with(self, run: Run) -> None: ...

    def __init__(self) -> None:
        super().__init__()
        self.sections: tuple[SummarySection, ...] = ()
        self.accepted: set[tuple[int, str]] = set()
        self.rewritten: set[tuple[int, str]] = set()
        self._checkers: dict[int, asyncio.Future[SummaryChecker]] = {}

    @property
    def draft(self) -> Draft | None:
        """Draft in the editor."""
        return self.drafts[self.at] if self.at is not None and self.at < len(self.drafts) else None

    @property
    def is_worth_keeping(self) -> bool:
        """True if leaving would lose a paid answer or the user's text."""
        return any(draft.edited or draft.accepted or self.writer.model for draft in self.drafts)

    def watching(self) -> RunProgress:
        """New progress of a run."""
        return RunProgress(count=self.bench.context.layout.sizes.meter.text_tokens)

    def on_unmount(self) -> None:
        """Save drafts that are neither committed nor discarded if the program ends, as when a terminal is closed."""
        bench, drafts = self.bench, self.drafts
        if not self.is_closing and any(draft.edited or draft.accepted for draft in drafts):
            run_shielded(lambda: save_uncommitted(bench, drafts))

    # --- which draft ------------------------------------------------------------------------------------------------

    def show_drafts(self, drafts: tuple[Draft, ...]) -> None:
        """Show the drafts of a finished run: in the editor the first failed one, else the last."""
        self.phase, self.drafts, self.is_warned, self.assessment, self.at = "draft", drafts, False, None, None
        self._checkers.clear()
        self.draw()
        if drafts:
            failed = (n for n, draft in enumerate(drafts) if not isinstance(draft.final_answer, Summary))
            self.choose(next(failed, len(drafts) - 1))
        else:
            self.query_one(TextView).show((TextPart("No summary was asked for.", "title"),), "none")
            self.put_grounding(None)
            self.put_sections()
            self.read()

    def choose(self, number: int) -> None:
        """Put a draft into the editor."""
        self.at = number
        draft = self.drafts[number]
        self.add_class("-editing")
        editor = self.query_one(DraftEditor)
        editor.border_title = f"draft {number + 1} of {len(self.drafts)} · {one_line(draft.request.purpose, 60)}"
        editor.show(draft.text)
        self.put_grounding(None)
        self.put_sections()
        if isinstance(draft.answer, SummaryFailed) and not draft.edited and not draft.accepted:
            self.say(failure_words(draft.answer) if self.writer != BY_HAND else "Write the summary here.")
        if isinstance(draft.answer, ServerSummary):
            self.say(f"the server's block: {draft.answer.block_note}; edited, the draft becomes plain text")
        editor.focus()
        self.read()
        self.draw()

    @on(TextList.Highlighted, "#steps")
    def _step_chosen(self, event: TextList.Highlighted) -> None:
        number = self.lines[event.at].number if 0 <= event.at < len(self.lines) else None
        if self.phase == "draft" and number is not None and number != self.at and number < len(self.drafts):
            self.choose(number)
            self.query_one("#steps").focus()

    # --- editing ----------------------------------------------------------------------------------------------------

    @on(TextArea.Changed, "#editor")
    def _typed(self, event: TextArea.Changed) -> None:
        text = event.text_area.text
        if self.draft is not None and text != self.draft.text:
            self._change_draft(text=text)

    def _change_draft(self, **changes: object) -> None:
        assert self.at is not None
        changed = replace(self.drafts[self.at], **changes)  # type: ignore[arg-type]
        self.drafts = (*self.drafts[: self.at], changed, *self.drafts[self.at + 1 :])
        self.is_warned = False
        self.put_sections()
        self.read()

    @property
    def section(self) -> int:
        """Number of the section at the cursor."""
        return section_at(self.sections, self.query_one(DraftEditor).place)

    def state_of(self, section: SummarySection, draft: Draft) -> str:
        assert self.at is not None
        key = (self.at, bare_title(section.title))
        if key in self.accepted:
            return "accepted"
        if key in self.rewritten:
            return "written again"
        first = same_section(sections_of(draft.original, draft.request.sections), section.title)
        words = draft.text[section.body : section.end]
        same = first is not None and draft.original[first.body : first.end].strip() == words.strip()
        return "as written" if same else "edited"

    def put_sections(self) -> None:
        """List the sections of the draft, each with its state and its number of unsupported claims."""
        texts = self.query_one("#sections", TextList)
        draft = self.draft
        if draft is None:
            self.sections = ()
            texts.show(())
            return
        self.sections = sections_of(draft.text, draft.request.sections)
        claims = self.found.unsupported if self.found else ()
        counts = Counter(section_at(self.sections, claim.start) for claim in claims)
        lines = [
            section_line(section, draft.text, self.state_of(section, draft), counts[number])
            for number, section in enumerate(self.sections)
        ]
        lines += [
            Text(f"! {one_line(title.strip('# '), 60)}: missing", "bold", no_wrap=True, overflow="ellipsis")
            for title in missing_titles(draft.text, draft.request.sections)
        ]
        with self.prevent(TextList.Highlighted):
            texts.show(lines)

    @on(TextList.Highlighted, "#sections")
    def _section_chosen(self, event: TextList.Highlighted) -> None:
        if 0 <= event.at < len(self.sections) and event.texts.has_focus:
            self.query_one(DraftEditor).go_to(self.sections[event.at].body)

    @on(TextList.Selected, "#sections")
    def _section_opened(self) -> None:
        self.show_pane("centre")
        self.query_one(DraftEditor).focus()

    def action_accept(self) -> None:
        """Accept the section at the cursor; for a failed call, its text as the summary."""
        draft = self.draft
        if draft is None or self.at is None:
            return
        if isinstance(draft.answer, SummaryFailed) and not draft.accepted:
            self._change_draft(accepted=True)
            self.say("this text is used as the summary")
            return
        number = self.section
        self.accepted.add((self.at, bare_title(self.sections[number].title)))
        self.put_sections()
        open_sections = [n for n, s in enumerate(self.sections) if (self.at, bare_title(s.title)) not in self.accepted]
        if open_sections:
            following = next((n for n in open_sections if n > number), open_sections[0])
            self.query_one(DraftEditor).go_to(self.sections[following].body)
            self.say(f"accepted; {len(open_sections)} of {len(self.sections)} sections left")
        else:
            self.say("every section is accepted; ctrl+s commits")

    def action_as_written(self) -> None:
        """Restore a section as the summarizer wrote it."""
        draft = self.draft
        if draft is None or self.at is None:
            return
        section = self.sections[self.section]
        first = same_section(sections_of(draft.original, draft.request.sections), section.title)
        if first is None:
            self.say("the answer had no such section; ctrl+z undoes edits")
            return
        self._forget(section)
        self.query_one(DraftEditor).change(replace_section(draft.text, section, draft.original[first.body : first.end]))
        self.say("this section is again as it was written")

    def _forget(self, section: SummarySection) -> None:
        for marks in (self.accepted, self.rewritten):
            marks.discard((self.at or 0, bare_title(section.title)))

    def action_outside(self) -> None:
        editor = self.query_one(DraftEditor)
        try:
            editor.change("\n".join(edit_outside(self.app, editor.text).splitlines()))
        except BadInput as refused:
            self.say(str(refused))

    # --- a section again --------------------------------------------------------------------------------------------

    def action_again(self) -> None:
        """Ask the user for an instruction, and the summarizer to rewrite the section."""
        draft = self.draft
        if draft is None:
            return
        if self.writer == BY_HAND:
            self.say("You write this summary yourself. To have a section rewritten, choose a summarizer first.")
            return
        section = self.sections[self.section]

        def read(typed: str) -> LineAnswer[str]:
            if not typed.strip():
                raise BadInput("Describe the change.")
            cost = f"one more call to {self.writer.model}" if self.writer.model else f"answered by {self.writer}"
            return LineAnswer(typed.strip(), cost)

        def rewrite(answer: LineAnswer[str] | None) -> None:
            if answer is not None:
                self.rewrite(draft, section, answer.value)

        title = section.title or "the whole draft"
        about = f"What should change in “{one_line(title, 60)}”? The rest of the draft is kept."
        self.app.push_screen(AskScreen("Write this section again", about, "", read), rewrite)

    @work(exclusive=True, group="run", exit_on_error=False, description="rewrite")
    async def rewrite(self, draft: Draft, section: SummarySection, instruction: str) -> None:
        """Rewrite a section with one more call; the draft changes only when the answer is complete."""
        name, number, watch, live = self.writer, self.at, self.watching(), LiveRun(self.bench, self.writer)
        self.phase, self.progress, self.live = "running", watch, live

        def on_event(event: RunEvent) -> None:
            live.recorder.on_run_event(event)
            watch.on_run_event(event)

        before, self.lines = self.lines, watch.lines
        self.remove_class("-editing")
        self.say("")
        self.draw()
        clock, cancelled = time.perf_counter(), False
        try:
            request = await asyncio.to_thread(_section_request, draft, section, instruction)
            summarizer = await self.summarizer()
            on_event(RequestsStarted((request,), 0))
            answer = await ask(summarizer, request)
            on_event(
                RequestAnswered(0, request, answer)
                if isinstance(answer, Summary)
                else RequestFailed(0, request, answer)
            )
        except BadInput as refused:
            answer = SummaryFailed("error", str(refused))
        except asyncio.CancelledError:
            cancelled = True
            raise
        finally:
            self.phase, self.lines = "draft", [*before, *watch.lines]
            watch.note_cancellation()
            for line in watch.calls:
                line.number = number
            self.earlier = sum_usage((self.earlier, live.recorder.usage))
            if name.has_run_record and watch.calls:
                seconds = time.perf_counter() - clock
                how = save_cancelled if cancelled else save_call
                self.keep(lambda: how(live, seconds))
            if self.is_attached:
                self.add_class("-editing")
                if cancelled:
                    self.say("cancelled; the draft is unchanged")
                self.draw()
        self.query_one(DraftEditor).focus()
        if isinstance(answer, SummaryFailed):
            self.say(f"the draft is unchanged: {answer}")
        elif number == self.at and self.draft is not None:
            self.query_one(DraftEditor).change(insert_regenerated(draft.text, section, answer.text))
            self._forget(section)
            self.rewritten.add((number or 0, bare_title(section.title)))
            self.put_sections()
            self.say(f"“{one_line(section.title or 'the draft', 60)}” was rewritten; ctrl+z undoes it")

    # --- assessing --------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Assess the drafts after a change of text or pins, `SETTLE_S` after the last key."""
        self._stale = True
        if not self._is_assessing:
            self._is_assessing = True
            self.assess_when_rested()

    @work(group="read", exit_on_error=False)
    async def assess_when_rested(self) -> None:
        try:
            while self._stale:
                self._stale = False
                await asyncio.sleep(SETTLE_S if self.assessment else 0)
                if not self._stale:
                    await self._assess_once()
        finally:
            self._is_assessing = False

    async def _assess_once(self) -> None:
        """Assess the drafts once. No two assessments run at a time, because a thread cannot be cancelled."""
        bench, drafts, number, draft = self.bench, self.drafts, self.at, self.draft
        if draft is not None and number is not None:
            ground = await asyncio.shield(self._checker_of(number, draft.request))
            found = await asyncio.to_thread(ground.check, draft.text)
            meter = bench.context.layout.sizes.meter
            tokens = await asyncio.to_thread(meter.text_tokens, draft.text)
            if (number, drafts) == (self.at, self.drafts):
                self.draft_tokens = tokens
                self.put_grounding(found)
        assessment = await asyncio.to_thread(
            lambda: compute(rerun_with_drafts(bench, drafts), "after", "checks", "lost", "watched")
        )
        if bench is self.bench and drafts is self.drafts:
            self.assessment = assessment
            self.put_facts()
            self.draw()

    def _checker_of(self, number: int, request: SummaryRequest) -> asyncio.Future[SummaryChecker]:
        """Checker of a draft's claims against the messages of its request, made once."""
        if number not in self._checkers:
            loop = asyncio.get_running_loop()
            self._checkers[number] = loop.run_in_executor(
                None, lambda: SummaryChecker(request.masked, request.previous)
            )
        return self._checkers[number]

    # --- committing -------------------------------------------------------------------------------------------------

    def action_retry(self) -> None:
        """Ask again for failed drafts; edited and accepted ones stay."""
        answered = tuple(draft for draft in self.drafts if isinstance(draft.final_answer, Summary))
        if len(answered) == len(self.drafts) and not (self.assessment and requests_without_draft(self.assessment.run)):
            self.say("No call failed. ctrl+g rewrites a section.")
            return
        self.start(answered)

    @work(exclusive=True, group="commit", exit_on_error=False)
    async def action_go(self) -> None:
        """Commit the drafts; if a changed draft needs more calls, make those first."""
        bench, drafts = self.bench, self.drafts
        assessment = await asyncio.to_thread(rerun_with_drafts, bench, drafts)
        if drafts is not self.drafts or bench is not self.bench or self.phase != "draft":
            return
        if requests_without_draft(assessment.run):
            self.start(drafts)
            return
        if any(isinstance(draft.final_answer, Summary) and (draft.edited or draft.accepted) for draft in drafts):
            _, trouble = await run_shielded(lambda: save_edited(bench, assessment))
            if trouble:
                self.app.notify(trouble, severity="warning", markup=False)
        self.leave_with(assessment.run)


def _section_request(draft: Draft, section: SummarySection, instruction: str) -> SummaryRequest:
    """Request for a section, rendered and hashed, which takes too long for an event loop."""
    request = regeneration_request(draft.request, draft.text, section, instruction)
    assert request.key
    return request
