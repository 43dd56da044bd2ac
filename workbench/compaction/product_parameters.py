"""Convert a product's parameters (JSON from its feature flags) to a policy, and a policy to such JSON.

As in the product, null, empty and missing values mean the default. Unknown names are ignored and reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.compaction.policy import explain
from workbench.compaction.settings import settings_of
from workbench.compaction.strategy import P, ParsedPolicy, ProductParameters, Strategy

WRAPPER = "feature_flags"


def flag(
    name: str,
    policy_type: type[P],
    documented: Sequence[str],
    *,
    defaults: Mapping[str, Any],
    other_flags: Mapping[str, str] | None = None,
) -> ProductParameters[P]:
    """Return the reader and writer of the JSON object under the flag `name`.

    It reads the object alone, the flag's string value, the object under its name, or all flags; keys in snake_case or
    camelCase. It sets any setting of the policy. Reading raises BadInput.

    `documented`: keys that are always written; other settings only if reading would not restore them. `defaults`: the
    product's defaults that differ from the policy's. `other_flags`: field by flag name, for flags that set one field
    each; "" is a valid value of these fields.
    """
    others = other_flags or {}

    def read(text: str) -> ParsedPolicy[P]:
        parsed = _json_object(text)
        if WRAPPER in parsed:
            flags = _json_object(parsed.pop(WRAPPER))
        elif parsed.keys() & {name, *others}:
            flags, parsed = parsed, {}
        else:
            flags, parsed = {name: parsed}, {}
        own = _json_object(flags.pop(name, None))
        set_elsewhere = {field: flags.pop(other, None) for other, field in others.items()}
        values, unknown = _split_known(policy_type, own, empty=set_elsewhere)
        values = {field: str(value) for field, value in set_elsewhere.items() if value is not None} | values
        try:
            policy = policy_type.model_validate({**defaults, **values})
        except ValidationError as error:
            raise BadInput(f"{name}: {explain(error)}") from None
        keys = (one.key for one in settings_of(policy_type) if one.is_in(values))
        return ParsedPolicy(policy, tuple(keys), (*unknown, *flags, *parsed))

    def write(policy: P) -> str:
        values = policy.model_dump(mode="json")
        names = {key: policy_type.today(key).name for key in documented}
        theirs = {key: values[name] for key, name in names.items()}
        # Also write values that reading would not restore: not the product's default, or not the prompt's language.
        read = policy_type.model_validate({**defaults, **{name: values[name] for name in names.values()}})
        known = read.model_dump(mode="json")
        more = {key: value for key, value in values.items() if value != known[key]}
        return json.dumps(theirs | more, indent=2, ensure_ascii=False)

    about = f"{name}: the JSON object, the flag's string value, or the complete {WRAPPER}."
    return ProductParameters(name=name, about=about, read=read, write=write)


def parse_with_best(strategies: Sequence[Strategy[Any]], text: str) -> tuple[Strategy[Any], ParsedPolicy[Any]]:
    """Return the strategy with the most accepted minus ignored names (the first of equal ones), and the policy that it
    parses. At least one strategy must have parameters. Raises BadInput."""
    read = [(one, one.parameters.read(text)) for one in strategies if one.parameters]
    return max(read, key=lambda found: len(found[1].accepted) - len(found[1].ignored))


def _json_object(value: Any) -> dict[str, Any]:
    """Return an object, or the object that a text holds as JSON, with its keys in snake_case; {} for None and blank
    text. Raises BadInput for anything else."""
    try:
        while isinstance(value, str):
            value = json.loads(value) if value.strip() else None
    except json.JSONDecodeError as error:
        raise BadInput(
            f"The parameters are not valid JSON (line {error.lineno}: {error.msg}); paste one JSON object."
        ) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadInput(
            "The parameters are not a JSON object; paste the flag's value, or the feature_flags object around it."
        )
    return {_snake_case(key): inner for key, inner in value.items()}


def _snake_case(name: str) -> str:
    """Convert `cacheTTLMs` to `cache_ttl_ms`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _split_known(
    policy: type[P], parsed: Mapping[str, Any], empty: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields that an object sets, and its unknown keys. "" is a value only for the fields in `empty`."""
    keys = {one.key for one in settings_of(policy)}
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name, value in parsed.items():
        now = policy.today(name)
        if now.name in keys and now.name not in values:
            if value is not None and (value != "" or now.name in empty):
                values[now.name] = now.value(value)
        elif any(key.startswith(f"{now.name}.") for key in keys):
            inside = _json_object(value)
            unknown += [f"{name}.{one}" for one in inside if f"{now.name}.{one}" not in keys]
            known = {one: inner for one, inner in inside.items() if f"{now.name}.{one}" in keys}
            values[now.name] = {one: inner for one, inner in known.items() if inner not in (None, "")}
        else:
            unknown.append(name)
    return values, tuple(unknown)
