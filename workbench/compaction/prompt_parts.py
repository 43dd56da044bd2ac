"""Text of the whole next prompt, part by part: `Request` on the screen.

A strategy that assembles the prompt itself has its own parts (`StrategyView.prompt_parts`).
"""

from __future__ import annotations

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.compaction.context import Context
from workbench.compaction.render import tagged
from workbench.compaction.summary_request import tools_text
from workbench.tokens.sizes import Basis


class PromptPart(Struct, frozen=True):
    """One part, in the order of the prompt. `tokens`: its size in the context, by `basis`. `note`: how much of it is in
    no file and therefore not in `text`."""

    name: str
    tokens: int
    basis: Basis
    text: str
    note: str = ""


def prompt_parts(context: Context) -> tuple[PromptPart, ...]:
    """Return two parts: the system prompt with the tools, and the messages in the tags of their roles. Secrets in
    messages are masked before inputs of calls become JSON, because a secret with JSON escapes is not recognized."""
    messages = context.shape.masked
    answered = {result.call_id for message in messages for result in message.results}
    text_of_messages = "\n".join(filter(None, (tagged(message, answered) for message in messages)))
    whole = context.upto(len(messages))
    return system_and_tools(context, 0, "system and tools"), PromptPart(
        "messages", whole.tokens, whole.basis, text_of_messages
    )


def system_and_tools(context: Context, lead: int, name: str) -> PromptPart:
    """Return the part before the history, called `name`: the system prompt, the first `lead` messages (system messages
    of the session), and the tools."""
    sizes = context.layout.sizes
    tokens = sizes.overhead + context.upto(lead).tokens
    known = context.prompt_tokens + context.tool_tokens
    missing = sizes.overhead - min(known, sizes.overhead)
    own_texts = (message.text for message in context.messages[:lead])
    text = "\n\n".join(filter(None, [context.system, *own_texts, tools_text(context.tools)]))
    note = f"{grouped(missing)} of these tokens were sent but are not recorded in the file" if missing else ""
    return PromptPart(name, tokens, sizes.overhead_basis, text, note)
