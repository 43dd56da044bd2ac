"""Exact token counts from the API, beside the local figure, which they then calibrate.

Counting is free of charge but sends the whole context to the server, so it happens only when somebody asks for it.
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
"""So many times the tokens of another no tokenizer needs for the same."""

SMALL_COUNT = 200
"""Tokens below which what an API adds of its own may be most of a count."""


class ExactCount(Struct, frozen=True):
    """What `model` counts for a context, and what is counted here for the same messages, system prompt and tools."""

    model: str
    tokens: int
    local: int

    @property
    def difference(self) -> int:
        """Tokens by which the local figure is too low; negative where it is too high."""
        return self.tokens - self.local

    @property
    def ratio(self) -> float:
        """Exact over local; 1 where nothing was counted here."""
        return self.tokens / self.local if self.local else 1.0

    def __str__(self) -> str:
        sign = "+" if self.difference >= 0 else "−"
        off = f"{sign}{grouped(abs(self.difference))}, {change(self.local, self.tokens)}"
        return f"{grouped(self.tokens)} exact, {grouped(self.local)} counted here ({off})"


async def count_exactly(session: Session, messages: Sequence[Message], meter: Meter, model: str) -> ExactCount:
    """Have the API count `messages` with the session's system prompt and tools, as an export would send them; `model`
    may name a connection, too.

    Raises BadInput with one sentence when it cannot: no key, no connection, an unknown model, too much to send, a
    server that counts nothing, or whose figure cannot be of this context.
    """
    name = await asyncio.to_thread(parse_model, model)
    whom = name.connection
    if whom.protocol == "chat":
        raise BadInput(f"{whom.name} uses a protocol that cannot count in advance; the local figure is kept.")
    fields = messages_fields if whom.protocol == "messages" else responses_fields
    body = await asyncio.to_thread(fields, session, messages)
    got = await _request_count(whom, {"model": name.model, **body})
    local = await asyncio.to_thread(_local_count, body, messages, meter)
    return ExactCount(model, check_plausible(_count_in(got, "input_tokens"), local), local)


def check_plausible(tokens: int, local: int) -> int:
    """A server's figure for what is counted as `local` here. Raises BadInput where it cannot be one of the same
    context: see `FAR`."""
    if tokens <= 0 or (local >= SMALL_COUNT and not local / MAX_RATIO <= tokens <= local * MAX_RATIO):
        raise BadInput(
            f"The server counts {grouped(tokens)} tokens where {grouped(local)} are counted here, which cannot be of "
            "the same context; the local figure is kept."
        )
    return tokens


def _has_compaction_block(body: Mapping[str, Any]) -> bool:
    """Whether the server's own compaction block is in it, which the API takes only under its beta."""
    contents = (turn["content"] for turn in body.get("messages", ()) if isinstance(turn.get("content"), list))
    return any(block.get("type") == "compaction" for content in contents for block in content)


def recalibrate(scale: Scale, exact: ExactCount) -> Scale:
    """The session's scale after an exact count: what the meter that counted `exact.local` should have used.

    An exact count of the whole context outweighs what single calls taught, so it is not shrunk towards 1; like every
    scale it stays within 0.5 and 2.
    """
    value = min(2.0, max(0.5, scale.value * exact.ratio))
    return Scale(value, scale.calls + 1, f"an exact count by {exact.model}")


def scale_from(meter: Meter, exact: ExactCount, model: str | None) -> Scale | None:
    """The scale that `exact`, counted beside `meter`, teaches a session of `model`; None where there is nothing to
    scale, and where another tokenizer counted than the one that the session's figures are for."""
    if not isinstance(meter, SessionMeter) or not exact.local:
        return None
    if meter.family.known:
        same = family_of(exact.model) == meter.family
    else:  # tokenizers that nobody knows are alike in nothing but the model's name
        billed = meter.scale.calls and not meter.scale.source
        same = not billed or plain_name(exact.model) == plain_name(model or "")
    return recalibrate(meter.scale, exact) if same else None


def no_scale_reason(exact: ExactCount, model: str | None) -> str:
    """Why a count teaches a session nothing."""
    return f"{exact.model} counts by another tokenizer than {model or 'this session'}; the session's figures are kept"


def _local_count(body: Mapping[str, Any], messages: Sequence[Message], meter: Meter) -> int:
    """The local figure for just what the body holds; a system message among the messages is counted in `system`."""
    texts = [json_text(tool) for tool in body.get("tools", ())]
    system = body.get("system") or body.get("instructions")
    if system:
        texts.append(system if isinstance(system, str) else "\n\n".join(str(part.get("text", "")) for part in system))
    sent = (message for message in messages if message.kind != "boundary" and not (system and message.is_own_system))
    return sum(map(meter.text_tokens, texts)) + sum(map(meter.tokens, sent))


_COUNTING = {"messages": "/v1/messages/count_tokens", "responses": "/responses/input_tokens"}


async def _request_count(whom: Connection, body: dict[str, Any]) -> dict[str, Any]:
    beta = (
        {"headers": {"anthropic-beta": BLOCK_BETAS}, "params": {"beta": "true"}} if _has_compaction_block(body) else {}
    )
    spoken = PROTOCOLS[whom.protocol]
    async with await spoken.connect(whom, TIMEOUT_S) as client:
        try:
            got = await client.post(_COUNTING[whom.protocol], cast_to=object, body=body, options=beta)
        except Exception as error:
            # Whatever the client raises: one sentence, and the local figure stays.
            trouble = classify_error(error, spoken.server_of(client, whom))
            raise BadInput(f"The exact count failed: {trouble.sentence}.") from None
    return got if isinstance(got, dict) else {}


def _count_in(got: Mapping[str, Any], name: str) -> int:
    if got.get("litellm_count_source") == "local_estimate":
        raise BadInput("The server's figure is only an estimate; the local one is kept.")
    try:
        value = token_figure(got, name)
    except ImpossibleUsage as impossible:
        raise BadInput(f"The server cannot count this context: {impossible}; the local figure is kept.") from None
    if value is None:
        raise BadInput(f"The server's answer has no {name}; it may be unable to count tokens.")
    return value
