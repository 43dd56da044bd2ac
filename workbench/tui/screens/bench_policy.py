"""What the bench does with the policy: choose, change, reset, paste, copy, save, and edit its texts and the window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker

from workbench import bench as steps
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, default_preset, load_preset, preset_toml, save_preset
from workbench.compaction.shape import Shape
from workbench.compaction.strategies import all_strategies
from workbench.tui.fields import FormField, differing, fields_of
from workbench.tui.history import History
from workbench.tui.plain import figure
from workbench.tui.policy_words import split_words, unmovable_words
from workbench.tui.screens.bench_plan import planned
from workbench.tui.widgets.policy_form import Chosen, PolicyForm

KEYS = (
    ("P", "choose_preset", "Strategy", "Choose a strategy and a preset from the list, each with what it is about."),
    ("E", "edit_text", "Prompt", "Edit the policy's prompts and templates beside what would be sent."),
    ("W", "window", "Window", "Set the model's window, in tokens."),
    ("D", "reset_policy", "As preset", "Give every field the preset's value again."),
    ("V", "paste_params", "Paste params", "Paste history_summary_params: JSON, the flag's string, or feature_flags."),
    ("ctrl+s", "save_preset", "Save preset", "Save the policy as a preset of your own."),
    ("Y", "copy_toml", "Copy TOML", "Copy the policy to the clipboard as a preset file."),
    ("ctrl+y", "copy_params", "Copy params", "Copy the policy to the clipboard as history_summary_params."),
)
"""Key, action, name and help of what can be done with the policy."""

BINDINGS: list[BindingType] = [
    Binding(key, action, name, show=action == "choose_preset", tooltip=tooltip, id=f"bench.{action.replace('_', '-')}")
    for key, action, name, tooltip in KEYS
]


class PolicyActions(Screen[None]):
    """Mixed into the bench; `bench`, `history`, `step`, `explain` are the bench's."""

    history: History

    if TYPE_CHECKING:

        @property
        def bench(self) -> Bench: ...
        def step(self, make: Callable[[], Bench], key: str = "", said: str = "") -> None: ...
        def explain(self, sentence: str) -> None: ...

    # --- showing ----------------------------------------------------------------------------------------------------

    _preset: Preset | None = None

    @property
    def preset(self) -> Preset:
        """The preset that the policy is measured by: the chosen one, or the strategy's own where that is gone."""
        name, strategy = self.bench.preset, self.bench.strategy.id
        known = self._preset
        if known is None or (known.id, known.strategy) != (name, strategy):
            self._preset = known = _preset_of(name, strategy)
        return known

    async def _show_policy(self) -> None:
        bench, preset = self.bench, self.preset
        name = f"{bench.strategy.title} · {preset.id}"
        await self.query_one(PolicyForm).show(bench.policy, preset.policy, name, preset.about)

    def show_triggers(self) -> None:
        """Fill the trigger panel. What the strategy says of the whole session comes when it is found."""
        bench = self.bench
        self.query_one(PolicyForm).show_triggers(
            bench.plan.triggers, [split_words(bench)], bench.strategy.lint(bench.policy)
        )
        if bench.strategy.remark is not None:
            self.find_remark(bench, bench.strategy.remark)

    @work(exclusive=True, group="remark", exit_on_error=False, description="find_remark")
    async def find_remark(self, bench: Bench, remark: Callable[[Shape, Policy], str]) -> None:
        found = await asyncio.to_thread(remark, bench.layout.shape, bench.policy)
        if bench is self.bench:
            words = [split_words(bench), found]
            self.query_one(PolicyForm).show_triggers(bench.plan.triggers, words, bench.strategy.lint(bench.policy))

    # --- pending ----------------------------------------------------------------------------------------------------

    @property
    def pending(self) -> list[Worker[object]]:
        """Changes that are still being planned."""
        return [w for w in self.workers if w.node is self and w.group in ("policy", "edit") and not w.is_finished]

    def drop_pending(self) -> bool:
        """Let go what is still being planned: it must not land after an undo. Whether there was anything."""
        pending = self.pending
        for worker in pending:
            worker.cancel()
        return bool(pending)

    # --- changing ---------------------------------------------------------------------------------------------------

    @work(exclusive=True, group="policy", exit_on_error=False, description="replan")
    async def replan(self, make: Callable[[Bench], Bench], key: str = "", said: str = "", *, show: bool = True) -> None:
        """Take a step whose plan may need more than a frame: planned in a thread, then drawn. A change made meanwhile
        is not lost: the step is then made anew from what stands."""
        while True:
            before = self.bench
            try:
                after = make(before)
            except BadInput as refused:
                self.explain(str(refused))
                return
            await asyncio.to_thread(planned, after)
            if before is self.bench:
                break
        self.step(lambda: after, key, said)
        if show:
            await self._show_policy()

    @on(PolicyForm.Changed)
    def _policy_changed(self, event: PolicyForm.Changed) -> None:
        policy = event.policy
        self.replan(lambda bench: _with_policy(bench, policy), f"policy.{event.key}", show=False)

    def action_choose_preset(self) -> None:
        from workbench.tui.screens.choose_preset import ChoosePresetScreen

        def chosen(preset: Preset | None) -> None:
            if preset is not None:
                self.choose(preset)

        self.app.push_screen(ChoosePresetScreen(self.bench.preset), chosen)

    @on(Chosen.Opened)
    def _list_opened(self) -> None:
        self.action_choose_preset()

    def choose(self, preset: Preset) -> None:
        """Take a preset: its strategy, its numbers; the form and the plan follow."""
        self.replan(lambda bench: steps.choose_preset(bench, preset), said=f"preset {preset.id}")

    def action_reset_policy(self) -> None:
        preset = self.preset
        count = len(differing(self.bench.policy, preset.policy))
        said = f"{figure(count)} field{'s' * (count != 1)} as in {preset.id} again"
        self.replan(lambda bench: _with_policy(bench, preset.policy), said=said)

    def action_paste_params(self) -> None:
        from workbench.tui.screens.paste_params import PasteParamsScreen

        taking = next(one for one in (self.bench.strategy, *all_strategies()) if one.pasted is not None)
        params = taking.pasted
        assert params is not None

        def pasted(policy: Policy | None) -> None:
            if policy is not None:
                preset = replace(default_preset(taking.id), policy=policy)
                self.replan(lambda bench: steps.choose_preset(bench, preset), said=f"pasted {params.name}")

        self.app.push_screen(PasteParamsScreen(params), pasted)

    def action_window(self) -> None:
        from workbench.tui.screens.ask import ask_window

        def given(window: int | None) -> None:
            said = f"window of {figure(window)} tokens" if window else "window unknown"
            self.replan(lambda bench: steps.with_window(bench, window), said=said, show=False)

        self.app.push_screen(ask_window(self.bench), lambda answer: given(answer.value) if answer is not None else None)

    # --- texts ------------------------------------------------------------------------------------------------------

    def action_edit_text(self) -> None:
        texts = [field for field in fields_of(type(self.bench.policy)) if field.control == "lines"]
        focused = self.query_one(PolicyForm).focused_field
        self._edit(focused if focused in texts else texts[0])

    @on(PolicyForm.TextOpened)
    def _text_opened(self, event: PolicyForm.TextOpened) -> None:
        self._edit(event.field)

    def _edit(self, field: FormField) -> None:
        from workbench.tui.screens.policy_text import PolicyTextScreen

        def edited(policy: Policy | None) -> None:
            if policy is not None:
                self.replan(lambda bench: _with_policy(bench, policy), said=f"edited {field.label}")

        self.app.push_screen(PolicyTextScreen(self.bench, field), edited)

    # --- keeping ----------------------------------------------------------------------------------------------------

    def saved_as(self, name: str) -> Preset:
        """The present policy as a preset of that name. What the chosen preset says of its sources holds for what was
        not changed."""
        preset = self.preset
        other = {field.path[0] for field in differing(self.bench.policy, preset.policy)}
        basis = {field: word for field, word in preset.basis.items() if field not in other}
        about = f"Like {preset.id}, but for {', '.join(sorted(other))}." if other else preset.about
        return Preset(name, preset.strategy, about, f"saved from {preset.id}", self.bench.policy, basis)

    def action_save_preset(self) -> None:
        from workbench.tui.screens.ask import ask_preset_name

        def named(name: str) -> None:
            try:
                path = save_preset(self.saved_as(name))
            except BadInput as refused:
                self.explain(str(refused))
                return
            self._preset = None
            self.replan(lambda bench: replace(bench, preset=name), said=f"saved as {path}")

        self.app.push_screen(
            ask_preset_name(self.preset.id), lambda answer: named(answer.value) if answer is not None else None
        )

    def action_copy_toml(self) -> None:
        try:
            text = preset_toml(self.saved_as(self.preset.id))
        except BadInput as refused:
            self.explain(str(refused))
            return
        self._copy(text, "the policy as TOML")

    def action_copy_params(self) -> None:
        if (pasted := self.bench.strategy.pasted) is not None:
            self._copy(pasted.write(self.bench.policy), pasted.name)

    def _copy(self, text: str, what: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied {what}: {figure(len(text))} characters.", markup=False)

    # --- what cannot be done ----------------------------------------------------------------------------------------

    def why_not(self, action: str, parameters: tuple[object, ...] = ()) -> str:
        """Why an action of the policy or the split cannot be done now, "" where it can."""
        bench = self.bench
        match action:
            case "move_split" | "split_here":
                return unmovable_words(bench)
            case "unsplit":
                return unmovable_words(bench) or (
                    "" if bench.split_at is not None else "The split is the strategy's own already."
                )
            case "reset_policy":
                same = bench.policy == self.preset.policy
                return f"No field differs from the preset {self.preset.id}." if same else ""
            case "edit_text":
                texts = any(field.control == "lines" for field in fields_of(type(bench.policy)))
                return "" if texts else f"{bench.strategy.title} asks no model: it has no prompt to edit."
            case "copy_params":
                taken = bench.strategy.pasted is not None
                return "" if taken else f"No product has a parameter object for {bench.strategy.id}: copy it as TOML."
            case _:
                return ""

    def on_key(self, event: events.Key) -> None:
        """Say why a grey key does nothing."""
        active = self.active_bindings.get(event.key)
        if active is not None and active.node is self and not active.enabled:
            _, action, parameters = parse(active.binding.action)
            if why := self.why_not(action, parameters):
                event.stop()
                event.prevent_default()
                self.explain(why)


def _preset_of(name: str, strategy: str) -> Preset:
    try:
        found = load_preset(name)
    except BadInput:
        return default_preset(strategy)
    return found if found.strategy == strategy else default_preset(strategy)


def _with_policy(bench: Bench, policy: Policy) -> Bench:
    return bench if type(policy) is not type(bench.policy) else steps.set_policy(bench, policy)
