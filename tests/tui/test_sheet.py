"""The policy's sheet without a screen: columns, lines, steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from workbench.compaction.labels import CHOICES, GROUPS, LABELS, label_of
from workbench.compaction.preset import default_preset, load_preset, preset_names
from workbench.compaction.settings import settings_of
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategies.trim import TrimPolicy
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.tui.fields import fields_of
from workbench.tui.sheet import (
    FOREMOST,
    UNIT,
    VALUE,
    SheetSetting,
    arrange_columns,
    columns_for,
    entries_of,
    entry_cells,
    line_cells,
    step_value,
)


def entry(key: str, preset: str = "augment-example", **changes: object) -> SheetSetting:
    found = load_preset(preset)
    return next(one for one in entries_of(found.policy.with_(**changes), found) if one.field.key == key)


def text(cells: list[tuple[str, str]]) -> str:
    return "".join(words for words, _ in cells)


def test_every_setting_and_group_has_words_and_no_words_are_left_over() -> None:
    every = [one for strategy in all_strategies() for one in settings_of(type(default_preset(strategy.id).policy))]
    assert {one.path[-1] for one in every} == set(LABELS)
    assert {one.group for one in every} == set(GROUPS)


def test_no_two_settings_of_a_sheet_have_the_same_words() -> None:
    """Where several numbers say the same, each in a unit of its own, the words name the unit."""
    for strategy in all_strategies():
        said = [label_of(one.path[-1]) for one in settings_of(type(default_preset(strategy.id).policy))]
        assert [words for words, times in Counter(said).items() if times > 1] == [], strategy.id


def test_every_choice_has_words_that_have_room_and_none_is_told_by_its_id() -> None:
    every = [one for strategy in all_strategies() for one in settings_of(type(default_preset(strategy.id).policy))]
    chosen = {one.path[-1]: one.choices for one in every if one.choices}
    assert {name: tuple(words) for name, words in CHOICES.items()} == chosen
    told = [words for choices in CHOICES.values() for words in choices.values()]
    assert [words for words in told if "_" in words or len(words) > VALUE + UNIT - len("◂  ▸")] == []
    assert [name for name, choices in CHOICES.items() if len(set(choices.values())) < len(choices)] == []


def test_a_choice_stands_on_the_sheet_in_words() -> None:
    one = entry("preamble_place", "codex", preamble_place="before_newest_request")
    assert text(entry_cells(one, 67)).split("◂")[1].split("▸")[0].strip() == "at the last request"


def test_what_matters_most_stands_first_and_nothing_twice() -> None:
    """A strategy of many settings says which they are; the rest keep their order and their headings."""
    policy = MessageWindowPolicy()
    many = entries_of(policy, replace(default_preset("message-window"), policy=policy))
    first = MessageWindowPolicy.foremost
    assert [one.field.key for one in many[: len(first)]] == list(first)
    assert {one.group for one in many[: len(first)]} == {FOREMOST}
    assert [one.field for one in many[len(first) :]] == [
        one for one in fields_of(MessageWindowPolicy) if one.key not in first
    ]
    assert many[len(first)].group == "When to compact"
    few = entries_of(TrimPolicy(), default_preset("trim"))
    assert [one.field for one in few] == list(fields_of(TrimPolicy))


@pytest.mark.parametrize(("width", "columns"), [(78, 1), (109, 1), (110, 2), (136, 2), (165, 2), (166, 3)])
def test_columns_by_width(width: int, columns: int) -> None:
    assert columns_for(width) == columns


def test_groups_fill_columns_whole_and_lines_stay_free_only_where_there_is_room() -> None:
    one = entry("summary_char_limit")
    entries = [replace(one, group=name) for name in "aaabbc"]
    loose = (("a", 0, 1, 2), ("b", 3, 4, None, "c", 5))
    assert arrange_columns(entries, 2, 6) == loose
    assert arrange_columns(entries, 2, 5) == (("a", 0, 1, 2), ("b", 3, 4, "c", 5))
    assert arrange_columns(entries, 2, 4) == (("a", 0, 1, 2, "b"), (3, 4, "c", 5))
    assert arrange_columns(entries, 1, 99) == (("a", 0, 1, 2, None, "b", 3, 4, None, "c", 5),)
    assert arrange_columns([], 2, 9) == ((),)


def test_at_140_columns_every_group_of_every_preset_is_in_sight() -> None:
    for name in preset_names():
        preset = load_preset(name)
        entries = entries_of(preset.policy, preset)
        columns = arrange_columns(entries, columns_for(134), 24)
        assert sorted(item for column in columns for item in column if isinstance(item, int)) == [*range(len(entries))]
        assert max(map(len, columns)) <= 24, name


def test_a_line_has_mark_label_id_value_and_unit() -> None:
    changed = entry("history_tail_size_chars_to_exclude", history_tail_size_chars_to_exclude=12_000)
    name = "history_tail_size_chars_to_exclude"
    for width in range(40, 121):  # ids that began alike were all shown as "trigger…"
        ids = [words.strip() for words, style in entry_cells(changed, width) if style == "id"]
        assert ids == [name if width >= 84 else ""], width
    assert text(entry_cells(changed, 54)) == "≠ Keep newest exchanges       12\u00a0000       characters "
    for one in entries_of(load_preset("progressive").policy, load_preset("progressive")):
        for width in (40, 54, 67, 120):
            assert len(text(entry_cells(one, width))) == width, (one.field.key, width)
    both = arrange_columns([changed, replace(changed, group="other")], 2, 9)
    line = line_cells([changed, replace(changed, group="other")], both, 1, 110, at=1)
    assert [words.strip() for words, style in line if style == "focused"] == [
        "Keep newest exchanges",
        "12\u00a0000",
    ]


@pytest.mark.parametrize(
    ("value", "by", "new"),
    [(50_000, 1, 51_000), (50_000, -10, 40_000), (12, 1, 13), (9, 10, 19), (3, -10, 0), (0, -1, 0), (0, 1, 100),
     (0, 10, 1_000)],
)  # fmt: skip
def test_a_step_is_about_a_hundredth_and_stays_in_range(value: int, by: int, new: int) -> None:
    assert step_value(entry("history_tail_size_chars_to_exclude", history_tail_size_chars_to_exclude=value), by) == new


def test_from_nothing_a_step_is_as_large_as_its_unit_is_small() -> None:
    assert step_value(entry("user_message_tokens", "claude-code"), 10) == 1_000
    assert step_value(entry("keep_first", "claude-code"), 1) == 1
    assert step_value(entry("keep_first", "claude-code"), 10) == 10


def test_steps_of_shares_switches_and_choices() -> None:
    assert step_value(entry("trigger_window_percent", "trim", trigger_window_percent=99.5), 1) == 100
    assert step_value(entry("trigger_window_percent", "trim", trigger_window_percent=50), -10) == 40
    assert step_value(entry("simulate_cache_expiry"), 1) is True
    choice = entry("earlier_summary", earlier_summary="extend")
    assert (step_value(choice, 1), step_value(choice, -1)) == ("drop", "nest")
