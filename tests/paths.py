"""Where test data lies."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_sessions"

_shared = ROOT.parent / "shared"
SHARED: Path | None = _shared if (_shared / "sessions").is_dir() else None
"""Real sessions that lie beside the checkout on some machines; None elsewhere, and tests that need them skip."""
