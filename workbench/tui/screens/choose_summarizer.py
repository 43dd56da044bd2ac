"""The list of summarizers: extractive, a model, a recorded run, the user, or a rehearsed failure. The same list is used
to choose who answers questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import Worker

from workbench.base.errors import BadInput
from workbench.base.figures import short
from workbench.base.stamps import shown
from workbench.base.text import counted
from workbench.session import Session
from workbench.summarizers import model_list, run_history
from workbench.summarizers.by_name import SERVER_MODES, SummarizerName, parse_model, parse_name
from workbench.summarizers.connections import DEFAULT, configured_connections, connections
from workbench.summarizers.model_list import OfferedModel
from workbench.summarizers.rehearsal import FAILURE_KINDS, FAILURES
from workbench.summarizers.run_history import RunRow
from workbench.tokens import find_model
from workbench.tokens.models import all_models
from workbench.tui.background import failure_of
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.plain import figure, one_line
from workbench.tui.screens.choose_preset import BROAD
from workbench.tui.screens.run_words import BY_HAND
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING
from workbench.tui.widgets.text_list import TextList

RUNS = 40
"""Most recorded runs that are offered, the newest ones."""

GARBAGE = "an answer that says nothing about the session, which no check notices"


@dataclass(frozen=True)
class SummarizerChoice:
    """Line of the list; a heading has no name."""

    name: SummarizerName | None
    title: str
    about: str = ""

    @property
    def found_by(self) -> str:
        return f"{self.name or ''} {self.title} {self.about}".casefold()


@dataclass(frozen=True)
class SummarizerJob:
    """Job of the summarizer: its title, the offline choices for it, and a test of who can do it."""

    title: str
    offline: tuple[SummarizerChoice, ...]
    can: Callable[[SummarizerName], bool]


EXTRACTIVE = SummarizerChoice(
    SummarizerName("extractive"), "extractive", "sentences from the messages themselves; no model, no network"
)
SUMMARY = SummarizerJob(
    "Who writes the summary",
    (
        EXTRACTIVE,
        SummarizerChoice(BY_HAND, "by hand", "you write the summary in the editor, next to the messages it replaces"),
    ),
    lambda name: True,
)
DRAFT = SummarizerJob("Who writes this variant's summary", (EXTRACTIVE,), lambda name: name != BY_HAND)
"""Job without writing by hand: variants compare models."""
ANSWERS = SummarizerJob(
    "Who answers the questions",
    (SummarizerChoice(SummarizerName("extractive"), "looked up", "found by text search; no model, no network"),),
    lambda name: name.is_live or name.kind == "extractive",
)


def choices(
    offered: Mapping[str, Sequence[OfferedModel]],
    recorded: Iterable[RunRow],
    responding: Collection[str] = (),
    job: SummarizerJob = SUMMARY,
) -> tuple[SummarizerChoice, ...]:
    """All choices in groups. `offered` are the models of each connection; the connections in `responding` have the
    Responses API, which can compact."""
    found = [SummarizerChoice(None, "Offline"), *job.offline]
    for whom, models in offered.items():
        found += [SummarizerChoice(None, f"Models of {whom}")] if models else []
        found += [SummarizerChoice(SummarizerName(whom, model.id), model.id, _about(model)) for model in models]
    found += [
        SummarizerChoice(None, "The server's own compaction (beta)"),
        *(
            SummarizerChoice(SummarizerName("server", f"{mode}:{model.id}"), f"{mode} · {model.id}", about)
            for mode, about in SERVER_MODES.items()
            for model in offered.get(DEFAULT, ())[:2]
        ),
        *(
            SummarizerChoice(
                SummarizerName("server", f"compact:{model.id}", whom),
                f"compact · {whom}/{model.id}",
                SERVER_MODES["compact"],
            )
            for whom, models in offered.items()
            if whom in responding
            for model in models[:2]
        ),
    ]
    if runs := [
        SummarizerChoice(SummarizerName("recorded", entry.id), _run_title(entry), _run_about(entry))
        for entry in recorded
    ]:
        found += [SummarizerChoice(None, "Recorded runs: their answers, offline"), *runs]
    found.append(SummarizerChoice(None, "Rehearse a failure: nothing is sent"))
    for kind in FAILURE_KINDS:
        about = FAILURES[kind][1] if kind in FAILURES else GARBAGE
        found.append(SummarizerChoice(SummarizerName("rehearse", kind), kind, about))
    return able(found, job)


def able(every: Sequence[SummarizerChoice], job: SummarizerJob) -> tuple[SummarizerChoice, ...]:
    """Choices that can do the job, under their headings; a heading without choices is left out."""
    can = [choice for choice in every if choice.name is None or job.can(choice.name)]
    return tuple(a for a, b in zip(can, [*can[1:], None], strict=True) if a.name is not None or (b and b.name))


def usual_models() -> dict[str, tuple[OfferedModel, ...]]:
    """Models by connection, from the last list that each server gave, however old. Without a list from Anthropic, its
    models in the table of models, newest first. Raises BadInput for broken settings."""
    there = connections().values()
    found = {whom.name: known.models for whom in there if (known := model_list.cached_models(whom))}
    if DEFAULT in found:
        return found
    table = tuple(
        OfferedModel(id=info.id, title=info.title, window=info.window, max_output=info.max_output)
        for info in reversed(all_models())
        if info.id.startswith("claude")
    )
    return {DEFAULT: table, **found}


def recorded_runs(session: Session, fingerprint: str) -> tuple[RunRow, ...]:
    """Saved runs whose every request was answered, those of this session first, then the newest."""
    answered = (entry for entry in run_history.list_runs(10 * RUNS) if entry.calls and entry.end == "finished")
    return tuple(sorted(answered, key=lambda entry: entry.session != fingerprint)[:RUNS])


def matching(every: Sequence[SummarizerChoice], query: str) -> tuple[SummarizerChoice, ...]:
    """Choices that contain every word of the query, under their headings; then the query as a model's name. Recorded
    runs and rehearsals come last."""
    words = query.casefold().split()
    found: list[SummarizerChoice] = []
    offline: list[SummarizerChoice] = []
    heading: SummarizerChoice | None = None
    for choice in every:
        if choice.name is None:
            heading = choice
        elif all(word in choice.found_by for word in words):
            group = offline if choice.name.kind in ("recorded", "rehearse") else found
            group += [choice] if heading is None else [heading, choice]
            heading = None
    typed = _typed(query.strip())
    if typed is not None and not any(choice.name == typed for choice in found):
        known = find_model(typed.model)
        about = _about(OfferedModel(id=typed.model)) if known else "window and price unknown; the name is sent as typed"
        found += [
            SummarizerChoice(None, "As typed"),
            SummarizerChoice(typed, f"the model “{typed.with_connection}”", about),
        ]
    return tuple(found + offline)


def _typed(query: str) -> SummarizerName | None:
    """Model that a query names: alone, as CONNECTION/MODEL or as CONNECTION:MODEL; or a server's own compaction."""
    if not query or " " in query:
        return None
    whom, colon, model = query.partition(":")
    try:
        if whom == "server":
            return parse_name(query)
        return SummarizerName(whom, model) if colon and model and whom in connections() else parse_model(query)
    except BadInput:  # broken settings, which are reported already
        return None


def _about(model: OfferedModel) -> str:
    info = find_model(model.id)
    window = model.window or (info.window if info else None)
    facts = [f"window {short(window)}"] if window else []
    if info and info.prices:
        facts.append(f"${info.prices.input:g} in, ${info.prices.output:g} out for a million tokens")
    return " · ".join([*([model.title] if model.title and model.title != model.id else []), *facts]) or "no price known"


def _run_title(entry: RunRow) -> str:
    return f"{shown(entry.began, zone=None)} {entry.summarizer}"


def _run_about(entry: RunRow) -> str:
    many = counted(entry.calls, "call")
    file = entry.file.rpartition("/")[2]
    return f"{entry.strategy}, {many}, {figure(entry.output)} tokens written, {entry.end}; {file} · {entry.id}"


class ChooseSummarizerScreen(ModalScreen[SummarizerName | None]):
    HELP = """\
Choose who writes the summaries of this session (saved with it), or who answers the questions about it. Type to \
search. A name that is not in the list is offered as a model, so you can use any model of your server; \
CONNECTION/MODEL names another server (`cwb list models` lists the connections). Models are those that the servers \
listed last, or those of the table of models; F5 asks the servers again. Nothing else on this screen sends anything."""
    HORIZONTAL_BREAKPOINTS = BROAD
    BINDINGS: ClassVar[list[BindingType]] = [
        CLOSE_KEY,
        *TYPING,
        shared("open", "take", "Take it", "Select the marked row.", priority=True),
        shared("refresh", "ask_server", "Ask for models", "Ask servers for models."),
        HELP_KEY,
    ]

    def __init__(
        self, session: Session, fingerprint: str, chosen: SummarizerName, job: SummarizerJob = SUMMARY
    ) -> None:
        super().__init__()
        self.job = job
        self.session, self.fingerprint, self.chosen = session, fingerprint, chosen
        self.models: dict[str, tuple[OfferedModel, ...]] = {}
        self.responding: set[str] = set()
        self.recorded: tuple[RunRow, ...] = ()
        self.report = ""
        self.every: tuple[SummarizerChoice, ...] = ()
        self.shown: tuple[SummarizerChoice, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"{self.job.title} · enter selects, esc cancels"
            yield Input(placeholder="type to search, or a model's name", compact=True, id="search")
            yield TextList()
            yield Static(id="about")
            yield KeysLine()

    def on_mount(self) -> None:
        self.gather()

    @work(exclusive=True, group="models", exit_on_error=False)
    async def gather(self) -> None:
        """Read choices from disk in a thread; no server is asked."""
        try:
            self.models = await asyncio.to_thread(usual_models)
            self.responding = {one.name for one in connections().values() if one.protocol == "responses"}
            self.recorded = await asyncio.to_thread(recorded_runs, self.session, self.fingerprint)
        except BadInput as damaged:
            self.report = str(damaged)
        self._list()

    @work(exclusive=True, group="models", exit_on_error=False)
    async def action_ask_server(self) -> None:
        self._say("asking for models …")
        reports: list[str] = []
        try:
            whom = configured_connections()
        except BadInput as broken:
            whom, reports = (), [str(broken)]
        for each in whom:
            try:
                models = (await model_list.fetch_models(each)).models
                self.models = {**self.models, each.name: models}
                reports.append(f"{each.name} offers {counted(len(models), 'model')}")
            except BadInput as refused:
                reports.append(str(refused).rstrip("."))
        self._say("; ".join(reports))
        self._list()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(failure)

    def _say(self, sentence: str) -> None:
        self.report = sentence
        self._explain()

    @on(Input.Changed)
    def _searched(self) -> None:
        self._list()

    def _list(self) -> None:
        query = self.query_one(Input).value
        self.every = choices(self.models, self.recorded, self.responding, self.job)
        self.shown = able(matching(self.every, query), self.job)
        names = [choice.name for choice in self.shown]
        preferred = query.strip() or str(self.chosen)
        there = [n for n, name in enumerate(names) if name is not None]
        at = next((n for n in there if str(names[n]) == preferred), 0)
        headings = {n for n, name in enumerate(names) if name is None}
        self.query_one(TextList).show((_line(choice, self.chosen) for choice in self.shown), at, headings)
        self._explain()

    @on(TextList.Highlighted)
    def _explain(self) -> None:
        marked = self.query_one(TextList).at
        choice = self.shown[marked] if 0 <= marked < len(self.shown) else None
        words = Text(f"{choice.name}: {one_line(choice.about, 400)}" if choice else "")
        if self.report:
            words.append(f"\n! {one_line(self.report, 400)}", "bold")
        self.query_one("#about", Static).update(words)

    @on(TextList.Selected)
    def _clicked(self, event: TextList.Selected) -> None:
        self.dismiss(self.shown[event.at].name)

    def action_take(self) -> None:
        typed = self.query_one(Input)
        typed.call_later(typed.action_submit)  # after the characters typed before this key

    @on(Input.Submitted)
    def _take(self) -> None:
        marked = self.query_one(TextList).at
        if 0 <= marked < len(self.shown):
            self.dismiss(self.shown[marked].name)


def _line(choice: SummarizerChoice, chosen: SummarizerName) -> Text:
    if choice.name is None:
        return Text(choice.title, "bold", no_wrap=True)
    mark = "▸" if choice.name == chosen else " "
    line = Text(f" {mark} {one_line(choice.title, 60):<28}", no_wrap=True, overflow="ellipsis")
    return line.append(f" {one_line(choice.about, 200)}", "dim")
