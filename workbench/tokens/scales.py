"""Scales learnt from exact counts, one small file per session."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.session import Session, fingerprint
from workbench.tokens.calibration import Scale


def path_of(session: Session) -> Path | None:
    """File of a session's scale, None for a session without a fingerprint."""
    key = fingerprint(session)
    return paths.scales() / f"{key}.json" if key else None


def recall(session: Session) -> Scale | None:
    """Return the scale learnt for the session, None without one or if the file is damaged."""
    path = path_of(session)
    try:
        saved = json.loads(path.read_bytes()) if path else None
        return Scale(min(2.0, max(0.5, float(saved["value"]))), 1, str(saved["source"])) if saved else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget(session: Session) -> Scale | None:
    """Remove the session's scale and return it, None without one. Raises BadInput if the file cannot be removed."""
    path, scale = path_of(session), recall(session)
    try:
        if path:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be removed: {error.strerror}; remove it yourself.") from None
    return scale


def keep(session: Session, scale: Scale) -> None:
    """Save a scale. A failure to write is ignored."""
    path = path_of(session)
    if path is None:
        return
    try:
        make_folder(path.parent)
        data = json.dumps({"value": scale.value, "source": scale.source})
        write_atomically(path, data.encode("utf-8", "replace"), overwrite=True)
    except BadInput:
        return
