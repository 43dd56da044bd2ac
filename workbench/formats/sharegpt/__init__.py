"""ShareGPT data sets: `{conversations: [{from, value}]}`, one, a list of them, or JSON lines.

Later data sets have calls and results as separate turns, prompt and tools next to the turns, and the keys `role` and
`content`. Every entry is a separate conversation. Read only.

No usual place: the author of the data set chooses the file.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
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


def _codec() -> Codec:
    from workbench.formats.sharegpt.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "ShareGPT", recognise, _codec, keys=KEYS)
