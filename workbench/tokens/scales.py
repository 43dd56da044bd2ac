"""What an exact count has taught of a session's token figures, kept from one day to the next, one small file each."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import make_folder, write_atomically
from workbench.session import Session, fingerprint
from workbench.tokens.calibration import Scale


def path_of(session: Session) -> Path | None:
    """Where a session's scale is kept, None for a session without a fingerprint."""
    key = fingerprint(session)
    return paths.scales() / f"{key}.json" if key else None


def recall(session: Session) -> Scale | None:
    """What an exact count has taught of the session, None where none was made or the file is damaged."""
    path = path_of(session)
    try:
        kept = json.loads(path.read_bytes()) if path else None
        return Scale(min(2.0, max(0.5, float(kept["value"]))), 1, str(kept["source"])) if kept else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def forget(session: Session) -> Scale | None:
    """Go by the session's own bills again; what had been taught, None where nothing was. Raises BadInput."""
    path, taught = path_of(session), recall(session)
    try:
        if path:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be removed: {error.strerror}; remove it yourself.") from None
    return taught


def keep(session: Session, scale: Scale) -> None:
    """Remember it for the next time; what cannot be written is counted again, and nothing else is lost."""
    path = path_of(session)
    if path is None:
        return
    try:
        make_folder(path.parent)
        data = json.dumps({"value": scale.value, "source": scale.source})
        write_atomically(path, data.encode("utf-8", "replace"), overwrite=True)
    except BadInput:
        return
