"""What every policy has, and how it declares its settings: they make the form on the screen, the flags on the command
line and the presets. What is known of a setting is read back by `workbench.compaction.settings`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import EllipsisType
from typing import Any, ClassVar, Self

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Needs = Mapping[str, tuple[Any, ...] | EllipsisType]
"""Other fields, each with the values of it at which a field counts; `...` for all but 0, off and empty."""


class Declared(Struct, frozen=True):
    """What a field's declaration says beyond its type, range and help."""

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
    """A policy's field in one line: its default (or a function that gives it), the group in which the form shows it,
    its help, its unit unless its name says it, whether it is a text to edit, the names that it had, what must be chosen
    elsewhere for it to count, and pydantic's limits of its range."""
    extra: Any = {"declared": Declared(group, unit, multiline, old, needs or {})}
    if callable(default):
        return Field(default_factory=default, description=description, json_schema_extra=extra, **limits)
    return Field(default, description=description, json_schema_extra=extra, **limits)


class Converted(Struct, frozen=True):
    """An old field that is another one now: `value` turns its values into the new ones. Without a `name` it did
    nothing, and is left out."""

    name: str = ""
    value: Callable[[Any], Any] = lambda old: old


class Policy(BaseModel):
    """Base of all policies: frozen, closed. Its fields are declared with `setting`. Old names are taken wherever a
    policy is read."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    foremost: ClassVar[tuple[str, ...]] = ()
    """The settings that a person looks for first, where there are so many that a form shows them before the rest."""

    converted: ClassVar[Mapping[str, Converted]] = {}
    """Fields that went, by their names."""

    @model_validator(mode="before")
    @classmethod
    def _by_todays_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        found: dict[str, Any] = {}
        for name, value in given.items():
            today = cls.today(name)
            if today.name in found:
                raise ValueError(f"{name} is another name of {today.name}; set only one of them")
            if today.name:
                found[today.name] = today.value(value)
        return found

    @classmethod
    def today(cls, name: str) -> Converted:
        """What a field of this name is called today."""
        new = _renamed(cls).get(name)
        return Converted(new) if new else cls.converted.get(name, Converted(name))

    def unsent_texts(self) -> Iterable[str]:
        """What of its texts is not sent, and why, a sentence each."""
        return ()

    def with_(self, **changes: Any) -> Self:
        """A copy with fields changed, validated. Raises pydantic.ValidationError."""
        given = {self.today(name).name for name in changes}
        kept = {name: value for name, value in self.model_dump().items() if name not in given}
        return type(self).model_validate({**kept, **changes})


@cache
def _renamed(policy: type[Policy]) -> Mapping[str, str]:
    """What its fields are called today, by the names that they had."""
    fields = reversed(policy.model_fields.items())
    return {old: new for new, field in fields for old in declared(field).old if old != new}


_PLAIN = Declared("", "", False, (), {})


def declared(field: Any) -> Declared:
    """What `setting` was told of a pydantic field."""
    extra = field.json_schema_extra
    found: Declared = extra.get("declared", _PLAIN) if isinstance(extra, dict) else _PLAIN
    return found


def explain(error: ValidationError, prefix: str = "") -> str:
    """A validation error as one sentence: field, value, and what is allowed."""
    first = error.errors(include_url=False)[0]
    name = ".".join([*([prefix] if prefix else []), *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"setting {name!r} does not exist."
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    said = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"{said}.{more}"
    return f"{name} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.{more}"


def names_in(text: str) -> frozenset[str]:
    """The names in a setting that lists them with commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())
