"""A drawn frame fills its cells exactly, on one scale; recordings and moving pictures show the same rows."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from tests.play.told import demo, small
from workbench.play.drawing import STYLES, TALL, Row, drawn
from workbench.play.frames import BarPart, Fall
from workbench.play.letters import large
from workbench.play.outputs import BOLD, COLOURS, animated_svg, asciicast

SVG = "{http://www.w3.org/2000/svg}"


def text(row: Row) -> str:
    return "".join(part for part, _ in row)


@cache
def frames(width: int, height: int, every: int = 1) -> list[list[Row]]:
    """Frames of the demonstration, drawn once."""
    return [drawn(demo(), number, width, height) for number in range(0, len(demo().frames), every)]


@cache
def recording() -> str:
    return asciicast(demo())


@cache
def moving_picture() -> str:
    return animated_svg(demo())


@pytest.mark.parametrize("size", [(100, 30), (100, 28), (80, 24), (200, 60), (40, 12), (12, 5), (3, 1)])
def test_every_frame_fills_its_cells(size: tuple[int, int]) -> None:
    width, height = size
    for rows in frames(width, height, 1 if size == (100, 30) else 4):
        assert [sum(cell_len(part) for part, _ in row) for row in rows] == [width] * height


@pytest.mark.parametrize(
    ("says", "height", "lines"),
    [
        ("aa " * 4, TALL - 1, ["aa aa aa aa"]),
        ("aa " * 5, TALL - 1, ["aa aa aa aa…"]),
        ("aa " * 8, TALL, ["aa aa aa aa", "aa aa aa aa"]),
        ("aa " * 9, TALL, ["aa aa aa aa", "aa aa aa aa…"]),
    ],
)
def test_a_sentence_that_does_not_fit_its_lines_is_cut_with_a_sign(says: str, height: int, lines: list[str]) -> None:
    rows = [text(row).strip() for row in drawn(small(says.strip()), 0, 16, height)]
    assert [row for row in rows if "aa" in row] == lines


def test_the_demonstration_is_told_in_letters_that_every_room_reads() -> None:
    assert all(cell_len(words) == len(words) for frame in demo().frames for words in frame.says)


@pytest.mark.parametrize("width", [120, 100, 99, 90])
def test_the_window_is_told_whole_or_not_at_all(width: int) -> None:
    told = {
        found[0]
        for rows in frames(width, 30, 4)
        for row in rows
        if (found := re.search(r"tokens.*|(?<=  )of .*", text(row).rstrip())) and "▀" in text(row)
    }
    assert told <= {"tokens, of a window of 100k", "of 100k", "tokens"}
    assert "tokens, of a window of 100k" in told


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (21, "see “the goat” again"),
        (19, "see “the goat” aga…"),
        (14, "see “the goa…”"),
        (13, "see “the go…”"),
        (4, "see…"),
    ],
)
def test_a_quotation_that_is_cut_keeps_its_closing_mark(width: int, told: str) -> None:
    shown = [text(row).strip() for row in drawn(small("see “the goat” again"), 0, width + 4, 20)]
    assert told in shown


def test_figures_of_tokens_are_estimates_in_both_types() -> None:
    after = (BarPart("overhead", 10), BarPart("summary", 5))
    low = [text(row).strip() for row in drawn(small(fall=Fall(0.325, after)), 0, 100, 26)]
    assert "~70 ▸ ~15   15 % of a window of 100" in low
    high = [text(row)[2:].rstrip() for row in drawn(small(fall=Fall(0.325, after)), 0, 100, 30)]
    large_type = [row.rstrip() for row in large("~70 ▸ ~15   15 %")]
    assert [row for row in high if row[:30] == large_type[0][:30]]


def test_wide_characters_take_two_cells() -> None:
    rows = drawn(small("山羊 " * 60), 0, 100, 30)
    assert {sum(cell_len(part) for part, _ in row) for row in rows} == {100}


def test_a_bar_is_on_the_storys_scale() -> None:
    """104 columns are 100 for a bar of 100 tokens: 10, 20 and 40 of them."""
    assert text(drawn(small(), 0, 104, 30)[9]) == "  " + "▒" * 10 + "▚" * 20 + "▓" * 40 + " " * 32


def test_what_goes_sinks_and_then_what_stays_moves_up() -> None:
    after = (BarPart("overhead", 10), BarPart("summary", 5), BarPart("kept", 40))
    sinking = [text(row)[12:32] for row in drawn(small(fall=Fall(0.325, after)), 0, 104, 30)[9:13]]
    assert sinking == [" " * 20, " " * 20, "▚" * 20, "▚" * 20]
    done = text(drawn(small(fall=Fall(1.0, after)), 0, 104, 30)[9])
    assert done == "  " + "▒" * 10 + "◆" * 5 + "▓" * 40 + " " * 47
    halfway = text(drawn(small(fall=Fall(0.825, after)), 0, 104, 30)[9])
    assert halfway.index("▓") == 2 + 15 + round(15 / 2)


def test_two_policies_stand_under_each_other_on_one_scale() -> None:
    rows = [text(row) for row in drawn(small(lanes=2), 0, 104, 30)]
    bars = [row.strip() for row in rows if "▒" in row]
    assert len(bars) == 6
    assert {bar.rstrip("░") for bar in bars} == {"▒" * 10 + "▚" * 20 + "▓" * 40}


def test_type_is_large_where_there_is_room() -> None:
    assert large("PI") == ("█▀▄ █", "█▀  █", "▀   ▀")
    assert "PIN IT" not in "".join(map(text, drawn(small(), 0, 100, 27)))
    assert "PIN IT" in "".join(map(text, drawn(small(), 0, 100, 26)))
    assert "PIN IT" in "".join(map(text, drawn(small(), 0, 20, 30)))


def test_every_style_has_a_colour() -> None:
    assert sorted(COLOURS) == sorted(STYLES)
    assert set(STYLES) >= BOLD
    assert {style for rows in frames(100, 30) for row in rows for _, style in row} <= set(STYLES)


# --- recordings -------------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"\x1b\[(\d+);1H(.+?)(?=\x1b\[\d+;1H|\Z)", re.DOTALL)


def played_back(recording: str) -> tuple[dict[str, Any], list[float], list[list[str]]]:
    """Header, times and what stands on the terminal after each event."""
    header, *events = map(json.loads, recording.splitlines())
    screen = [""] * header["height"]
    shown = []
    for _, kind, written in events:
        assert kind == "o"
        assert not {"\n", "\r"} & {*written}  # behind the last row it would move all others up
        for row, typed in _PLACE.findall(written):
            if said := re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", typed):
                screen[int(row) - 1] = said
        shown.append(list(screen))
    return header, [event[0] for event in events], shown


def test_a_recording_shows_the_frames_at_their_times() -> None:
    header, times, shown = played_back(recording())
    assert {key: header[key] for key in ("version", "width", "height")} == {"version": 2, "width": 100, "height": 30}
    seconds = [frame.seconds for frame in demo().frames]
    assert times[0] == 0
    assert times == pytest.approx([sum(seconds[:at]) for at in range(len(seconds) + 1)])
    pictures = [list(map(text, rows)) for rows in frames(100, 30)]
    assert shown == [*pictures, pictures[-1]]


def test_a_recording_is_the_same_every_time() -> None:
    assert asciicast(demo()) == recording()
    assert animated_svg(demo()) == moving_picture()


# --- the moving picture -----------------------------------------------------------------------------------------------


def test_a_moving_picture_is_one_file_that_needs_nothing_else() -> None:
    picture = moving_picture()
    root = ElementTree.fromstring(picture)
    assert root.get("viewBox") == "0 0 1000 600"
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {"svg", "title", "style", "rect", "g", "path", "text"}
    assert not re.search(r"url\(|href|@import|<script|\son\w+=", picture)
    assert len(picture.encode()) < 350_000


def test_a_moving_picture_moves_each_band_at_the_frames_times() -> None:
    """Of the band with the note nothing moves; the last band, the progress, moves at every frame that changes it."""
    story = demo()
    keyed = re.findall(r"@keyframes k(\d+)\{(.*?\})\}", moving_picture())
    assert "0" not in [number for number, _ in keyed]
    last = re.findall(r"([\d.]+)%", keyed[-1][1])
    rows = [rows[29] for rows in frames(100, 30)]
    moves = [at for at in range(len(rows)) if at == 0 or rows[at] != rows[at - 1]]
    at = [sum(frame.seconds for frame in story.frames[:number]) for number in moves]
    assert [float(one) for one in last] == pytest.approx([100 * one / story.seconds for one in at], abs=0.01)


def test_what_a_session_says_is_text_in_a_picture() -> None:
    root = ElementTree.fromstring(animated_svg(small("</text><script>alert(1)</script> & more")))
    assert "</text><script>alert(1)</script> & more" in [one.text for one in root.iter(f"{SVG}text")]


def test_blocks_are_shapes() -> None:
    """Of the large P the first row, which is row 2: a whole block, a half above, a half below."""
    root = ElementTree.fromstring(animated_svg(small()))
    outlines = [one.get("d") or "" for one in root.iter(f"{SVG}path")]
    assert outlines[0].startswith("M20 60V40h10V60zM30 40h10v10h-10zM40 60V50h10V60z")
