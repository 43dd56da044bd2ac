"""Textual's own list with as many rows as there are messages, and nothing else: what a key costs at the least."""

from __future__ import annotations

import sys

from textual.app import App, ComposeResult
from textual.widgets import OptionList


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield OptionList(*(f"row {number}" for number in range(int(sys.argv[1]))))


if __name__ == "__main__":
    Bare().run()
