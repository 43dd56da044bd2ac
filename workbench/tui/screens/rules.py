"""Rules of the session and the user's own, with their state now and after compactions; watched and pinned here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import Worker

from workbench.analysis.watched_rules import StateChange, sentence_to_watch
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState, steps
from workbench.tui.background import failure_of
from workbench.tui.keys import HELP_KEY, shared
from workbench.tui.plain import figure, one_line, several, titled
from workbench.tui.rules import RuleEntry, broken_of, epochs_of, rule_words, rules_of, states, toggle_watched
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.list_keys import TYPING
from workbench.tui.widgets.rules_list import HEADS, ListedRules, RulesList
from workbench.tui.widgets.watched_lines import SIGNS

ENDS = tuple(".!?。！？")
"""Last characters of a complete typed sentence."""
LOOKING = "Looking for rules …"
BEGINNING = 24
"""Characters by which a sentence is found in the bench's visible text."""
MOST_JUDGED = 50
"""Most other sentences that are judged after the rules; any further one is judged when the cursor is on it."""
LEGEND = "✔ verbatim · ≈ paraphrased · ✘ contradicted · ○ gone · ? cannot be read"


@dataclass(frozen=True, slots=True)
class BenchAccess:
    """Access to the bench.

    `index` is the message under the bench's cursor, `in_view` the text shown there. `toggle_rule` watches a sentence,
    or stops watching it, and returns the watched ones; it raises BadInput. `take_step` applies a change to the bench;
    its text describes the change.
    """

    bench: Callable[[], Bench]
    toggle_rule: Callable[[str], tuple[str, ...]]
    take_step: Callable[[Callable[[Bench], Bench], str], None]
    undo: Callable[[], None]
    index: int = 0
    in_view: str = ""


class RulesScreen(ModalScreen[int | None]):
    """Screen dismissed with the index of the message to go to."""

    HELP = """\
Rules hold throughout the session: "never log the token". Watched rules are first; then the rules in the message under \
the bench's cursor, your other requests in it, the rules of other messages, and sentences of the agent or of a tool in \
it. Where there is no rule, your newest requests are listed. Each line shows the rule's state in the context now, \
after the compaction, and after a second one: ✔ verbatim, ≈ paraphrased, ✘ contradicted (another sign, value or \
order), ○ gone, ? where a summary cannot be read. A preview is judged by an offline run; no model is asked. "pin" is \
the number of tokens that pinning the rule's message costs, tool pairs included. Below are the complete rule, its \
state before and after each recorded compaction, and a later call that broke it. Each compaction ends an epoch: the \
part of a session between two compactions.

space watches a rule: it is shown in the bench's header and judged after every change. p pins its message; a pins the \
messages of all rules in force, except long ones. / filters the list, or takes a rule of your own. Pins are steps of \
the bench: u undoes the last one, here or there."""
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("toggle", "watch", "Watch", "Watch the rule, or stop watching it."),
        shared("watch", "watch", "Watch", "Watch the rule, or stop watching it.", show=False),
        shared("pin", "pin", "Pin", "Pin the rule's message, or unpin it."),
        shared("all", "all", "Pin all", "Pin all rules in force whose messages are short."),
        shared("find", "write", "Filter, new", "List rules with these words, or write one of your own.", priority=True),
        shared("undo", "undo", "Undo", "Take back the last pin that was set here."),
        *TYPING,
        shared("close", "leave", "Close", "Clear the filter, or go back to the bench."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "RulesList"

    def __init__(self, on_bench: BenchAccess) -> None:
        super().__init__()
        self.on_bench = on_bench
        self.index, self.in_view = on_bench.index, on_bench.in_view
        self.judged = self.opened = on_bench.bench()
        """`judged`: bench for whose pins and settings the states hold; `opened`: bench when the screen was opened."""
        self.own: list[str] = []
        self.rules: tuple[RuleEntry, ...] = ()
        self.states: dict[str, RuleState | None] = {}
        self.epochs: dict[str, tuple[StateChange, ...]] = {}
        self.broken: dict[str, str] = {}
        """The calls that broke a rule, by its sentence."""
        self.note = ""

    @property
    def bench(self) -> Bench:
        return self.on_bench.bench()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="note")
            yield Input(placeholder="/ words to filter by, or a rule of your own", compact=True)
            yield Static(Text(HEADS, no_wrap=True), classes="heads")
            yield RulesList()
            yield Static(id="rule")
            yield KeysLine()

    def on_mount(self) -> None:
        self.query_one(RulesList).empty = LOOKING
        self.say()
        self.look()

    # --- looking and judging ----------------------------------------------------------------------------------------

    @work(exclusive=True, group="rules", exit_on_error=False, description="look")
    async def look(self) -> None:
        self.rules = await asyncio.to_thread(rules_of, self.bench, self.index)
        self.broken = await asyncio.to_thread(broken_of, self.bench)
        self.query_one(RulesList).empty = RulesList.EMPTY
        unwatched = [rule.sentence for rule in self.rules if rule.sentence not in self.bench.watched]
        seen = (one for one in unwatched if one[:BEGINNING] in self.in_view)
        self.draw(next(seen, next(iter(unwatched), "")))
        self.judge()

    @work(exclusive=True, group="rules", exit_on_error=False, description="judge")
    async def judge(self) -> None:
        """Compute unknown states: of rules now, after the run, after a second one; then of other sentences."""
        bench = self.judged
        watched = (*self.bench.watched, *self.own)
        first = [one.sentence for one in self.rules if one.is_found or one.sentence in watched]
        rest = [one.sentence for one in self.rules if one.sentence not in first][:MOST_JUDGED]
        first = [one for one in first if (known := self.states.get(one)) is None or known.again is None]
        rest = [one for one in rest if self.states.get(one) is None]
        self.states |= {one: None for one in (*first, *rest) if one not in self.states}
        self.draw()
        for sentences, after, again in ((first, False, False), (first, True, False), (first, True, True),
                                        (rest, True, False)):  # fmt: skip
            if sentences:
                found = await asyncio.to_thread(states, bench, sentences, after=after, again=again)
                self.states |= {one.sentence: one for one in found}
                self.draw()

    @work(exclusive=True, group="marked", exit_on_error=False, description="judge")
    async def look_at(self, rule: RuleEntry) -> None:
        """Compute the unknown states of the rule under the cursor."""
        bench, sentence = self.judged, rule.sentence
        if sentence not in self.epochs:
            self.epochs[sentence] = await asyncio.to_thread(epochs_of, bench, sentence)
        if sentence not in self.states:
            (self.states[sentence],) = await asyncio.to_thread(states, bench, (sentence,))
            self.draw()
        self.explain(rule)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.say(f"✘ {failure}")

    # --- drawing ----------------------------------------------------------------------------------------------------

    def draw(self, marked: str = "") -> None:
        """List rules with the typed words; a typed sentence comes first, and is marked unless its words find a rule."""
        typed = " ".join(self.query_one(Input).value.split())
        found = [rule for rule in self.rules if typed.lower() in rule.sentence.lower()]
        is_new = bool(typed) and typed not in (rule.sentence for rule in found)
        rules = [RuleEntry(typed, "new"), *found] if is_new else found
        places = self.bench.layout.shape.index_of
        pinned = frozenset(places[id] for id in self.bench.pins if id in places)
        if typed and not marked:
            marked = rules[int(is_new and bool(found) and not typed.endswith(ENDS))].sentence
        shown = ListedRules(rules, frozenset(self.bench.watched), pinned, self.states)
        self.query_one(RulesList).show(shown, marked)
        self.say()

    def say(self, failure: str = "") -> None:
        rules = sum(rule.is_in_force for rule in self.rules)
        others = len(self.rules) - rules
        many = several(rules, "rule") + (f" and {several(others, 'other sentence')}" if others else "")
        many += f" · ◉ {figure(watched)} watched" if (watched := len(self.bench.watched)) else ""
        many += f" · ✘ {several(broken, 'rule')} broken" if (broken := len(self.broken)) else ""
        many += f" · ● {several(len(self.bench.pins), 'message')} pinned" if self.bench.pins else ""
        pins = {rule.index for rule in self.rules if rule.is_suggested}
        cost = sum({rule.index: rule.tokens for rule in self.rules if rule.is_suggested}.values())
        many += f" · a pins {several(len(pins), 'message')}, +{figure(cost)} tokens" if pins else ""
        line = failure or self.note or many
        self.query_one("#note", Static).update(titled("Rules", f"{line}\n{LEGEND}"))
        self.refresh_bindings()

    def explain(self, rule: RuleEntry | None) -> None:
        """Show the complete rule, its source, and its states in the recorded compactions."""
        place = self.query_one("#rule", Static)
        if rule is None:
            place.update("")
            return
        past = " · ".join(
            f"epoch {one.at} {SIGNS[one.before]} → {SIGNS[one.after]}" for one in self.epochs.get(rule.sentence, ())
        )
        broken = one_line(self.broken.get(rule.sentence, ""), 200)
        words = " · ".join(filter(None, (rule_words(rule), past and f"recorded compactions: {past}", broken)))
        place.update(Text(f"{words or 'no message says it'}\n", "dim").append(one_line(rule.sentence, 600), "not dim"))

    @on(RulesList.Highlighted)
    def _marked(self, event: RulesList.Highlighted) -> None:
        self.explain(event.rule)
        if event.rule is not None and not (event.rule.sentence in self.states and event.rule.sentence in self.epochs):
            self.look_at(event.rule)

    # --- doing ------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey actions that are off; while the user types, letters go to the input."""
        if action == "write":
            return not self.query_one(Input).has_focus
        if action in ("watch", "pin") and not self.rules:
            return None
        if action == "all" and not any(rule.is_suggested for rule in self.rules):
            return None
        return None if action == "undo" and self.bench.pins == self.opened.pins else True

    def action_watch(self) -> None:
        if rule := self.query_one(RulesList).rule:
            self.note = toggle_watched(self.on_bench.toggle_rule, rule.sentence)
            self.draw()

    def action_pin(self) -> None:
        rule = self.query_one(RulesList).rule
        if rule is None:
            return
        if rule.index is None:
            self.note = "No message says this: nothing to pin. space watches it."
            self.say()
            return
        id = self.bench.messages[rule.index].id
        done = "unpinned" if id in self.bench.pins else f"pinned, +{figure(rule.tokens)} tokens"
        self._step(partial(steps.toggle_pin, id=id), f"message {figure(rule.index + 1)} {done}")

    def action_all(self) -> None:
        places = {rule.index for rule in self.rules if rule.is_suggested and rule.index is not None}
        ids = frozenset(self.bench.messages[place].id for place in places)
        if new := ids - self.bench.pins:
            self._step(partial(steps.with_pins, pins=self.bench.pins | new), f"{several(len(new), 'message')} pinned")

    def _step(self, make: Callable[[Bench], Bench], note: str) -> None:
        self.on_bench.take_step(make, note)
        self._changed(note)

    def action_undo(self) -> None:
        self.on_bench.undo()
        self._changed("undone")

    def _changed(self, note: str) -> None:
        """Forget every state after a change of pins."""
        self.note, self.judged, self.states = note, self.bench, {}
        self.draw()
        self.judge()

    # --- typing -----------------------------------------------------------------------------------------------------

    def action_write(self) -> None:
        self.set_focus(self.query_one(Input))  # at once: the next letters are typed there

    @on(Input.Changed)
    def _typed(self) -> None:
        self.draw()

    @on(Input.Submitted)
    def _watch_typed(self, event: Input.Submitted) -> None:
        """Watch the marked sentence: the typed one, or the rule that the typed words find."""
        rule = self.query_one(RulesList).rule
        if not event.value.strip() or rule is None:
            self.query_one(RulesList).focus()
            return
        try:
            sentence = sentence_to_watch(rule.sentence)
            before = self.bench.watched
            watched = self.on_bench.toggle_rule(sentence)
        except BadInput as refused:
            self.note = f"✘ {refused}"
            self.say()
            return
        new = next((one for one in watched if one not in before), sentence)
        self.note = f"watched: “{one_line(new, 60)}”" if new in watched else "no longer watched"
        self.own = [new, *self.own]
        self.query_one(Input).value = ""
        self.query_one(RulesList).focus()
        self.add(new)

    @work(exclusive=True, group="rules", exit_on_error=False, description="add")
    async def add(self, sentence: str) -> None:
        """List a sentence of the user's own with the others."""
        self.rules = await asyncio.to_thread(rules_of, self.bench, self.index, tuple(self.own))
        self.draw(sentence)
        self.judge()

    # --- leaving ----------------------------------------------------------------------------------------------------

    @on(RulesList.Selected)
    def _chosen(self, event: RulesList.Selected) -> None:
        if event.rule.index is None:
            self.note = "No message says this."
            self.say()
        else:
            self.dismiss(event.rule.index)

    def action_leave(self) -> None:
        typed = self.query_one(Input)
        if typed.value or typed.has_focus:
            typed.value = ""
            self.query_one(RulesList).focus()
        else:
            self.dismiss()
