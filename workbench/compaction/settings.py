"""Settings of a policy: group, kind, range, choices, unit, help, conditions, old names.

They are read once from each policy's pydantic model, for all code that shows, sets or varies a policy.
"""

from __future__ import annotations

import difflib
import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from workbench.base.errors import BadInput
from workbench.compaction.policy import Converted, Needs, Policy, declared

Kind = Literal["whole", "real", "text", "lines", "switch", "choice"]
"""Integer, any number, one line of text, several lines, yes or no, one of several words."""

Number = int | float

PolicyT = TypeVar("PolicyT", bound=Policy)


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a number, None if unbounded: at least `low` or more than `above`; at most `high` or less than
    `below`."""

    low: Number | None = None
    above: Number | None = None
    high: Number | None = None
    below: Number | None = None


@dataclass(frozen=True)
class Setting:
    """One field of a policy. `path`: its name, or two names for a field of a group. `optional`: may be empty.
    `default`: value in a new policy. `needs`: conditions on other fields without which it has no effect."""

    path: tuple[str, ...]
    group: str
    kind: Kind
    help: str
    unit: str = ""
    range: Range = Range()
    default: Any = None
    choices: tuple[str, ...] = ()
    optional: bool = False
    old: tuple[str, ...] = ()
    needs: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()
    """Fields with the values for which this setting has an effect; None: any value but 0, off and empty."""

    @property
    def key(self) -> str:
        """Dotted name."""
        return ".".join(self.path)

    @property
    def label(self) -> str:
        """Name, with the unit unless the name contains it."""
        name = self.path[-1]
        unit_in_name = not self.unit or self.unit[:4] in name or name.endswith(f"_{self.unit}")
        return name if unit_in_name else f"{name} ({self.unit})"

    def of(self, policy: BaseModel) -> Any:
        """Value in a policy."""
        value: Any = policy
        for name in self.path:
            value = getattr(value, name)
        return value

    def changes(self, policy: BaseModel, value: Any) -> dict[str, Any]:
        """Arguments of `Policy.with_` that set the value; a group is set as a whole."""
        if len(self.path) == 1:
            return {self.path[0]: value}
        group: BaseModel = getattr(policy, self.path[0])
        return {self.path[0]: {**group.model_dump(), self.path[1]: value}}

    def is_in(self, values: Mapping[str, Any]) -> bool:
        """True if values from a file or object contain this setting."""
        head, *rest = self.path
        return head in values and (not rest or rest[0] in values[head])

    def read(self, text: str) -> Any:
        """Value of a one-line text: JSON if it parses, else the text itself. Not validated yet.

        For a text setting, `"7"` and `7` both mean the text 7.
        """
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return text if self.kind in ("text", "lines") and not isinstance(value, str) else value

    def why_off(self, policy: BaseModel) -> str:
        """Reason why the setting has no effect in this policy, "" if it has one."""
        for name, values in self.needs:
            now = getattr(policy, name)
            if now not in values if values is not None else not now:
                return f"{name} is {_format_value(now)}"
        return ""

    @property
    def counts_where(self) -> str:
        """Conditions under which the setting has an effect, in words; "" for always."""
        return " and ".join(
            f"{name} is {' or '.join(map(_format_value, values)) if values is not None else 'not 0'}"
            for name, values in self.needs
        )


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def settings_of(policy: type[Policy]) -> tuple[Setting, ...]:
    """Settings of a policy in the order of its fields, with groups expanded. Fields of other types are omitted."""
    return _settings_of(policy)


@cache
def _settings_of(policy: type[Policy]) -> tuple[Setting, ...]:
    return tuple(_settings(policy, policy(), (), "", {}, policy.converted))


def _settings(
    model: type[BaseModel],
    defaults: BaseModel,
    path: tuple[str, ...],
    group: str,
    needs: Needs,
    converted: Mapping[str, Converted],
) -> Iterator[Setting]:
    for name, info in model.model_fields.items():
        declaration, annotation = declared(info), _without_none(info.annotation)
        default = getattr(defaults, name)
        if isinstance(default, BaseModel):
            words = name.removesuffix("_params").replace("_", " ")
            yield from _settings(type(default), default, (*path, name), words, declaration.needs, {})
        elif (kind := _kind_of_type(annotation, multiline=declaration.multiline)) is not None:
            yield Setting(
                (*path, name),
                group or declaration.group,
                kind,
                info.description or "",
                declaration.unit,
                _range(info),
                default,
                tuple(map(str, typing.get_args(annotation))) if kind == "choice" else (),
                annotation is not info.annotation,
                declaration.old + tuple(old for old, now in converted.items() if now.name == name),
                tuple((one, None if values is ... else values) for one, values in (declaration.needs or needs).items()),
            )


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        rest = [one for one in typing.get_args(annotation) if one is not types.NoneType]
        return rest[0] if len(rest) == 1 else annotation
    return annotation


def _kind_of_type(annotation: Any, *, multiline: bool) -> Kind | None:
    if typing.get_origin(annotation) is Literal:
        return "choice"
    kinds: Mapping[Any, Kind] = {bool: "switch", int: "whole", float: "real", str: "lines" if multiline else "text"}
    return kinds.get(annotation)


def _range(info: FieldInfo) -> Range:
    names = ("ge", "gt", "le", "lt")
    found = {name: getattr(rule, name) for rule in info.metadata for name in names if hasattr(rule, name)}
    return Range(*map(found.get, names))


def with_settings(policy: PolicyT, values: Mapping[str, Any]) -> PolicyT:
    """Policy with other values, by setting keys. Raises pydantic.ValidationError."""
    whole = policy.model_dump()
    changed: dict[str, Any] = {}
    for key, value in values.items():
        *group, name = key.split(".")
        (changed.setdefault(group[0], whole[group[0]]) if group else changed)[name] = value
    return policy.with_(**changed)


def setting_named(policy: type[Policy], name: str) -> Setting:
    """Setting by its dotted name. Raises BadInput with a suggestion."""
    known = {one.key: one for one in settings_of(policy)}
    if name in known:
        return known[name]
    group, _, rest = name.rpartition(".")
    if group in known:
        raise BadInput(f"{group} is a single setting, not a group.")
    inside = [key.removeprefix(f"{group}.") for key in known if key.startswith(f"{group}.")] if group else [*known]
    if group and not inside:
        raise BadInput(f"Setting {group!r} does not exist; {suggestion(group, policy.model_fields)}")
    raise BadInput(f"Setting {rest!r} does not exist; {suggestion(rest, inside)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """End of a sentence about an unknown name: the closest known name, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1, 0.4)
    return f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(names)}."
