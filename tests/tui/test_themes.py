"""Colours that can be told apart and words that can be read, in every theme of ours."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.color import STANDARD_PALETTE, ColorSystem
from rich.color import Color as TerminalColor
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES, Theme

from tests.products import mostly_full
from tests.tui.app import at_rest, brought, on_bench, press, settled, story
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.run import RunScreen
from workbench.tui.settings import Settings
from workbench.tui.themes import SIXTEEN, THEMES, named_colours
from workbench.tui.widgets.text_list import TextList

FEW = (SIXTEEN, "workbench-light")
MORE = tuple(theme.name for theme in THEMES if theme.name not in FEW)

FOREIGN = [theme for theme in BUILTIN_THEMES.values() if not theme.name.startswith(("ansi", "textual-ansi"))]
"""The themes that Textual brings along, without those that leave the colours to the terminal."""

LAYERS = ("text-secondary", "text-accent", "text-primary", "text-error", "text-success")
"""The colours of system, summaries, head, pins and tail on the bars."""


def colours(theme: Theme) -> dict[str, Color]:
    known = {**theme.to_color_system().generate(), **theme.variables}
    return {name: Color.parse(known[name]) for name in (*LAYERS, "surface", "foreground")}


def luminance(colour: Color) -> float:
    """As WCAG has it."""
    parts = [part / 255 for part in colour.rgb]
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_that_of_black_and_white() -> None:
    assert contrast(Color.parse("#ffffff"), Color.parse("#000000")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


def test_sixteen_colours_keep_the_layers_apart() -> None:
    theme = next(theme for theme in THEMES if theme.name == SIXTEEN)
    found = colours(theme)
    numbers = [TerminalColor.from_rgb(*colour.rgb).downgrade(ColorSystem.STANDARD).number for colour in found.values()]
    assert [STANDARD_PALETTE[number or 0] for number in numbers] == [colour.rgb for colour in found.values()]
    assert len(set(numbers)) == len(numbers)
    made_of = (theme.primary, theme.secondary, theme.accent, theme.warning, theme.error, theme.success, theme.surface)
    given = {Color.parse(one).rgb for one in (*made_of, *theme.variables.values()) if one}
    assert given <= {STANDARD_PALETTE[number] for number in range(16)}


async def test_a_terminal_of_sixteen_colours_has_the_theme_made_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(story()) as pilot:
        chosen = [pilot.app.theme]
        monkeypatch.setattr(WorkbenchApp, "is_headless", False)
        for colours in (ColorSystem.STANDARD, ColorSystem.EIGHT_BIT, ColorSystem.TRUECOLOR):
            monkeypatch.setattr(pilot.app.console, "_color_system", colours)
            assert isinstance(pilot.app, WorkbenchApp)
            pilot.app._choose_theme()
            chosen.append(pilot.app.theme)
    assert chosen == ["workbench", SIXTEEN, "workbench", "workbench"]


async def test_the_start_parses_no_style_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[Stylesheet] = []
    parse_again = Stylesheet.reparse

    def reparse(sheet: Stylesheet) -> None:
        again.append(sheet)
        parse_again(sheet)

    monkeypatch.setattr(Stylesheet, "reparse", reparse)
    async with at_rest(story()):
        assert not again


@pytest.mark.parametrize("first", ["workbench", "textual-dark"])  # ours, and the one that Textual starts with
async def test_another_theme_changes_the_styles(first: str) -> None:
    async with at_rest(story(1, 1), size=(80, 24), settings=Settings(theme=first)) as pilot:
        before = pilot.app.screen.styles.background
        pilot.app.theme = "textual-light"
        await settled(pilot)
        assert pilot.app.screen.styles.background != before


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_titles_can_be_read_on_every_ground(theme: Theme) -> None:
    """They are of `text-muted`: black or white, whichever is seen better, or a grey of the theme's own."""
    known = {**theme.to_color_system().generate(), **theme.variables}
    for ground in (Color.parse(known[name]) for name in ("background", "surface", "panel")):
        muted = known["text-muted"]
        share = float(muted.removeprefix("auto ").rstrip("%")) / 100 if muted.startswith("auto") else 1.0
        title = ground + ground.get_contrast_text(share) if muted.startswith("auto") else Color.parse(muted)
        assert contrast(title, ground) >= 4.5


@pytest.mark.parametrize("theme", FOREIGN, ids=lambda theme: theme.name)
def test_titles_can_be_read_in_the_themes_of_others_too(theme: Theme) -> None:
    """On the two grounds on which there are titles."""
    known = {**theme.to_color_system().generate(), **theme.variables}
    for ground in (Color.parse(known[name]) for name in ("background", "surface")):
        share = float(known["text-muted"].removeprefix("auto ").rstrip("%")) / 100
        assert contrast(ground + ground.get_contrast_text(share), ground) >= 4.5


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_named_colours_can_be_read_also_where_there_are_none(theme: Theme) -> None:
    """Under NO_COLOR each is a grey of its brightness."""
    known = {**theme.to_color_system().generate(), **theme.variables}
    grounds = [Color.parse(known[name]) for name in ("background", "surface")]
    for number, name in enumerate(("red", "green", "yellow"), 1):
        colour = Color(*named_colours(theme).ansi_colors[number])
        for shown in (colour, colour.monochrome):
            assert min(contrast(shown, ground) for ground in grounds) >= 4.5, (name, shown)


@pytest.mark.parametrize("themes", mostly_full([FEW, MORE], [FEW]), ids=" ".join)
async def test_headings_among_what_a_draft_lost_can_be_read_though_nothing_is_chosen_by_them(
    themes: Sequence[str],
) -> None:
    async with on_bench(story(1, 1), size=(80, 24)) as (pilot, _):
        screen = await brought(pilot, RunScreen, "R")
        for theme in themes:
            pilot.app.theme = theme
            await settled(pilot, painted=False)
            shown = screen.query_one("#facts", TextList).get_visual_style("lines--heading")
            assert contrast(shown.background + shown.foreground, shown.background) >= 4.5


@pytest.mark.parametrize("said", [None, "1"])
async def test_f13_with_no_color_said_every_cell_of_the_screen_is_a_grey(
    said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if said:
        monkeypatch.setenv("NO_COLOR", said)
    async with on_bench(story(), size=(80, 24)) as (pilot, _):
        shown = set[tuple[int, int, int]]()
        for keys in ("", "p", "9", "escape O", "escape question_mark") if said else ("",):
            await press(pilot, *keys.split())
            for strip in pilot.app.screen._compositor.render_strips():
                for segment in strip:
                    found = (segment.style.color, segment.style.bgcolor) if segment.style else ()
                    shown |= {tuple(one.get_truecolor()) for one in found if one and not one.is_default}
        assert len(shown) > 3
        assert any(len({*one}) > 1 for one in shown) == (said is None)
