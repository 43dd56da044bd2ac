"""Recognise Inspect logs."""

from __future__ import annotations

import re

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "inspect"
KEYS = frozenset(["eval", "plan", "results", "samples", "stats", "status", "version"])

_ENTRY = re.compile(r"header\.json|_journal/start\.json|_journal/summaries/.*|samples/.+_epoch_\d+\.json")


def recognise(look: Look) -> str:
    if look.members:
        return "a zip of Inspect samples" if any(map(_ENTRY.fullmatch, look.members)) else ""
    body = dict_of(look.document)
    log = isinstance(body.get("eval"), dict) and body.keys() & {"status", "plan", "samples"}
    return "eval with status, plan or samples" if log else ""
