"""How a policy declares a setting, in one line: default, the form's group, help, unit, range."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def setting(
    default: Any, group: str, description: str, *, unit: str = "", multiline: bool = False, **limits: Any
) -> Any:
    """A pydantic field with what the form, the command line and the presets need (see `Policy`)."""
    extra: dict[str, Any] = {"group": group}
    if unit:
        extra["unit"] = unit
    if multiline:
        extra["multiline"] = True
    return Field(default, description=description, json_schema_extra=extra, **limits)


def names_in(text: str) -> frozenset[str]:
    """The names in a setting that lists them with commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())
