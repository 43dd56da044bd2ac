"""The screen of the bench: lays out the panes, draws them from the store's view, and runs the actions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.actions import parse
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.timer import Timer
from textual.widgets import Input, Tab, Tabs
from textual.worker import Worker, WorkerError

from workbench.base.secrets import load_rules
from workbench.bench import Bench
from workbench.finding.following import Mark
from workbench.tokens import Counter
from workbench.tui.background import failure_of
from workbench.tui.bench import (
    counting,
    edits,
    finding,
    following,
    middle_text,
    other_screens,
    panes,
    planning,
    policy,
    watched_rules,
)
from workbench.tui.bench.actions import (
    ACTIONS,
    BINDINGS,
    KEY_GROUPS,
    NEEDS_NO_PLAN,
    PANES,
    SYNONYMS,
    TYPED,
    do,
    key_id,
    not_recorded,
    rows_of,
)
from workbench.tui.bench.host_screen import HostScreen
from workbench.tui.bench.saving import WRITE_S, save_in_thread, save_now
from workbench.tui.bench.store import BenchView, Store, first_view
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.parts import Folds
from workbench.tui.palette import PaletteCommand
from workbench.tui.rows import Groups
from workbench.tui.screens.help import ABOUT_BENCH
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.cut_text import TwoEnds
from workbench.tui.widgets.epochs_line import EpochsLine
from workbench.tui.widgets.find_bar import FindBar
from workbench.tui.widgets.headline import HeadlineView
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.policy_form import PolicyForm, PresetLine
from workbench.tui.widgets.policy_sheet import PolicySheet
from workbench.tui.widgets.rounds_list import ListHeading, RoundsList
from workbench.tui.widgets.text_view import TextView
from workbench.tui.widgets.watched_lines import WatchedLines


class BenchScreen(HostScreen):
    """Screen with a session on the bench. `mark` is that of its file, `note` the first message to the user, `memory`
    the folder of saved work (None saves nothing). `follow`: the bench follows the file."""

    HELP = ABOUT_BENCH
    HORIZONTAL_BREAKPOINTS = panes.BREAKPOINTS
    VERTICAL_BREAKPOINTS = panes.LINES
    AUTO_FOCUS = "#rounds"
    BINDINGS = BINDINGS
    KEY_GROUPS = KEY_GROUPS
    SYNONYMS: ClassVar[Mapping[str, str]] = {key_id(id): words for id, words in SYNONYMS.items()}

    def __init__(
        self,
        bench: Bench,
        counter: Counter,
        groups: Groups,
        *,
        mark: Mark | None = None,
        note: str = "",
        memory: Path | None = None,
        follow: bool = False,
    ) -> None:
        super().__init__(Store(first_view(bench, groups, mark)), counter, memory)
        self._note, self._follow = note, follow
        self._save_timer: Timer | None = None
        self._key_states: tuple[bool | None, ...] = ()

    def compose(self) -> ComposeResult:
        self.add_class("-show-rounds")
        with Vertical(id="bench"):
            yield TwoEnds(id="title")
            yield EpochsLine(id="epochs")
            yield HeadlineView(id="headline")
            yield BudgetBar(id="budget")
            yield WatchedLines(id="watched")
            with Grid(id="panes"):
                with Vertical(id="list"):
                    yield ListHeading(id="heading")
                    yield RoundsList(id="rounds")
                with Vertical(id="middle"):
                    yield CutTabs(*(Tab(title, id=f"tab-{name}") for name, title in PANES.items()), active="tab-rounds")
                    yield Pager(id="text")
                yield PolicyForm(id="policy")
            yield FindBar(id="find")
            yield TwoEnds(id="status")
            yield KeysLine()

    def on_mount(self) -> None:
        for name in PANES:
            self.query_one(f"#tab-{name}", Tab).tooltip = ACTIONS[f"pane.{name}"].help
        subscribe = self.store.subscribe
        for listener in panes.listeners(self):
            subscribe(listener)
        subscribe(partial(finding.search_again, self))
        subscribe(self._draw_middle)
        subscribe(partial(planning.start_preview, self))
        subscribe(partial(planning.start_checks, self))
        subscribe(partial(counting.follow_epoch, self))
        subscribe(partial(watched_rules.start_rule_states, self))
        subscribe(partial(watched_rules.start_assessment, self))
        subscribe(self._refresh_keys)
        subscribe(self._schedule_save)
        if self._note:
            self.show_toast(self._note)
        if self.bench.session.path is not None:
            self.set_interval(following.LOOK_S, partial(following.check_file, self))
        self.call_after_refresh(self._after_first_paint)

    def _after_first_paint(self) -> None:
        self.store.subscribe(partial(planning.plan_present, self))
        self.spawn("masking", asyncio.to_thread, load_rules)  # before a key says why it is off
        self.store.subscribe(self._draw_policy)
        counting.count(self)
        if self.view.counting:
            counting.show_epochs(self)
        if self.bench.session.begins_at:
            self.spawn("rest", following.read_rest, self)
        if self._follow:
            following.follow(self)

    # --- drawing from the view --------------------------------------------------------------------------------------

    def _draw_middle(self, was: BenchView | None, now: BenchView) -> None:
        if was is not None and now.finding.search_query is not was.finding.search_query:
            text = self.query_one(TextView)
            text.seek(now.finding.search_query)
            middle_text.show_hit(text)
        if panes.has_changed(was, now, "history"):
            self.query_one("#tab-theirs", Tab).display = not not_recorded(now)
        if panes.has_changed(was, now, "tab", "pane"):
            panes.mark_tab(self, now)
        if panes.has_changed(was, now, "shown", "previewed", "tab", "verbosity", "folds") or (
            now.tab == "checks" and panes.has_changed(was, now, "checks")
        ):
            self.fill_middle()

    def fill_middle(self) -> None:
        self.spawn("middle", middle_text.fill, self, self.query_one(TextView))

    def _draw_policy(self, was: BenchView | None, now: BenchView) -> None:
        form = self.query_one(PolicyForm)
        if form.policy is not now.bench.policy or panes.has_changed(was, now, "preset") or form.rows != rows_of(now):
            self.call_later(self._show_policy)

    def _show_policy(self) -> None:
        """Show the bench's policy in the form, unless the form is ahead: a typed change is still being planned."""
        form, view = self.query_one(PolicyForm), self.view
        if not view.pending and not form.changes_ahead:
            form.show(
                view.bench.policy, view.preset, f"{view.bench.strategy.title} · {view.preset.name}", rows_of(view)
            )

    def _refresh_keys(self, was: BenchView | None, now: BenchView) -> None:
        """Refresh the footer if an action was turned on or off."""
        possible = tuple(self._can(id) for id in ACTIONS)
        if possible != self._key_states:
            self._key_states = possible
            self.refresh_bindings()

    def _schedule_save(self, was: BenchView | None, now: BenchView) -> None:
        """Save the work `WRITE_S` after a change of the bench."""
        if was is not None and was.bench is not now.bench and self._save_timer is None and self.memory:
            self._save_timer = self.set_timer(WRITE_S, self._start_saving)

    def _start_saving(self) -> None:
        self._save_timer = None
        self.spawn("remember", save_in_thread, self)

    def on_unmount(self) -> None:
        save_now(self)

    # --- actions ----------------------------------------------------------------------------------------------------

    async def action_act(self, id: str) -> None:
        if not self.view.is_planned and id not in NEEDS_NO_PLAN:
            await self._wait_for_plan()
            if not self.view.is_planned:
                return  # planning failed; a toast says why
        waited = ACTIONS[id].run(self)
        if waited is not None:
            await waited

    async def _wait_for_plan(self) -> None:
        planning.plan_present(self, None, self.view)
        with suppress(WorkerError):
            await self.workers.wait_for_complete(
                [one for one in self.workers if one.node is self and one.group == "plan"]
            )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action != "act":
            return True
        id = str(*parameters)
        return False if id in TYPED and isinstance(self.focused, Input) else self._can(id)

    def _can(self, id: str) -> bool | None:
        """True if an action is on, None if it is off (its key is grey), False if there is nothing to leave (that key is
        hidden)."""
        view = self.view
        if id == "leave":
            return bool(view.running or view.counting or view.finding.is_on or not panes.is_in_list(self))
        return None if ACTIONS[id].why_not(view) else True

    def on_key(self, event: events.Key) -> None:
        """Say why a grey key does nothing."""
        active = self.active_bindings.get(event.key)
        if active is None or active.enabled or active.node is not self:
            return
        _, _, (id,) = parse(active.binding.action)
        event.stop()
        event.prevent_default()
        self.show_toast(ACTIONS[str(id)].why_not(self.view), is_warning=True)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)
            if event.worker.group == "count":
                self.store.put(replace(self.view, counting=None))
            if event.worker.group == "checks":
                self.store.put(replace(self.view, checks=()))

    def keyless(self) -> Iterator[PaletteCommand]:
        """Yield the commands of the palette that have no key."""
        for one in ACTIONS.values():
            if not one.key:
                can = not one.why_not(self.view)
                yield PaletteCommand(
                    one.name, one.help, partial(do, self, one.id), also=SYNONYMS.get(one.id, ""), can=can
                )

    # --- focus and size -----------------------------------------------------------------------------------------------

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Show the pane to which a click or tab moved the focus."""
        if self.focused is not event.widget:
            return  # It had the focus for a moment only, because the focused widget was hidden.
        if pane := panes.pane_of_focus(self, event.widget, self.view):
            self.show_pane(pane)

    def on_resize(self) -> None:
        self.query_one(WatchedLines).make_room(self.size.height)
        self.query_one(HeadlineView).make_room(self.size.height)
        panes.show_place(self, self.view)
        self.call_later(lambda: panes.mark_tab(self, self.view))  # after the layout

    # --- messages of the panes --------------------------------------------------------------------------------------

    @on(Tabs.TabActivated)
    def _tab_chosen(self, event: Tabs.TabActivated) -> None:
        # Use the tab that is active now: a key may have changed it before this event arrived.
        name = event.tabs.active.removeprefix("tab-")
        if name and name != panes.tab_of(self, self.view):
            self.show_pane(name)

    @on(RoundsList.Highlighted)
    def _cursor_moved(self) -> None:
        if self.view.tab == "message":
            self.fill_middle()

    @on(RoundsList.MessageOpened)
    def _message_opened(self) -> None:
        self.show_pane("message")

    @on(RoundsList.SplitDragged)
    def _split_dragged(self, event: RoundsList.SplitDragged) -> None:
        edits.split_before(self, event.index)

    @on(Pager.Rewrap)
    def _rewrap(self) -> None:
        self.fill_middle()

    @on(Pager.FoldToggled)
    def _fold_toggled(self, event: Pager.FoldToggled) -> None:
        self.store.put(replace(self.view, folds=self.view.folds.toggle(event.fold)))

    @on(Pager.AllFoldsToggled)
    def _all_folds(self, event: Pager.AllFoldsToggled) -> None:
        self.store.put(replace(self.view, folds=Folds(every=event.is_open)))

    @on(PolicyForm.PolicyChanged)
    def _policy_changed(self, event: PolicyForm.PolicyChanged) -> None:
        self.query_one(PolicyForm).changes_ahead -= 1
        policy.change_policy(self, event.policy, event.key)

    @on(PolicySheet.TextOpened)
    def _text_opened(self, event: PolicySheet.TextOpened) -> None:
        policy.edit(self, event.field, other_screens.run_with)

    @on(HeadlineView.HeadlineClicked)
    def _why_clicked(self) -> None:
        do(self, "why")

    @on(TwoEnds.RightClicked, "#title")
    @on(PresetLine.ListOpened)
    def _list_opened(self) -> None:
        do(self, "choose-preset")

    @on(PolicySheet.ActionChosen)
    def _row_chosen(self, event: PolicySheet.ActionChosen) -> None:
        do(self, event.id)

    @on(FindBar.Typed)
    def _typed(self, event: FindBar.Typed) -> None:
        if event.job == "search":
            finding.search_typed(self, event.text)

    @on(FindBar.Accepted)
    def _accepted(self, event: FindBar.Accepted) -> None:
        finding.accept_line(self, event.job, event.text)

    @on(FindBar.Cancelled)
    def _cancelled(self, event: FindBar.Cancelled) -> None:
        finding.cancel_line(self, event.job)

    @on(BudgetBar.Dragged)
    def _dragged(self, event: BudgetBar.Dragged) -> None:
        edits.drag_mark(self, event.grip, event.tokens)

    @on(WatchedLines.WatchedClicked)
    async def _watched_clicked(self) -> None:
        await other_screens.show_rules(self)

    @on(EpochsLine.Selected)
    def _epoch_chosen(self, event: EpochsLine.Selected) -> None:
        self.spawn("epoch", planning.to_epoch, self, event.epoch)
