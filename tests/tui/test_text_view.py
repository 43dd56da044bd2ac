"""Wrapping: nothing lost, nothing too wide, nothing dangerous, fast."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from workbench.tui.plain import plain
from workbench.tui.widgets.text_view import BIG, TextPart, TextView, Wrapped, wrap


def rows(wrapped: Wrapped) -> list[str]:
    cut = zip(wrapped.line, wrapped.start, wrapped.stop, strict=True)
    return [wrapped.lines[line][start:stop] for line, start, stop in cut]


@given(st.text(max_size=400), st.integers(8, 60))
def test_every_row_fits_and_no_character_but_spaces_is_lost(text: str, width: int) -> None:
    shown = rows(wrap((TextPart(text),), width))
    assert all(cell_len(row) <= width for row in shown)
    expected = plain(text).expandtabs(4).replace("\n", "").replace(" ", "")
    assert "".join(shown).replace(" ", "") == expected


def test_lines_break_at_spaces() -> None:
    assert rows(wrap((TextPart("one two three four"),), 10)) == ["one two ", "three four"]


def test_a_part_of_one_row_is_cut() -> None:
    assert rows(wrap((TextPart("one two three four", one_row=True),), 10)) == ["one two t…"]


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = plain(text)
    assert not any(
        (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in shown
    )
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")


def test_a_megabyte_wraps_whole() -> None:
    text = "words of some length and then more of them\n" * 24_000
    wrapped = wrap((TextPart(text),), 60)
    assert len(wrapped) == 24_001


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield TextView()


async def test_a_big_text_that_is_wrapped_again_does_not_come_back() -> None:
    async with Alone().run_test(size=(60, 8)) as pilot:
        view = pilot.app.query_one(TextView)
        big = (TextPart("words " * BIG),)
        view.put(big, wrap(big, 30))
        view.show((TextPart("what is asked for now"),))
        await pilot.app.workers.wait_for_complete()
        assert view.text == "what is asked for now"
        view.put(big, wrap(big, 30))
        await pilot.app.workers.wait_for_complete()
        assert 30 < len(view.render_line(0).text.rstrip()) <= view.wrap_width
