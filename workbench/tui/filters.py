"""Filters of the list of messages, read from words. No widgets."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.base.errors import BadInput
from workbench.compaction.context import Layout
from workbench.compaction.outcome import Fate, Outcome
from workbench.session import Message
from workbench.tui.plain import figure, one_line
from workbench.tui.rows import FATE_WORDS, role_word

ROLES = ("user", "agent", "call", "result", "summary", "meta", "system")
"""Words of the list's role column."""

_FATES = {FATE_WORDS[fate]: fate for fate in Fate if fate is not Fate.PINNED}
"""Fates by their words. `pinned` is left out: it is a condition of its own, which finds messages by pin or by fate."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that a message must all meet; without any, every message is shown."""

    role: str = ""
    tool: str = ""
    fate: Fate | None = None
    errors: bool = False
    pinned: bool = False
    larger_than: int = 0

    def __bool__(self) -> bool:
        return self != Filter()

    def __str__(self) -> str:
        words = (
            self.role,
            f"tool {one_line(self.tool, 40)}" if self.tool else "",
            FATE_WORDS[self.fate] if self.fate else "",
            "errors" if self.errors else "",
            "pinned" if self.pinned else "",
            f"over {figure(self.larger_than)} tokens" if self.larger_than else "",
        )
        return ", ".join(word for word in words if word)


ABOUT = """\
Show only messages that match all of these words:
role   {roles}
fate   what happens to a message: {fates}, abridged (one line for each step); pinned
errors failed tool results
size   >2000 or >2k tokens
tool   {tools}
An empty line shows all, as esc on the bench does."""

TOOL = "tool:"
"""Prefix of a tool's name that would otherwise mean something else."""

LISTED = 10
"""Tools that are named at once, the most used first."""


def about(tools: Sequence[tuple[str, int]]) -> str:
    """Explain every word that a filter may have here; `tools` are names and numbers of calls."""
    named = [f"{_tool_word(one_line(name, 60))} ({figure(calls)})" for name, calls in tools[:LISTED]]
    more = [f"{figure(len(tools) - LISTED)} more by their beginning"] if len(tools) > LISTED else []
    words = ", ".join((*named, *more)) or "none is called"
    return ABOUT.format(
        roles=", ".join(ROLES),
        fates=", ".join(word for word in _FATES if word != FATE_WORDS[Fate.ABRIDGED]),
        tools=words,
    )


def as_words(chosen: Filter) -> str:
    """Words from which `read` makes this filter."""
    words = (
        chosen.role,
        FATE_WORDS[chosen.fate] if chosen.fate else "",
        "errors" if chosen.errors else "",
        "pinned" if chosen.pinned else "",
        f">{chosen.larger_than}" if chosen.larger_than else "",
        _tool_word(chosen.tool),
    )
    return " ".join(word for word in words if word)


def read(typed: str, tools: Sequence[str]) -> Filter:
    """Parse words into a filter. A tool is named in full, or by a beginning that only one has. Raises BadInput for an
    unknown word."""
    found = Filter()
    for word in typed.split():
        low = word.casefold()
        if low.startswith(TOOL):
            found = replace(found, tool=_tool(word[len(TOOL) :], tools))
        elif low in ROLES:
            found = replace(found, role=low)
        elif low in _FATES:
            found = replace(found, fate=_FATES[low])
        elif low == "errors":
            found = replace(found, errors=True)
        elif low == "pinned":
            found = replace(found, pinned=True)
        elif low.startswith(">"):
            found = replace(found, larger_than=_tokens(low[1:]))
        else:
            found = replace(found, tool=_tool(word, tools))
    return found


def _tokens(typed: str) -> int:
    number, thousands = (typed[:-1], 1_000) if typed.endswith("k") else (typed, 1)
    if not (number.isascii() and number.isdecimal() and len(number) < 12):
        raise BadInput("A size is > and a whole number of tokens, as >2000 or >2k.")
    return int(number) * thousands


def _tool_word(name: str) -> str:
    """Word for a tool in a filter."""
    word = _without_spaces(name)
    low = word.casefold()
    is_ambiguous = low in (*ROLES, *_FATES, "errors", "pinned") or low.startswith((">", TOOL))
    return TOOL + word if is_ambiguous else word


def _without_spaces(name: str) -> str:
    return "".join(name.split())


def _tool(word: str, tools: Sequence[str]) -> str:
    names = [name for name in tools if _without_spaces(name).casefold().startswith(word.casefold())]
    exact = [name for name in names if _without_spaces(name).casefold() == word.casefold()]
    if len(exact or names) == 1:
        return (exact or names)[0]
    if not names:
        raise BadInput(f"{one_line(word, 40)!r} is no role, fate or tool here.")
    found = ", ".join(_tool_word(one_line(name, 60)) for name in names[:LISTED])
    raise BadInput(f"{one_line(word, 40)!r} begins several tools, type more of it: {found}")


def matching(chosen: Filter, layout: Layout, outcome: Outcome, pins: frozenset[str]) -> array[int]:
    """Indexes of the messages that meet the filter. A tool's calls and their results both belong to the tool."""
    messages, sizes = layout.messages, layout.sizes.tokens
    found: Sequence[int] = range(len(messages))
    if chosen.larger_than:
        found = [i for i in found if sizes[i] > chosen.larger_than]
    if chosen.fate:
        fated = bytearray(len(messages))
        for span in outcome.fates:
            if span.fate is chosen.fate:
                fated[span.start : span.stop] = b"\1" * (span.stop - span.start)
        found = [i for i in found if fated[i]]
    if chosen.pinned:
        found = [i for i in found if messages[i].id in pins or outcome.fate_at(i).fate is Fate.PINNED]
    if chosen.role:
        found = [i for i in found if chosen.role in _roles(messages[i])]
    if chosen.errors:
        found = [i for i in found if any(result.is_error for result in messages[i].results)]
    if chosen.tool:
        found = [i for i in found if chosen.tool in tools_at(layout, i)]
    return array("q", found)


def _roles(message: Message) -> tuple[str, ...]:
    """Word of the role column; the user's words in a tool result are the user's as well."""
    return (role_word(message), *(("user",) if message.user_text else ()))


def tools_at(layout: Layout, index: int) -> set[str]:
    """Names of the tools that a message calls or whose results it carries."""
    message = layout.messages[index]
    names = {call.name for call in message.calls}
    answered = {result.call_id for result in message.results}
    if answered:
        for partner in layout.shape.partners.get(index, ()):
            names.update(call.name for call in layout.messages[partner].calls if call.id in answered)
    return names


def tools_of(messages: Sequence[Message]) -> list[tuple[str, int]]:
    """Every called tool with the number of its calls, the most used first."""
    return Counter(call.name for message in messages for call in message.calls).most_common()
