"""By what a file is known: Inspect log."""

from __future__ import annotations

import re

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.magic import ZIP
from workbench.formats.kit.values import dict_of

ID = "inspect"

_ENTRY = re.compile(rb"header\.json|_journal/start\.json|_journal/summaries/|samples/[^/\x00]{1,200}_epoch_\d+\.json")


def recognise(head: bytes) -> str:
    if head.startswith(ZIP):
        return "a zip of Inspect samples" if _ENTRY.search(head) else ""
    body = dict_of(glimpse(head))
    log = isinstance(body.get("eval"), dict) and body.keys() & {"status", "plan", "samples"}
    return "eval beside status, plan or samples" if log else ""
