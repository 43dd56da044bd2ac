"""Gemini API: the body of a `generateContent` request, bare or wrapped by Code Assist.

A body is one context, so there is one epoch. Read only: agents resume from their own files.

No usual place: request bodies are stored wherever a proxy or program logs them.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "gemini-body"
KEYS = frozenset(["contents", "generationConfig", "systemInstruction", "toolConfig", "tools"])


def recognise(look: Look) -> str:
    """Recognise a body; Code Assist, which Gemini CLI uses, wraps it in `request`."""
    document = dict_of(look.document)
    body = dict_of(document["request"]) if "contents" in dict_of(document.get("request")) else document
    contents = list_of(body.get("contents"))
    return "contents of role and parts" if contents and all(map(_is_content, contents)) else ""


def _is_content(content: Any) -> bool:
    role = dict_of(content).get("role", "user")
    return isinstance(dict_of(content).get("parts"), list) and role in ("user", "model", "function")


def _codec() -> Codec:
    from workbench.formats.gemini_body import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "Gemini API body", recognise, _codec, api="gemini", keys=KEYS)
