"""The form's fields, read off the policy."""

from __future__ import annotations

import pytest

from workbench.compaction.settings import Setting
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy
from workbench.compaction.strategy import Strategy
from workbench.tui.fields import (
    InvalidValue,
    allowed_words,
    changed_fields,
    changes_model_text,
    fields_of,
    input_text,
    value_words,
    with_typed,
)

POLICY = ExchangeSummaryPolicy()
FIELDS = {field.key: field for field in fields_of(ExchangeSummaryPolicy)}


def field(key: str) -> Setting:
    return FIELDS[key]


@pytest.mark.parametrize(
    ("key", "control"),
    [
        ("trigger_on_history_size_chars", "whole"),
        ("simulate_cache_expiry", "switch"),
        ("prompt", "lines"),
        ("language", "choice"),
        ("history_summary_version", "whole"),
        ("bot_type", "text"),
        ("earlier_summary", "choice"),
        ("abridged_history_params.total_chars_limit", "whole"),
    ],
)
def test_a_field_has_the_control_of_its_type(key: str, control: str) -> None:
    assert field(key).kind == control


def test_range_and_choices_are_told() -> None:
    assert allowed_words(field("min_tail_exchanges")) == "at least 0"
    assert field("earlier_summary").choices == ("drop", "keep", "nest", "extend")
    assert field("min_tail_exchanges").label == "min_tail_exchanges"


@pytest.mark.parametrize("typed", ["50000", "50 000", " 50_000 ", "50\u00a0000"])
def test_numbers_are_read_as_people_write_them(typed: str) -> None:
    policy, changes = with_typed(POLICY, field("trigger_on_history_size_chars"), typed)
    assert changes == {"trigger_on_history_size_chars": 50_000}
    assert field("trigger_on_history_size_chars").of(policy) == 50_000


def test_a_field_of_a_group_changes_the_group_whole() -> None:
    policy, _ = with_typed(POLICY, field("abridged_history_params.action_chars_limit"), "7")
    assert policy.model_dump()["abridged_history_params"]["action_chars_limit"] == 7
    assert policy.model_dump()["abridged_history_params"]["total_chars_limit"] == 10_000


@pytest.mark.parametrize(
    ("key", "typed", "reason"),
    [
        ("min_tail_exchanges", "x", "a whole number is wanted, at least 0, not 'x'"),
        ("min_tail_exchanges", "-1", "allowed is at least 0"),
        ("language", "fr", "should be 'en' or 'zh'"),
        ("reply", "", "at least 1 character"),
        ("abridged_history_params.action_chars_limit", "-1", "allowed is at least 0"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason(key: str, typed: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        with_typed(POLICY, field(key), typed)


@pytest.mark.parametrize("one", all_strategies(), ids=lambda one: one.id)
def test_every_field_of_every_strategy_is_in_the_form(one: Strategy) -> None:
    fields = fields_of(one.policy_type)
    assert {field.path[0] for field in fields} == set(one.policy_type.model_fields)
    assert all(field.help for field in fields)
    groups = [field.group for field in fields]
    assert groups == sorted(groups, key=groups.index)


def test_what_differs_from_a_preset_is_found_in_nested_groups_too() -> None:
    policy, _ = with_typed(POLICY, field("abridged_history_params.action_chars_limit"), "7")
    policy, _ = with_typed(policy, field("simulate_cache_expiry"), True)
    found = {one.key for one in changed_fields(policy, POLICY)}
    assert found == {"abridged_history_params.action_chars_limit", "simulate_cache_expiry"}
    assert changed_fields(POLICY, POLICY) == ()


def test_a_model_is_asked_otherwise_by_another_prompt_not_by_a_template_or_number() -> None:
    other = {key: with_typed(POLICY, field(key), typed)[0] for key, typed in OTHER.items()}
    assert [key for key, policy in other.items() if changes_model_text(policy, POLICY)] == ["prompt"]


OTHER = {"prompt": "Banana.", "summary_template": "{summary}", "min_tail_exchanges": "7"}


@pytest.mark.parametrize(("value", "typed"), [(None, ""), (0.0, "0"), (90.0, "90"), (0.85, "0.85"), (50_000, "50000")])
def test_a_value_as_one_would_type_it(value: object, typed: str) -> None:
    assert input_text(value) == typed


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("trigger_on_history_size_chars", 50_000, "50\u00a0000\u00a0characters"),
        ("simulate_cache_expiry", False, "off"),
        ("prompt", "x" * 1_200, "1\u00a0200 characters"),
        ("bot_type", "", "''"),
    ],
)
def test_a_value_is_told_in_words(key: str, value: object, words: str) -> None:
    assert value_words(field(key), value) == words
