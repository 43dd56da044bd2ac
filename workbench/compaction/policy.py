"""What every policy has. A policy's fields make the form on the screen, the flags on the command line and the
presets."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

EarlierSummary = Literal["drop", "keep", "nest", "extend"]


class Policy(BaseModel):
    """Base of all policies: frozen, closed. Every field has a description (help), a range, and its unit in its name or
    in `json_schema_extra={"unit": …}`; `json_schema_extra={"group": …}` says where the form shows it, and
    `{"multiline": True}` that it is a text to edit."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    earlier_summary: EarlierSummary = Field(
        default="drop",
        description="What becomes of an earlier summary: drop it; keep it where it stands; nest it in the new request "
        "as context; or extend it: summarize only what came after and carry its text on.",
        json_schema_extra={"group": "summary"},
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
