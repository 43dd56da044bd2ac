"""What `claude -p --output-format stream-json` prints (`json --verbose`: the same in one list), as lines of a session.

The messages are a session's, under names in snake_case and without links; what the person asked is there only with
`--replay-user-messages`. `stream_event` lines repeat pieces of messages that come whole. The first line tells model,
folder and the names of the tools, each `result` line the cost so far and the models' windows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.agent_texts import is_summary
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, text_of

_SPOKEN = ("user", "assistant", "system")
_UNDERSCORE = re.compile(r"_([a-z])")


@dataclass(slots=True)
class Printed:
    """What such an output said so far. `about` goes with every line; `last` are the newest lines of the conversation
    ("") and of each sub-agent."""

    seen: bool = False
    model: str | None = None
    tools: tuple[str, ...] = ()
    cost: float | None = None
    windows: dict[str, int] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)

    def line(self, value: dict[str, Any], index: int) -> dict[str, Any] | None:
        """The line of a session that says what record `index` does, None where that is nothing of a conversation."""
        self.seen = True
        if value.get("type") == "result":
            self._take_result(value)
        if value.get("subtype") == "init":
            self.tools = tuple(name for name in list_of(value.get("tools")) if isinstance(name, str))
            self.model = text_of(value.get("model")) or self.model
            said = {"cwd": value.get("cwd"), "version": value.get("claude_code_version")}
            self.about |= {key: text for key, text in said.items() if isinstance(text, str)}
        if value.get("type") not in _SPOKEN:
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
            **self.about,
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
