"""Compaction workbench: see, tune and run what compaction does to an agent's session.

As a library it offers the names below (docs/api.md). They are imported when they are first used: the command line must
not wait for what it does not need.
"""

# The names are those of workbench.api, which type checkers see here.
# ruff: noqa: F403, F405

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.api import *
    from workbench.base.version import __version__ as __version__

__all__ = [
    "Assessment",
    "Audit",
    "BadInput",
    "Branch",
    "Compacted",
    "CompactionRow",
    "Context",
    "Diagnosis",
    "Due",
    "Fault",
    "Fix",
    "Probe",
    "ProbeResults",
    "Repair",
    "Replay",
    "Report",
    "Retention",
    "Rework",
    "RuleState",
    "Session",
    "SessionRow",
    "SuggestedPin",
    "acompact",
    "audit",
    "compact",
    "compare",
    "context",
    "load",
    "probe",
    "repair",
    "replay",
    "retention",
    "rework",
    "save",
    "should_compact",
    "suggest_pins",
    "summary",
    "watch",
    "why",
]


_RENAMED = {"Column": "Assessment", "Probing": "ProbeResults", "Stand": "RuleState"}
"""Names that are deprecated, and what they are called now."""


def __getattr__(name: str) -> Any:
    if now := _RENAMED.get(name):
        warnings.warn(f"workbench.{name} is now workbench.{now}", DeprecationWarning, stacklevel=2)
        name = now
    if name == "__version__":
        from workbench.base import version

        return version.__version__
    if name not in __all__:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    from workbench import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return [*globals(), "__version__", *__all__]
