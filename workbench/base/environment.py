"""Environment variables that configure the program (`CWB_…`).

Only the command line reads them: the environment does not change a program that uses the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

PREFIX = "CWB_"

_variables: Mapping[str, str] = {}


@contextmanager
def use_environment(environ: Mapping[str, str]) -> Iterator[None]:
    """Use the program's variables in `environ` inside the context."""
    global _variables
    before, _variables = _variables, {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    try:
        yield
    finally:
        _variables = before


def variables() -> Mapping[str, str]:
    """Return the variables in use."""
    return _variables
