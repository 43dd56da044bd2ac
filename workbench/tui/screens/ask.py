"""A dialog with one input line; the meaning of the text, or the reason why it is refused, is shown while the user
types."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input
from textual.worker import Worker

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.shielded import run_shielded
from workbench.bench import Bench
from workbench.compaction.policy import Policy
from workbench.compaction.preset import BUNDLED, preset_path
from workbench.compaction.product_parameters import parse_with_best
from workbench.compaction.prompts import prompt_files
from workbench.compaction.strategy import ParsedPolicy, Strategy
from workbench.tokens.window import Window, window_of
from workbench.tui.background import failure_of
from workbench.tui.fields import changed_fields, value_words
from workbench.tui.keys import CLOSE_KEY, HELP_KEY
from workbench.tui.plain import figure, one_line
from workbench.tui.widgets.cut_text import WholeFigures
from workbench.tui.widgets.inputs import OneLine
from workbench.tui.widgets.keys_line import KeysLine

T = TypeVar("T")


@dataclass(frozen=True)
class LineAnswer(Generic[T]):
    """Parsed value, and a sentence about how it was understood."""

    value: T
    note: str = ""


TAKES = "enter accepts, esc cancels"


class AskScreen(ModalScreen[LineAnswer[T] | None]):
    """Dialog dismissed with the answer, or None if cancelled. `read` raises BadInput for text that it refuses.

    `do` is called with the value before the screen closes, and raises BadInput if it fails. The reason, or the text
    that `do` returns, is shown below the line; for "" the screen closes.
    """

    HELP = """\
One question, one line to answer it. While you type, the text below the line says what your answer means, or why it \
is refused. Enter accepts it, escape changes nothing. Escape also cancels work that takes a while."""
    BINDINGS: ClassVar[list[BindingType]] = [CLOSE_KEY, HELP_KEY]

    def __init__(
        self,
        title: str,
        about: str,
        value: str,
        read: Callable[[str], LineAnswer[T]],
        do: Callable[[T], Awaitable[str]] | None = None,
    ) -> None:
        super().__init__()
        self.words, self.about, self.value, self.read, self.do = title, about, value, read, do

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self.words
            yield WholeFigures(Text(self.about), classes="about")
            yield OneLine(self.value, compact=True, id="answer")
            yield WholeFigures(id="understood")
        yield KeysLine()

    def on_mount(self) -> None:
        self._answer(self.value)

    def _answer(self, typed: str) -> LineAnswer[T] | None:
        try:
            answer = self.read(typed)
        except BadInput as refused:
            self._say(f"✘ {refused}" if typed.strip() else TAKES, is_refused=bool(typed.strip()))
            return None
        self._say(f"{answer.note} · {TAKES}".strip(" ·"))
        return answer

    def _say(self, words: str, *, is_refused: bool = False) -> None:
        below = self.query_one("#understood", WholeFigures)
        below.update(Text(words))
        below.set_class(is_refused, "-refused")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self._answer(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if answer := self._answer(event.value):
            if self.do is None:
                self.dismiss(answer)
            else:
                self._perform(answer, self.do)

    @work(group="ask", exit_on_error=False, description="ask")
    async def _perform(self, answer: LineAnswer[T], do: Callable[[T], Awaitable[str]]) -> None:
        typed = self.query_one(Input)
        typed.disabled = True  # one call at a time
        self._say("working …, esc cancels")
        try:
            words = await do(answer.value)
        except BadInput as refused:
            self._say(f"✘ {refused}", is_refused=True)
        else:
            if not words:
                self.dismiss(answer)
                return
            self._say(words)
        typed.disabled = False
        typed.focus()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if failure := failure_of(event):
            self._say(f"✘ {failure}", is_refused=True)


def ask_path(about: str, path: Path, write: Callable[[Path], object]) -> AskScreen[Path]:
    """Ask for the path of a new file, and call `write` with it in a thread. Existing files are never overwritten."""

    def read(typed: str) -> LineAnswer[Path]:
        if not typed.strip():
            raise BadInput("Type the name of a file.")
        return LineAnswer(Path(typed.strip()).expanduser())

    async def do(path: Path) -> str:
        await run_shielded(lambda: write(path))
        return ""

    return AskScreen("Write", about, str(path), read, do)


_TOKENS = re.compile(r"(\d+(?:\.\d+)?)([km]?)", re.IGNORECASE)
SMALLEST, LARGEST = 1_000, 100_000_000


def read_window(typed: str, own: Window | None) -> LineAnswer[int | None]:
    """Parse a number of tokens: `200k`, `1M`, `200 000`; None for empty text, which means the session's `own` window.
    Raises BadInput."""
    text = "".join(typed.replace("_", "").split())
    if not text:
        return LineAnswer(None, str(own) if own else "unknown: shares of the window never fire")
    found = _TOKENS.fullmatch(text)
    if not found:
        raise BadInput(f"{typed!r} is no number of tokens; write it as 200k, 1M or 200 000.")
    tokens = round(float(found[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[found[2].lower()])
    if not SMALLEST <= tokens <= LARGEST:
        raise BadInput(f"A window has {figure(SMALLEST)} to {figure(LARGEST)} tokens, not {figure(tokens)}.")
    return LineAnswer(tokens, f"{figure(tokens)} tokens")


def ask_window(bench: Bench) -> AskScreen[int | None]:
    """Ask for the context window. The line begins with the window that the user set before."""
    own = window_of(bench.session, bench.epoch)
    known = f"Without a number: {own}." if own else "Without a number it is unknown: shares of it never fire."
    about = f"How many tokens {bench.session.model or 'the model'} takes. {known}"
    return AskScreen("Window", about, str(bench.user_window or ""), lambda typed: read_window(typed, own))


def read_preset_name(typed: str) -> LineAnswer[str]:
    """Parse the name of a preset, and say what it would replace. Raises BadInput."""
    name = typed.strip()
    path = preset_path(name)
    if path.exists():
        return LineAnswer(name, f"replaces your preset {path}")
    hides = "; used instead of the workbench's own" if (BUNDLED / f"{name}.toml").exists() else ""
    return LineAnswer(name, f"writes {path}{hides}")


def ask_preset_name(preset: str) -> AskScreen[str]:
    """Ask for the name of a preset to save."""
    about = "Saved as a TOML file of your own; it is then in the list of presets, here and on the command line."
    return AskScreen("Save as preset", about, f"my-{preset.removeprefix('my-')}", read_preset_name)


def read_prompt_file(typed: str) -> LineAnswer[str]:
    """Parse the name of a prompt's file, and say what it would replace. Raises BadInput."""
    name = typed.strip().removesuffix(".md") + ".md"
    if Path(name).name != name or name == ".md":
        raise BadInput(f"{typed!r} is no name for a prompt; give one without folders.")
    path = paths.prompts() / name
    if path.exists():
        return LineAnswer(name, f"replaces your prompt {path}")
    known = name in prompt_files()
    return LineAnswer(name, f"writes {path}{'; used instead of the one of the workbench' if known else ''}")


def ask_prompt_name(prompt: str) -> AskScreen[str]:
    """Ask for the name of a prompt to save."""
    about = "Saved as a file of your own; it is then among the prompts (E on the bench), here and on the command line."
    return AskScreen("Save as a prompt of your own", about, f"my-{prompt}", read_prompt_file)


def ask_params(strategies: Sequence[Strategy[Any]]) -> AskScreen[tuple[Strategy[Any], Policy]]:
    """Ask for compaction parameters in the form of an agent's configuration; `strategies` that can read such parameters
    parse them."""
    pasted = [one.parameters for one in strategies if one.parameters]

    def read(typed: str) -> LineAnswer[tuple[Strategy[Any], Policy]]:
        if not typed.strip():
            raise BadInput("Paste them here.")
        strategy, found = parse_with_best(strategies, typed)
        return LineAnswer((strategy, found.policy), one_line(params_words(strategy, found), 1_000))

    about = "\n".join(one.about for one in pasted)
    return AskScreen(f"Paste {' or '.join(one.name for one in pasted)}", about, "", read)


def params_words(strategy: Strategy[Any], read: ParsedPolicy[Any]) -> str:
    """Summary of the parsed parameters: the strategy, the fields that differ from its defaults, whether it would
    compact at all, and what was skipped."""
    fields = changed_fields(read.policy, type(read.policy)())
    values = ", ".join(f"{field.label} {value_words(field, field.of(read.policy))}" for field in fields)
    idle = strategy.idle(read.policy)
    never = f"It would never summarize: {idle}" if idle else ""
    parts = (
        f"✔ {strategy.id}: {values or 'every field has its default'}",
        never,
        read.note[:1].upper() + read.note[1:],
    )
    return ". ".join(filter(None, parts))
