"""Whether what was sent is what was shown, unit by unit, and which known habits of the tool that took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from interop.units import Unit, Units

Change = Callable[[Units], Units]


def as_it_is(units: Units) -> Units:
    return units


@dataclass(frozen=True, slots=True)
class Allowance:
    """A known and harmless difference between what a tool keeps and what it sends, under a name that the table shows.

    `sent` and `shown` take it out of the request's units and of the context's, and leave alone what is in both;
    `beside` says what may be sent beside what is shown, though all that is shown must be sent; `alike` which unit may
    be sent in place of one that is shown. It is named only where without it the two are not equal.
    """

    name: str
    why: str
    sent: Change = as_it_is
    shown: Change = as_it_is
    beside: Callable[[Unit], bool] = lambda unit: False
    alike: Callable[[Unit, Unit], bool] = lambda sent, shown: False


def results_in_order(units: Units) -> Units:
    """Neighbouring results in the order of their calls, whichever came back first."""
    runs = groupby(units, key=lambda unit: unit.kind == "result")
    return tuple(unit for result, run in runs for unit in (sorted(run, key=lambda one: one.call) if result else run))


def texts_in_one(units: Units) -> Units:
    """Neighbouring texts of one speaker's as one text."""
    said: list[Unit] = []
    for unit in units:
        if said and unit.kind == said[-1].kind == "text" and unit.role == said[-1].role:
            said[-1] = replace(unit, text=said[-1].text + unit.text)
        else:
            said.append(unit)
    return tuple(said)


def by_unit(change: Callable[[Unit], Unit]) -> Change:
    """What changes each unit by itself."""
    return lambda units: tuple(map(change, units))


def without(drop: Callable[[Unit], bool]) -> Change:
    """What leaves out the units for which `drop` holds."""
    return lambda units: tuple(unit for unit in units if not drop(unit))


@dataclass(frozen=True, slots=True)
class Compared:
    """`difference` is the first one in a phrase, "" where there is none; `allowed` names what had to be allowed."""

    difference: str
    allowed: tuple[str, ...] = ()


def compare(sent: Units, shown: Units, allowances: tuple[Allowance, ...] = ()) -> Compared:
    """The two held against each other, with as few of the allowances as make them equal; earlier ones are preferred."""
    if difference := _difference(sent, shown, allowances):
        return Compared(difference)
    needed = allowances
    for one in reversed(allowances):
        fewer = tuple(other for other in needed if other is not one)
        if not _difference(sent, shown, fewer):
            needed = fewer
    return Compared("", tuple(one.name for one in needed))


def _difference(sent: Units, shown: Units, allowances: tuple[Allowance, ...]) -> str:
    for one in allowances:
        sent, shown = one.sent(sent), one.shown(shown)
        sent = tuple(_without_beside(sent, shown, one.beside))
    for number, (there, here) in enumerate(zip_longest(sent, shown), 1):
        replaced = there and here and any(one.alike(there, here) for one in allowances)
        if there != here and not replaced:
            return f"unit {number} of {len(sent)}: sent {there or 'nothing'}, shown {here or 'nothing'}"
    return ""


def _without_beside(sent: Units, shown: Units, beside: Callable[[Unit], bool]) -> Iterator[Unit]:
    """What was sent but for what may be beside what is shown, and is."""
    at = 0
    for unit in sent:
        if beside(unit) and unit not in shown[at : at + 1]:
            continue
        at += 1
        yield unit
