"""Exact counts: the API counts the context before and after the compaction; local figures are scaled to its count."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from workbench.base.errors import BadInput
from workbench.bench import Bench, steps
from workbench.summarizers.by_name import parse_model, parse_name
from workbench.summarizers.exact_counts import ExactCount, count_exactly, no_scale_reason, scale_from
from workbench.summarizers.server_compaction import with_server_block
from workbench.tokens import Scale, scales
from workbench.tui.bench.counting import show_epochs
from workbench.tui.bench.host import Host
from workbench.tui.plain import change, figure
from workbench.tui.screens.ask import AskScreen, LineAnswer

ABOUT = """\
The API counts the context as an export would send it, before and after the compaction. This is free, but the whole \
context is sent to the API's server. The figures of this session are then scaled to this count, unless it comes from \
another tokenizer than the session's. Without a model, the figures are local ones again."""

WIDTH = 10


def ask_and_count(host: Host) -> None:
    """Ask for a model, count with it, and show both counts in the dialog."""
    ask: AskScreen[str] = AskScreen(
        "Exact counts", ABOUT, usual_model(host.store.bench), partial(read_model, host), partial(_count, host)
    )
    host.ask(ask)


def read_model(host: Host, typed: str) -> LineAnswer[str]:
    """Parse the model that counts, and say where the context is sent. An empty text forgets the session's scale. Raises
    BadInput for an unknown model, and for an empty text without a scale."""
    if model := typed.strip():
        address = parse_model(model).connection.address
        return LineAnswer(model, f"Sends the whole context to {address} to be counted; it costs nothing.")
    scale = host.store.bench.scale
    if scale is None:
        raise BadInput("Name the model whose tokens are to be counted.")
    return LineAnswer("", f"forgets × {scale.value:.2f}, {scale.source}")


async def _count(host: Host, model: str) -> str:
    bench = host.store.bench
    if not model:
        forgotten = await asyncio.to_thread(scales.forget, bench.session)
        host.store.everywhere(lambda bench: steps.without_scale(bench, host.counter))
        show_epochs(host)
        return f"forgotten: × {forgotten.value:.2f} from {forgotten.source}" if forgotten else "forgotten"
    meter = bench.layout.sizes.meter
    before = await count_exactly(bench.session, bench.context.messages, meter, model)
    messages = with_server_block(bench.outcome, bench.result.answers if bench.result else ()).messages
    after = await count_exactly(bench.session, messages, meter, model)
    if scale := scale_from(meter, before, bench.session.model):
        await asyncio.to_thread(scales.keep, bench.session, scale)
        calibrate(host, scale)
        note = f"from now on: × {scale.value:.2f}, {scale.source}"
    else:
        note = no_scale_reason(meter, before, bench.session.model)
    return f"{counts_text(before, after)}\n\n{note}"


def calibrate(host: Host, scale: Scale) -> None:
    """Scale the local figures of every step of the bench. Undo does not take this back: the API's count stays true."""
    layout, epoch = steps.with_scale(host.store.bench, scale).layout, host.store.bench.epoch

    def fresh(bench: Bench) -> Bench:
        if bench.epoch == epoch:
            return replace(steps.with_layout(bench, layout), scale=scale)
        return steps.with_scale(bench, scale)

    host.store.everywhere(fresh)
    show_epochs(host)


def usual_model(bench: Bench) -> str:
    """Return the model of the bench's summarizer, else the session's own, else ""."""
    try:
        return parse_name(bench.summarizer).model or bench.session.model or ""
    except BadInput:
        return bench.session.model or ""


def counts_text(before: ExactCount, after: ExactCount) -> str:
    """Return a table of tokens with a line before and one after: exact count, local count, difference."""
    lines = [f"{'':8}{'exact':>{WIDTH}}{'local':>{WIDTH}}{'difference':>{WIDTH + 10}}"]
    for name, one in (("before", before), ("after", after)):
        sign = "+" if one.difference >= 0 else "−"
        off = f"{sign}{figure(abs(one.difference))} ({change(one.local, one.tokens)})"
        lines.append(f"{name:8}{figure(one.tokens):>{WIDTH}}{figure(one.local):>{WIDTH}}{off:>{WIDTH + 10}}")
    return "\n".join(lines)
