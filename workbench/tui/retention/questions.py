"""Tab of questions: answers from the context after the compaction, next to those from all of it and from none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Static

from workbench.analysis.probes import Exam, ProbeResults, looked_up, probes_path, write_probes
from workbench.analysis.probes.probe import BLANK
from workbench.analysis.probes.results import GLYPHS, LOOKED_UP, ProbeAnswer
from workbench.analysis.watched_rules import best_place
from workbench.base.errors import BadInput
from workbench.base.figures import interval
from workbench.base.shielded import run_shielded
from workbench.bench import Bench
from workbench.compaction.outcome import Outcome
from workbench.runs.questions import (
    RECORDED,
    Questions,
    RuleByVariant,
    ask,
    exam_of,
    no_questions_error,
    question_costs,
    questions,
    recorded_compaction,
    rules_by_variant,
    saved_answers,
)
from workbench.session import fingerprint
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName, parse_model
from workbench.summarizers.live_events import CallEnded as CallEnded
from workbench.summarizers.live_events import LiveEvent
from workbench.tokens.cost import money
from workbench.tui.keys import shared
from workbench.tui.plain import figure, one_line, plain, several
from workbench.tui.retention.pane import RetentionPane, RetentionState
from workbench.tui.screens.choose_summarizer import ANSWERS, ChooseSummarizerScreen
from workbench.tui.screens.confirm import spend_limit_of
from workbench.tui.screens.run_words import who
from workbench.tui.widgets.cut_text import CutText
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextPart, TextView
from workbench.tui.widgets.watched_lines import COLOURS, SIGNS, STYLES

SHADES = {"✓": "green", "✗": "red", "·": "red", "?": "dim"}


@dataclass(frozen=True)
class AnswerGrid:
    """Answers of every arm, and the number of the arm that is the bench's own outcome."""

    questions: Questions
    evaluation: ProbeResults
    watched: tuple[RuleByVariant, ...]
    ours: int

    def rows(self, failed: bool) -> tuple[RuleByVariant | int, ...]:
        """Watched sentences, then questions by number: all, or those that our arm fails."""
        right = [reply.right for reply in self.evaluation.answers[self.ours]]
        lost = [one for one in self.watched if STYLES[one.verdicts[self.ours]] == "bad"]
        if failed:
            return (*lost, *(number for number, good in enumerate(right) if not good))
        return (*self.watched, *range(len(right)))


class QuestionsPane(RetentionPane):
    TITLE = "Questions"
    HELP = """\
Questions about this context that have one exact answer, made from its own messages; first those whose answer the \
session used later (↻). Each column is a text that they are answered from: the full context, the agent's own \
compaction where the file records one, the outcome on the bench, and nothing. ✓ is right, ✗ wrong, · not known, ? not \
answered; the last questions are controls, to which no text has the answer. Watched rules come first: ✔ verbatim, \
≈ paraphrased, ✘ contradicted, ○ gone. Next to the list are the right answer, its source, and each answer with the \
line it is from. Without a model the answers are found by text search; m asks a model, whose answers are saved and not \
asked for again.

p pins the source of a question and answers it again; f lists only the questions that the bench's outcome fails; w \
writes the questions to a file next to the session, where you can change them; Enter goes to the source."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("filter", "failed", "Only failed", "Only questions that the outcome fails, or all."),
        shared("model", "model", "Ask a model", "Choose a model and ask it, live."),
        shared("write", "write", "Write", "Write them to NAME.probes.toml.", show=False),
    ]
    EMPTY = "No question is listed: f shows all of them again."

    def __init__(self, state: RetentionState, *, id: str) -> None:
        super().__init__(state, id=id)
        self.question_set: Questions | None = None
        self.found: AnswerGrid | None = None
        self.model = ""
        self.failed = False
        self.shown: tuple[RuleByVariant | int, ...] = ()
        self.running = False

    def compose(self) -> ComposeResult:
        yield CutText(classes="note")
        with Horizontal(classes="both"):
            yield TextList(empty=self.EMPTY, classes="lines")
            yield TextView()

    @property
    def at(self) -> int:
        """Index of the row under the cursor, -1 if there is none."""
        return self.query_one(TextList).at

    def say(self, words: str) -> None:
        self.query_one(".note", Static).update(Text(plain(words)))

    # --- asking -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._show_stage("making questions …")
        self.look()

    def _show_stage(self, stage: str) -> None:
        """Show the stage above the list, and in the list while it is empty."""
        self.say(stage)
        texts = self.query_one(TextList)
        texts.empty = stage
        texts.refresh()

    @work(exclusive=True, group="questions", exit_on_error=False, description="ask")
    async def look(self) -> None:
        bench, model = self.bench, self.model
        self.running = True
        try:
            question_set = self.question_set
            if question_set is None:
                question_set = self.question_set = await asyncio.to_thread(questions, bench)
            if not question_set.probes:
                raise no_questions_error(bench)
            self._show_stage(f"compacting the context for {several(len(question_set.probes), 'question')} …")
            exam, ours = await asyncio.to_thread(_exam, bench, question_set)
            self._show_stage(f"answering {several(len(question_set.probes), 'question')} …")
            watched = await asyncio.to_thread(rules_by_variant, bench, exam)
            evaluation = await (self._ask_model(bench, exam, model) if model else asyncio.to_thread(looked_up, exam))
        except BadInput as refused:
            self.state.status = str(refused)
            self.say(self.state.status)
            return
        finally:
            self.running = False
            self.query_one(TextList).empty = self.EMPTY
        self.found = AnswerGrid(question_set, evaluation, watched, ours)
        self.draw()

    async def _ask_model(self, bench: Bench, exam: Exam, model: str) -> ProbeResults:
        known = await asyncio.to_thread(saved_answers, bench, model)
        estimate = await asyncio.to_thread(question_costs, bench, exam, model, known)
        spend_limit = spend_limit_of(self.app)
        if estimate.calls:
            await spend_limit.allow(estimate.most, parse_model(model).model)
        calls, answered = several(estimate.calls, "call"), 0
        there, tokens = who(parse_model(model)), figure(estimate.tokens)
        self.say(f"asking {there}: {calls}, ≈{tokens} tokens, about {estimate.cost} · esc cancels")

        def on_event(event: LiveEvent) -> None:
            nonlocal answered
            if isinstance(event, CallEnded):
                answered += 1
                self.say(f"asking {model}: {figure(answered)} of {calls} done · esc cancels")

        done = await ask(bench, exam, model, known, spend_limit, on_event)
        if done.record:
            cost = f"{several(len(done.record.calls), 'call')}, {money(done.record.dollars)}"
            self.state.status = " · ".join(filter(None, (self.state.status, cost)))
            if trouble := await run_shielded(partial(run_history.save_run, done.record)):
                self.notify(trouble, severity="warning", markup=False)
        if done.failed:
            many = several(len(done.failed), "call")
            self.state.status += f" · {many} failed, m and enter ask again: {one_line(done.failed[0], 120)}"
        if done.cut:
            self.notify(f"A context is too long for {model}: its oldest messages were left out.", severity="warning")
        return done.answers

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        found = self.found
        if found is None:
            return
        self.shown = found.rows(self.failed)
        texts = self.query_one(TextList)
        texts.border_title = f"{'failed' if self.failed else 'questions'} · {len(self.shown)}"
        texts.show(row_line(found.evaluation, row) for row in self.shown)
        if not self.shown:
            self.query_one(TextView).show([TextPart("Every question is answered correctly.", "good")], "none")
        self.say("\n".join((shares(found.evaluation), method_words(found, self.state.status))))

    @on(TextList.Highlighted)
    def _marked(self, event: TextList.Highlighted) -> None:
        if self.found and 0 <= event.at < len(self.shown):
            row = self.shown[event.at]
            self.query_one(TextView).show(details(self.found.evaluation, row, self.bench), row)

    @property
    def source(self) -> int | None:
        """Index of the message that answers the row under the cursor; None if none does."""
        if self.found is None or not 0 <= self.at < len(self.shown):
            return None
        return source_of(self.found.evaluation, self.shown[self.at], self.bench)

    # --- doing ------------------------------------------------------------------------------------------------------

    def pin(self) -> bool:
        if self.found is None or self.running:
            return False
        source = self.source
        if source is None:
            self.notify("No message of this context answers it: there is nothing to pin.", markup=False)
            return False
        self.state.pin(self.bench.messages[source].id, source)
        return True

    @property
    def sentence(self) -> str:
        if self.found is None or not 0 <= self.at < len(self.shown):
            return ""
        row = self.shown[self.at]
        return row.sentence if isinstance(row, RuleByVariant) else self.found.evaluation.probes[row].says

    def action_failed(self) -> None:
        self.failed = not self.failed
        self.draw()

    def action_model(self) -> None:
        def chosen(name: SummarizerName | None) -> None:
            if name is not None:
                self.model, self.state.status = name.with_connection, ""
                self.start()

        usual = parse_model(self.model) if self.model else SummarizerName("extractive")
        session = self.bench.session
        self.app.push_screen(ChooseSummarizerScreen(session, fingerprint(session), usual, ANSWERS), chosen)

    @work(exclusive=True, group="write", exit_on_error=False, description="write")
    async def action_write(self) -> None:
        path = probes_path(self.bench.session)
        if self.found is None or path is None:
            return
        try:
            await asyncio.to_thread(write_probes, path, self.found.evaluation.probes)
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False)
            return
        self.notify(f"{path} is written; change it as you like.", markup=False)

    @on(TextList.Selected)
    def _go_there(self) -> None:
        if self.source is not None:
            self.post_message(self.GoToMessage(self.bench.messages[self.source].id))

    def cancel(self) -> bool:
        if not (self.running and self.model):
            return False
        self.workers.cancel_group(self, "questions")
        self.model, self.state.status = "", "cancelled"
        self.start()
        return True


def _exam(bench: Bench, question_set: Questions) -> tuple[Exam, int]:
    """Exam with the arms: the agent's own compaction if one is recorded, and the bench's outcome (an offline run for a
    preview); and the number of our arm."""
    outcomes: list[tuple[str, Outcome]] = [(bench.as_preset.name, (bench.result or bench.offline).outcome)]
    with suppress(BadInput):  # none is recorded here, or it cannot be read
        outcomes.insert(0, (RECORDED, recorded_compaction(bench)))
    return exam_of(bench, question_set.probes, outcomes), len(outcomes)


def source_of(found: ProbeResults, row: RuleByVariant | int, bench: Bench) -> int | None:
    """Index of the message that states a watched sentence, or that a question is from; None if there is none."""
    if isinstance(row, RuleByVariant):
        return best_place(row.sentence, bench.context.shape)
    return bench.context.shape.index_of.get(found.probes[row].source)


def row_line(found: ProbeResults, row: RuleByVariant | int) -> Text:
    """Row of the list: a watched sentence or a question, with a glyph for each arm."""
    if isinstance(row, RuleByVariant):
        signs = [(f"{SIGNS[verdict]} ", COLOURS[STYLES[verdict]]) for verdict in row.verdicts]
        return Text.assemble(*signs, (f" {'watched':<12}   ", "dim"), one_line(row.sentence, 160))
    return line(found, row)


def line(found: ProbeResults, number: int) -> Text:
    """Question in the list, with a glyph for each arm."""
    probe = found.probes[number]
    glyphs = [_glyph(found, arm, number) for arm in range(len(found.arms))]
    cells = [(f"{glyph} ", SHADES[glyph]) for glyph in glyphs]
    used = "↻" if probe.used else " "
    return Text.assemble(*cells, (f" {probe.kind:<12} {used} ", "dim"), one_line(short_question(probe.question), 160))


def short_question(question: str) -> str:
    """Short form of a question for the list: without the beginning that many share, or only the words around a
    blank."""
    _, mark, words = question.partition('"')
    if BLANK in words:
        return mark + words
    begun = next((long for long in BEGINNINGS if question.startswith(long)), "")
    return f"{BEGINNINGS[begun]} {question.removeprefix(begun).strip()}" if begun else question


BEGINNINGS = {
    "Into which of its edited files did the agent write": "File with",
    "In which file did the agent define": "File that defines",
    "In which file is": "File of",
    "Which file has the line": "File with the line",
    "The agent ran one command that begins": "Command",
    "Which command did the agent run to do this:": "Command for",
    "The user gave a rule that begins": "Rule",
    "The user made a decision that begins": "Decision",
    "The agent made a decision that begins": "Decision",
    "The agent asked:": "Asked:",
}


def _glyph(found: ProbeResults, arm: int, number: int) -> str:
    return GLYPHS[found.answers[arm][number].mark]


def shares(found: ProbeResults) -> str:
    """Share of right answers of each arm, in the order of the columns. A line does not break within an arm."""
    known_by_arm = []
    for at, arm in enumerate(found.arms):
        share, (made_up, _) = found.share(at), found.invented_answers(at)
        known = interval(share.value, share.low, share.high) if share else "no answer"
        words = f"{arm.name} {known}{f', {made_up} made up' if made_up else ''}"
        known_by_arm.append(words.replace(" ", "\u00a0"))
    return " · ".join(known_by_arm)


def method_words(found: AnswerGrid, last_action: str) -> str:
    by = found.evaluation.by
    answered = "answered by text search, no model" if by == LOOKED_UP else f"answered by {by}"
    if found.evaluation.per_prompt:
        answered += f", {several(found.evaluation.per_prompt, 'question')} per prompt"
    origin = f"from {found.questions.file.name}" if found.questions.file else found.questions.origin
    many, controls = len(found.evaluation.scored), len(found.evaluation.probes) - len(found.evaluation.scored)
    with_controls = f" and {several(controls, 'control')}" if controls else ""
    used = f", {found.evaluation.used} about something used later" if found.evaluation.used else ""
    counts = f"{several(many, 'question')}{with_controls} {origin}{used}"
    return " · ".join(filter(None, (last_action, answered, counts)))


def details(found: ProbeResults, row: RuleByVariant | int, bench: Bench) -> Sequence[TextPart]:
    """Text next to the list for one of its rows."""
    return _rule_parts(found, row, bench) if isinstance(row, RuleByVariant) else _question_parts(found, row, bench)


def _rule_parts(found: ProbeResults, row: RuleByVariant, bench: Bench) -> Sequence[TextPart]:
    """Watched sentence with its source, and its state in each arm."""
    at = best_place(row.sentence, bench.context.shape)
    where = "no message of this context" if at is None else _message(at, bench)
    parts = [TextPart(row.sentence, "title"), TextPart(""), TextPart(f"source {where}", "dim"), TextPart("")]
    for arm, verdict in zip(found.arms, row.verdicts, strict=True):
        parts.append(TextPart(f"{SIGNS[verdict]} {arm.name}: {verdict}", STYLES[verdict]))
    return parts


def _message(at: int, bench: Bench) -> str:
    message = bench.messages[at]
    return f"message {figure(at + 1)}, {message.role}{' · pinned' if message.id in bench.pins else ''}"


def _question_parts(found: ProbeResults, number: int, bench: Bench) -> Sequence[TextPart]:
    """Question, right answer with its source, and each arm's answer with the line it is from."""
    probe = found.probes[number]
    right = "not known: it is in no context" if probe.kind == "control" else probe.answer
    parts = [TextPart(probe.question, "title"), TextPart(""), TextPart(f"right  {right}", "good")]
    parts += [TextPart(f"or     {other}", "good") for other in probe.accept]
    at = bench.context.shape.index_of.get(probe.source)
    if probe.kind != "control":
        parts += [TextPart(f"source {'by hand' if at is None else _message(at, bench)}", "dim")]
    if probe.says and probe.says != probe.answer:
        parts += [TextPart(f"       {one_line(probe.says, 600)}", "dim")]
    for arm, row in zip(found.arms, found.answers, strict=True):
        reply = row[number]
        parts += [TextPart(""), TextPart(_answer_words(arm.name, reply), "good" if reply.right else "bad")]
        if reply.line:
            parts.append(TextPart(f"  {'from' if reply.is_stated else 'nearest'}: {one_line(reply.line, 400)}", "dim"))
    return parts


def _answer_words(name: str, answer: ProbeAnswer) -> str:
    words = one_line(answer.reply or "no answer", 600)
    judged = " (a model judged it correct)" if answer.mark == "judged" else ""
    return f"{GLYPHS[answer.mark]} {name}: {words}{judged}"
