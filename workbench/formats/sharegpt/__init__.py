"""ShareGPT data sets: `{conversations: [{from, value}]}`, one, a list of them, or JSON lines.

Later data sets have calls and results as separate turns, prompt and tools next to the turns, and the keys `role` and
`content`. Every entry is a separate conversation. Read only.

No usual place: the author of the data set chooses the file.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.sharegpt.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.sharegpt.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "ShareGPT", recognise, _codec, keys=KEYS)
