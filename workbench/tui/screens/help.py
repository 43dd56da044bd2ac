"""What the screen in front shows and which keys it takes; made from its own bindings, so that it cannot go stale."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from workbench.compaction.outcome import Fate
from workbench.tui.rows import WORDS
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import Part, TextView

ABOUT_BENCH = """\
The bench shows one recorded session and what a compaction does to it. Every change is planned again without a \
model; only a run with a model sends anything, and the file is never changed.

The first sentence says why the context is so large (O has more), the second what a compaction does now (r runs \
it): sizes, rules and facts kept, cost, and after how many calls that is paid back. A fact is a sentence, path, \
command, error or name that can be looked for afterwards. The two bars show the context now and after, on one scale, \
with the trigger (▲) and the window (│); both the trigger and the end of the head can be dragged. "system + tools" is \
sent with every call and not recorded in the file. The second bar is dim until a run is done.

The list has one line for each round. A round is a request of the user and all that follows, up to the end of the \
answer; open it for its messages. The line ═══ is the split: the head above it is summarized, the tail below is kept. \
A fate is what happens to a message; it is named only where it differs from its side of the split. The tabs show the \
message under the cursor, the request exactly as sent (with the abridged history: one line for each step), the \
summary, the result with its changes, and the checks with the reasons. 9 opens the settings.

An epoch is the part of a session between two compactions of its agent; the line on top has them all. Rework is work \
repeated after a compaction. An exchange is a request, or tool results, with the answer; the exchange-summary \
strategy cuts between them."""

FATES = {
    Fate.PINNED: "kept verbatim, because you pinned it",
    Fate.KEPT: "kept verbatim",
    Fate.COMPRESSED: "kept, with long texts and results shortened",
    Fate.SUMMARIZED: "replaced by the summary",
    Fate.ABRIDGED: "replaced by a line of the abridged history",
    Fate.DROPPED: "removed, with nothing in its place",
}

SIGNS = {
    "(none)": "exact: recorded usage",
    "≈": "counted and scaled to the session's model",
    "~": "estimated from characters, not counted yet",
}

Key = tuple[str, str, str]
"""A key as it is shown, what it does, and the id by which it can be remapped."""


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", id="help.close", tooltip="Close the help."),
    ]

    def __init__(self, keys: Mapping[str, Sequence[Key]], text: str) -> None:
        """`text` says what the screen is for; `keys` are in groups."""
        super().__init__()
        self.keys = keys
        self.text = text

    @classmethod
    def about(cls, screen: Screen[object], remapped: Mapping[str, str]) -> HelpScreen:
        """The help for `screen`: its own text; the keys of what has the focus, those of the screen, in its groups if
        it has some, and those of whatever else can have the focus."""
        display = partial(_displayed, screen.app)
        nodes = screen.focused.ancestors_with_self if screen.focused else []
        within = [node for node in nodes if isinstance(node, Widget) and node is not screen]
        here = [type(node) for node in within]  # what has the focus, in a tab of the screen
        text = "\n\n".join(node.HELP for node in (screen, *within) if node.HELP)
        others = [kind for kind in dict.fromkeys(map(type, screen.focus_chain)) if kind not in here]
        own = list(explained((type(screen),), remapped, display))
        by_group: dict[str, Sequence[str]] = getattr(screen, "KEY_GROUPS", {"On this screen": [id for _, _, id in own]})
        groups = {
            "Where you are": list(explained(here, remapped, display)),
            **{name: [key for key in own if key[2] in ids] for name, ids in by_group.items()},
            "Elsewhere on this screen": list(explained(others, remapped, display)),
        }
        return cls({name: keys for name, keys in groups.items() if keys}, text)

    def compose(self) -> ComposeResult:
        text = TextView()
        text.border_title = "Help"
        text.border_subtitle = "/ finds · j k scroll · y copies"
        yield text
        yield KeysLine()

    def on_resize(self) -> None:
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        """Laid out for the width there is; where one has scrolled to stays."""
        if self not in self.app.screen_stack:  # closed before the refresh
            return
        text = self.query_one(TextView)
        text.show(self._parts(text.wrap_width), key="help")

    def _parts(self, width: int) -> Iterator[Part]:
        yield Part(self.text)
        for name, keys in self.keys.items():
            yield from _group(name, keys, width)
        yield Part("\nThe names on the right are those that config.toml uses to change keys.", "dim")
        if self.text is ABOUT_BENCH:
            fates = [(f"{fate.glyph} {WORDS[fate]}", words, "") for fate, words in FATES.items()]
            yield from _group("Fates of a message", fates, width)
            yield from _group("Signs before a number", [(sign, words, "") for sign, words in SIGNS.items()], width)


def explained(
    places: Iterable[type[Widget]], remapped: Mapping[str, str], display: Callable[[str], str] = str
) -> Iterator[Key]:
    """The keys of screens and widgets as they are now: `remapped` gives ids other keys, `display` shows one."""
    for place in places:
        for base in place.__mro__:
            for binding in base.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.tooltip:
                    keys = remapped.get(binding.id or "", binding.key).split(",")
                    shown = " ".join(dict.fromkeys(display(key.strip()) for key in keys))
                    yield shown, binding.tooltip, binding.id or ""


def _displayed(app: App[object], key: str) -> str:
    return app.get_key_display(Binding(key, ""))


LEAST_FOR_NAMES = 60
"""Cells from which there is room for the names of keys."""


def _group(heading: str, keys: Sequence[Key], width: int) -> Iterator[Part]:
    """A heading, and for each key its words beside it, as many lines as they need; its name at the right."""
    yield Part(f"\n{heading}", "heading")
    first = min(max(9, *(len(shown) for shown, _, _ in keys)), width // 3) + 2
    last = max(len(name) for _, _, name in keys) + 2 if width >= LEAST_FOR_NAMES else 0
    room = max(width - first - last, 12)
    for shown, words, name in keys:
        for number, line in enumerate(textwrap.wrap(words, room)):
            lead, end = (f"{shown:<{first}}", f"  {name}") if not number else (" " * first, "")
            row = f"{lead}{line:<{room}}{end if last else ''}".rstrip()
            yield Part(row, "title", then=((first, ""), (first + room, "dim")))
