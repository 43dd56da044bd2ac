"""Mask secrets in everything that is shown, written to a log, or saved in the run history.

A secret is recognized by its shape, by its name, or by its place (an address, a header, a command). Doubtful values are
masked. Expressions in code that only refer to a secret are not: `password = read_password()`,
`apiKey: process.env.API_KEY`, `postgres://{user}:{pw}@db`. The time is linear in the length of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal, get_args

from workbench.base.secrets.spans import SHORTEST
from workbench.base.text import clip

MASK = "[masked]"

Personal = Literal["home", "mail"]
"""Kinds of personal data that `masking` masks in addition to secrets: home folders in paths, and mail addresses."""

PERSONAL: tuple[Personal, ...] = get_args(Personal)

LONG_KEY = 20
"""Characters from which the key of a JSON object is masked like a text, because it may be a secret itself."""

_also: frozenset[Personal] = frozenset()


@contextmanager
def masking(*also: Personal) -> Iterator[None]:
    """Mask these kinds of personal data as well inside the `with` block."""
    global _also
    before, _also = _also, _also | frozenset(also)
    try:
        yield
    finally:
        _also = before


def personal_in(words: str) -> tuple[Personal, ...]:
    """Parse a list such as `home,mail`. Raise ValueError for an unknown word."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    if unknown := [word for word in named if word not in PERSONAL]:
        raise ValueError(f"{unknown[0]!r} cannot be masked; choose from {' and '.join(PERSONAL)}")
    return tuple(one for one in PERSONAL if one in named)


def describe_masking() -> str:
    """Return a sentence for the foot of a report: what is masked and what is not."""
    names = {"home": "the names of home folders", "mail": "mail addresses"}
    also = [names[one] for one in PERSONAL if one in _also]
    left = [names[one] for one in PERSONAL if one not in _also]
    first = " and ".join(["Secrets recognized by shape, name or place", *also]) + " are masked"
    return first + (f"; {' and '.join(left)} are not." if left else ".")


def masked(text: str) -> str:
    """Return `text` with secrets replaced by `MASK`, and personal data where `masking` asks for it."""
    from workbench.base.secrets.personal import impersonal

    text = without_secrets(text)
    return impersonal(text, _also) if _also and len(text) >= SHORTEST else text


def without_secrets(text: str) -> str:
    """Return `text` with only its secrets masked. For texts that are saved: `masked` is called when they are shown."""
    if len(text) < SHORTEST:
        return text
    return _mask_short_text(text) if len(text) <= _SHORT else _mask_secrets(text)


_SHORT = 2_000
"""Characters up to which the masked text is cached: a screen draws the same lines again after every key press."""


@lru_cache(4_096)
def _mask_short_text(text: str) -> str:
    return _mask_secrets(text)


def _mask_secrets(text: str) -> str:
    from workbench.base.secrets.found import spans

    return _mask_spans(spans(text), text)


def load_rules() -> None:
    """Import all rules now. Half of them are otherwise imported by the first text that names a secret."""
    from workbench.base.secrets import assignments, found, near, tables  # noqa: F401


def masked_value(value: Any, mask: Callable[[str], str] = masked) -> Any:
    """Return a JSON value with `mask` applied to its texts and long keys. A text in an object is judged as the value of
    its key, as by `masked_of`."""
    match value:
        case str():
            return mask(value)
        case dict():
            result: dict[Any, Any] = {}
            for number, (key, inner) in enumerate(value.items(), 1):
                name = mask(key) if isinstance(key, str) and len(key) >= LONG_KEY else key
                result[f"{name} {number}" if name in result else name] = _masked_entry(key, inner, mask)
            return result
        case list() | tuple():
            return [masked_value(inner, mask) for inner in value]
        case _:
            return value


def _masked_entry(key: Any, value: Any, mask: Callable[[str], str]) -> Any:
    return masked_of(str(key), value, mask) if isinstance(value, str) else masked_value(value, mask)


def masked_of(name: str, text: str, mask: Callable[[str], str] = masked) -> str:
    """Return `text` masked by `mask`, judged as the value of `name`."""
    from workbench.base.secrets import assignments, names
    from workbench.base.secrets.spans import indexed

    once = mask(text)
    if once != text or not names.names_something(name):
        return once
    head = f'"{name}": "'
    within = text.replace('"', "'")  # the same length, and no quote that ends the value
    sample = f'{head}{within}"'
    found = assignments.spans(sample, names.named(indexed(sample)))
    return _mask_spans(((start - len(head), end - len(head)) for start, end in found if start >= len(head)), text)


def _mask_spans(spans: Iterable[tuple[int, int]], text: str) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], MASK]
        done = end
    return "".join(parts) + text[done:] if parts else text


def error_line(text: str, limit: int = 300) -> str:
    """Return the first line of an error's text, masked and cut to `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(masked(line[: 10 * limit]), limit)
