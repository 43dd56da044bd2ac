"""Exact token counts from the API, which calibrate the local count.

Counting is free but sends the complete context to the server, so it happens only on request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from workbench.base.errors import BadInput
from workbench.base.figures import change, grouped
from workbench.base.values import json_text
from workbench.session import Message, Session
from workbench.summarizers.by_name import parse_model
from workbench.summarizers.client_errors import classify_error
from workbench.summarizers.connections import Connection
from workbench.summarizers.live import PROTOCOLS
from workbench.summarizers.protocols.usage import ImpossibleUsage, token_figure
from workbench.summarizers.server_endpoints import BLOCK_BETAS
from workbench.summarizers.wire import messages_fields, responses_fields
from workbench.tokens import Meter, Scale, SessionMeter, family_of
from workbench.tokens.models import plain_name

TIMEOUT_S = 60.0

MAX_RATIO = 10
"""Maximum ratio between the counts of two tokenizers for the same text."""

SMALL_COUNT = 200
"""Local count in tokens below which no ratio is checked: the API's own overhead may dominate."""


class ExactCount(Struct, frozen=True):
    """Tokens that `model` counts for a context, and the `local` count of the same messages, system prompt and tools."""

    model: str
    tokens: int
    local: int

    @property
    def difference(self) -> int:
        """Tokens by which the local count is too low; negative if it is too high."""
        return self.tokens - self.local

    @property
    def ratio(self) -> float:
        """Exact count divided by the local count; 1 if the local count is 0."""
        return self.tokens / self.local if self.local else 1.0

    def __str__(self) -> str:
        sign = "+" if self.difference >= 0 else "−"
        off = f"{sign}{grouped(abs(self.difference))}, {change(self.local, self.tokens)}"
        return f"{grouped(self.tokens)} exact, {grouped(self.local)} counted here ({off})"


async def count_exactly(session: Session, messages: Sequence[Message], meter: Meter, model: str) -> ExactCount:
    """Let the API count `messages` with the session's system prompt and tools, in the form of an export; `model` may
    include a connection.

    Raises BadInput with one sentence if that fails: no key, no connection, an unknown model, too much to send, a server
    without counting, or an implausible count.
    """
    name = await asyncio.to_thread(parse_model, model)
    connection = name.connection
    if connection.protocol == "chat":
        raise BadInput(f"{connection.name} uses a protocol that cannot count in advance; the local figure is kept.")
    fields = messages_fields if connection.protocol == "messages" else responses_fields
    body = await asyncio.to_thread(fields, session, messages)
    response = await _request_count(connection, {"model": name.model, **body})
    local = await asyncio.to_thread(_local_count, body, messages, meter)
    return ExactCount(model, check_plausible(_count_in(response, "input_tokens"), local), local)


def check_plausible(tokens: int, local: int) -> int:
    """Return the server's count if it is plausible for `local` counted tokens. Raises BadInput otherwise, see
    `MAX_RATIO`."""
    if tokens <= 0 or (local >= SMALL_COUNT and not local / MAX_RATIO <= tokens <= local * MAX_RATIO):
        raise BadInput(
            f"The server counts {grouped(tokens)} tokens where {grouped(local)} are counted here, which cannot be of "
            "the same context; the local figure is kept."
        )
    return tokens


def _has_compaction_block(body: Mapping[str, Any]) -> bool:
    """True if a body holds the server's own compaction block, which the API accepts only with a beta header."""
    contents = (turn["content"] for turn in body.get("messages", ()) if isinstance(turn.get("content"), list))
    return any(block.get("type") == "compaction" for content in contents for block in content)


def recalibrate(scale: Scale, exact: ExactCount) -> Scale:
    """Return the scale with which `exact.local` would equal the exact count, limited to 0.5–2 like every scale.

    It is not shrunk towards 1, because a count of the complete context outweighs single calls.
    """
    value = min(2.0, max(0.5, scale.value * exact.ratio))
    return Scale(value, scale.calls + 1, f"an exact count by {exact.model}")


def scale_from(meter: Meter, exact: ExactCount, model: str | None) -> Scale | None:
    """Return the new scale of a session of `model`; `meter` made the local count in `exact`. None if the count changes
    no scale, see `no_scale_reason`."""
    if not isinstance(meter, SessionMeter) or no_scale_reason(meter, exact, model):
        return None
    return recalibrate(meter.scale, exact)


def no_scale_reason(meter: Meter, exact: ExactCount, model: str | None) -> str:
    """Return why an exact count does not change the scale of a session of `model`, "" if it does."""
    session = model or "this session"
    if not isinstance(meter, SessionMeter):
        reason = "the figures of this session have no scale"
    elif not exact.local:
        reason = "no token was counted here"
    elif meter.family.known:
        same = family_of(exact.model) == meter.family
        reason = "" if same else f"{exact.model} counts by another tokenizer than {session}"
    else:  # unknown tokenizers: once calls were billed, only the same model has the same one
        billed = meter.scale.calls and not meter.scale.source
        same = not billed or plain_name(exact.model) == plain_name(model or "")
        reason = "" if same else f"the tokenizer of {session} is unknown, and its own calls were billed"
    return reason and f"{reason}; the session's figures are kept"


def _local_count(body: Mapping[str, Any], messages: Sequence[Message], meter: Meter) -> int:
    """Return the local count of tools, system prompt and messages; a system message counts once if the body repeats
    it."""
    texts = [json_text(tool) for tool in body.get("tools", ())]
    system = body.get("system") or body.get("instructions")
    if system:
        texts.append(system if isinstance(system, str) else "\n\n".join(str(part.get("text", "")) for part in system))
    sent = (message for message in messages if message.kind != "boundary" and not (system and message.is_own_system))
    return sum(map(meter.text_tokens, texts)) + sum(map(meter.tokens, sent))


_COUNTING = {"messages": "/v1/messages/count_tokens", "responses": "/responses/input_tokens"}


async def _request_count(connection: Connection, body: dict[str, Any]) -> dict[str, Any]:
    beta = (
        {"headers": {"anthropic-beta": BLOCK_BETAS}, "params": {"beta": "true"}} if _has_compaction_block(body) else {}
    )
    protocol = PROTOCOLS[connection.protocol]
    async with await protocol.connect(connection, TIMEOUT_S) as client:
        try:
            response = await client.post(_COUNTING[connection.protocol], cast_to=object, body=body, options=beta)
        except Exception as error:
            # Any client error becomes one sentence, and the local count stays.
            trouble = classify_error(error, protocol.server_of(client, connection))
            raise BadInput(f"The exact count failed: {trouble.sentence}.") from None
    return response if isinstance(response, dict) else {}


def _count_in(response: Mapping[str, Any], name: str) -> int:
    if response.get("litellm_count_source") == "local_estimate":
        raise BadInput("The server's figure is only an estimate; the local one is kept.")
    try:
        value = token_figure(response, name)
    except ImpossibleUsage as impossible:
        raise BadInput(f"The server cannot count this context: {impossible}; the local figure is kept.") from None
    if value is None:
        raise BadInput(f"The server's answer has no {name}; it may be unable to count tokens.")
    return value
