"""One vocabulary: what is the same is called, typed and explained the same everywhere, and old names are still read."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from workbench.analysis.sweep.axes import parse_axis
from workbench.base.errors import BadInput
from workbench.cli import settings as flags
from workbench.compaction.policy import Policy
from workbench.compaction.preset import default_preset, read_preset
from workbench.compaction.settings import Setting, setting_named, settings_of
from workbench.compaction.strategies import all_strategies, strategy

OLD: list[tuple[str, str, Any, str, Any]] = [
    ("exchange-summary", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("progressive", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("layered", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("user-messages", "request_limit_chars", 7_000, "request_char_limit", 7_000),
    ("ledger", "request_limit", 7_000, "request_char_limit", 7_000),
    ("context-reset", "guard_chars", 7_000, "request_char_limit", 7_000),
    ("message-window", "transcript_limit", 7_000, "request_char_limit", 7_000),
    ("message-window", "transcript_cut", "middle", "request_cut", "middle"),
    ("message-window", "text_limit", 70, "text_char_limit", 70),
    ("message-window", "result_limit", 70, "result_char_limit", 70),
    ("message-window", "call_input_limit", 70, "call_char_limit", 70),
    ("ledger", "result_limit", 70, "result_char_limit", 70),
    ("layered", "min_rounds", 4, "min_tail_rounds", 4),
    ("layered", "trigger_fraction", 0.55, "trigger_window_percent", 55.0),
    ("exchange-summary", "summary_node_request_message_template", "T {summary}", "summary_template", "T {summary}"),
    ("exchange-summary", "summary_node_response_message", "Ok.", "reply", "Ok."),
    ("memories-rewrite", "compression_prompt", "Shorten.", "prompt", "Shorten."),
    ("trim", "earlier_summary", "drop", "keep_summaries", False),
    ("trim", "earlier_summary", "nest", "keep_summaries", True),
]
"""Strategy, old field and value, the field of today and its value."""
NOTHING = [("clear-tool-results", "earlier_summary"), ("memories-rewrite", "earlier_summary")]
"""Fields that did nothing, and are gone."""

by_old_name = pytest.mark.parametrize(("id", "old", "value", "new", "becomes"), OLD, ids=lambda one: str(one)[:24])


def test_the_table_of_old_names_is_whole() -> None:
    told = {(id, old) for id, old, *_ in OLD} | set(NOTHING)
    for one in all_strategies():
        for name in one.policy_type.converted:
            assert (one.id, name) in told
        assert {old for setting in settings_of(one.policy_type) for old in setting.old} <= {old for _, old in told}


@by_old_name
def test_old_names_are_read_in_presets_flags_and_changes(
    id: str, old: str, value: Any, new: str, becomes: Any, tmp_path: Path
) -> None:
    preset = default_preset(id)
    wanted = preset.policy.with_(**{new: becomes})
    assert getattr(wanted, new) == becomes
    assert preset.policy.with_(**{old: value}) == wanted
    assert strategy(id).policy_type.model_validate({**preset.policy.model_dump(exclude={new}), old: value}) == wanted
    assert flags.chosen(id, None, None, [f"{old}={value}"]).policy == wanted
    file = tmp_path / "mine.toml"
    file.write_text(f'strategy = "{id}"\n[policy]\n{old} = {value!r}\n[basis]\n{old} = "assumed"\n')
    assert getattr(read_preset(file).policy, new) == becomes
    assert read_preset(file).basis == {new: "assumed"}


@pytest.mark.parametrize(("id", "old"), NOTHING)
def test_a_field_that_did_nothing_is_read_and_left_out(id: str, old: str, tmp_path: Path) -> None:
    preset = default_preset(id)
    assert preset.policy.with_(**{old: "keep"}) == preset.policy
    assert flags.chosen(id, None, None, [f"{old}=keep"]).policy == preset.policy


@by_old_name
def test_old_numbers_vary_by_their_names_of_today(id: str, old: str, value: Any, new: str, becomes: Any) -> None:
    policy = default_preset(id).policy
    if isinstance(becomes, bool) or not isinstance(becomes, int | float):
        with pytest.raises(BadInput, match="There is no number"):
            parse_axis(f"{old}=1,2", policy)
    else:
        assert parse_axis(f"{old}={value}", policy) == parse_axis(f"{new}={becomes}", policy)


def test_two_names_of_one_field_are_refused() -> None:
    policy_type = strategy("ledger").policy_type
    for given in (policy_type, policy_type().with_):
        with pytest.raises(ValidationError, match="request_limit is another name of request_char_limit; give one of"):
            given(request_char_limit=1, request_limit=2)


def test_one_name_has_one_type_one_unit_and_one_help() -> None:
    """What a default is, what nothing stands for and where it counts may differ; what it means may not."""
    said: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for one in all_strategies():
        for setting in settings_of(one.policy_type):
            if len(setting.path) == 1:
                meaning = setting.help.removesuffix(".").partition(". ")[0]
                said[setting.key].add((setting.kind, setting.unit, setting.choices, setting.group, meaning))
    assert {name: found for name, found in said.items() if len(found) > 1} == {}


def counting(policy: Policy) -> set[str]:
    return {one.key for one in settings_of(type(policy)) if not one.why_off(policy)}


@pytest.mark.parametrize(
    ("id", "changes", "field", "off"),
    [
        ("message-window", {}, "window_messages", ""),
        ("message-window", {}, "keep_tokens", "cut is first_messages"),
        ("message-window", {"cut": "newest_spoken"}, "keep_messages", ""),
        ("message-window", {"fallback": "unchanged"}, "fallback_messages", "fallback is unchanged"),
        ("ledger", {"budget_tokens": 1}, "budget_window_percent", "budget_tokens is 1"),
        ("ledger", {"budget_chars": 1}, "budget_tokens", "budget_chars is 1"),
        ("user-messages", {"restore_files": 1}, "restore_tokens", ""),
        ("user-messages", {"restore_files": 0}, "restore_tokens", "restore_files is 0"),
        ("exchange-summary", {}, "cache_ttl_ms", "simulate_cache_expiry is off"),
        ("layered", {"compress_results": "off"}, "tool_results.ls_entries", "compress_results is off"),
    ],
)
def test_a_field_that_another_has_switched_off_says_so(id: str, changes: dict[str, Any], field: str, off: str) -> None:
    policy = default_preset(id).policy.with_(**changes)
    assert setting_named(type(policy), field).why_off(policy) == off


def test_needs_name_fields_and_values_that_there_are() -> None:
    for one in all_strategies():
        known: dict[str, Setting] = {each.key: each for each in settings_of(one.policy_type)}
        for setting in known.values():
            for name, values in setting.needs:
                assert name in known, setting.key
                if known[name].choices:
                    assert set(values or ()) < set(known[name].choices), setting.key
