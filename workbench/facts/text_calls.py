"""Calls of agents that make them in words: a shell's command in a fence (mini-swe-agent), a tool in tags (Roo, Cline).

The message after it, which no person typed, is the result. Asked only where a session has no calls of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.facts.fences import fences
from workbench.facts.wording import is_agent_message
from workbench.session import Message, Text, ToolResult, ToolUse

_SHELLS = frozenset(("bash", "sh", "shell", "mswea_bash_command"))
"""The languages of a fence whose code is run."""
_TAGGED = re.compile(
    r"^<(execute_command|read_file|write_to_file|apply_diff|insert_content|search_and_replace|replace_in_file)>(.*?)</\1>",
    re.DOTALL | re.MULTILINE,
)
_PARAMETER = re.compile(r"<(path|command|content|diff|search|replace)>\n?(.*?)\n?</\1>", re.DOTALL)
_STATUS = re.compile(r"\A<returncode>(-?\d{1,5})</returncode>")
_ANSWER = re.compile(r"\A\[(\w{3,40})(?: for [^\n]*)?\] Result:")


def text_calls(messages: Sequence[Message]) -> Iterator[tuple[int, ToolUse, ToolResult]]:
    """Each call with the index of its message; its result is the message after that."""
    for index, (message, after) in enumerate(pairwise(messages)):
        if is_agent_message(message) and after.role in ("user", "tool") and not after.starts_round:
            text = after.text
            if status := _STATUS.match(text):
                if lines := _closed_fences(message.text):
                    id = f"spoken-{index}"
                    result = ToolResult(id, (Text(text[status.end() :].lstrip()),), is_error=status[1] != "0")
                    yield index, ToolUse(id, "bash", {"command": lines[-1]}), result
            elif answer := _ANSWER.match(text):
                yield from _tagged_call(index, message.text, answer[1], text[answer.end() :].lstrip())


def _closed_fences(text: str) -> list[str]:
    """What stands in fences of a shell; one that nothing closes is not run."""
    closed = (one for one in fences(text) if one.word in _SHELLS and one.end < one.stop)
    return [text[one.body : one.end].removesuffix("\n") for one in closed]


def _tagged_call(index: int, words: str, answering: str, said: str) -> Iterator[tuple[int, ToolUse, ToolResult]]:
    for name, inside in _TAGGED.findall(words):
        if name == answering:
            given: dict[str, object] = dict(_PARAMETER.findall(inside))
            paths = [value for key, value in _PARAMETER.findall(inside) if key == "path"]
            if len(paths) > 1:
                del given["path"]
                given["paths"] = paths
            id = f"spoken-{index}"
            yield (
                index,
                ToolUse(id, name, given),
                ToolResult(id, (Text(said),), said.startswith("The tool execution failed")),
            )
            return
