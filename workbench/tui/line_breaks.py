"""Where lines may be broken. Rich takes a no-break space for a space, so that figures stood on two lines."""

from __future__ import annotations

import re

from rich import _wrap

WORD = re.compile(r"[^\S\u00a0\u202f]*[\S\u00a0\u202f]+[^\S\u00a0\u202f]*")


def keep_figures_whole() -> None:
    """Break no line at a no-break space, in whatever Rich or Textual wraps from now on."""
    _wrap.re_word = WORD
