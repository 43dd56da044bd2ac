"""Remove the tags around a summary."""

from __future__ import annotations

import re

_OUTER = re.compile(r"\A\s*<summary>(.*)</summary>\s*\Z", re.DOTALL)


def without_summary_tags(text: str) -> str:
    """Remove one outer pair of `<summary>` tags. Both prompt and template may ask for them."""
    match = _OUTER.match(text)
    return match[1].strip() if match else text.strip()


_INNER = re.compile(r"<summary[^>]*>(.*)</summary>", re.DOTALL)


def summary_inside(text: str) -> str:
    """Summary in the text of a summary message: the content of its `<summary>` tags, else the whole text."""
    match = _INNER.search(text)
    return (match[1] if match else text).strip()
