"""Convert the output of `claude -p --output-format stream-json` (`json --verbose`: one list) to session lines.

Messages are those of a session, with snake_case keys and without links; user messages are printed only with
`--replay-user-messages`. `stream_event` lines repeat parts of messages that follow complete. The first line holds the
model, folder and tool names, each `result` line the cost so far and the models' windows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.agent_texts import is_summary
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of

_CONVERSATION = ("user", "assistant", "system")
_UNDERSCORE = re.compile(r"_([a-z])")


@dataclass(slots=True)
class PrintedOutput:
    """The state of printed output while it is read. `common`: keys added to every line. `last`: uuid of the newest line
    of the conversation ("") and of each sub-agent. `cost` in dollars, `windows` in tokens by model."""

    seen: bool = False
    model: str | None = None
    tools: tuple[str, ...] = ()
    cost: float | None = None
    windows: dict[str, int] = field(default_factory=dict)
    common: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)

    def session_line(self, value: dict[str, Any], index: int) -> dict[str, Any] | None:
        """Return record `index` as a session line, None if it is not part of the conversation."""
        self.seen = True
        if value.get("type") == "result":
            self._take_result(value)
        if value.get("subtype") == "init":
            self.tools = tuple(name for name in list_of(value.get("tools")) if isinstance(name, str))
            self.model = text_of(value.get("model")) or self.model
            recorded = {"cwd": value.get("cwd"), "version": value.get("claude_code_version")}
            self.common |= {key: text for key, text in recorded.items() if isinstance(text, str)}
        if value.get("type") not in _CONVERSATION:
            return None
        agent = text_of(value.get("parent_tool_use_id"))
        uuid = text_of(value.get("uuid")) or f"record-{index + 1}"
        line = {
            **value,
            "uuid": uuid,
            "parentUuid": self.last.get(agent),
            "isSidechain": bool(agent),
            "sessionId": value["session_id"],
            "isApiErrorMessage": bool(value.get("error")),
            **self.common,
            **({"agentId": agent} if agent else {}),
        }
        if value.get("subtype") == "compact_boundary":
            line["compactMetadata"] = _in_camel_case(dict_of(value.get("compact_metadata")))
        content = dict_of(value.get("message")).get("content")
        if value.get("type") == "user" and isinstance(content, str) and is_summary(content):
            line["isCompactSummary"] = True
        self.last[agent] = uuid
        return line

    def _take_result(self, value: Mapping[str, Any]) -> None:
        self.cost = dollars_of(value.get("total_cost_usd")) or self.cost
        for model, used in dict_of(value.get("modelUsage")).items():
            if window := count_of(dict_of(used).get("contextWindow")):
                self.windows[model] = window


def _in_camel_case(value: Any) -> Any:
    if isinstance(value, dict):
        camel = {_UNDERSCORE.sub(lambda found: found[1].upper(), key): inner for key, inner in value.items()}
        return {key: _in_camel_case(inner) for key, inner in camel.items()}
    return value
