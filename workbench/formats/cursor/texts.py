"""Recognise texts that Cursor adds to a user's message."""

from __future__ import annotations

from workbench.formats.kit.user_text import AgentTexts

TEXTS = AgentTexts(
    tags=(
        "additional_data", "attached_files", "manually_added_selection", "open_and_recently_viewed_files",
        "project_layout", "user_info",
    ),
    wrappers=("user_query",),
)  # fmt: skip
