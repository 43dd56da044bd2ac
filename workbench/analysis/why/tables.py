"""Tables of a diagnosis: breakdown of the context, waste, rework, cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.analysis.rework import KINDS, ReworkItem
from workbench.analysis.session_cost import CAUSES, Rewrites
from workbench.analysis.why.breakdown import SizeShare
from workbench.analysis.why.diagnosis import Diagnosis
from workbench.analysis.why.waste import UNUSED_RULE, Spot
from workbench.base.figures import grouped
from workbench.base.printable import one_line
from workbench.base.tables import Row, Table, Value, columns
from workbench.base.text import counted

WORDS = 200
"""Characters of a text cell."""

KEYS = ("layers", "tools", "files", "rounds", "largest", "rereads", "unused", "others", "rework", "cache")
"""The tables by key, in their order."""


def tables(found: Diagnosis) -> dict[str, Table]:
    """Return every table by key, `KEYS` in order. The note of an empty table says that there is nothing."""
    found_tables = (*_breakdown_tables(found), *_waste_tables(found), _rework(found), _cache(found.rewrites))
    return dict(zip(KEYS, found_tables, strict=True))


def _breakdown_tables(found: Diagnosis) -> Iterable[Table]:
    layers = ((one.tokens, (one.basis.name.lower(), one.name), None) for one in found.layers)
    yield _shares(found, "layers", "By layer", "counted layer", layers)
    yield _calls(found, "tools", "By tool", found.tools, "No tool was called in this epoch.")
    yield _calls(found, "files", "By file", found.files, "No call of this epoch views or changes a file.")
    largest = sorted(found.rounds, key=lambda one: -one.tokens)
    rounds = ((one.tokens, (one.upto, one.number), one.message) for one in largest)
    growth = f"In the newest rounds the context grew by {grouped(found.growth_per_round)} tokens each."
    yield _shares(found, "rounds", "Largest rounds", "total_tokens:tokens:context_then round:count", rounds, growth)
    messages = ((one.tokens, (one.number, one.what), one.message) for one in found.largest)
    yield _shares(found, "largest", "Largest messages", "number:count:message description:text:what", messages)


def _waste_tables(found: Diagnosis) -> Iterable[Table]:
    waste = found.waste
    rereads = (
        (one.tokens, (len(one.reads), sum(read.tokens for read in one.repeated), one.path), one.reads[0].message)
        for one in waste.rereads
    )
    spec = "reads:count repeated:tokens:shown_again_later path:text:file"
    none = "" if waste.rereads else "No file was read more than once in this epoch."
    yield _shares(found, "rereads", "Files read more than once", spec, rereads, none)
    none = "" if waste.unused else "No tool result was left unused in this epoch. "
    yield _spots(found, "unused", "Results never referred to later", waste.unused, none + UNUSED_RULE)
    others = (*waste.base64, *waste.logs, *waste.cut)
    none = "" if others else "No encoded files, logs or cut results in this epoch."
    yield _spots(found, "others", "Encoded files, logs, cut results", others, none)


def _calls(found: Diagnosis, key: str, title: str, several: Sequence[SizeShare], none: str) -> Table:
    rows = ((one.tokens, (one.count, one.name), one.messages[0]) for one in several)
    return _shares(found, key, title, "calls:count name", rows, "" if several else none)


def _spots(found: Diagnosis, key: str, title: str, several: Sequence[Spot], note: str) -> Table:
    largest = sorted(several, key=lambda one: -one.tokens)
    rows = ((one.tokens, (one.index + 1, one_line(one.note, WORDS)), one.message) for one in largest)
    return _shares(found, key, title, "number:count:message note", rows, note)


def _shares(
    found: Diagnosis,
    key: str,
    title: str,
    spec: str,
    several: Iterable[tuple[int, tuple[Value, ...], str | None]],
    note: str = "",
) -> Table:
    """Return a table whose first columns are tokens and their share of the whole context."""
    whole = max(found.total.tokens, 1)
    rows = tuple(Row((tokens, tokens / whole, *rest), message) for tokens, rest, message in several)
    return Table(key, title, columns(f"tokens:tokens share:share {spec}"), rows, note)


def _rework(found: Diagnosis) -> Table:
    if not found.rework:
        note = "No compaction is recorded from this epoch on: no rework is possible."
    elif not any(one.items for one in found.rework):
        many = len(found.rework)
        them = "the recorded compaction" if many == 1 else f"the {counted(many, 'recorded compaction')}"
        note = f"No rework after {them} from this epoch on."
    else:
        note = "Work repeated after the recorded compaction that ended the epoch."
    return rework_table(((one.compaction.epoch, item) for one in found.rework for item in one.items), note)


def rework_table(items: Iterable[tuple[int, ReworkItem]], note: str = "") -> Table:
    """Return the rework items, largest first, each with the epoch whose compaction caused it."""
    spec = "tokens:tokens epoch:count kind message_before:message:before message_after:message:again subject:text:what"
    rows = (
        Row((one.tokens, epoch, KINDS[one.kind][0], one.before, one.after, one_line(one.what, WORDS)), one.after)
        for epoch, one in sorted(items, key=lambda pair: -pair[1].tokens)
    )
    return Table("rework", "Rework after compactions", columns(spec), tuple(rows), note)


def _cache(rewrites: Rewrites | None) -> Table:
    title = "Written to the cache again"
    if rewrites is None:
        return Table("cache", title, columns("tokens:tokens"), note="The recorded usage has no cache figures.")
    spec = f"tokens:tokens cost:{rewrites.rates.kind} epoch:count call:count seconds:seconds:after cause"
    rows = (
        Row((one.tokens, one.cost, one.epoch, one.call, one.seconds, CAUSES[one.cause]), one.message)
        for one in sorted(rewrites.again, key=lambda one: -one.tokens)
    )
    by_cause = (
        f"{CAUSES[one.cause]} {grouped(one.tokens)} in {counted(one.calls, 'call')}" for one in rewrites.by_cause
    )
    return Table("cache", title, columns(spec), tuple(rows), "; ".join((str(rewrites), *by_cause)) + ".")
