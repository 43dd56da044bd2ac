"""Settings of the strategy `exchange-summary`, and reasons why a policy never summarizes."""

from __future__ import annotations

from typing import ClassVar

from workbench.compaction import vocabulary
from workbench.compaction.exchange.abridge import AbridgedHistoryParams
from workbench.compaction.policy import Needs, setting
from workbench.compaction.summarizing import SummaryPolicy, builtin_text
from workbench.compaction.vocabulary import EarlierSummary

CODE_REVIEW_BOTS = ("1", "2", "CODE_REVIEW_BOT", "CODE_REVIEW_EVAL_BOT")


CACHE: Needs = {"simulate_cache_expiry": (True,)}
"""Condition of the settings that apply only when cache expiry is simulated."""


class ExchangeSummaryPolicy(SummaryPolicy):
    """Parameters of Augment's server, and a few that the workbench adds. Augment's defaults disable the strategy."""

    trigger_on_history_size_chars: int = setting(
        0, "trigger", "Compact when the history reaches this size. 0: never.", unit="characters", ge=0
    )
    history_tail_size_chars_to_exclude: int = setting(
        0,
        "split",
        "Keep the newest exchanges that fit below this size. An exchange is a request or results, and the answer.",
        unit="characters",
        ge=0,
    )
    min_tail_exchanges: int = setting(
        1, "split", "Keep at least this number of exchanges, whatever their size.", unit="exchanges", ge=0
    )
    simulate_cache_expiry: bool = setting(
        False,
        "trigger",
        "Also fire shortly before the prompt cache expires, when nothing was sent since the last answer. "
        "Augment's client has this and never calls it.",
    )
    trigger_on_history_size_chars_when_cache_expiring: int = setting(
        0,
        "trigger",
        "Size threshold when the cache is about to expire. 0: never.",
        unit="characters",
        needs=CACHE,
        ge=0,
    )
    cache_ttl_ms: int = setting(
        0, "trigger", "Time for which the provider keeps the prompt cache.", unit="ms", needs=CACHE, ge=0
    )
    buffer_time_before_cache_expiration_ms: int = setting(
        0, "trigger", "Fire this long before the cache expires.", unit="ms", needs=CACHE, ge=0
    )
    cache_age_ms: int | None = setting(
        None,
        "trigger",
        "Age of the cache at the check. Empty: from the session's time stamps.",
        unit="ms",
        needs=CACHE,
        ge=0,
    )
    prompt: str = vocabulary.prompt(empty="disabled")
    offer_tools: bool = setting(
        False,
        "summary",
        "Send the tool definitions with the request, as Augment's server does (its chat mode is not CHAT).",
    )
    guard_total_chars: int = setting(
        800_000,
        "summary",
        "The head is split into segments of a third of this size; of 4 or more, the oldest are omitted.",
        unit="characters",
        ge=3,
    )
    summary_template: str = setting(
        vocabulary.shipped_text("summary-node.en.md"),
        "result",
        f"{vocabulary.SUMMARY_TEMPLATE} May also contain {{abridged_history}}.",
        multiline=True,
        old=("summary_node_request_message_template",),
    )
    reply: str = setting(
        vocabulary.REPLIES["en"],
        "result",
        vocabulary.REPLY,
        old=("summary_node_response_message",),
        min_length=1,
    )
    earlier_summary: EarlierSummary = vocabulary.earlier_summary("drop")
    abridged_history_params: AbridgedHistoryParams = setting(
        AbridgedHistoryParams(), "abridged", "Limits of the abridged history."
    )
    history_summary_version: int = setting(3, "versions", "Summaries of other versions are ignored.", ge=0)
    min_version: str = setting("", "versions", "The feature flag's minimum version. Empty: disabled.")
    bot_type: str = setting("", "versions", "Code-review bots (1, 2 and their names) never summarize.")

    builtin_texts: ClassVar = {
        "prompt": builtin_text("exchange-summary"),
        "summary_template": builtin_text("summary-node"),
        "reply": vocabulary.REPLIES.__getitem__,
    }


def disabled(policy: ExchangeSummaryPolicy) -> str:
    """Return the reason why this policy never summarizes; "" if it can. A size threshold of 0 is no such reason: it
    never fires, but a manual run summarizes."""
    if policy.bot_type.upper() in CODE_REVIEW_BOTS:
        return f"disabled: bot type {policy.bot_type} is a code-review bot"
    if not policy.min_version:
        return "disabled: no minimum version is set (min_version)"
    if not policy.prompt.strip():
        return "disabled: the prompt is empty (prompt)"
    return ""
