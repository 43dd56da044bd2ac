"""Dialogs that add variants to a comparison: values of a number, a prompt, or a summarizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from textual.app import App

from workbench.analysis.prompt_use import policy_with
from workbench.analysis.sweep.plan import WINDOW, varying_fields
from workbench.base.errors import BadInput
from workbench.bench import Bench
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.runs.variants import OFFLINE, Variant, setting_variants
from workbench.session import fingerprint
from workbench.summarizers.by_name import SummarizerName, parse_name
from workbench.tui.plain import several
from workbench.tui.screens.ask import AskScreen, LineAnswer
from workbench.tui.screens.choose_summarizer import DRAFT, ChooseSummarizerScreen
from workbench.tui.screens.prompt_text import Edited
from workbench.tui.screens.prompts import PromptsScreen, every_prompt
from workbench.tui.screens.run_words import BY_HAND

Add = Callable[[Sequence[Variant]], object]


def of_a_number(app: App[Any], bench: Bench, add: Add) -> None:
    def read(typed: str) -> LineAnswer[tuple[Variant, ...]]:
        found = setting_variants(bench.as_preset, typed.split())
        return LineAnswer(found, several(len(found), "variant"))

    def add_variants(answer: LineAnswer[tuple[Variant, ...]] | None) -> None:
        if answer:
            add(answer.value)

    names = ", ".join(name for name in varying_fields(bench.policy) if name != WINDOW)
    about = f"FIELD=A..B:STEP or FIELD=A,B,C; two fields with a space between. Numbers here: {names}."
    app.push_screen(AskScreen("Vary a number", about, "", read), add_variants)


def of_a_prompt(app: App[Any], bench: Bench, add: Add) -> None:
    """Add a prompt with the session's summarizer; if that is offline, which ignores prompts, ask for another."""

    def chosen(one: Edited | None) -> None:
        if one is not None:
            policy = one.policy
            preset, label = replace(bench.as_preset, policy=policy), f"{_prompt_id(bench, policy)} · "
            if (name := _usual(bench)) == OFFLINE:
                _by_whom(app, bench, preset, label, add)
            else:
                add((Variant(f"{label}{name}", preset, name),))

    app.push_screen(PromptsScreen(bench), chosen)


def of_a_model(app: App[Any], bench: Bench, add: Add) -> None:
    _by_whom(app, bench, bench.as_preset, "", add)


def _by_whom(app: App[Any], bench: Bench, preset: Preset, label: str, add: Add) -> None:
    def chosen(name: SummarizerName | None) -> None:
        if name is not None:
            add((Variant(f"{label}{name}", preset, name),))

    session = bench.session
    app.push_screen(ChooseSummarizerScreen(session, fingerprint(session), OFFLINE, DRAFT), chosen)


def _usual(bench: Bench) -> SummarizerName:
    try:
        name = parse_name(bench.summarizer)
    except BadInput:
        return OFFLINE
    return OFFLINE if name == BY_HAND else name


def _prompt_id(bench: Bench, policy: Policy) -> str:
    """Id of the prompt in the edited settings."""
    known = [one.found for one in every_prompt() if one.found and one.found.strategy == bench.strategy.id]
    return next((one.id for one in known if policy_with(bench.policy, one) == policy), "another prompt")
