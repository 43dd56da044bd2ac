"""What a person can do about a finding at once: a change of what is on the bench, ready to be planned."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.why.diagnosis import Diagnosis
from workbench.analysis.why.findings import Finding
from workbench.compaction.preset import Preset
from workbench.compaction.strategies import remedies


@dataclass(frozen=True, slots=True)
class Take:
    """Another policy is what helps. `words` end the sentence "a: …"."""

    preset: Preset
    words: str


@dataclass(frozen=True, slots=True)
class Edit:
    """The messages of these ids are to be pinned, dropped or shortened. `words` end the sentence "a: …"."""

    does: Literal["pin", "drop", "shorten"]
    words: str
    messages: tuple[str, ...]


Mend = Take | Edit


def mend_of(found: Diagnosis, one: Finding, here: Container[str]) -> Mend | None:
    """What can be done about a finding, None for nothing. `here` are the ids of the context that would be planned:
    nothing else can be touched."""
    waste, kind = found.waste, one.kind
    match kind:
        case "clear":
            return _remedy(found, kind)
        case "reread" | "rereads":
            of = set(one.messages)
            older = [read.message for each in waste.rereads for read in each.repeated if read.message in of]
            return _edit("drop", "drop the older reads", older, here)
        case "unused":
            return _edit("drop", "drop them", [spot.message for spot in waste.unused], here)
        case "base64" | "logs":
            spots = waste.base64 if kind == "base64" else waste.logs
            return _edit("shorten", "shorten them", [spot.message for spot in spots], here)
        case "message":
            return _edit("shorten", "shorten it", one.messages, here)
        case "rework":
            before = [item.before for each in found.rework for item in each.items]
            return _edit("pin", "pin the facts that were needed again", before, here)
    return None


def _remedy(found: Diagnosis, kind: str) -> Take | None:
    bound = found.limit.tokens if found.limit else None
    for strategy, remedy in remedies(bound) if bound is not None else ():
        if remedy.kind == kind:
            preset = Preset(strategy.id, strategy.id, strategy.about, "", remedy.policy)
            return Take(preset, "use that preset")
    return None


def _edit(
    does: Literal["pin", "drop", "shorten"], words: str, messages: Sequence[str], here: Container[str]
) -> Edit | None:
    reached = tuple(dict.fromkeys(id for id in messages if id in here))
    return Edit(does, words, reached) if reached else None
