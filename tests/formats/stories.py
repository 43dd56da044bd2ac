"""The sample sessions as their scripts make them, for tests of the formats they are in."""

from __future__ import annotations

import importlib
import sys

from tests.paths import ROOT


def story(module: str, function: str) -> bytes:
    """What `function` of `scripts/samples/<module>.py` writes."""
    scripts = str(ROOT / "scripts")
    if scripts not in sys.path:
        sys.path.append(scripts)
    made = getattr(importlib.import_module(f"samples.{module}"), function)()
    return made.encode() if isinstance(made, str) else made
