"""Actions on the settings: choose, change, reset, paste, copy, save, and edit prompts and window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset, default_preset, preset_toml, save_preset
from workbench.compaction.settings import Setting
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategy import Strategy
from workbench.tui.bench.host import Host, take_step
from workbench.tui.bench.planning import plan_step
from workbench.tui.bench.store import BenchView, measured_by
from workbench.tui.fields import changed_fields, fields_of
from workbench.tui.plain import figure, several


def change_policy(host: Host, policy: Policy, key: str) -> None:
    """Change a setting; `key` names it."""
    plan_step(host, partial(_with_policy, policy=policy), f"policy.{key}")


async def choose_preset(host: Host) -> None:
    from workbench.tui.screens.choose_preset import ChoosePresetScreen

    await host.ask(ChoosePresetScreen(host.store.bench.preset), partial(choose, host))


def choose(host: Host, preset: Preset) -> None:
    """Select a preset: its strategy and its numbers."""
    plan_step(host, partial(steps.choose_preset, preset=preset), note=f"preset {preset.id}")


def as_preset(view: BenchView) -> str:
    """Return the reason why there is nothing to reset; "" if a setting differs from the preset."""
    same = view.bench.policy == view.preset.policy
    return f"No setting differs from the preset {view.preset.id}." if same else ""


def reset(host: Host) -> None:
    view = host.store.view
    preset = view.preset
    count = len(changed_fields(view.bench.policy, preset.policy))
    note = f"{several(count, 'field')} as in {preset.id} again"
    plan_step(host, partial(_with_policy, policy=preset.policy), note=note)


def paste_params(host: Host) -> None:
    from workbench.tui.screens.ask import LineAnswer, ask_params

    here = host.store.bench.strategy
    others = (one for one in all_strategies() if one is not here)

    def pasted(answer: LineAnswer[tuple[Strategy[Any], Policy]]) -> None:
        taking, policy = answer.value
        preset = replace(default_preset(taking.id), policy=policy, sources={})
        note = f"pasted {taking.parameters.name}" if taking.parameters else ""
        plan_step(host, partial(steps.choose_preset, preset=preset), note=note)

    host.ask(ask_params([one for one in (here, *others) if one.parameters]), pasted)


async def set_window(host: Host) -> None:
    from workbench.tui.screens.ask import LineAnswer, ask_window

    def set_it(answer: LineAnswer[int | None]) -> None:
        plan_step(host, partial(steps.with_window, tokens=answer.value), note=f"window: {answer.note}")

    await host.ask(ask_window(host.store.bench), set_it)


def _with_policy(bench: Bench, policy: Policy) -> Bench:
    return bench if type(policy) is not type(bench.policy) else steps.set_policy(bench, policy)


# --- texts ------------------------------------------------------------------------------------------------------------


def texts_of(bench: Bench) -> list[Setting]:
    """Prompts and templates of the settings: texts for a model before templates of its answer."""
    texts = (field for field in fields_of(type(bench.policy)) if field.kind == "lines")
    return sorted(texts, key=lambda field: "template" in field.key)


def edit_text(host: Host, run_with: Callable[[Host], object]) -> None:
    texts, focused = texts_of(host.store.bench), host.focused_field
    edit(host, focused if focused in texts else next(iter(texts), None), run_with)


def edit(host: Host, field: Setting | None, run_with: Callable[[Host], object]) -> None:
    """Show all prompts and edit `field`; `run_with` asks for a summarizer if the edited text is to be run at once."""
    from workbench.tui.screens.prompt_editors import Edited
    from workbench.tui.screens.prompts import PromptsScreen

    def edited(one: Edited) -> None:
        if not one.runs:
            plan_step(host, partial(_with_policy, policy=one.policy), note=one.note)
        else:
            take_step(host, partial(_with_policy, policy=one.policy), note=one.note)
            run_with(host)

    host.ask(PromptsScreen(host.store.bench, field), edited)


# --- saving -----------------------------------------------------------------------------------------------------------


def saved_as(view: BenchView, name: str) -> Preset:
    """Current settings as a preset called `name`. Unchanged settings keep the sources of the chosen preset."""
    preset, policy = view.preset, view.bench.policy
    other = {field.path[0] for field in changed_fields(policy, preset.policy)}
    basis = {field: word for field, word in preset.basis.items() if field not in other}
    about = f"Like {preset.name}, but for {', '.join(sorted(other))}." if other else preset.about
    return Preset(name, preset.strategy, about, f"saved from {preset.name}", policy, basis)


def save(host: Host) -> None:
    from workbench.tui.screens.ask import LineAnswer, ask_preset_name

    def named(answer: LineAnswer[str]) -> None:
        store, name = host.store, answer.value
        try:
            path = save_preset(saved_as(store.view, name))
        except BadInput as refused:
            host.show_toast(str(refused), is_warning=True)
            return
        # Compare with the saved preset: it may have replaced the file of the preset chosen before.
        store.put(replace(store.view, preset=measured_by(replace(store.bench, preset=name))))
        plan_step(host, lambda bench: replace(bench, preset=name), note=f"saved as {path}")

    host.ask(ask_preset_name(host.store.view.preset.id), named)


def copy_toml(host: Host) -> None:
    view = host.store.view
    try:
        text = preset_toml(saved_as(view, view.preset.id))
    except BadInput as refused:
        host.show_toast(str(refused), is_warning=True)
        return
    _copy(host, text, "the settings as TOML")


def no_params(view: BenchView) -> str:
    strategy = view.bench.strategy
    return "" if strategy.parameters else f"No product has parameters for {strategy.id}: copy the settings as TOML."


def copy_params(host: Host) -> None:
    bench = host.store.bench
    if (pasted := bench.strategy.parameters) is not None:
        _copy(host, pasted.write(bench.policy), pasted.name)


def _copy(host: Host, text: str, what: str) -> None:
    host.app.copy_to_clipboard(text)
    host.show_toast(f"Copied {what}: {figure(len(text))} characters.")
