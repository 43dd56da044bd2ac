"""Settings as a form shows them: their order, values in words, and typed values parsed."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from pydantic import ValidationError

from workbench.base.environment import PREFIX
from workbench.compaction.labels import choice_of, label_of
from workbench.compaction.policy import Policy
from workbench.compaction.settings import Setting, settings_of
from workbench.tui.plain import figure


@cache
def fields_of(policy: type[Policy]) -> tuple[Setting, ...]:
    """Fields of the form, group by group: those that the policy declares before inherited ones, long texts last."""
    own = list(inspect.get_annotations(policy))
    found = sorted(settings_of(policy), key=lambda one: own.index(one.path[0]) if one.path[0] in own else len(own))
    order = list(dict.fromkeys(one.group for one in found))
    return tuple(sorted(found, key=lambda one: (order.index(one.group), one.kind == "lines")))


def allowed_words(field: Setting) -> str:
    """Range of a field in words: `at least 0, at most 50 000`."""
    bounds = (
        ("at least", field.range.low),
        ("more than", field.range.above),
        ("at most", field.range.high),
        ("less than", field.range.below),
    )
    return ", ".join(f"{words} {_number(bound)}" for words, bound in bounds if bound is not None)


def _number(value: float) -> str:
    return figure(value) if float(value).is_integer() else f"{value:g}"


def input_text(value: Any) -> str:
    """Value as text in an input."""
    whole = isinstance(value, float) and value.is_integer()
    return "" if value is None else str(int(value) if whole else value)


def changed_fields(policy: Policy, preset: Policy) -> tuple[Setting, ...]:
    """Fields in which a policy differs from its preset's, in the form's order."""
    return tuple(field for field in fields_of(type(policy)) if field.of(policy) != field.of(preset))


def is_model_text(field: Setting) -> bool:
    """True for a text that is sent to a model, not a template of the new messages."""
    return field.kind == "lines" and "template" not in field.key


def changes_model_text(policy: Policy, preset: Policy) -> bool:
    """True if a text for a model differs. Offline summarizers ignore these."""
    return type(policy) is type(preset) and any(map(is_model_text, changed_fields(policy, preset)))


def value_words(field: Setting, value: Any) -> str:
    """Value in words: `50 000 tokens`, `on`, `nothing`; a long text by its number of characters."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return f"{_number(value)}\u00a0{field.unit}" if field.unit else _number(value)
    if field.kind == "lines":
        return f"{figure(len(value))} characters" if value else "nothing"
    if field.kind == "choice":
        return f"“{choice_of(field.path[-1], value)}”"
    return repr(value) if value or value == "" else "nothing"


def condition_words(field: Setting) -> str:
    """Condition under which a field has an effect: `“Clear calls' inputs too” is on`; "" if it always has."""
    return " and ".join(
        f"“{label_of(name)}” is {'set' if wanted is None else ' or '.join(_value_name(name, one) for one in wanted)}"
        for name, wanted in field.needs
    )


def _value_name(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"“{choice_of(name, value)}”" if isinstance(value, str) else input_text(value)


def help_words(field: Setting, preset_value: object = None, *, differs: bool = False, source: str = "default") -> str:
    """Help of a setting: its meaning, allowed values, default, condition, source, and the preset's value if it differs.
    `source` is that of `Preset.source_of`."""
    facts = [f"allowed: {allowed}"] if (allowed := allowed_words(field)) else []
    if field.choices:
        facts.append(f"one of {', '.join(_with_id(field, one) for one in field.choices)}")
    if field.unit:
        facts.insert(0, field.unit)
    if field.kind != "lines" and field.default not in (None, ""):
        facts.append(f"default {value_words(field, field.default)}")
    text = " ".join(filter(None, (field.help, f"({', '.join(facts)})" if facts else "")))
    if field.needs:
        text += f" Counts only where {condition_words(field)}."
    origin = f"${source}" if source.startswith(PREFIX) else source
    if differs:
        was = origin if origin != source else "preset"
        return f"{text} ≠ {was}: {value_words(field, preset_value)}; ctrl+z goes back to it."
    return text if origin == "default" else f"{text} From {'the preset' if origin == 'preset' else origin}."


def _with_id(field: Setting, choice: str) -> str:
    """Choice as the form names it, with its id in brackets."""
    words = choice_of(field.path[-1], choice)
    return words if words == choice else f"{words} ({choice})"


class InvalidValue(ValueError):
    """Error for a typed value that is not allowed; the message says why, or what is allowed."""


def with_typed(policy: Policy, field: Setting, typed: str | bool) -> tuple[Policy, dict[str, Any]]:
    """Policy with a typed value for one field, and the change itself. Raises InvalidValue."""
    changes = field.changes(policy, value_of(field, typed))
    try:
        return policy.with_(**changes), changes
    except ValidationError as error:
        first = error.errors()[0]
        reason = first["msg"].removeprefix("Value error, ").rstrip(".")
        if (allowed := allowed_words(field)) and first["type"].startswith(("greater", "less")):
            reason = f"allowed is {allowed}"
        where = ".".join(str(part) for part in first["loc"])
        about = "" if where in ("", field.key) else f"{where}: "
        raise InvalidValue(f"{about}{reason}") from None


def value_of(field: Setting, typed: str | bool) -> Any:
    """Parse a typed value for a field. Raises InvalidValue."""
    if isinstance(typed, bool):
        return typed
    text = typed.strip()
    if field.optional and not text:
        return None
    if field.kind in ("whole", "real"):
        digits = "".join(text.replace("_", "").split())
        try:
            return int(digits) if field.kind == "whole" else float(digits)
        except ValueError:
            kind = "a whole number" if field.kind == "whole" else "a number"
            allowed = f", {words}" if (words := allowed_words(field)) else ""
            instead = f"not {text[:20]!r}" if text else "not nothing"
            raise InvalidValue(f"{kind} is wanted{allowed}, {instead}") from None
    return typed
