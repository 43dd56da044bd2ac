"""Every screen there is, each by the keys that lead to it from the bench, and what is wrong with what it draws."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rich.cells import cell_len
from textual import events
from textual.color import Color
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import DataTable, Input, Select, Static, Tab, TextArea

from tests.tui.app import bench_screen, notes, press, settled
from tests.tui.test_themes import contrast
from tests.words import INSIDERS, unexplained
from workbench.tui.bench.panes import NARROW
from workbench.tui.bench.screen import BenchScreen
from workbench.tui.keys import every_place
from workbench.tui.screens.play import Stage
from workbench.tui.widgets.budget_bar import BudgetBar
from workbench.tui.widgets.calls_plot import CallsPlot
from workbench.tui.widgets.cut_tabs import CutTabs
from workbench.tui.widgets.keys_line import KeysLine
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.list_keys import Lined
from workbench.tui.widgets.policy_sheet import PolicySheet
from workbench.tui.widgets.records import Heads, RecordTable, visible_columns
from workbench.tui.widgets.rounds_list import ListHeading
from workbench.tui.widgets.text_list import TextList
from workbench.tui.widgets.text_view import TextView
from workbench.tui.widgets.watched_lines import WatchedLines

WAYS = {
    "bench": "", "policy": "9", "message": "1", "request": "2", "summary": "3", "result": "4", "checks": "5",
    "why": "O", "why, a table": "O 2", "compare": "C", "side by side": "C space down space d",
    "summaries": "C space down space d d", "facts": "X", "generations": "X 3", "questions": "X 2", "rework": "X 4",
    "rules": "W",
    "prompts": "E escape", "a prompt": "E escape end e", "runs": "ctrl+p r u n s enter", "a number": "C v",
    "simulated": "ctrl+p s i m enter",
    "help": "question_mark", "run with": "R", "summarizer": "R m", "search": "O slash",
    "prompt": "E", "strategy": "P", "export": "e", "filter": "f", "window": "9" + " up" * 7 + " enter",
    "params": "9" + " up" * 4 + " enter",
    "preset's name": "9" + " up" * 5 + " enter", "exact": "9" + " up" * 6 + " enter",
    "sessions": "ctrl+o", "play": "ctrl+p p l a y enter",
}  # fmt: skip

ELSEWHERE = {"ConfirmScreen", "LoadingScreen", "RepairScreen"}
"""Screens that no key of the bench leads to: what shows them is a file, a price or the first start."""


def screens() -> set[str]:
    """The names of all screens that are shown: not those that others are made from."""
    kinds = [place for place in every_place() if issubclass(place, Screen)]
    bases = {base for kind in kinds for base in kind.__bases__} - {Screen, ModalScreen}
    return {kind.__name__ for kind in kinds if kind not in bases}


LISTS = (
    "bench", "why", "why, a table", "compare", "facts", "generations", "questions", "rework", "rules", "prompts",
    "runs", "simulated", "summarizer", "strategy", "sessions",
)  # fmt: skip
"""Those with a list or a table that one goes to, in their order."""


async def visited(pilot: Pilot[None], names: Iterable[str] = WAYS) -> AsyncIterator[tuple[str, Screen[Any]]]:
    """Each screen in front, by its name here; the bench is shown again between them, with the focus where it was."""
    bench = bench_screen(pilot)
    for name in names:
        await press(pilot, *WAYS[name].split())
        yield name, pilot.app.screen
        for _ in range(6):
            if pilot.app.screen is not bench:
                await press(pilot, "escape", painted=False)
        assert pilot.app.screen is bench, name
        assert bench.size.width >= NARROW or not lost(bench), f"{name}: {lost(bench)}"
        await press(pilot, "escape", painted=False)


PLACES = {"rounds": "#list", "policy": "#policy"}
"""Where the panes of a narrow screen are, those beside the middle."""


def lost(bench: BenchScreen) -> str:
    """What is wrong with where keys go now: to anything but the one pane that is seen."""
    places = {*PLACES.values(), "#text"}
    place = PLACES.get(bench.view.pane, "#text")
    focused, there = bench.focused, bench.query_one(place)
    seen = [name for name in places if bench.query_one(name).display]
    if focused is None or there not in (focused, *focused.ancestors) or not focused.region or seen != [place]:
        return f"in {place} {focused!r} has the focus, to be seen is {seen}"
    return ""


# --- what a list understands -----------------------------------------------------------------------------------------


def with_lines(screen: Screen[Any]) -> Iterator[Widget]:
    """Whatever on a screen has lines and can have the focus."""
    yield from (one for one in screen.focus_chain if isinstance(one, LineView | DataTable))


def listing(screen: Screen[Any]) -> list[Widget]:
    """Its lists and tables."""
    return [one for one in with_lines(screen) if not isinstance(one, TextView)]


async def lacking(pilot: Pilot[None], name: str) -> list[str]:
    """What the lists of the screen in front do not understand."""
    screen = pilot.app.screen
    wrong = [f"{name}: {one}" for one in faint(screen)]
    for widget in list(with_lines(screen)):
        if not isinstance(widget, Lined):
            wrong.append(f"{name}: {widget!r} is no list of ours")
            continue
        known = type(widget)._merged_bindings
        keys = known.key_to_bindings if known else {}
        also = screen._bindings.key_to_bindings
        finding = ("n", "N") if "slash" in keys else ()  # where words filter a list, there is no next hit
        if missing := [key for key in ("j", "k", "g", "G", "y", *finding) if key not in keys and key not in also]:
            wrong.append(f"{name}: {widget!r} has no {missing}")
            continue
        many = widget.line_count
        stops = widget.stops if isinstance(widget, TextList) else range(many)
        first, second, *_ = [*stops, 0, 0]
        for key, ends in (("G", {*stops[-1:]}), ("g", {first}), ("j", {first, second}), ("k", {first})):
            await pilot.app.run_action(keys[key][0].action, widget)
            at = widget.place
            whole = isinstance(widget, TextView) or getattr(widget, "cursor_type", "row") == "column"
            if many > 1 and not whole and at not in ends:
                wrong.append(f"{name}: {key} goes to {at} of {many} in {widget!r}")
    return wrong


async def unchosen(pilot: Pilot[None]) -> list[str]:
    """What does nothing when its second line is clicked twice, though enter does something there."""
    screen = pilot.app.screen
    for widget in listing(screen)[:1]:
        heads = isinstance(widget, DataTable)
        await press(pilot, "home")
        assert isinstance(widget, Lined)
        if widget.line_count < 2 or widget.content_region.height < 2 + heads:
            continue
        at = widget.content_region.offset - widget.region.offset + (3, 1 + heads)
        await pilot.click(widget, offset=at)
        await settled(pilot)
        before = [strip.text for strip in drawn(screen).strips]
        enter = screen.active_bindings.get("enter")  # a click may close the screen
        await press(pilot, "home")
        await pilot.click(widget, offset=at, times=2)
        await settled(pilot)
        same = pilot.app.screen is screen and [strip.text for strip in drawn(screen).strips] == before
        if same and enter and enter.binding.show and not notes(pilot):
            return [f"nothing is done where {widget!r} is clicked twice"]
    return []


async def repeated(pilot: Pilot[None], *keys: str) -> list[str]:
    """Which of these keys says more than one thing while it is held in the list of the screen in front."""
    wrong = []
    for key in keys:
        pilot.app.clear_notifications()
        for _ in range(3):
            await pilot.press(key)
        await settled(pilot, painted=False)
        wrong += [f"{key} says {said}" for said in [notes(pilot)] if len(said) > 1]
    pilot.app.clear_notifications()
    return wrong


async def misled(pilot: Pilot[None]) -> list[str]:
    """Lists that a click does not go along, or that take it for a choice; whatever the wheel does not turn."""
    screen, wrong = pilot.app.screen, []
    for widget in list(with_lines(screen)):
        assert isinstance(widget, Lined)
        widget.to_line(0)
        await settled(pilot, painted=False)
        inner, heads = widget.content_region, isinstance(widget, DataTable)
        if widget.line_count > 1 and not isinstance(widget, TextView) and inner.height > 1 + heads:
            left, top = inner.x - widget.region.x, inner.y - widget.region.y
            await pilot.click(widget, offset=(left + 1, top + 1 + heads))
            await settled(pilot, painted=False)
            if pilot.app.screen is not screen:
                return [*wrong, f"{widget!r} takes a click for a choice"]
            goes = widget.place == 1 or (isinstance(widget, TextList) and 1 not in widget.stops)
            wrong += [] if goes or heads else [f"{widget!r} is not gone along by a click: {widget.place}"]
        if widget.max_scroll_y > 0:
            widget.scroll_to(y=0, animate=False, force=True)
            await pilot._post_mouse_events([events.MouseScrollDown], widget, button=0)
            await settled(pilot, painted=False)
            wrong += [] if widget.scroll_offset.y else [f"{widget!r} is not turned by the wheel"]
    return wrong


async def kept_open(pilot: Pilot[None]) -> list[str]:
    """Whether q does not lead back from the screen in front, where nothing is typed."""
    screen, typed = pilot.app.screen, isinstance(pilot.app.focused, Input | TextArea | Select)
    if typed or isinstance(screen, BenchScreen):
        return []
    await press(pilot, *("q" * (1 + screen.has_class("-two"))))  # from two outcomes to the rows first
    return [f"q does not leave {screen!r}"] if pilot.app.screen is screen else []


def faint(screen: Screen[Any]) -> list[str]:
    """Titles and tabs that are hard to read: of a contrast below that which WCAG asks of words."""
    found = []
    for one in screen.walk_children(Widget):
        if one.border_title or isinstance(one, Tab):
            ground, styles = one.background_colors[1 if isinstance(one, Tab) else 0], one.styles
            colour, is_auto = styles.border_title_color, styles.auto_border_title_color
            if isinstance(one, Tab):
                colour, is_auto = styles.color, styles.auto_color
            shown = ground + (ground.get_contrast_text(colour.a) if is_auto else colour)
            if contrast(shown, ground) < 4.5:
                found.append(f"{one!r} {contrast(shown, ground):.2f}")
    return found


def unfocused(screen: Screen[Any]) -> Iterator[str]:
    """A screen on which no key goes anywhere, or to what is not seen whole."""
    focused = screen.focused
    if not screen.focus_chain or all(one.disabled for one in screen.query(screen.AUTO_FOCUS or "*")):
        return  # what has the focus at first may be off
    if focused is None or focused.region.width <= 20 or not screen.region.contains_region(focused.region):
        yield f"has the focus in {focused!r} at {focused and focused.region}"


MOST = 6
"""Verbs in a footer, beside what keys do on every screen."""
EVERYWHERE = {"enter", "tab", "down", "escape", "space", "f1", "question_mark"}


def crowded(screen: Screen[Any]) -> list[str]:
    """A footer with more verbs than can be taken in: keys that do one thing together are one."""
    verbs = [key.words for line in screen.query(KeysLine) for key in line.keys
             if key.words and key.key.split(",")[0] not in EVERYWHERE]  # fmt: skip
    return [f"has {len(verbs)} verbs in its footer: {verbs}"] if len(verbs) > MOST else []


def unhelpful(screen: Screen[Any]) -> Iterator[str]:
    """A footer that does not name Help where that can be asked for, or that begins at the edge."""
    for line in screen.query(KeysLine):
        shown = line.render_line(0).text
        if any(key.words == "Help" for key in line.keys) and not re.search(r"(f1|space|\?) Help\b", shown):
            yield f"does not name Help in its footer: {shown!r}"
        if line.region.x == 0:
            yield "has a footer without a margin"


NAMES = {
    "CompareScreen": "Compare", "RetentionScreen": "Kept", "PromptsScreen": "Prompts", "RulesScreen": "Rules",
    "RunScreen": "Run", "SessionsScreen": "Sessions", "WhyScreen": "Why",
}  # fmt: skip
"""Screens whose first line begins with their name in bold; dialogs have theirs in the border."""


def unnamed(seen: Drawn) -> Iterator[str]:
    """A screen that does not say its name first."""
    screen = seen.screen
    name, two = NAMES.get(type(screen).__name__, ""), screen.has_class("-two")
    first = next((strip for strip in seen.strips if strip.text.strip()), Strip([]))
    words = next((segment for segment in first if segment.text.strip()), None)
    if name and not two and not (words and words.text.strip() == name and words.style and words.style.bold):
        yield f"does not begin with {name}: {first.text!r}"


def uneven(seen: Drawn) -> Iterator[str]:
    """Headings of columns in another style than all others, stripes, and a row that is a scroll bar."""
    screen = seen.screen
    for widget in screen.walk_children(Widget):
        is_table = isinstance(widget, DataTable)
        if is_table and (widget.zebra_stripes or widget.scrollbar_size_horizontal):
            yield f"{widget!r} has stripes or a horizontal scroll bar"
        if is_table and widget.background_colors[1] != screen.background_colors[1]:
            yield f"{widget!r} has another ground than the screen"
        if not (is_table or isinstance(widget, Heads | ListHeading) or widget.has_class("heads")):
            continue
        for text, style, _ in (seen.rows_of(widget) or [Strip([])])[0]:
            ground = Color(*style.bgcolor.get_truecolor()) if style and style.bgcolor else None
            wrong = style and (style.reverse or style.dim or ground != screen.background_colors[1])
            if re.search(r"\w", text) and wrong:
                yield f"{widget!r} has the heading {text!r} in {style}"


# --- what is drawn ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A screen as it is drawn: once, for all of its widgets and for all that is looked for in it."""

    screen: Screen[Any]
    strips: list[Strip]
    places: Mapping[Widget, tuple[Region, Region]]

    def rows_of(self, widget: Widget) -> list[Strip]:
        """What is seen of a widget within its border, beside its scroll bars."""
        region, clip = self.places.get(widget, (Region(), Region()))
        seen = widget.scrollable_content_region.intersection(clip) if region else region
        return [strip.crop(seen.x, seen.right) for strip in self.strips[seen.y : seen.bottom]] if seen.area else []


def drawn(screen: Screen[Any]) -> Drawn:
    return Drawn(screen, screen._compositor.render_strips(), screen._compositor.visible_widgets)


def cut(seen: Drawn) -> Iterator[str]:
    """Texts that are not seen whole and do not end with `…`, and lines that end in the midst of a word at the edge."""
    for widget in seen.screen.walk_children(Widget):
        if strips := seen.rows_of(widget):
            rows = [strip.text for strip in strips]
            told = (*_titles(widget, seen.strips), *_cut(widget, rows))
            yield from (f"{widget!r} {one}" for one in told)


def _cut(widget: Widget, rows: list[str]) -> Iterator[str]:
    if isinstance(widget, Static):
        rolls = any(isinstance(one, Widget) and one.max_scroll_y for one in widget.ancestors)
        rolls = rolls or any(isinstance(one, CutTabs) and one.has_class("-cut") for one in widget.ancestors)
        if not rolls and not _is_whole(said := _said(widget), "".join(rows)):
            yield f"cuts {said!r} to {rows}"
    elif isinstance(widget, Input):
        if not widget.value and cell_len(widget.placeholder) > widget.content_size.width:
            yield f"cuts its hint {widget.placeholder!r}"
    elif not widget.children and not isinstance(widget, TextArea | TextView):
        yield from (f"ends {row!r}" for row in rows if len(row) > 3 and re.search(r"[^\W\d_]$", row))


def _titles(widget: Widget, strips: list[Strip]) -> Iterator[str]:
    """What of the words in its border is cut."""
    at = widget.region
    for words, y in ((widget._border_title, at.y), (widget._border_subtitle, at.bottom - 1)):
        if words is not None and 0 <= y < len(strips) and widget.gutter.top:
            shown = strips[y].crop(at.x, at.right).text
            if not _is_whole(words.plain, shown):
                yield f"cuts its title {words.plain!r} to {shown!r}"


def _said(widget: Static) -> str:
    told = widget.visual
    return str(getattr(told, "plain", None) or getattr(told, "_renderable", ""))


def _is_whole(said: str, shown: str) -> bool:
    return "…" in shown or "⋯" in shown or _joined(said) in _joined(shown)


def _joined(text: str) -> str:
    return re.sub(r"\s+", "", text)


# --- figures ---------------------------------------------------------------------------------------------------------

STYLES = {
    "a percent sign without its space": r"\d%",
    "thousands parted by a comma": r"(?<![\w.,])\d{1,3},\d{3}(?![\w,])",
    "thousands not parted": r"(?<![\w/.:_-])\d{5,}(?![\w/:_-])",
    "one of many": r"(?<![\d.,\u00a0\u202f])1\s(?:messages|rounds|tokens|calls|characters|lines|files|facts)\b",
}


def figures(seen: Drawn) -> Iterator[str]:
    """Figures that a text breaks over two lines, those of another style than all others, and words of insiders."""
    for widget in seen.screen.walk_children(Widget):
        words = [title.plain for title in (widget._border_title, widget._border_subtitle) if title is not None]
        for name, pattern in INSIDERS.items():
            yield from (f"{widget!r} {name}: {title!r}" for title in words if re.search(pattern, title))
        if widget.children or isinstance(widget, TextArea | Input):
            continue
        rows = [strip.text for strip in seen.rows_of(widget)]
        for above, below in pairwise(rows) if isinstance(widget, TextView) else ():
            if re.search(r"(?<![\d.:/-])\d{1,3}\s*$", above) and re.match(r"\s*\d{3}(?![\w.:/-])", below):
                yield f"{widget!r} breaks a figure: {above!r}, {below!r}"
        for name, pattern in (STYLES | INSIDERS).items():
            yield from (f"{widget!r} {name}: {row!r}" for row in rows if re.search(pattern, row))


def riddles(seen: Drawn) -> list[str]:
    """Words on it that neither it nor its help explains; what a session or a file of the user's says is theirs."""
    widgets = [*seen.screen.walk_children(Widget, with_self=True)]
    rows = [strip.text for widget in widgets if _is_ours(widget) for strip in seen.rows_of(widget)]
    return list(unexplained("\n".join(rows), " ".join(node.HELP or "" for node in widgets)))


def _is_ours(widget: Widget) -> bool:
    return not widget.children and not isinstance(widget, TextArea | Input | TextView)


def unframed(seen: Drawn) -> Iterator[str]:
    """Rows that reach into the outer margin of a screen that is no dialog; a second ground under its footer; headings
    that do not stand over their columns."""
    screen = seen.screen
    if screen.styles.background.a < 1:
        return
    margin = 2 if screen.outer_size.width >= 110 else 1
    for strip in seen.strips:
        if (text := strip.text)[:margin].strip() or text[-margin:].strip():
            yield f"fills its margin: {text!r}"
    for line in screen.query(KeysLine):
        if line.background_colors[1] != screen.background_colors[1]:
            yield "has another ground under its footer"
    for heads in screen.query(Heads):
        rows = screen.query_one(RecordTable)
        if visible_columns(heads.columns, 0, heads.size.width) != visible_columns(rows.columns, 0, rows.line_width):
            yield "has headings that are not over their columns"


COLOURED = (BudgetBar, CallsPlot, PolicySheet, Stage, TextArea, TextView, WatchedLines)
"""Widgets whose words may have colours: the two bars, plots with several curves, texts with headings."""


def gaudy(seen: Drawn) -> Iterator[str]:
    """Words in another colour than the accent's, which marks the cursor and keys."""
    screen = seen.screen
    accent = Color.parse(screen.app.theme_variables["primary"]).hsl.h
    for y, strip in enumerate(seen.strips):
        x = 0
        for text, style, _ in strip:
            at, x = x, x + cell_len(text)
            if style and style.color and re.search(r"\w\w", text):
                shown = Color(*style.color.get_truecolor())
                off = abs(shown.hsl.h - accent)
                if max(shown.rgb) - min(shown.rgb) > 48 and min(off, 1 - off) > 0.06:
                    widget = screen.get_widget_at(at, y)[0]
                    if widget is not screen and not isinstance(widget, COLOURED):
                        yield f"{widget!r} shows {text!r} in {shown.hex}"


LEAST = 4.5
"""Contrast that WCAG asks of words."""


def pale(seen: Drawn) -> Iterator[str]:
    """Words that are hard to read, where they are not those of what cannot be done now or lies behind a dialog."""
    screen = seen.screen
    off = [key for line in screen.query(KeysLine) for key in line.keys if not key.enabled]
    grey = {words for key in off for words in (key.shown, key.words)}
    for y, strip in enumerate(seen.strips):
        x = 0
        for text, style, _ in strip:
            at, x = x, x + cell_len(text)
            if style and style.color and style.bgcolor and re.search(r"\w", text) and text.strip() not in grey:
                shown, ground = (Color(*one.get_truecolor()) for one in (style.color, style.bgcolor))
                widget = screen.get_widget_at(at, y)[0]
                exempt = widget is screen or widget.disabled or isinstance(widget, TextArea)
                if not exempt and contrast(shown, ground) < LEAST:
                    yield f"{widget!r} shows {text!r} with {contrast(shown, ground):.2f}"
