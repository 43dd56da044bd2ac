"""Recognise Zed threads."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "zed"
KEYS = frozenset({"request_token_usage", "cumulative_token_usage", "initial_project_snapshot", "detailed_summary"})

_COLUMNS = frozenset({"id", "summary", "updated_at", "data_type", "data"})
_ENTRIES = ("User", "Agent", "Compaction")


def recognise(look: Look) -> str:
    if look.tables.get("threads", frozenset()) >= _COLUMNS:
        return "a database with Zed's table of threads"
    document = look.unpacked.first if look.unpacked is not None else look.first
    entries = [dict_of(entry) for entry in list_of(document.get("messages"))]
    dated = "updated_at" in document or "version" in document
    if dated and any(name in entry for entry in entries for name in _ENTRIES):
        return "messages keyed by User and Agent, as in a Zed thread"
    return ""
