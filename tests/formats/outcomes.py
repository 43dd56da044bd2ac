"""Compactions of loaded sessions, to see that an export gives back exactly what came out (formats.md §3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.formats.conversations import shape
from workbench.bench import open_bench, split_at, toggle_pin
from workbench.formats.format import Format, Written, no_progress
from workbench.session import Message, Session
from workbench.tokens import Counter


def read(format: Format, data: bytes) -> Session:
    return format.codec.read(Path("session"), data, no_progress)


def compacted(session: Session, epoch: int | None = None) -> Iterator[tuple[Message, ...]]:
    """Outcomes of Augment's example preset: with pins, as it is, and with the split at the last exchange."""
    bench = open_bench(session, Counter(), epoch=epoch, preset="augment-example")
    context = bench.messages
    pinned = bench
    for message in context[1 : len(context) // 2 : max(1, len(context) // 6)]:
        pinned = toggle_pin(pinned, message.id)
    yield pinned.plan.outcome.messages
    yield bench.plan.outcome.messages
    requests = [message.id for message in context if message.starts_round]
    if requests:
        split = split_at(bench, requests[-1])
        yield split.plan.outcome.messages
        yield toggle_pin(split, context[0].id).plan.outcome.messages


def assert_exact(format: Format, session: Session, messages: tuple[Message, ...]) -> Written:
    """Write the messages, and read back exactly them."""
    written = format.codec.write(session, messages)
    assert format.codec.validate(written.data) == []
    assert format.recognise(written.data[: 64 * 1024])
    again = read(format, written.data)
    assert shape(again.context()) == shape(messages)
    assert again.id == written.id
    return written
