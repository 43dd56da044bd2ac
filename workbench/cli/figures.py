"""What commands tell of sizes: in words and as JSON."""

from __future__ import annotations

from workbench.base.text import counted
from workbench.cli.output import json_keys
from workbench.compaction.layers import Layer
from workbench.tokens.sizes import Size


def size_words(size: Size) -> str:
    return f"{counted(size.messages, 'message')}, {counted(size.chars, 'character')}, {size} tokens"


json_keys(Size, "messages", "chars", "tokens")
json_keys(Layer, "name", "tokens", "basis")
