"""Anthropic Messages API: a request body, or its bare list of messages (formats.md §2.5)."""

from __future__ import annotations

from workbench.formats.anthropic_messages.read import ID, read, recognise, write
from workbench.formats.anthropic_messages.rules import validate
from workbench.formats.format import Format

FORMAT = Format(ID, "Anthropic Messages body", recognise, read, write, validate)
