"""Detect the language of a text for a model, and find its version in the other language.

All texts of a policy are in its `language` (000-120): a text that is clearly in the other language is not sent.
"""

from __future__ import annotations

import re
from typing import Literal

from workbench.base.session_caches import session_cache
from workbench.compaction.prompts import load_prompt, prompt_files

Language = Literal["en", "zh"]
NAMES: dict[Language, str] = {"en": "English", "zh": "Chinese"}

_PLACEHOLDER_OR_TAG = re.compile(r"\{\w{1,60}\}|<[^<>\n]{1,200}>")
"""Placeholders and tags, which belong to no language."""
_LATIN = re.compile(r"[A-Za-z]")
_HAN = re.compile(r"[\u3400-\u9fff]")
FEWEST_LATIN, FEWEST_HAN = 10, 4
"""Fewest letters and fewest Chinese characters for which a language is detected."""
LATIN_FOR_HAN = 3
"""Latin letters (names, titles, commands) that a Chinese text may have per Chinese character."""


@session_cache(256)
def language_of(text: str) -> Language | None:
    """Language of a text if clear: English without any Chinese character, or mainly Chinese. None for a mixed text,
    which may be meant for either language, and for a very short text."""
    words = _PLACEHOLDER_OR_TAG.sub("", text)
    latin, han = len(_LATIN.findall(words)), len(_HAN.findall(words))
    if not han:
        return "en" if latin >= FEWEST_LATIN else None
    return "zh" if han >= FEWEST_HAN and latin <= LATIN_FOR_HAN * han else None


def version_of(text: str, language: Language) -> str | None:
    """Built-in prompt that says in `language` what the text says in the other language; None if the text is not a
    built-in prompt."""
    other: Language = "en" if language == "zh" else "zh"
    names = prompt_files()
    for name in names:
        stem, dot, ending = name.rpartition(f".{other}.")
        sister = f"{stem}.{language}.{ending}"
        if dot and sister in names and load_prompt(name).text.strip() == text.strip():
            return load_prompt(sister).text
    return None
