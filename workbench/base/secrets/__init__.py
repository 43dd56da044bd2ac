"""Secrets out of what is shown to others: report, error, journal and screen all ask here.

A secret is told by its shape, by the name it is given, or by its place (an address, a header, a command). Where that is
in doubt it is taken for one, but not where code only speaks of it: `password = read_password()`,
`apiKey: process.env.API_KEY`, `postgres://{user}:{pw}@db`. Every pattern passes over a text once, however it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, get_args

from workbench.base.secrets.spans import SHORTEST
from workbench.base.text import clip

MASK = "[masked]"

Personal = Literal["home", "mail"]
"""What is no secret and yet tells who somebody is: the names of homes in paths, and mail addresses."""

PERSONAL: tuple[Personal, ...] = get_args(Personal)

LONG_KEY = 20
"""Characters of the shortest key of a JSON object that could be a secret itself."""

_also: frozenset[Personal] = frozenset()


@contextmanager
def masking(*also: Personal) -> Iterator[None]:
    """Mask these, too, until the end, wherever this program masks."""
    global _also
    before, _also = _also, _also | frozenset(also)
    try:
        yield
    finally:
        _also = before


def personal_in(words: str) -> tuple[Personal, ...]:
    """What `home,mail` names. Raises ValueError for what it does not know."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    if unknown := [word for word in named if word not in PERSONAL]:
        raise ValueError(f"{unknown[0]!r} cannot be masked; choose from {' and '.join(PERSONAL)}")
    return tuple(one for one in PERSONAL if one in named)


def told() -> str:
    """What is masked now and what is not, in sentences, for the foot of what is given away."""
    names = {"home": "the names of home folders", "mail": "mail addresses"}
    also = [names[one] for one in PERSONAL if one in _also]
    left = [names[one] for one in PERSONAL if one not in _also]
    first = " and ".join(["Secrets recognized by shape, name or place", *also]) + " are masked"
    return first + (f"; {' and '.join(left)} are not." if left else ".")


def masked(text: str) -> str:
    """`text` with every secret that can be told by its shape, its name or its place replaced by `MASK`, and what is
    masked beside them now (`masking`)."""
    from workbench.base.secrets.personal import impersonal

    text = without_secrets(text)
    return impersonal(text, _also) if _also and len(text) >= SHORTEST else text


def without_secrets(text: str) -> str:
    """The same with the secrets alone masked, whatever else is to be: for what is kept and shown later, which asks
    `masked` when it is shown."""
    from workbench.base.secrets.found import spans

    return text if len(text) < SHORTEST else _without(spans(text), text)


def masked_value(value: Any, mask: Callable[[str], str] = masked) -> Any:
    """A JSON value with every text in it masked by `mask`; the name of a text's key may be what tells that it is a
    secret."""
    match value:
        case str():
            return mask(value)
        case dict():
            made: dict[Any, Any] = {}
            for number, (key, inner) in enumerate(value.items(), 1):
                name = mask(key) if isinstance(key, str) and len(key) >= LONG_KEY else key
                made[f"{name} {number}" if name in made else name] = _of_key(key, inner, mask)
            return made
        case list() | tuple():
            return [masked_value(inner, mask) for inner in value]
        case _:
            return value


def _of_key(key: Any, value: Any, mask: Callable[[str], str]) -> Any:
    return masked_of(str(key), value, mask) if isinstance(value, str) else masked_value(value, mask)


def masked_of(name: str, text: str, mask: Callable[[str], str] = masked) -> str:
    """`text` masked by `mask`, which is given under `name`."""
    from workbench.base.secrets import given, names
    from workbench.base.secrets.spans import read

    once = mask(text)
    if once != text or not names.names_something(name):
        return once
    head = f'"{name}": "'
    within = text.replace('"', "'")  # of the same length, and no end of it
    given_so = f'{head}{within}"'
    found = given.spans(given_so, names.named(read(given_so)))
    return _without(((start - len(head), end - len(head)) for start, end in found if start >= len(head)), text)


def _without(spans: Iterable[tuple[int, int]], text: str) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], MASK]
        done = end
    return "".join(parts) + text[done:] if parts else text


def error_line(text: str, limit: int = 300) -> str:
    """The first line of an error's text, masked, at most `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(masked(line[: 10 * limit]), limit)
