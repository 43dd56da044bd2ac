"""Fixes for a finding: changes on the bench that a user can apply at once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.why.diagnosis import Diagnosis
from workbench.analysis.why.findings import Finding
from workbench.compaction.preset import Preset
from workbench.compaction.strategies import remedies


@dataclass(frozen=True, slots=True)
class PresetFix:
    """Use another policy. `words` complete the sentence "a: …"."""

    preset: Preset
    words: str


@dataclass(frozen=True, slots=True)
class MessageFix:
    """Pin, drop or shorten messages, by id. `words` complete the sentence "a: …"."""

    does: Literal["pin", "drop", "shorten"]
    words: str
    messages: tuple[str, ...]


FindingFix = PresetFix | MessageFix


def fix_for(found: Diagnosis, one: Finding, here: Container[str]) -> FindingFix | None:
    """Return the fix of a finding; None without one. `here` are the ids of the planned context; a fix changes no other
    messages."""
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


def _remedy(found: Diagnosis, kind: str) -> PresetFix | None:
    bound = found.limit.tokens if found.limit else None
    for strategy, remedy in remedies(bound) if bound is not None else ():
        if remedy.kind == kind:
            preset = Preset(strategy.id, strategy.id, strategy.about, "", remedy.policy)
            return PresetFix(preset, "use that preset")
    return None


def _edit(
    does: Literal["pin", "drop", "shorten"], words: str, messages: Sequence[str], here: Container[str]
) -> MessageFix | None:
    reached = tuple(dict.fromkeys(id for id in messages if id in here))
    return MessageFix(does, words, reached) if reached else None
