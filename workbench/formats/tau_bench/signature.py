"""Recognise tau-bench results."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "tau-bench"
KEYS = frozenset(["info", "reward", "task_id", "traj", "trial"])


def recognise(look: Look) -> str:
    items = look.document
    first = dict_of(items[0]) if isinstance(items, list) and items else {}
    known = "task_id" in first and (isinstance(first.get("traj"), list) or {"reward", "info"} <= first.keys())
    return "a list of task_id and traj" if known else ""
