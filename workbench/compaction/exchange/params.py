"""The `history_summary_params` of Augment's server as a policy of `exchange-summary`, and back."""

from __future__ import annotations

import json

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.compaction.exchange.policy import ExchangeSummaryPolicy
from workbench.compaction.policy import explain

_DOCUMENTED = (
    "trigger_on_history_size_chars",
    "history_tail_size_chars_to_exclude",
    "trigger_on_history_size_chars_when_cache_expiring",
    "prompt",
    "cache_ttl_ms",
    "buffer_time_before_cache_expiration_ms",
    "summary_node_request_message_template",
    "summary_node_response_message",
    "abridged_history_params",
    "history_summary_version",
    "min_tail_exchanges",
)
_PASTED_VERSION = "3"
"""Taken for `min_version` when nobody names one."""


def policy_from_params(text: str) -> ExchangeSummaryPolicy:
    """The policy of pasted `history_summary_params`.

    Takes the object, the JSON string that the flag carries, or the whole `feature_flags`. What is left out has the
    server's default; `min_version` is "3" unless the flags name another.

    Raises BadInput for text that is no such object.
    """
    try:
        given = json.loads(text)
        given = json.loads(given) if isinstance(given, str) else given
        flags = given.get("feature_flags", given) if isinstance(given, dict) else {}
        params = flags.get("history_summary_params", given)
        params = json.loads(params) if isinstance(params, str) else params
    except json.JSONDecodeError as error:
        raise BadInput(
            f"The parameters are no JSON (line {error.lineno}: {error.msg}); paste one JSON object."
        ) from None
    if not isinstance(params, dict):
        raise BadInput(
            "The parameters are no JSON object; paste history_summary_params, or the feature_flags around it."
        )
    version = flags.get("history_summary_min_version") or _PASTED_VERSION
    try:
        return ExchangeSummaryPolicy.model_validate({"min_version": version, **params})
    except ValidationError as error:
        raise BadInput(f"history_summary_params: {explain(error)}") from None


def params_json(policy: ExchangeSummaryPolicy) -> str:
    """The documented parameters, and of the workbench's own those that differ from their default.

    `policy_from_params` gives the same policy back.
    """
    own = ExchangeSummaryPolicy(min_version=_PASTED_VERSION).model_dump(mode="json")
    values = policy.model_dump(mode="json")
    documented = {name: values.pop(policy.today(name).name) for name in _DOCUMENTED}
    more = {name: value for name, value in values.items() if value != own[name]}
    return json.dumps(documented | more, indent=2, ensure_ascii=False)
