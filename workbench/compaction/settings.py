"""What is known of a policy's fields: group, kind, range, choices, unit, help, when they count, the names they had.

Read off the pydantic model once for each type of policy, for whoever shows, sets or varies a policy: nothing describes
a setting twice.
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
"""A whole number, any number, a text of one line or of several, yes or no, one of several words."""

Number = int | float

PolicyT = TypeVar("PolicyT", bound=Policy)


@dataclass(frozen=True, slots=True)
class Range:
    """The bounds of a number, None where there is none: from `low` or above `above`, to `high` or below `below`."""

    low: Number | None = None
    above: Number | None = None
    high: Number | None = None
    below: Number | None = None


@dataclass(frozen=True)
class Setting:
    """One field of a policy. `path` has two names for a field of a group; `optional`: it may be left empty.

    `default` is what a new policy has. `needs` are the fields, each with the values, without which it does nothing.
    """

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
    """By field the values at which this one counts, None for all but 0, off and empty."""

    @property
    def key(self) -> str:
        """The dotted name."""
        return ".".join(self.path)

    @property
    def label(self) -> str:
        """Its own name, with its unit where the name does not tell it."""
        name = self.path[-1]
        told = not self.unit or self.unit[:4] in name or name.endswith(f"_{self.unit}")
        return name if told else f"{name} ({self.unit})"

    def of(self, policy: BaseModel) -> Any:
        """The value in a policy."""
        value: Any = policy
        for name in self.path:
            value = getattr(value, name)
        return value

    def changes(self, policy: BaseModel, value: Any) -> dict[str, Any]:
        """The changes for `Policy.with_` that set it, a group given whole."""
        if len(self.path) == 1:
            return {self.path[0]: value}
        group: BaseModel = getattr(policy, self.path[0])
        return {self.path[0]: {**group.model_dump(), self.path[1]: value}}

    def is_in(self, values: Mapping[str, Any]) -> bool:
        """Whether a policy's values, as a file or an object has them, hold one for it."""
        head, *rest = self.path
        return head in values and (not rest or rest[0] in values[head])

    def read(self, text: str) -> Any:
        """What a text of one line says: JSON where it is JSON, else the text itself. Not checked yet.

        For a text field `"7"` and `7` both mean the text 7.
        """
        try:
            value = json.loads(text)
        except ValueError:
            return text
        return text if self.kind in ("text", "lines") and not isinstance(value, str) else value

    def why_off(self, policy: BaseModel) -> str:
        """Why it does nothing in this policy, "" where it counts."""
        for name, values in self.needs:
            now = getattr(policy, name)
            if now not in values if values is not None else not now:
                return f"{name} is {_said(now)}"
        return ""

    @property
    def counts_where(self) -> str:
        """Where it counts, in words; "" for everywhere."""
        return " and ".join(
            f"{name} is {' or '.join(map(_said, values)) if values is not None else 'not 0'}"
            for name, values in self.needs
        )


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def settings_of(policy: type[Policy]) -> tuple[Setting, ...]:
    """Every setting of a policy in the order of its fields, groups opened to theirs. Fields that are neither number,
    word, text nor switch are left out."""
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
        said, annotation = declared(info), _without_none(info.annotation)
        default = getattr(defaults, name)
        if isinstance(default, BaseModel):
            words = name.removesuffix("_params").replace("_", " ")
            yield from _settings(type(default), default, (*path, name), words, said.needs, {})
        elif (kind := _kind(annotation, multiline=said.multiline)) is not None:
            yield Setting(
                (*path, name),
                group or said.group,
                kind,
                info.description or "",
                said.unit,
                _range(info),
                default,
                tuple(map(str, typing.get_args(annotation))) if kind == "choice" else (),
                annotation is not info.annotation,
                said.old + tuple(old for old, now in converted.items() if now.name == name),
                tuple((one, None if values is ... else values) for one, values in (said.needs or needs).items()),
            )


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (Union, types.UnionType):
        rest = [one for one in typing.get_args(annotation) if one is not types.NoneType]
        return rest[0] if len(rest) == 1 else annotation
    return annotation


def _kind(annotation: Any, *, multiline: bool) -> Kind | None:
    if typing.get_origin(annotation) is Literal:
        return "choice"
    kinds: Mapping[Any, Kind] = {bool: "switch", int: "whole", float: "real", str: "lines" if multiline else "text"}
    return kinds.get(annotation)


def _range(info: FieldInfo) -> Range:
    names = ("ge", "gt", "le", "lt")
    found = {name: getattr(rule, name) for rule in info.metadata for name in names if hasattr(rule, name)}
    return Range(*map(found.get, names))


def with_settings(policy: PolicyT, values: Mapping[str, Any]) -> PolicyT:
    """The policy with other values, by the keys of settings. Raises pydantic.ValidationError."""
    whole = policy.model_dump()
    changed: dict[str, Any] = {}
    for key, value in values.items():
        *group, name = key.split(".")
        (changed.setdefault(group[0], whole[group[0]]) if group else changed)[name] = value
    return policy.with_(**changed)


def setting_named(policy: type[Policy], name: str) -> Setting:
    """A setting by its dotted name. Raises BadInput, which knows what may be meant."""
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
    """The end of a sentence about a name that does not exist: the one that may be meant, or all that there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1, 0.4)
    return f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(names)}."
