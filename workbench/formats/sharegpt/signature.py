"""Recognise ShareGPT data sets."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "sharegpt"
KEYS = frozenset(["conversations", "from", "system", "tools", "value"])


def recognise(look: Look) -> str:
    items = look.document if isinstance(look.document, list) else [look.first]
    turn = next(iter(list_of(dict_of(items[0]).get("conversations"))), None) if items else None
    return "conversations with from and value" if is_turn(turn) else ""


def is_turn(turn: Any) -> bool:
    keys = dict_of(turn).keys()
    return {"from", "value"} <= keys or {"role", "content"} <= keys
