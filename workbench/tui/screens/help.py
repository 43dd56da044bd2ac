"""Help of the screen in front: its keys and its text, made from its own bindings."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from workbench.compaction.outcome import Fate
from workbench.tui.keys import CLOSE_KEY, HELP_KEY, shared
from workbench.tui.rows import FATE_WORDS
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.text_view import TextPart, TextView

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
strategy cuts between them.

ctrl+p finds every command by its name or by a word like it, also those without a key."""

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

COLUMN = 25
"""Cells of a column of keys: the longest key and name, and a blank."""
LEAST_FOR_IDS = 60
"""Cells from which there is room for the ids of keys."""


@dataclass(frozen=True, slots=True)
class Key:
    """Keys of one action: as shown, with the action's name, its description, and the id by which they are remapped.
    `can`: the action is on now."""

    shown: str
    name: str
    words: str
    id: str
    can: bool = True


Line = Key | str
"""A key, or a heading."""


class HelpScreen(ModalScreen[None]):
    """Keys of the screen below in columns, its text, then every key with description and id. A key of that screen which
    does not scroll or search here closes the help and runs there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        shared("close", "dismiss(None)", "Close", "Close the help."),
        shared("help", "dismiss(None)", "Close", "Close the help."),
    ]

    def __init__(self, own: Mapping[str, Sequence[Key]], others: Mapping[str, Sequence[Key]], text: str,
                 runs: Collection[str] = ()) -> None:  # fmt: skip
        """`own` are the keys of the screen below in groups, `others` those of its widgets, `text` is its description;
        `runs` are the keys that are passed on to it."""
        super().__init__()
        self.own, self.others, self.text, self.runs = own, others, text, runs

    @classmethod
    def about(cls, screen: Screen[object], remapped: Mapping[str, str]) -> HelpScreen:
        """Help for `screen`: its text and keys, in its groups if it has some; the keys of the focused widget, and those
        of all others."""
        display = partial(_display_key, screen.app)
        nodes = screen.focused.ancestors_with_self if screen.focused else []
        within = [node for node in nodes if isinstance(node, Widget) and node is not screen]
        here = [type(node) for node in within]  # what has the focus, in a tab of the screen
        text = "\n\n".join(node.HELP for node in (screen, *within) if node.HELP)
        elsewhere = [kind for kind in dict.fromkeys(map(type, screen.focus_chain)) if kind not in here]
        active = {key: one for key, one in screen.active_bindings.items() if one.node is screen}
        can = {one.binding.id: one.enabled for one in active.values()}
        own = [replace(key, can=can.get(key.id, False)) for key in keys_of((type(screen),), remapped, display)]
        by_group: dict[str, Sequence[str]] = getattr(screen, "KEY_GROUPS", {"On this screen": [key.id for key in own]})
        by_id = {key.id: key for key in own}
        groups = {name: [by_id[id] for id in ids] for name, ids in by_group.items()}
        others = {
            "Where you are": list(keys_of(here, remapped, display)),
            "Elsewhere on this screen": list(keys_of(elsewhere, remapped, display)),
            "Without a key: ctrl+p and the name": [
                Key(one.name, one.name, one.help, "", one.can) for one in getattr(screen, "keyless", tuple)()
            ],
        }
        # Enter is left out: many press it to close a help, and on some screens it sends.
        return cls(groups, {name: keys for name, keys in others.items() if keys}, text, active.keys() - {"enter"})

    def compose(self) -> ComposeResult:
        text = TextView()
        text.border_title = "Help"
        text.border_subtitle = "a key runs its action · / n N y are for this text · esc closes"
        yield text
        yield KeysLine()

    def on_resize(self) -> None:
        self.call_after_refresh(self._fill)

    def on_key(self, event: events.Key) -> None:
        """Close the help and run the key on the screen below."""
        if event.key in self.runs and event.key not in self.active_bindings:
            event.stop()
            event.prevent_default()
            self.dismiss()
            self.app.simulate_key(event.key)

    def _fill(self) -> None:
        """Lay out the text for the present width; the scroll position is kept."""
        if self not in self.app.screen_stack:  # closed before the refresh
            return
        text = self.query_one(TextView)
        text.show(self._parts(text.wrap_width), key="help")

    def _parts(self, width: int) -> Iterator[TextPart]:
        closing = {CLOSE_KEY.id, HELP_KEY.id}
        short = {name: [key for key in keys if key.id not in closing] for name, keys in self.own.items()}
        yield from _columns({name: keys for name, keys in short.items() if keys}, max((width + 1) // COLUMN, 1))
        yield TextPart(f"\n{self.text}")
        for name, keys in (*self.own.items(), *self.others.items()):
            yield from _group(name, keys, width)
        yield TextPart("\nThe names on the right are those that config.toml uses to change keys.", "dim")
        if self.text is ABOUT_BENCH:
            fates = [Key(f"{fate.glyph} {FATE_WORDS[fate]}", "", words, "") for fate, words in FATES.items()]
            yield from _group("Fates of a message", fates, width)
            signs = [Key(sign, "", words, "") for sign, words in SIGNS.items()]
            yield from _group("Signs before a number", signs, width)


def keys_of(
    places: Iterable[type[Widget]], remapped: Mapping[str, str], display: Callable[[str], str] = str
) -> Iterator[Key]:
    """Keys of screens and widgets: `remapped` maps ids to changed keys, `display` formats one."""
    for place in places:
        for base in place.__mro__:
            for binding in base.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.tooltip:
                    keys = remapped.get(binding.id or "", binding.key).split(",")
                    shown = " ".join(dict.fromkeys(display(key.strip()) for key in keys))
                    yield Key(shown, binding.description, binding.tooltip, binding.id or "")


def _display_key(app: App[object], key: str) -> str:
    return app.get_key_display(Binding(key, ""))


def split_columns(groups: Mapping[str, Sequence[Key]], columns: int) -> list[list[Line]]:
    """Groups with their headings in columns of similar height. A heading never ends a column; an empty line separates
    two groups."""
    lines: list[Line] = []
    for name, keys in groups.items():
        lines += [*([""] if lines else []), name, *keys]
    height = -(-len(lines) // columns)
    found: list[list[Line]] = []
    while lines:
        cut = min(height, len(lines))
        while cut > 1 and isinstance(lines[cut - 1], str) and cut < len(lines):
            cut -= 1
        column, lines = lines[:cut], lines[cut:]
        if len(found) == columns - 1:
            column, lines = [*column, *lines], []
        while lines and not lines[0]:
            lines = lines[1:]
        found.append(column)
    return found


def _columns(groups: Mapping[str, Sequence[Key]], columns: int) -> Iterator[TextPart]:
    """Groups as rows of text, each key with its name; dim if it is off."""
    cells = max((len(_first(key)) for keys in groups.values() for key in keys), default=0)
    for row in zip_longest(*split_columns(groups, columns), fillvalue=""):
        text, styles = "", [(0, "")]
        for line in row:
            start = len(text)
            if isinstance(line, str):
                text, style = f"{text}{line:<{COLUMN}}", "heading"
            else:
                text += f"{f'{_first(line):>{cells}}  {line.name}':<{COLUMN - 1}.{COLUMN - 1}} "
                style = "title" if line.can else "dim"
            styles += [(start, style), *([(start + cells, "")] if style == "title" else [])]
        yield TextPart(text.rstrip(), one_row=True, then=tuple(styles))


def _first(key: Key) -> str:
    """First of an action's keys, as shown."""
    return key.shown.partition(" ")[0]


def _group(heading: str, keys: Sequence[Key], width: int) -> Iterator[TextPart]:
    """Heading, and for each key its description in as many lines as needed, with its id at the right."""
    yield TextPart(f"\n{heading}", "heading")
    first = min(max(9, *(len(key.shown) for key in keys)), width // 3) + 2
    last = max(len(key.id) for key in keys) + 2 if width >= LEAST_FOR_IDS else 0
    room = max(width - first - last, 12)
    for key in keys:
        for number, line in enumerate(textwrap.wrap(key.words, room)):
            lead, end = (f"{key.shown:<{first}}", f"  {key.id}") if not number else (" " * first, "")
            row = f"{lead}{line:<{room}}{end if last else ''}".rstrip()
            yield TextPart(row, "title", then=((first, ""), (first + room, "dim")))
