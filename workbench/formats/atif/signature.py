"""Recognise ATIF trajectories."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "atif"
KEYS = frozenset(["agent", "final_metrics", "schema_version", "session_id", "steps"])


def recognise(look: Look) -> str:
    version = dict_of(look.document).get("schema_version")
    return f"schema_version {version}" if isinstance(version, str) and version.startswith("ATIF-") else ""
