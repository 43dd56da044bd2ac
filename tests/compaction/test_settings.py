"""One vocabulary: the same setting has the same name, type and help everywhere, and old names are accepted."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, ValidationError

from workbench.analysis.sweep.plan import parse_axis
from workbench.base.errors import BadInput
from workbench.cli import settings as flags
from workbench.compaction.policy import Converted, Policy, explain, setting
from workbench.compaction.preset import default_preset, read_preset
from workbench.compaction.settings import Range, Setting, setting_named, settings_of
from workbench.compaction.strategies import all_strategies, strategy

OLD: list[tuple[str, str, Any, str, Any]] = [
    ("exchange-summary", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("progressive", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("layered", "request_hard_limit_chars", 7_000, "request_char_limit", 7_000),
    ("user-messages", "request_limit_chars", 7_000, "request_char_limit", 7_000),
    ("ledger", "request_limit", 7_000, "request_char_limit", 7_000),
    ("context-reset", "guard_chars", 7_000, "request_char_limit", 7_000),
    ("message-window", "fallback", "unchanged", "fallback_messages", 0),
    ("message-window", "request_from", "user_message", "request_cut", "before_user_message"),
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
NOTHING = [
    ("clear-tool-results", "earlier_summary"),
    ("memories-rewrite", "earlier_summary"),
    ("message-window", "first_in_request"),
]
"""Fields that did nothing, and are gone."""


class Parts(BaseModel):
    depth: int = setting(2, "its own", "How deep.", gt=1, le=9)
    light: bool = setting(False, "its own", "Light.", needs={"size": ...})


class Toy(Policy):
    size: int = setting(3, "split", "How much.", unit="characters", old=("amount",), needs={"mode": ("a",)}, ge=1, le=9)
    share: float | None = setting(None, "split", "A share.", unit="%", gt=0, lt=1)
    mode: Literal["a", "b"] = setting("b", "how", "The way.")
    words: str = setting("say", "how", "To say.", multiline=True)
    name: str = setting(lambda: "made", "how", "A name.")
    names: tuple[str, ...] = ()
    fine_parts_params: Parts = setting(Parts(), "not seen", "Not seen.", needs={"mode": ("b",)})

    converted: ClassVar = {"large": Converted("size"), "lost": Converted()}


SETTINGS = (
    Setting(("size",), "split", "whole", "How much.", "characters", Range(1, None, 9, None), 3, old=("amount", "large"),
            needs=(("mode", ("a",)),)),
    Setting(("share",), "split", "real", "A share.", "%", Range(None, 0, None, 1), optional=True),
    Setting(("mode",), "how", "choice", "The way.", default="b", choices=("a", "b")),
    Setting(("words",), "how", "lines", "To say.", default="say"),
    Setting(("name",), "how", "text", "A name.", default="made"),
    Setting(("fine_parts_params", "depth"), "fine parts", "whole", "How deep.", "", Range(None, 1, 9, None), 2,
            needs=(("mode", ("b",)),)),
    Setting(("fine_parts_params", "light"), "fine parts", "switch", "Light.", default=False, needs=(("size", None),)),
)  # fmt: skip


def test_what_is_known_of_a_policy_is_read_off_its_fields() -> None:
    assert settings_of(Toy) == SETTINGS
    assert [(one.key, one.label, one.counts_where, one.of(Toy())) for one in SETTINGS] == [
        ("size", "size (characters)", "mode is a", 3), ("share", "share (%)", "", None), ("mode", "mode", "", "b"),
        ("words", "words", "", "say"), ("name", "name", "", "made"),
        ("fine_parts_params.depth", "depth", "mode is b", 2),
        ("fine_parts_params.light", "light", "size is not 0", False),
    ]  # fmt: skip
    assert SETTINGS[0].changes(Toy(), 5) == {"size": 5}
    assert SETTINGS[5].changes(Toy(), 5) == {"fine_parts_params": {"depth": 5, "light": False}}


ALL = "size, share, mode, words, name"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("siez", "Setting 'siez' does not exist; did you mean 'size'?"),
        ("sometimes", "Setting 'sometimes' does not exist; did you mean 'size'?"),
        ("q", f"Setting 'q' does not exist; choose one of: {ALL}, fine_parts_params.depth, fine_parts_params.light."),
        ("size.x", "size is a single setting, not a group."),
        ("fine_parts.x", "Setting 'fine_parts' does not exist; did you mean 'fine_parts_params'?"),
        ("q.x", f"Setting 'q' does not exist; choose one of: {ALL}, names, fine_parts_params."),
        ("fine_parts_params.q", "Setting 'q' does not exist; choose one of: depth, light."),
    ],
)
def test_who_names_no_field_is_told_which_there_are(name: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        setting_named(Toy, name)
    assert str(refused.value) == says


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"size": 0}, "its.size = 0: input should be greater than or equal to 1."),
        ({"size": 0, "share": 1.0}, "its.size = 0: input should be greater than or equal to 1. (1 more)"),
        ({"fine_parts_params": {"depth": 1}}, "its.fine_parts_params.depth = 1: input should be greater than 1."),
        ({"sise": 0}, "setting 'its.sise' does not exist."),
        ({"size": 1, "amount": 1}, "amount is another name of size; set only one of them."),
    ],
)
def test_what_a_policy_refuses_is_one_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Toy.model_validate(given)
    assert explain(refused.value, "its") == says


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
    assert flags.preset_from_options(id, None, None, [f"{old}={value}"]).policy == wanted
    file = tmp_path / "mine.toml"
    file.write_text(f'strategy = "{id}"\n[policy]\n{old} = {value!r}\n[basis]\n{old} = "assumed"\n')
    assert getattr(read_preset(file).policy, new) == becomes
    assert read_preset(file).basis == {new: "assumed"}


@pytest.mark.parametrize(("id", "old"), NOTHING)
def test_a_field_that_did_nothing_is_read_and_left_out(id: str, old: str, tmp_path: Path) -> None:
    preset = default_preset(id)
    assert preset.policy.with_(**{old: "keep"}) == preset.policy
    assert flags.preset_from_options(id, None, None, [f"{old}=keep"]).policy == preset.policy


@by_old_name
def test_old_numbers_vary_by_their_names_of_today(id: str, old: str, value: Any, new: str, becomes: Any) -> None:
    policy = default_preset(id).policy
    if isinstance(becomes, bool) or not isinstance(becomes, int | float):
        with pytest.raises(BadInput, match="There is no number"):
            parse_axis(f"{old}=1,2", policy)
    elif isinstance(value, str):
        with pytest.raises(BadInput, match="does not list whole numbers"):
            parse_axis(f"{old}={value}", policy)
    else:
        assert parse_axis(f"{old}={value}", policy) == parse_axis(f"{new}={becomes}", policy)


def test_two_names_of_one_field_are_refused() -> None:
    policy_type = strategy("ledger").policy_type
    for given in (policy_type, policy_type().with_):
        with pytest.raises(
            ValidationError, match="request_limit is another name of request_char_limit; set only one of"
        ):
            given(request_char_limit=1, request_limit=2)


def test_one_name_has_one_type_one_unit_and_one_help() -> None:
    """Defaults, the meaning of 0 and conditions may differ; the meaning may not."""
    said: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for one in all_strategies():
        for field in settings_of(one.policy_type):
            if len(field.path) == 1:
                meaning = field.help.removesuffix(".").partition(". ")[0]
                said[field.key].add((field.kind, field.unit, field.choices, field.group, meaning))
    assert {name: found for name, found in said.items() if len(found) > 1} == {}


def counting(policy: Policy) -> set[str]:
    return {one.key for one in settings_of(type(policy)) if not one.why_off(policy)}


@pytest.mark.parametrize(
    ("id", "changes", "field", "off"),
    [
        ("message-window", {}, "window_messages", ""),
        ("message-window", {}, "keep_tokens", "cut is first_messages"),
        ("message-window", {"cut": "newest_spoken"}, "keep_messages", ""),
        ("message-window", {"request_char_limit": 0}, "request_cut", "request_char_limit is 0"),
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
        for field in known.values():
            for name, values in field.needs:
                assert name in known, field.key
                if known[name].choices:
                    assert set(values or ()) < set(known[name].choices), field.key
