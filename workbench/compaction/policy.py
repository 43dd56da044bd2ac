"""Base of all policies, and the declaration of settings. Declared settings become the form on the screen, the flags on
the command line and the keys of presets. `workbench.compaction.settings` reads the declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import EllipsisType
from typing import Any, ClassVar, Self

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Needs = Mapping[str, tuple[Any, ...] | EllipsisType]
"""Other fields with the values for which a field has an effect; `...`: any value but 0, off and empty."""


class Declared(Struct, frozen=True):
    """Declaration of a field beyond its type, range and help."""

    group: str
    unit: str
    multiline: bool
    old: tuple[str, ...]
    needs: Needs


def setting(
    default: Any,
    group: str,
    description: str,
    *,
    unit: str = "",
    multiline: bool = False,
    old: tuple[str, ...] = (),
    needs: Needs | None = None,
    **limits: Any,
) -> Any:
    """Declare a policy field: default (or a function that returns it), group in the form, help, unit unless its name
    contains it, whether it is a multi-line text, old names, conditions on other fields, and pydantic's limits."""
    extra: Any = {"declared": Declared(group, unit, multiline, old, needs or {})}
    if callable(default):
        return Field(default_factory=default, description=description, json_schema_extra=extra, **limits)
    return Field(default, description=description, json_schema_extra=extra, **limits)


class Converted(Struct, frozen=True):
    """Replacement of a removed field: its current `name`, and `value`, which converts old values. Without a `name` the
    field had no effect and is ignored."""

    name: str = ""
    value: Callable[[Any], Any] = lambda old: old


class Policy(BaseModel):
    """Base of all policies: frozen, without unknown fields. Fields are declared with `setting`. Old names are accepted
    everywhere."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    foremost: ClassVar[tuple[str, ...]] = ()
    """Settings that a form with many settings shows before the others."""

    converted: ClassVar[Mapping[str, Converted]] = {}
    """Removed fields, by name."""

    @model_validator(mode="before")
    @classmethod
    def _with_current_names(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        found: dict[str, Any] = {}
        for name, value in values.items():
            today = cls.today(name)
            if today.name in found:
                raise ValueError(f"{name} is another name of {today.name}; set only one of them")
            if today.name:
                found[today.name] = today.value(value)
        return found

    @classmethod
    def today(cls, name: str) -> Converted:
        """Current field for a name, which may be an old one."""
        new = _renamed(cls).get(name)
        return Converted(new) if new else cls.converted.get(name, Converted(name))

    def unsent_texts(self) -> Iterable[str]:
        """Texts of the policy that are not sent, one sentence each with the reason."""
        return ()

    def with_(self, **changes: Any) -> Self:
        """Validated copy with fields changed. Raises pydantic.ValidationError."""
        values = {self.today(name).name for name in changes}
        unchanged = {name: value for name, value in self.model_dump().items() if name not in values}
        return type(self).model_validate({**unchanged, **changes})


@cache
def _renamed(policy: type[Policy]) -> Mapping[str, str]:
    """Current field names by old names."""
    fields = reversed(policy.model_fields.items())
    return {old: new for new, field in fields for old in declared(field).old if old != new}


_PLAIN = Declared("", "", False, (), {})


def declared(field: Any) -> Declared:
    """Declaration that `setting` stored in a pydantic field."""
    extra = field.json_schema_extra
    found: Declared = extra.get("declared", _PLAIN) if isinstance(extra, dict) else _PLAIN
    return found


def explain(error: ValidationError, prefix: str = "") -> str:
    """Validation error as one sentence: field, value, and what is allowed."""
    first = error.errors(include_url=False)[0]
    name = ".".join([*([prefix] if prefix else []), *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"setting {name!r} does not exist."
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    problem = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"{problem}.{more}"
    return f"{name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.{more}"


def names_in(text: str) -> frozenset[str]:
    """Names in a setting that lists names separated by commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())
