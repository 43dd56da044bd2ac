"""Template and tags around the text of a summary: put around a new summary, removed from an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.compaction.context import Context
from workbench.compaction.prompts import fill
from workbench.compaction.vocabulary import EarlierSummary


def summaries_in_request(context: Context, earlier: Iterable[int], choice: EarlierSummary) -> tuple[int, ...]:
    """Return the indexes of earlier summaries whose text goes into the request: none unless `choice` is "nest" or
    "extend". An agent's reply to a summary says nothing new and is left out."""
    if choice not in ("nest", "extend"):
        return ()
    messages, found = context.messages, set(earlier)
    return tuple(i for i in sorted(found) if messages[i].role != "assistant" or i - 1 not in found)


def text_of_summaries(context: Context, indexes: Iterable[int], *templates: str) -> str:
    """Text of earlier summaries, oldest first, without the templates around them. `templates`: this strategy's own, in
    every language."""
    return "\n\n".join(strip_template(context.messages[index].text, *templates) for index in indexes)


def apply_template(template: str, summary: str) -> str:
    """Put a summary into its template. A summary that already contains the template's opening words is returned
    unchanged."""
    before = template.partition("{summary}")[0].strip()
    return summary if before and before in summary else fill(template, {"summary": summary})


def strip_template(text: str, *templates: str) -> str:
    """Text of an earlier summary without the template around it. Other placeholders of the template match anything."""
    bare = text.strip()
    for template in templates:
        before, after = (_fixed(part) for part in template.partition("{summary}")[::2])
        start = bare.find(before[-1]) if before and bare.startswith(before[0]) else -1
        stop = bare.rfind(after[0]) if after else len(bare)
        if 0 <= start < stop:
            return bare[start + len(before[-1]) : stop].strip()
    return summary_inside(text)


def _fixed(part: str) -> list[str]:
    """Fixed parts of a template between its placeholders."""
    return [text for piece in _PLACE.split(part) if (text := piece.strip())]


_PLACE = re.compile(r"\{\w+\}")


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
