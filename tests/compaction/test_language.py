"""Detected languages of texts, and the built-in text sent instead of one in the other language."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from workbench.compaction.language import language_of, version_of
from workbench.compaction.ledger.entries import LedgerEntry
from workbench.compaction.ledger.text import Ledger, read_ledger, written
from workbench.compaction.preset import load_preset, preset_toml
from workbench.compaction.prompt_policies import TextPolicy
from workbench.compaction.prompts import load_prompt, prompt_files
from workbench.compaction.request import RequestPrompt
from workbench.compaction.settings import with_settings
from workbench.compaction.strategies import strategy
from workbench.compaction.strategies.memories_rewrite import MemoriesRewritePolicy
from workbench.compaction.strategies.message_window import template_of
from workbench.compaction.strategies.user_messages import UserMessagesPolicy
from workbench.compaction.window.policy import MessageWindowPolicy
from workbench.conformance.building import chat, context_of, summary
from workbench.conformance.strategies import run


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", None),
        ("abcde fghi", None),
        ("abcde fghij", "en"),
        ("<supervisor_of_all>{abridged_history} 12 §</supervisor_of_all>", None),
        ("摘要如", None),
        ("摘要如下", "zh"),
        ("摘要如下" + "a" * 12, "zh"),
        ("摘要如下" + "a" * 13, None),
        ("Summarize the conversation in Chinese (中文).", None),
    ],
)
def test_a_text_is_in_a_language_from_so_many_letters_on(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("name", [name for name in prompt_files() if name.count(".") == 2])
def test_every_shipped_prompt_is_in_its_language_and_has_a_version_in_the_other(name: str) -> None:
    stem, language, ending = name.split(".")
    other = "en" if language == "zh" else "zh"
    assert language_of(load_prompt(name).text) == language
    sister = load_prompt(f"{stem}.{other}.{ending}")
    assert version_of(load_prompt(name).text, other) == sister.text
    assert set(sister.placeholders) == set(load_prompt(name).placeholders)


OWN = "List every decision of the conversation, under headings."


def test_a_prompt_of_ones_own_in_another_language_is_not_sent_and_that_is_told() -> None:
    policy = UserMessagesPolicy(
        language="zh", prompt=OWN, reply="I go on from here.", summary_template="Well:\n{summary}"
    )
    assert policy.asks() == load_prompt("user-messages.zh.md").text
    assert policy.sent_text("reply") == "好的，我将从这里继续对话。"
    assert policy.sent_text("summary_template") == "Well:\n{summary}"  # too few words to be of a language
    rest = " is in English, but language is zh: the built-in Chinese text is sent. Write it in Chinese, or "
    assert strategy("user-messages").prompt_problems(policy)[:2] == tuple(
        f"{field}{rest}set language to en." for field in ("prompt", "reply")
    )


def test_a_prompt_is_kept_when_another_language_is_asked_and_sent_again_with_its_own() -> None:
    policy = UserMessagesPolicy(prompt=OWN).with_(language="zh")
    assert policy.prompt == OWN
    again = policy.with_(language="en")
    assert again.asks() == OWN
    assert list(again.unsent_texts()) == []


def test_a_shipped_prompt_of_another_strategy_is_sent_in_its_own_version() -> None:
    policy = load_preset("cline").policy.with_(language="zh", summary_template="")
    assert isinstance(policy, MessageWindowPolicy)
    assert policy.asks() == load_prompt("context-reset.zh.md").text
    assert template_of(policy).startswith("[对话摘要")
    assert list(policy.unsent_texts()) == []


def test_where_only_a_prompt_is_given_the_language_is_the_prompts() -> None:
    asked = "请总结对话中的每一项决策。"
    assert UserMessagesPolicy(prompt=asked).language == "zh"
    assert UserMessagesPolicy(prompt=asked, language="en").language == "en"
    assert MemoriesRewritePolicy.model_validate({"compression_prompt": asked}).language == "zh"  # an old name
    assert MessageWindowPolicy().language == "zh"
    for changes, language in (
        ({"prompt": OWN}, "en"),
        ({"prompt": OWN, "language": "zh"}, "zh"),
        ({"reply": OWN}, "zh"),
    ):
        assert MessageWindowPolicy().with_(**changes).model_dump()["language"] == language


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("asked", [OWN, "请总结对话中的每一项决策。"])
def test_a_language_other_than_the_prompts_is_read_back_from_what_is_written(language: str, asked: str) -> None:
    for name in ("message-window", "augment-example", "augment-memories"):
        preset = load_preset(name)
        policy = preset.policy.with_(prompt=asked, language=language)
        assert (
            type(policy).model_validate(tomllib.loads(preset_toml(replace(preset, policy=policy)))["policy"]) == policy
        )
        if pasted := strategy(preset.strategy).parameters:
            assert pasted.read(pasted.write(policy)).policy == policy


def test_a_prompt_set_by_its_name_brings_its_language() -> None:
    policy = with_settings(load_preset("codex").policy, {"prompt": "请总结对话中的每一项决策。"})
    assert policy.model_dump()["language"] == "zh"


@pytest.mark.parametrize("carry_on", [True, False])
def test_an_earlier_summary_is_introduced_in_the_language(carry_on: bool) -> None:
    assert language_of(RequestPrompt("p", "", "42", carry_on, "zh").opening) == "zh"
    assert language_of(RequestPrompt("p", "", "42", carry_on, "en").opening) == "en"


@pytest.mark.parametrize("name", ["context-reset", "codex", "message-window"])
def test_an_earlier_summary_in_another_language_loses_its_frame(name: str) -> None:
    preset = load_preset(name)
    assert isinstance(preset.policy, TextPolicy)
    earlier = preset.policy.builtin_texts["summary_template"]("en").replace("{summary}", "42 + 1")
    context = context_of([summary("old", earlier), *chat(60)], manual=True)
    policy = preset.policy.with_(language="zh", earlier_summary="nest")
    _, (request,) = run(strategy(preset.strategy), context, policy)
    assert request.previous == "42 + 1"


def test_a_ledger_in_chinese_is_read_back() -> None:
    entries = (LedgerEntry("instruction", "1", 1), LedgerEntry("url", "2", 2))
    ledger = Ledger(3, (), entries, "42", (("命令", 2),), "zh")
    assert language_of(written(ledger).replace("ledger", "")) == "zh"
    assert read_ledger(written(ledger)) == ledger
