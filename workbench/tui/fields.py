"""A policy's fields as a form shows them, read off the pydantic model: nothing describes a setting twice."""

from __future__ import annotations

import inspect
import re
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from workbench.compaction.policy import Policy
from workbench.tui.plain import figure

Control = Literal["whole", "real", "text", "lines", "switch", "choice"]


@dataclass(frozen=True, slots=True)
class FormField:
    """One setting. `path` has two names for a field of a nested group; `allowed` is the range in words or ""."""

    path: tuple[str, ...]
    group: str
    control: Control
    help: str
    unit: str = ""
    allowed: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def label(self) -> str:
        """The field's name, with its unit where the name does not tell it."""
        name = self.path[-1]
        told = not self.unit or self.unit[:4] in name or name.endswith(f"_{self.unit}")
        return name if told else f"{name} ({self.unit})"

    @property
    def key(self) -> str:
        return ".".join(self.path)


@cache
def fields_of(model: type[BaseModel], path: tuple[str, ...] = (), group: str = "") -> tuple[FormField, ...]:
    """The form's fields, group by group: what the model itself declares before what it inherits, long texts last."""
    found: list[FormField] = []
    own = inspect.get_annotations(model)
    for name, info in sorted(model.model_fields.items(), key=lambda item: item[0] not in own):
        annotation, optional = _without_none(info.annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            found += fields_of(annotation, (*path, name), name.removesuffix("_params").replace("_", " "))
        elif (control := _control(annotation, info)) is not None:
            found.append(_field(info, (*path, name), group or _extra(info, "group") or "general", control, optional))
    order = list(dict.fromkeys(field.group for field in found))
    return tuple(sorted(found, key=lambda field: (order.index(field.group), field.control == "lines")))


def _field(info: FieldInfo, path: tuple[str, ...], group: str, control: Control, optional: bool) -> FormField:
    annotation, _ = _without_none(info.annotation)
    return FormField(
        path,
        group,
        control,
        info.description or "",
        _extra(info, "unit"),
        allowed_words(info),
        info.get_default(call_default_factory=True) if not info.is_required() else None,
        _choices(annotation, info) if control == "choice" else (),
        optional,
    )


def _extra(info: FieldInfo, name: str) -> str:
    extra = info.json_schema_extra
    return str(extra.get(name) or "") if isinstance(extra, dict) else ""


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in typing.get_args(annotation) if a is not type(None)]
        if len(rest) == 1:
            return rest[0], True
    return annotation, False


def _control(annotation: Any, info: FieldInfo) -> Control | None:
    """How a type is edited; None for what a form of lines cannot edit (lists, mappings): those stay with the preset."""
    if _choices(annotation, info):
        return "choice"
    if annotation is bool:
        return "switch"
    if annotation is int:
        return "whole"
    if annotation is float:
        return "real"
    if annotation is str:
        return "lines" if _extra(info, "multiline") else "text"
    return None


def _choices(annotation: Any, info: FieldInfo) -> tuple[str, ...]:
    """The values of a Literal, or of a pattern that only lists words; none for a field that is typed."""
    if typing.get_origin(annotation) is Literal:
        return tuple(str(choice) for choice in typing.get_args(annotation))
    patterns = (getattr(rule, "pattern", None) for rule in info.metadata)
    listed = next(
        (found for pattern in patterns if (found := re.fullmatch(r"\^\((\w+(?:\|\w+)+)\)\$", pattern or ""))), None
    )
    return tuple(listed[1].split("|")) if listed else ()


_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def allowed_words(info: FieldInfo) -> str:
    """The range in words: `at least 0, at most 50 000`."""
    words = []
    for rule in info.metadata:
        for name, phrase in _BOUNDS.items():
            bound = getattr(rule, name, None)
            if bound is not None:
                words.append(f"{phrase} {figure(bound) if float(bound).is_integer() else bound}")
    return ", ".join(words)


def value_of(policy: BaseModel, path: tuple[str, ...]) -> Any:
    value: Any = policy
    for name in path:
        value = getattr(value, name)
    return value


def shown(value: Any) -> str:
    """A value as it stands in an input."""
    return "" if value is None else str(value)


def differing(policy: BaseModel, preset: BaseModel) -> tuple[FormField, ...]:
    """The fields in which a policy is not what its preset says, in the form's order."""
    fields = fields_of(type(policy))
    return tuple(field for field in fields if value_of(policy, field.path) != value_of(preset, field.path))


def value_words(field: FormField, value: Any) -> str:
    """A value in words: `50 000 characters`, `on`, `34 lines`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        number = figure(value) if float(value).is_integer() else f"{value:g}"
        return f"{number}\u00a0{field.unit}" if field.unit else number
    if field.control == "lines":
        return f"{figure(len(value))} characters" if value else "nothing"
    return repr(value) if value or value == "" else "nothing"


def changes_of(policy: Policy, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The changes for `Policy.with_` that set one field, a nested group given whole."""
    if len(path) == 1:
        return {path[0]: value}
    return {path[0]: {**value_of(policy, path[:1]).model_dump(), path[1]: value}}


class Refused(ValueError):
    """A typed value that the policy does not take; the message says why and what is allowed."""


def changed(policy: Policy, field: FormField, typed: str | bool) -> tuple[Policy, dict[str, Any]]:
    """The policy with what was typed into one field, and the change itself. Raises Refused with a sentence."""
    changes = changes_of(policy, field.path, _value(field, typed))
    try:
        return policy.with_(**changes), changes
    except ValidationError as error:
        first = error.errors()[0]
        reason = first["msg"].removeprefix("Value error, ").rstrip(".")
        if field.allowed and first["type"].startswith(("greater", "less")):
            reason = f"allowed is {field.allowed}"
        where = ".".join(str(part) for part in first["loc"])
        about = "" if where in ("", field.key) else f"{where}: "
        raise Refused(f"{about}{reason}") from None


def _value(field: FormField, typed: str | bool) -> Any:
    if isinstance(typed, bool):
        return typed
    text = typed.strip()
    if field.optional and not text:
        return None
    if field.control in ("whole", "real"):
        digits = "".join(text.replace("_", "").split())
        try:
            return int(digits) if field.control == "whole" else float(digits)
        except ValueError:
            kind = "a whole number" if field.control == "whole" else "a number"
            allowed = f", {field.allowed}" if field.allowed else ""
            given = f"not {text[:20]!r}" if text else "not nothing"
            raise Refused(f"{kind} is wanted{allowed}, {given}") from None
    return typed
