"""Requests and tasks as texts: the newest request of the user, and whether a text may name a request or task.

These functions need no outcome of a compaction, so that they judge any text, such as a summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.analysis.head_index import stems
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste

NEAR = 0.4
"""Share of the words of a request or task that a line must have to name it in other words."""

LEAST_WORDS = 2
"""Fewest meaningful words of a request that names a task; "yes, go on" names none."""


def newest_request(requests: Sequence[Fact]) -> Fact | None:
    """Return the newest of the user's requests that names a task. A mere agreement ("yes, go on") stands for the
    request before it, if that was not answered. Return None if that was answered, because then the user agrees with
    something that the agent proposed, and if no request names a task."""
    for number, fact in enumerate(reversed(requests)):
        if number and fact.ok:
            return None
        if not is_mere_agreement(fact.text):
            return fact
    return None


def typed_request(request: str) -> str:
    """Return the typed part of a request, or all of it if that part says nothing."""
    typed = without_paste(request)
    return typed if len(stems(typed)) >= LEAST_WORDS else request


def is_mere_agreement(request: str) -> bool:
    """Return whether a request only agrees to go on and names no task."""
    return len(stems(typed_request(request), _GO_AHEAD)) < LEAST_WORDS


_GO_AHEAD_WORDS = (
    "yes yeah yep ok okay sure go ahead continue proceed keep going resume resumed session pick left off where good "
    "fine right now lets start implement do done until finish work 好 继续"
)
_GO_AHEAD = frozenset(_GO_AHEAD_WORDS.split())


class NamingLines:
    """Lines of texts, as sets of the stems of their words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines = list({words for text in texts for line in text.splitlines() if (words := stems(line))})

    def may_name(self, text: str) -> bool:
        """True if a line has a share of `NEAR` of the words of `text`, in any order."""
        words = stems(text)
        return any(len(words & line) >= NEAR * len(words) for line in self._lines)


RUNNING_WORDS = re.compile(
    r"\bbackground\b|\brunning\b|\bin flight\b|\bwatcher\b|\b(?:dev )?server\b|后台|运行", re.IGNORECASE
)
"""Words with which a summary may speak of a background task."""
