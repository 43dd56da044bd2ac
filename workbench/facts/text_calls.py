"""Tool calls that agents write as text: shell commands in a fence (mini-swe-agent), tools in tags (Roo, Cline).

The next message is the result, unless the user typed it. Used only for sessions without recorded calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.facts.fences import fences
from workbench.facts.wording import is_agent_message
from workbench.session import Message, Text, ToolResult, ToolUse

_SHELLS = frozenset(("bash", "sh", "shell", "mswea_bash_command"))
"""Languages of a fence whose code is run."""
_TAGGED = re.compile(
    r"^<(execute_command|read_file|write_to_file|apply_diff|insert_content|search_and_replace|replace_in_file)>(.*?)</\1>",
    re.DOTALL | re.MULTILINE,
)
_PARAMETER = re.compile(r"<(path|command|content|diff|search|replace)>\n?(.*?)\n?</\1>", re.DOTALL)
_STATUS = re.compile(r"\A<returncode>(-?\d{1,5})</returncode>")
_ANSWER = re.compile(r"\A\[(\w{3,40})(?: for [^\n]*)?\] Result:")


def text_calls(messages: Sequence[Message]) -> Iterator[tuple[int, ToolUse, ToolResult]]:
    """Yield each call with the index of its message, and the next message as its result."""
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
    """Return the code of closed shell fences; an unclosed one is not run."""
    closed = (one for one in fences(text) if one.word in _SHELLS and one.end < one.stop)
    return [text[one.body : one.end].removesuffix("\n") for one in closed]


def _tagged_call(index: int, words: str, answering: str, output: str) -> Iterator[tuple[int, ToolUse, ToolResult]]:
    for name, inside in _TAGGED.findall(words):
        if name == answering:
            parameters: dict[str, object] = dict(_PARAMETER.findall(inside))
            paths = [value for key, value in _PARAMETER.findall(inside) if key == "path"]
            if len(paths) > 1:
                del parameters["path"]
                parameters["paths"] = paths
            id = f"spoken-{index}"
            yield (
                index,
                ToolUse(id, name, parameters),
                ToolResult(id, (Text(output),), output.startswith("The tool execution failed")),
            )
            return
