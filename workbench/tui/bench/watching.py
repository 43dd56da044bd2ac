"""Sentences that are watched: chosen, let go, and judged beside the screen whenever something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from workbench import bench as steps
from workbench.base.errors import BadInput
from workbench.bench import Bench, stands
from workbench.compaction.shape import Shape
from workbench.session import Message
from workbench.tui.bench import planning
from workbench.tui.bench.host import Host, take
from workbench.tui.bench.store import View
from workbench.tui.plain import figure

if TYPE_CHECKING:
    from workbench.analysis.receipt import Receipt
    from workbench.mending import Mend
    from workbench.tui.screens.watch import Offered

MOST_OFFERED = 500
"""Of a message so many sentences are offered."""

MOST_ASKED = 50
"""Of so many messages of the user's, the newest, the beginning is offered."""

_LEAST_WORDS = 3


async def watch(host: Host) -> None:
    """Offer the session's rules and the sentences of the message under the cursor, and take one's own."""
    from workbench.tui.screens.watch import WatchScreen

    bench = host.store.bench
    offer = partial(offered, bench, host.cursor.index)
    await host.ask(WatchScreen(bench.watched, offer, partial(turn, host), host.text_in_view))


def offered(bench: Bench, index: int) -> tuple[Offered, ...]:
    """The rules in force in a message, what else the user asks in it, then the rules elsewhere, or where there are none
    what was asked for elsewhere, the newest first; last what an agent says or a tool gives in the message, and what
    another wrote that the user hands over in it, which nobody asked to keep: each once."""
    from workbench.analysis.suggested_pins import suggest
    from workbench.tui.screens.watch import Offered

    rules = [pin for pin in suggest(bench.context) if pin.superseded_by is None]
    here = [Offered(pin.text, pin.reason) for pin in rules if pin.index == index]
    shape = bench.layout.shape
    message = shape.masked_at(index) if index < len(shape.messages) else None
    others = [Offered(one) for one in said_in(message)] if message else []
    elsewhere = [
        Offered(pin.text, f"{pin.reason}, message {figure(pin.index + 1)}") for pin in rules if pin.index != index
    ]
    asked = [] if rules else [Offered(one, f"asked, message {figure(at + 1)}") for at, one in _asked(shape)]
    given = [Offered(one, "given by a tool") for one in given_in(message)] if message else []
    own = message is not None and message.said and not hands_over(message.said)
    ordered = (here, others, elsewhere, asked, given) if own else (here, elsewhere, asked, others, given)
    found: dict[str, Offered] = {}
    for one in chain.from_iterable(ordered):
        found.setdefault(one.sentence, one)
    return tuple(found.values())


def said_in(message: Message) -> tuple[str, ...]:
    """What is said in a message and may be watched, in its order, each once: whole sentences of some words, no code."""
    return tuple(dict.fromkeys(_whole(message.text)))[:MOST_OFFERED]


def given_in(message: Message) -> tuple[str, ...]:
    """What tools give in a message and may be watched. It is mostly data: only what ends as sentences do counts."""
    given = (one for result in message.results for one in _whole(result.text) if one.endswith(tuple(".!?。！？")))
    return tuple(dict.fromkeys(given))[:MOST_OFFERED]


def _whole(text: str) -> Iterator[str]:
    from workbench.facts.pasted import without_paste
    from workbench.facts.wording import is_whole, scanned, sentences

    for sentence in sentences(without_paste(scanned(text))):
        one = " ".join(sentence.split())
        some_words = one.count(" ") >= _LEAST_WORDS - 1 or any(not sign.isascii() and sign.isalpha() for sign in one)
        if some_words and is_whole(one):
            yield one


def _asked(shape: Shape) -> Iterator[tuple[int, str]]:
    """What the user asks in each of their newest messages, with its place: its first question, else how it begins.
    Last those in which they hand over what another wrote."""
    messages = shape.messages
    spoken = (at for at in reversed(range(len(messages))) if messages[at].said and not messages[at].is_summary)
    handed: list[tuple[int, str]] = []
    for at in islice(spoken, MOST_ASKED):
        said = shape.masked_at(at).said
        whole = tuple(_whole(said))
        question = next((one for one in whole if one.endswith(("?", "？"))), "")
        if question or (whole and not hands_over(said)):
            yield at, question or whole[0]
        elif whole:
            handed.append((at, whole[0]))
    yield from handed


def hands_over(said: str) -> bool:
    """Whether a message begins with a line such as `got this feedback:`, and what follows is another's."""
    first, _, rest = said.strip().partition("\n")
    return first.rstrip().endswith((":", "：")) and bool(rest.strip())


def turn(host: Host, sentence: str) -> tuple[str, ...]:
    """Watch a sentence, or let it go; no step of its own, so that undoing others leaves it. Gives what is watched then.
    Raises BadInput for what cannot be watched."""
    before = host.store.bench.watched
    (one,) = steps.watching(host.store.bench, (sentence,)).watched
    after = tuple(other for other in before if other != one) if one in before else (*before, one)
    host.store.everywhere(partial(steps.watching, sentences=after))
    return after


def judge_watched(host: Host, was: View | None, now: View) -> None:
    """Have the watched sentences judged where what is shown, or what is watched, is another."""
    if planning.is_tried(was, now) and now.shown.watched:
        host.spawn("watched", find_stands, host)


async def find_stands(host: Host) -> None:
    """Judge what is shown: now, after it is compacted, then after a second compaction. A preview is run offline, with
    extractive summaries."""
    bench = host.store.view.shown
    for judged in (partial(stands, bench, None), partial(_after, bench), partial(_after, bench, again=True)):
        found = await asyncio.to_thread(judged)
        if bench is not host.store.view.shown:
            return
        host.store.put(replace(host.store.view, stands=found, stood=bench))
    host.spawn("ways", find_ways, host, bench, found)


async def find_ways(host: Host, bench: Bench, told: Sequence[steps.Stand]) -> None:
    """What would keep the first of them that is lost."""
    from workbench.mending import ways_of

    found = await asyncio.to_thread(ways_of, bench, told, lambda: bench is host.store.view.shown)
    if bench is host.store.view.shown:
        host.store.put(replace(host.store.view, ways=found))


def no_pin(view: View) -> str:
    return _no_way(view) or ("" if view.ways and view.ways.pin else "Its message is pinned, or stands no longer here.")


def no_number(view: View) -> str:
    return _no_way(view) or ("" if view.ways and view.ways.number else "No number that was tried keeps it.")


def _no_way(view: View) -> str:
    if not view.bench.watched:
        return "No sentence is watched: W chooses one."
    return "" if view.ways and view.ways.bench is view.bench else "No watched sentence is known to be lost."


def keep_by_pin(host: Host) -> None:
    if ways := host.store.view.ways:
        _take(host, ways.pin)


def keep_by_number(host: Host) -> None:
    if ways := host.store.view.ways:
        _take(host, ways.number)


def _take(host: Host, mend: Mend | None) -> None:
    if mend:
        take(host, lambda _: mend.bench, said=f"{mend.words}, which keeps it; u takes it back")


def find_receipt(host: Host, was: View | None, now: View) -> None:
    """Have it told what a compaction keeps, loses and costs, where what is shown is another."""
    if planning.is_tried(was, now) and (now.shown.result or planning.is_small(now.shown)):
        host.spawn("receipt", make_receipt, host)


async def make_receipt(host: Host) -> None:
    bench = host.store.view.shown
    try:
        found = await asyncio.to_thread(_receipt, bench)
    except BadInput:  # nothing can be compacted here, which the status says
        found = None
    if bench is host.store.view.shown:
        host.store.put(replace(host.store.view, receipt=found, received=bench))


def _receipt(bench: Bench) -> Receipt:
    from workbench.assessment import assess

    return assess(bench, bench.result or bench.offline).receipt


def _after(bench: Bench, *, again: bool = False) -> tuple[steps.Stand, ...]:
    try:
        outcome = bench.result.outcome if bench.result else bench.offline.outcome
        return stands(bench, outcome, again=again)
    except BadInput:  # nothing can be compacted here, which the status says
        return stands(bench, None)
