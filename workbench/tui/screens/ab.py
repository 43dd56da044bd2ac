"""A/B: two prompts or two models on the head that the bench would summarize, side by side, both streaming in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from workbench.analysis.prompt_use import Found, policy_with
from workbench.base.errors import BadInput
from workbench.base.to_its_end import to_its_end
from workbench.bench import Bench, Stand, set_policy
from workbench.compaction.policy import Policy
from workbench.live_run import FinishedRun, LiveRun
from workbench.session import fingerprint
from workbench.summarizers import journal
from workbench.summarizers.live_events import LiveEvent, Retrying, Sent, Shrunk, Wrote, sentence
from workbench.summarizers.named import Name, parsed
from workbench.summarizers.runs import Run as Record
from workbench.summarizers.server_forms import ServerSummary
from workbench.tui.failures import failure_of
from workbench.tui.keys import HELP_KEY
from workbench.tui.plain import figure, one_line, several
from workbench.tui.screens.choose_summarizer import DRAFT, ChooseSummarizerScreen
from workbench.tui.screens.prompts import every_prompt
from workbench.tui.screens.run_words import BY_HAND, NOUNS, who
from workbench.tui.spending import purse_of
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import Part, TextView
from workbench.tui.widgets.watched_lines import SIGNS, STYLES
from workbench.variants import ask_all

FLUSH_S = 0.2
"""How often what has come is drawn, however often it comes."""

OFFLINE = Name("extractive")

IN_SIGHT = 4
"""So many watched sentences stand above a draft; all of them under it."""

LISTED = 12
"""So many unfounded claims and losses stand under a draft; the rest is counted."""


@dataclass
class Half:
    """One side of the screen: what is tried, and what has come of it. `prompt` None: the bench's own."""

    name: Name
    prompt: Found | None = None
    written: str = ""
    said: str = ""
    done: FinishedRun | None = None

    @property
    def label(self) -> str:
        return f"{self.prompt.id if self.prompt else 'the prompt on the bench'} · {who(self.name)}"

    def policy(self, bench: Bench) -> Policy:
        return policy_with(bench.policy, self.prompt) if self.prompt else bench.policy

    def heard(self, event: LiveEvent) -> None:
        if isinstance(event, Wrote):
            self.written += event.text
        elif isinstance(event, Retrying | Shrunk):
            self.written = ""
        if not isinstance(event, Wrote | Sent) and (words := sentence(event)):
            self.said = words


PROMPT, BY, TAKE = map(Binding.Group, ("Prompt", "By", "Take"))
"""What is done to A and to B is one thing in the footer."""


class AbScreen(ModalScreen[Policy | None]):
    """Dismissed with the policy of the side that was taken, or None."""

    HELP = """\
Two ways to write the same summary, side by side: choose a prompt and a summarizer for either side, then run both. \
Above each draft stand its size, its cost and how watched sentences (W) stand after it, under it what it claims and \
the head does not say, and what it lost. Nothing on the bench changes; 1 and 2 take a side's prompt into the policy. \
Live and rehearsed runs are kept in the journal."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run", "Run both", id="ab.run", tooltip="Run both sides at once."),
        Binding(
            "a",
            "prompt(0)",
            "A's prompt",
            priority=True,
            group=PROMPT,
            id="ab.prompt-a",
            tooltip="The next prompt, for A.",
        ),
        Binding(
            "b",
            "prompt(1)",
            "B's prompt",
            priority=True,
            group=PROMPT,
            id="ab.prompt-b",
            tooltip="The next prompt, for B.",
        ),
        Binding("A", "who(0)", "A by", group=BY, id="ab.who-a", tooltip="Choose who writes A."),
        Binding("B", "who(1)", "B by", group=BY, id="ab.who-b", tooltip="Choose who writes B."),
        Binding(
            "1",
            "take(0)",
            "Take A",
            group=TAKE,
            id="ab.take-a",
            tooltip="Take A's prompt into the policy.",
        ),
        Binding(
            "2",
            "take(1)",
            "Take B",
            group=TAKE,
            id="ab.take-b",
            tooltip="Take B's prompt into the policy.",
        ),
        Binding("escape,q", "leave", "Close", id="ab.close", tooltip="Cancel what is running, or back to the bench."),
        HELP_KEY,
    ]
    AUTO_FOCUS = "#draft-0"

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.prompts: tuple[Found, ...] = ()
        self.halves = (Half(_usual(bench)), Half(_usual(bench)))
        self.running = False
        self._drawn: list[tuple[Part, ...] | None] = [None, None]

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="title")
            with Horizontal():
                for number in (0, 1):
                    with Vertical(classes="half"):
                        yield Static(id=f"figures-{number}", classes="figures")
                        yield TextView(id=f"draft-{number}")
            yield KeysLine()

    def on_mount(self) -> None:
        fields = type(self.bench.policy).model_fields
        self.prompts = tuple(
            one.found
            for one in every_prompt()
            if one.found and one.found.strategy == self.bench.strategy.id and one.found.field in fields
            if "template" not in one.found.field
        )
        if self.prompts:
            self.halves[1].prompt = self.prompts[0]
        self.set_interval(FLUSH_S, self._flush)
        self.draw()

    # --- drawing ----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self.running:
            self.draw()

    def draw(self) -> None:
        words = "running, esc cancels" if self.running else "r runs both"
        if all(half.name == OFFLINE for half in self.halves):
            words += " · ! offline neither prompt is read; A and B choose a model"
        many = len(self.bench.plan.requests)
        title = f" A/B on {several(many, 'request')} of {self.bench.strategy.title} · {words}"
        self.query_one("#title", Static).update(Text(title, no_wrap=True, overflow="ellipsis"))
        for number, half in enumerate(self.halves):
            self.query_one(f"#figures-{number}", Static).update(figures_text("AB"[number], half))
            parts, view = draft_parts(half), self.query_one(f"#draft-{number}", TextView)
            if self._drawn[number] == parts:
                continue
            self._drawn[number] = parts
            at_end = view.scroll_y >= view.max_scroll_y
            view.show(parts, number)
            if self.running and at_end:
                view.scroll_end(animate=False)

    # --- running ----------------------------------------------------------------------------------------------------

    def action_run(self) -> None:
        if not self.running:
            self.run_both()

    @work(exclusive=True, group="ab", exit_on_error=False)
    async def run_both(self) -> None:
        pair = [LiveRun(set_policy(self.bench, half.policy(self.bench)), half.name, half.label) for half in self.halves]
        for half in self.halves:
            half.written, half.said, half.done = "", "", None
        self.running, clock = True, time.perf_counter()
        self.draw()
        try:
            both = await ask_all(
                pair, purse_of(self.app), lambda number, event: self.halves[number].heard(event), keeps=True
            )
        except BadInput as refused:
            self.notify(str(refused), severity="warning", markup=False, timeout=10)
            return
        except asyncio.CancelledError:
            seconds = time.perf_counter() - clock
            self.keep([partial(side.unfinished, seconds) for side in pair if side.name.is_kept])
            raise
        finally:
            self.running = False
            if self.is_attached:
                self.draw()
        self.keep([partial(_record, done) for done in both if done.live.name.is_kept])
        for half, done in zip(self.halves, both, strict=True):
            half.done = done
        self.draw()

    def keep(self, records: Sequence[Callable[[], Record]]) -> None:
        """What came of runs, cancelled or not; rendered and written in a thread."""
        kept, app = to_its_end(lambda: [journal.keep(record()) for record in records]), self.app

        async def tell() -> None:
            for trouble in filter(None, await kept):
                app.notify(trouble, severity="warning", markup=False)

        app.run_worker(tell(), group="kept", exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self.notify(failure, severity="error", markup=False)

    # --- choosing ---------------------------------------------------------------------------------------------------

    def action_prompt(self, number: int) -> None:
        """The side's next prompt: the bench's own, then each of the strategy's."""
        if self.running:
            return
        half = self.halves[number]
        choices = (None, *self.prompts)
        half.prompt = choices[(choices.index(half.prompt) + 1) % len(choices)]
        self._anew(half)

    def action_who(self, number: int) -> None:
        if self.running:
            return
        half = self.halves[number]

        def chosen(name: Name | None) -> None:
            if name is not None:
                half.name = name
                self._anew(half)

        screen = ChooseSummarizerScreen(self.bench.session, fingerprint(self.bench.session), half.name, DRAFT)
        self.app.push_screen(screen, chosen)

    def _anew(self, half: Half) -> None:
        half.written, half.said, half.done = "", "", None
        self.draw()

    def action_take(self, number: int) -> None:
        policy = self.halves[number].policy(self.bench)
        self.dismiss(policy if policy != self.bench.policy else None)

    def action_leave(self) -> None:
        if self.running:
            self.workers.cancel_group(self, "ab")
        else:
            self.dismiss(None)


def _record(one: FinishedRun) -> Record:
    return one.record


def _usual(bench: Bench) -> Name:
    try:
        name = parsed(bench.summarizer)
    except BadInput:
        return OFFLINE
    return OFFLINE if name == BY_HAND else name


def figures_text(letter: str, half: Half) -> Text:
    """Who and what, and when it is done: size, cost, checks, grounding and watched sentences, a line each."""
    text = Text(f"{letter}  {one_line(half.label, 200)}", "bold", no_wrap=True, overflow="ellipsis")
    done = half.done
    if done is None:
        return text.append(f"\n{one_line(half.said) or 'nothing asked yet'}", "not bold dim")
    cost = f" · {done.cost}" if done.cost else ""
    wrote = f"{figure(len(done.draft))} characters, ≈{figure(done.draft_tokens)} tokens, {done.run.seconds:.1f} s{cost}"
    text.append(f"\nwrote {wrote}", "not bold")
    text.append(
        f"\n{done.found.before} → {done.found.after} tokens · {done.run.outcome.status.replace('_', ' ')}", "not bold"
    )
    failed = ", ".join(check.name for check in done.found.failed)
    text.append(f" · {'✘ ' + failed if failed else '✔ checks passed'}", "not bold")
    if done.found.grounding:
        missing = len(done.found.grounding.unfounded)
        claims = f"{figure(missing)} of {figure(done.found.grounding.claims)} claims are not in the head"
        lost = f" · {several(len(done.found.lost), 'fact')} lost" if done.found.lost is not None else ""
        text.append(f"\n{claims}{lost}", "not bold")
    for one in done.found.watched[:IN_SIGHT]:
        stands = one.after or one.now
        text.append(f"\n◉ {SIGNS[stands]} {stands}: {one_line(one.sentence, 200)}", "not bold")
    return text


NOTHING_YET = "r runs both. Before that a and b go through the prompts, A and B choose who writes."


def draft_parts(half: Half) -> tuple[Part, ...]:
    """The draft, and under it what went wrong, what has no ground, and what was lost."""
    done = half.done
    if done is None:
        return (Part(half.written),) if half.written or half.said else (Part(NOTHING_YET, "dim"),)
    parts = [Part(str(failure), "bad") for failure in done.failures]
    parts += [
        Part(f"the server's block: {one.about_block}", "dim")
        for one in done.run.answers
        if isinstance(one, ServerSummary)
    ]
    parts.append(Part(done.draft or half.written))
    if done.found.watched:
        parts.append(Part("\nwatched", "title"))
        parts += [_stood(one) for one in done.found.watched]
    if (found := done.found.grounding) and found.unfounded:
        parts.append(Part("\nnot in the head", "title"))
        parts += [Part(f"✘ {one.kind}: {one_line(one.text, 200)}", "bad") for one in found.unfounded[:LISTED]]
        parts += _more(len(found.unfounded))
    if lost := done.found.lost:
        parts.append(Part("\nlost", "title"))
        parts += [
            Part(f"– {NOUNS.get(one.kind, one.kind)}: {one_line(one.text, 200)}", "warning") for one in lost[:LISTED]
        ]
        parts += _more(len(lost))
    return tuple(parts)


def _stood(one: Stand) -> Part:
    now, after = (f"{SIGNS[verdict]} {verdict}" for verdict in (one.now, one.after or one.now))
    return Part(f"◉ {one_line(one.sentence, 200)}  {now} → {after}", _PARTS[STYLES[one.after or one.now]])


_PARTS = {"good": "", "bad": "bad", "unsure": "warning"}


def _more(number: int) -> list[Part]:
    return [Part(f"… and {figure(number - LISTED)} more", "dim")] if number > LISTED else []
