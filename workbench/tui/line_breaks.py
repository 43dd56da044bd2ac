"""Where lines may be broken: in no figure, whether `161 204` has a no-break space or another one. Rich takes each for
the end of a word."""

from __future__ import annotations

import re

from rich import _wrap

from workbench.base.figures import IN_A_FIGURE

WORD = re.compile(rf"[^\S\u00a0\u202f]*(?:[\S\u00a0\u202f]|{IN_A_FIGURE.pattern})+[^\S\u00a0\u202f]*")


def keep_figures_whole() -> None:
    """Break no line in a figure or at a no-break space, in whatever Rich or Textual wraps from now on."""
    _wrap.re_word = WORD
