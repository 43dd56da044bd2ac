"""Tables are laid out by what is in them, not by when they are drawn."""

from __future__ import annotations

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.geometry import Region

from workbench.tui.widgets.table import TextTable


class Alone(App[None]):
    CSS = "TextTable { height: 100%; }"

    def compose(self) -> ComposeResult:
        yield TextTable(fixed_columns=1)


@pytest.mark.parametrize("drawn", [False, True], ids=["measured first", "drawn first"])
async def test_a_row_is_whole_also_where_it_is_drawn_before_the_table_was_idle(drawn: bool) -> None:
    async with Alone().run_test(size=(60, 8)) as pilot:
        table = pilot.app.query_one(TextTable)
        await pilot.pause()

        def shown() -> list[str]:
            table.refresh()
            return [strip.text.rstrip() for strip in table.render_lines(Region(0, 0, 60, 4))]

        def then(drawn: bool = drawn) -> None:
            if drawn:
                shown()

        table.add_column("a", key="first")
        table.add_column("b", key="second")
        table.add_row(Text("1"), Text("2"), key="1")
        then()
        table.add_column("later", default=Text("x"))
        then()
        table.update_cell("1", "first", Text("the longest"))
        then()
        table.add_row(Text("longer"), Text("漢字"), key="2")
        then()
        await pilot.pause()
        whole = [" a            b     later", " the longest  2     x", " longer       漢字", ""]
        assert shown() == whole
        assert table.virtual_size.width == len(" the longest ") + len(" 漢字 ") + 2 + len(" later ")


async def test_a_column_that_is_cut_is_left_out_and_the_headings_say_that_there_are_more() -> None:
    """Columns of 4 cells with their padding, the first one fixed."""
    async with Alone().run_test(size=(14, 4)) as pilot:
        table = pilot.app.query_one(TextTable)
        for head in "abcde":
            table.add_column(head, key=head, width=2)
        table.add_row(*(Text(str(number)) for number in range(10, 60, 10)))
        await pilot.pause()

        async def shown(x: int) -> list[str]:
            table.scroll_to(x=x, animate=False, force=True)
            await pilot.pause()
            return [strip.text.rstrip() for strip in table.render_lines(Region(0, 0, 14, 2))]

        assert table.max_scroll_x == 6
        assert await shown(0) == [" a   b   c   ›", " 10  20  30"]
        assert await shown(1) == ["‹       c    ›", " 10     30"]
        assert await shown(4) == ["‹    c   d   ›", " 10  30  40"]
        assert await shown(6) == ["‹      d   e", " 10    40  50"]
