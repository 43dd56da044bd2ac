"""By what a file is known: ATIF trajectory."""

from __future__ import annotations

from workbench.formats.kit.document import glimpse
from workbench.formats.kit.values import dict_of

ID = "atif"


def recognise(head: bytes) -> str:
    version = dict_of(glimpse(head)).get("schema_version")
    return f"schema_version {version}" if isinstance(version, str) and version.startswith("ATIF-") else ""
