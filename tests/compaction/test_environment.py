"""Settings from environment variables: names, precedence, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.commands import cwb, document
from tests.paths import SAMPLES
from workbench.base.environment import use_environment, variables
from workbench.base.errors import BadInput
from workbench.bench import choose_preset, open_bench, set_policy
from workbench.bench.saved_work import restore_work, work_of
from workbench.compaction.environment import strategies_with_variables, variable_of
from workbench.compaction.preset import default_preset, load_preset
from workbench.compaction.settings import settings_of
from workbench.compaction.strategies import all_strategies
from workbench.conformance.building import chat, session_of
from workbench.tokens import Counter


def test_every_setting_has_a_variable_of_its_own() -> None:
    names = [variable_of(one.id, setting.key) for one in all_strategies() for setting in settings_of(one.policy_type)]
    assert len(set(names)) == len(names)
    assert "CWB_EXCHANGE_SUMMARY_ABRIDGED_HISTORY_PARAMS_TOTAL_CHARS_LIMIT" in names


@pytest.mark.parametrize(
    ("environ", "field", "value", "source"),
    [
        ({}, "target_percent", 50.0, "preset"),
        ({}, "trigger_messages", 0, "default"),
        ({"CWB_TRIM_TARGET_PERCENT": "55"}, "target_percent", 55.0, "CWB_TRIM_TARGET_PERCENT"),
        ({"CWB_TRIM_KEEP_SUMMARIES": "false"}, "keep_summaries", False, "CWB_TRIM_KEEP_SUMMARIES"),
        ({"CWB_LAYERED_MIN_TAIL_ROUNDS": "3"}, "target_percent", 50.0, "preset"),
        ({"TRIM_TARGET_PERCENT": "55"}, "target_percent", 50.0, "preset"),
    ],
)
def test_a_variable_stands_before_preset_and_default(
    environ: dict[str, str], field: str, value: object, source: str
) -> None:
    with use_environment(environ):
        preset = load_preset("trim")
    assert (getattr(preset.policy, field), preset.sources.get(field, "default")) == (value, source)
    assert preset.sources["trigger_window_percent"] == "preset"
    assert load_preset("trim").policy.target_percent == 50.0  # type: ignore[attr-defined]


def test_an_old_name_of_a_setting_sets_it_and_a_text_is_taken_as_it_stands() -> None:
    params = {"CWB_EXCHANGE_SUMMARY_MIN_VERSION": "4", "CWB_EXCHANGE_SUMMARY_SUMMARY_NODE_RESPONSE_MESSAGE": "Go on."}
    with use_environment(params):
        preset = default_preset("exchange-summary")
    assert (preset.policy.min_version, preset.policy.reply) == ("4", "Go on.")  # type: ignore[attr-defined]
    assert "min_version" not in preset.basis
    assert preset.basis["cache_ttl_ms"] == "documented"


def test_the_language_that_a_prompt_brings_is_from_the_prompt() -> None:
    with use_environment({"CWB_EXCHANGE_SUMMARY_PROMPT": "请总结用户的需求和待办事项。"}):
        preset = default_preset("exchange-summary")
    assert preset.changed_sources["language"] == "the prompt"
    assert "language" not in default_preset("exchange-summary").changed_sources


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        (
            {"CWB_TRIM_TARGET_PERCENTS": "5"},
            "The variable CWB_TRIM_TARGET_PERCENTS matches no setting; did you mean 'CWB_TRIM_TARGET_PERCENT'?",
        ),
        (
            {"CWB_TRIM_TARGET_PERCENT": "101"},
            "The variable CWB_TRIM_TARGET_PERCENT has an invalid value: target_percent = 101: input should be less "
            "than or equal to 100.",
        ),
        (
            {"CWB_EXCHANGE_SUMMARY_REPLY": "a", "CWB_EXCHANGE_SUMMARY_SUMMARY_NODE_RESPONSE_MESSAGE": "b"},
            "The variables CWB_EXCHANGE_SUMMARY_REPLY and CWB_EXCHANGE_SUMMARY_SUMMARY_NODE_RESPONSE_MESSAGE set "
            "the same setting; unset one of them.",
        ),
    ],
)
def test_a_wrong_variable_is_named_where_its_strategy_is_used(environ: dict[str, str], sentence: str) -> None:
    with use_environment(environ):
        (id,) = strategies_with_variables()
        with pytest.raises(BadInput) as refused:
            default_preset(id)
        assert str(refused.value) == sentence
        assert load_preset("layered").policy == default_preset("layered").policy


def test_the_command_says_where_each_value_is_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CWB_TRIM_TARGET_PERCENT", "55")
    monkeypatch.setenv("CWB_TRIM_KEEP_SUMMARIES", "false")
    found = document("list", "presets", "trim")["settings"]
    assert found["target_percent"] == {"value": 55.0, "source": "CWB_TRIM_TARGET_PERCENT"}
    assert found["trigger_window_percent"] == {"value": 90.0, "source": "preset"}
    assert found["trigger_messages"] == {"value": 0, "source": "default"}
    file = SAMPLES / "openai-chat-tools.json"
    done = document("compact", file, "--preset", "trim", "--set", "target_percent=60")
    assert done["setting_sources"]["target_percent"] == "--set"
    assert done["setting_sources"]["keep_summaries"] == "CWB_TRIM_KEEP_SUMMARIES"
    (tmp_path / "params.json").write_text('{"prompt": "Sum up."}')
    pasted = ("compact", file, "--strategy", "exchange-summary", "--params", tmp_path / "params.json")
    monkeypatch.setenv("CWB_EXCHANGE_SUMMARY_MIN_TAIL_EXCHANGES", "2")
    assert document(*pasted)["setting_sources"] == {"prompt": "--params", "min_version": "--params"}
    monkeypatch.setenv("CWB_TRIM_TARGET_PERCENT", "none")
    assert cwb("compact", file, "--preset", "trim").exit_code == 2
    assert cwb("inspect", file).exit_code == 0
    assert variables() == {}


def test_what_was_changed_by_hand_stands_before_the_environment_and_is_not_taken_for_it() -> None:
    session, counter = session_of(chat(3)), Counter()
    with use_environment({"CWB_TRIM_TARGET_PERCENT": "55", "CWB_TRIM_KEEP_SUMMARIES": "false"}):
        bench = choose_preset(open_bench(session, counter), load_preset("trim"))
        work = work_of(set_policy(bench, bench.policy.with_(target_percent=70)))
        assert work.changed == {"target_percent": 70.0}
        again = restore_work(work, open_bench(session, counter), counter).bench.policy
        assert (again.target_percent, again.keep_summaries) == (70.0, False)  # type: ignore[attr-defined]
    later = restore_work(work, open_bench(session, counter), counter).bench.policy
    assert (later.target_percent, later.keep_summaries) == (70.0, True)  # type: ignore[attr-defined]


def test_a_program_that_uses_the_library_is_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}] * 3
    before = workbench.compact(messages, strategy="trim")
    monkeypatch.setenv("CWB_TRIM_TARGET_PERCENT", "nonsense")
    assert workbench.compact(messages, strategy="trim").messages == before.messages
