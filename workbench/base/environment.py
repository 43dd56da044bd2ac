"""The variables by which a person sets the program up for a shell, a machine or a job.

Only the command line heeds them: a program that uses the library is not changed by the environment of whoever runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

PREFIX = "CWB_"

_variables: Mapping[str, str] = {}


@contextmanager
def use_environment(environ: Mapping[str, str]) -> Iterator[None]:
    """Heed those of `environ` that are the program's, until the end."""
    global _variables
    before, _variables = _variables, {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    try:
        yield
    finally:
        _variables = before


def variables() -> Mapping[str, str]:
    """Those that are heeded now."""
    return _variables
