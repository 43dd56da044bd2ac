"""What every policy has, and how it declares its settings: they make the form on the screen, the flags on the command
line and the presets."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

EarlierSummary = Literal["drop", "keep", "nest", "extend"]


def setting(
    default: Any, group: str, description: str, *, unit: str = "", multiline: bool = False, **limits: Any
) -> Any:
    """A policy's field in one line: its default, the group in which the form shows it, its help, its unit unless its
    name says it, whether it is a text to edit, and pydantic's limits of its range."""
    extra: dict[str, Any] = {"group": group}
    if unit:
        extra["unit"] = unit
    if multiline:
        extra["multiline"] = True
    return Field(default, description=description, json_schema_extra=extra, **limits)


class Policy(BaseModel):
    """Base of all policies: frozen, closed. Its fields are declared with `setting`."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    earlier_summary: EarlierSummary = setting(
        "drop",
        "summary",
        "What becomes of an earlier summary: drop it; keep it where it stands; nest it in the new request as context; "
        "or extend it: summarize only what came after and carry its text on.",
    )

    def with_(self, **changes: Any) -> Policy:
        """A copy with fields changed, validated. Raises pydantic.ValidationError."""
        return type(self).model_validate({**self.model_dump(), **changes})


def explain(error: ValidationError, prefix: str = "") -> str:
    """A validation error as one sentence: field, value, and what is allowed."""
    first = error.errors(include_url=False)[0]
    name = ".".join([*([prefix] if prefix else []), *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"there is no field {name!r}."
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.{more}"


def names_in(text: str) -> frozenset[str]:
    """The names in a setting that lists them with commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())
