"""Gemini API: the body of a `generateContent` request, bare or wrapped by Code Assist.

A body is one context, so there is one epoch. Read only: agents resume from their own files.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.gemini_body.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.gemini_body import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "Gemini API body", recognise, _codec, api="gemini", keys=KEYS)
