"""Why: growth of the context on the bench, its largest parts, its waste, and fixes that would have helped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import ContentSwitcher, DataTable, Static, Tab, Tabs
from textual.worker import Worker, get_current_worker

from workbench.analysis.pictures import growth_picture
from workbench.analysis.why.diagnosis import Diagnosis, FindingFix, diagnose, fix_for
from workbench.analysis.why.findings import Finding
from workbench.analysis.why.overflow import overflowed_epoch
from workbench.analysis.why.tables import KEYS as TABLE_KEYS
from workbench.analysis.why.tables import tables
from workbench.base.errors import BadInput
from workbench.base.figures import unbroken
from workbench.base.tables import Table as Result
from workbench.bench import Bench, at_epoch
from workbench.session import Cause
from workbench.tokens import Counter
from workbench.tui.background import WorkCancelled, failure_of
from workbench.tui.finding_cards import card, parts_lines, parts_text
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.plain import figure, one_line, plain, titled
from workbench.tui.simulations import course_on, own_preset
from workbench.tui.widgets.calls_plot import CallsPlot, legend
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.cut_text import WholeFigures
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.table import TextTable
from workbench.tui.widgets.text_list import TextList

BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (115, "-wide"), (190, "-huge")]
"""Columns from which the largest parts are next to the findings."""

LINES: list[tuple[int, str]] | None = [(0, "-low"), (30, "-high")]
"""Screen lines from which the plot is higher than its minimum."""

FINDINGS = "findings"
_TITLES = ("Found", "Layer", "Tool", "File", "Round", "Large", "Again", "Unused", "Logs", "Rework", "Cache")
TITLES = dict(zip((FINDINGS, *TABLE_KEYS), _TITLES, strict=True))
"""Tabs by name."""

MOST = 200
"""Most rows of a table; `cwb why` has all of them in JSON and CSV."""

KEYS = "1234567890c"
"""Key of each tab."""

UNSEEN = "layers"
"""Tab of tokens that are in no message: a finding without messages leads there."""


@dataclass(frozen=True, slots=True)
class FixRequest:
    """Fix to apply, in the epoch that was diagnosed."""

    fix: FindingFix
    epoch: int


class WhyScreen(ModalScreen[str | FixRequest | None]):
    """Screen dismissed with the id of the message to go to on the bench, with the fix to apply there, or with None.

    It begins with the bench's epoch; if that is the last one, with the newest epoch that overflowed.
    """

    HELP = """\
The plot shows the prompt of every call of the session: the selected epoch as a curve, the limit and the triggers of \
the bench's settings as lines, recorded compactions as ▼ and refusals as ✖. Its cursor goes from call to call. Below \
are the findings as cards, the largest first: each has its size as a bar, a sentence, and a fix that was simulated on \
this session. Next to them is the size of each part of the context. a applies a card's fix: the bench is planned \
again with those settings, pins or edits, and u undoes it. The other tabs list the parts of the context and its \
waste. Enter goes to the message on the bench, from the plot, a card or a row. { and } select another epoch: the part \
of a session between two compactions of the agent. "system + tools (not recorded)" is sent with every call: system \
prompt, tools, memory. "Rework" is work repeated after a compaction; "Cache" lists the calls that wrote to the prompt \
cache again what an unbroken cache would have kept."""
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    VERTICAL_BREAKPOINTS = LINES
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "apply", "Do it", id="why.apply", tooltip="Apply the card's fix on the bench."),
        shared("next-pane", "app.focus_next", "Plot, list", "Between the plot and the list below it."),
        shared("epoch.previous", "epoch(-1)", "Previous epoch", "One epoch back."),
        shared("epoch.next", "epoch(1)", "Next epoch", "One epoch forward."),
        *(
            shared(f"tab.{key}", f"tab('{name}')", title, f"Show the tab {title}.", show=False)
            for key, (name, title) in list(zip(KEYS, TITLES.items(), strict=True))[:-1]
        ),
        Binding(KEYS[-1], "tab('cache')", "Cache", show=False, id="why.cache", tooltip="Show the tab Cache."),
        CLOSE_KEY,
        HELP_KEY,
    ]
    AUTO_FOCUS = "#findings"

    @dataclass
    class StageReported(Message):
        sentence: str

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, WhyScreen.StageReported)

    @dataclass
    class DiagnosisFailed(Message):
        sentence: str

    @dataclass
    class DiagnosisReady(Message):
        """The diagnosis is done; `bench` has every token counted."""

        found: Diagnosis
        bench: Bench

    def __init__(self, bench: Bench, counter: Counter) -> None:
        super().__init__()
        self.bench = bench
        self.counter = counter
        self.epoch: int | None = None if bench.epoch == len(bench.session.epochs) else bench.epoch
        self.found: Diagnosis | None = None
        self.tables: dict[str, Result] = {}
        self.fixes: list[FindingFix | None] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield WholeFigures(id="title")
            yield Static(id="headline")
            yield CallsPlot(id="growth-plot")
            yield Static(id="legend")
            yield Static(id="call")
            yield CutTabs(
                *(
                    Tab(f"{key} {title}", id=f"tab-{name}")
                    for key, (name, title) in zip(KEYS, TITLES.items(), strict=True)
                )
            )
            with Horizontal():
                with ContentSwitcher(initial=FINDINGS):
                    yield TextList(id=FINDINGS)
                    with Vertical(id="rows"):
                        yield Static(id="about")
                        yield TextTable(cursor_type="row")
                yield Static(id="parts")
            yield KeysLine()

    def on_mount(self) -> None:
        self.say("opening")
        self.call_after_refresh(self.diagnose)

    # --- computing --------------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="why", exit_on_error=False)
    def diagnose(self) -> None:
        """Diagnose an epoch in a thread, which ends at its next report if the screen was closed."""
        worker = get_current_worker()

        def report(stage: str) -> None:
            if worker.is_cancelled:
                raise WorkCancelled
            self.post_message(self.StageReported(stage))

        try:
            epoch = overflowed_epoch(self.bench.session) if self.epoch is None else self.epoch
            bench, course = course_on(self._at(epoch), self.counter, report, first=epoch)
            found = diagnose(bench.context, course, epoch, own_preset(bench), report)
        except WorkCancelled:
            return
        except BadInput as refused:
            self.post_message(self.DiagnosisFailed(str(refused)))
            return
        self.post_message(self.DiagnosisReady(found, bench))

    def _at(self, epoch: int) -> Bench:
        return self.bench if epoch == self.bench.epoch else at_epoch(self.bench, epoch, self.counter)

    def action_epoch(self, by: int) -> None:
        """Diagnose another epoch."""
        if self.found is not None and 1 <= self.found.epoch + by <= len(self.bench.session.epochs):
            self.epoch = self.found.epoch + by
            self.found = None
            self.diagnose()

    def say(self, words: str) -> None:
        """Show text on the screen's first line."""
        self.query_one("#title", Static).update(titled("Why", words))

    @on(StageReported)
    def _show_stage(self, event: StageReported) -> None:
        self.say(f"{event.sentence} · esc stops")

    @on(DiagnosisFailed)
    def _show_failure(self, event: DiagnosisFailed) -> None:
        self.say(f"✘ {event.sentence}")

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")

    # --- showing ----------------------------------------------------------------------------------------------------

    @on(DiagnosisReady)
    def _show(self, event: DiagnosisReady) -> None:
        self.found, self.bench = event.found, event.bench
        self.tables = tables(event.found)
        found = event.found
        self.say(one_line(_title(found), 600))
        self.query_one("#headline", Static).update(Text(headline(found), "dim", no_wrap=True, overflow="ellipsis"))
        picture = growth_picture(found)
        plot = self.query_one(CallsPlot)
        plot.stops = sorted({*picture.marks, *_overflow(found)})
        plot.show(picture)
        here = [call for call, point in enumerate(found.points, 1) if point.epoch == found.epoch]
        plot.go(here[-1] if here else plot.calls)
        self.query_one("#legend", Static).update(legend(picture))
        self._show_call()
        self._fill_tab()
        self.fixes = [fix_for(found, one, self.bench.layout.shape.index_of) for one in found.findings]
        self.query_one(TextList).show(self._cards(found), 0)
        self._share_lines(found)
        self.call_after_refresh(self._draw_parts, found)

    def on_resize(self) -> None:
        if self.found is not None:
            self.call_after_refresh(self._draw_again, self.found)

    def _draw_again(self, found: Diagnosis) -> None:
        if self not in self.app.screen_stack:  # closed before the refresh
            return
        self.query_one(TextList).show(self._cards(found))
        self._draw_parts(found)

    def _share_lines(self, found: Diagnosis) -> None:
        """Give the lower panes no more lines than they use; the plot gets the others."""
        cards, table = self.query_one(TextList), self.query_one(TextTable)
        is_cards = self.query_one(ContentSwitcher).current == FINDINGS
        used = cards.line_count if is_cards else table.row_count + 3
        self.query_one(Horizontal).styles.max_height = max(used + 1, parts_lines(found))

    def _draw_parts(self, found: Diagnosis) -> None:
        if self not in self.app.screen_stack:  # closed before the refresh
            return
        size = self.query_one("#parts", Static).content_size
        self.query_one("#parts", Static).update(parts_text(found, size.width, size.height))

    def _cards(self, found: Diagnosis) -> Iterator[Text]:
        width = self.query_one(TextList).scrollable_content_region.width - 2
        most = max((one.tokens for one in found.findings), default=1)
        for one, fix in zip(found.findings, self.fixes, strict=True):
            yield card(one, most, fix, self._place(one), width)

    def _place(self, one: Finding) -> str:
        """Target of a finding: its first message and the number of further ones, the epoch if that is another one, or
        the tab of unrecorded tokens."""
        if not one.messages:
            return f"2 {TITLES[UNSEEN]}"
        index = self.bench.layout.shape.index_of.get(one.messages[0])
        if index is None:
            return f"epoch {self._epoch_of(one.messages[0])}"
        more = f" +{figure(len(one.messages) - 1)}" if len(one.messages) > 1 else ""
        return f"message {figure(index + 1)}{more}"

    def _epoch_of(self, id: str) -> int:
        """Number of the first epoch that has a message; of the last epoch if none has it."""
        session = self.bench.session
        epochs = (
            n for n, one in enumerate(session.epochs, 1) if any(session.messages[m].id == id for m in one.members)
        )
        return next(epochs, len(session.epochs))

    def action_apply(self) -> None:
        """Apply the fix of the card under the cursor."""
        at = self.query_one(TextList).at
        if self.found is None or at < 0 or self.query_one(ContentSwitcher).current != FINDINGS:
            return
        if (fix := self.fixes[at]) is not None:
            self.dismiss(FixRequest(fix, self.found.epoch))
        else:
            self.notify("No change on the bench would help here.", markup=False)

    @on(CallsPlot.Highlighted)
    def _show_call(self) -> None:
        if self.found is not None and self.found.points:
            self.query_one("#call", Static).update(call_words(self.found, self.bench, self.query_one(CallsPlot).call))

    def action_tab(self, name: str) -> None:
        self.query_one(Tabs).active = f"tab-{name}"

    @on(Tabs.TabActivated)
    def _tab_chosen(self, event: Tabs.TabActivated) -> None:
        name = event.tabs.active.removeprefix("tab-")
        switcher = self.query_one(ContentSwitcher)
        focused = self.focused is None or switcher in self.focused.ancestors
        switcher.current = FINDINGS if name == FINDINGS else "rows"
        self._fill_tab()
        if self.found is not None:
            self._share_lines(self.found)
        if focused:
            (self.query_one(TextList) if name == FINDINGS else self.query_one(TextTable)).focus()

    def _fill_tab(self) -> None:
        name = self.query_one(Tabs).active.removeprefix("tab-")
        if self.found is None or name == FINDINGS:
            return
        table = self.tables[name].first(MOST)
        more = f" {figure(table.more)} more rows in cwb why --csv {table.key}." if table.more else ""
        about = Text(plain((table.note or table.title) + more), no_wrap=True, overflow="ellipsis")
        self.query_one("#about", Static).update(about)
        self.query_one(TextTable).show(table)

    # --- going there ------------------------------------------------------------------------------------------------

    @on(CallsPlot.Selected)
    def _call_chosen(self, event: CallsPlot.Selected) -> None:
        if self.found is not None:
            self._go(self.found.session.messages[self.found.points[event.call - 1].message].id)

    @on(TextList.Selected)
    def _finding_chosen(self, event: TextList.Selected) -> None:
        if self.found is not None:
            if messages := self.found.findings[event.at].messages:
                self._go(messages[0])
            else:
                self.action_tab(UNSEEN)

    @on(DataTable.RowSelected)
    def _row_chosen(self, event: DataTable.RowSelected) -> None:
        self._go(self.query_one(TextTable).message)

    def _go(self, message: str | None) -> None:
        if message:
            self.dismiss(message)
        else:
            self.notify("This row is about no single message.", markup=False)


def _title(found: Diagnosis) -> str:
    """Open failure with its remedy, and the verdict; the verdict already names a rejected request."""
    failures = found.failures
    first = next((one for one in failures.failures if one.is_open), None)
    if found.verdict and first and first.cause is Cause.CONTEXT_TOO_LONG and not failures.loop:
        return f"{found.verdict} Rescue (ctrl+p on the bench) compacts it without a model."
    return " ".join(filter(None, (failures.headline, found.verdict)))


def _overflow(found: Diagnosis) -> list[int]:
    """Numbers of the calls that reach the limit, at most one."""
    crossing = found.crossing.message if found.crossing else None
    messages = found.session.messages
    return [call for call, point in enumerate(found.points, 1) if messages[point.message].id == crossing]


def headline(found: Diagnosis) -> str:
    """Epoch, limit with its reason, and the call that reaches it or the rounds left until then, on one line."""
    epoch = f"epoch {found.epoch} of {len(found.session.epochs)}"
    if found.limit is None:
        return f"{epoch} · window unknown: 9 on the bench sets it"
    limit = f"limit {figure(found.limit.tokens)} {unbroken(found.reached)}"
    return f"{epoch} · {limit} · {one_line(found.limit.why)}"


def call_words(found: Diagnosis, bench: Bench, call: int) -> Text:
    """Figures of the call under the cursor."""
    point = found.points[call - 1]
    before = found.points[call - 2].tokens if call > 1 else 0
    index = bench.layout.shape.index_of.get(found.session.messages[point.message].id)
    words = [f"call {figure(call)} of {figure(len(found.points))}"]
    words.append(
        f"{point.basis.value}{figure(point.tokens)} tokens ({point.tokens - before:+,})".replace(",", "\u00a0")
    )
    if index is None:
        words.append(f"epoch {point.epoch}")
    else:
        round = bisect_right([span.start for span in bench.layout.shape.rounds.rounds], index)
        words.append(f"{f'round {figure(round)}, ' if round else ''}message {figure(index + 1)}")
    if point.compacted:
        after = next((str(one) for one in found.rework if one.compaction.epoch + 1 == point.epoch), "")
        words.append("▼ a recorded compaction lies before it" + (f", after it {after}" if after else ""))
    line = Text.assemble((words[0], "bold"), " · ", " · ".join(words[1:]), no_wrap=True, overflow="ellipsis")
    return line.append(" · ⏎ goes there", "dim")
