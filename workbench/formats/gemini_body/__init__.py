"""Gemini API: the body of a `generateContent` request, as it is or as Code Assist wraps it.

A body is a context already, so there is one epoch. Read only: what resumes a conversation takes its own file.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.gemini_body.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.gemini_body import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "Gemini API body", recognise, _codec, api="gemini", keys=KEYS)
