"""Recognise the texts of Augment's summaries and of the answers to them."""

from __future__ import annotations

import re

RESUMED = ("Ok. I will continue", "好的，我将从这里继续")
"""Beginnings of the answer to a summary that is a separate exchange."""

_SUPERVISOR = re.compile(r"\s*<supervisor>.*<summary[ >]", re.DOTALL)


def is_supervisors(text: str) -> bool:
    """True for a text in the form of Augment's summaries."""
    return _SUPERVISOR.match(text) is not None
