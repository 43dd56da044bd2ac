"""By what a file is known: tau-bench results."""

from __future__ import annotations

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.values import dict_of

ID = "tau-bench"


def recognise(head: bytes) -> str:
    items = glimpse(head)
    first = dict_of(items[0]) if isinstance(items, list) and items else {}
    known = "task_id" in first and (isinstance(first.get("traj"), list) or {"reward", "info"} <= first.keys())
    return "a list of task_id and traj" if known else ""
