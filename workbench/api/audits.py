"""Audit all sessions of this machine."""

from __future__ import annotations

from pathlib import Path

from workbench.auditing.audit import Audit, audit_of
from workbench.auditing.cache import RowCache
from workbench.auditing.run import audit_files, candidates
from workbench.base import paths


def audit(*folders: str | Path, cluster: str = "", cached: bool = False) -> Audit:
    """Read all sessions in the agents' folders, or below `folders` (or files), and measure their compactions.

    It runs on all cores, or on the workers of the Dask scheduler at the address `cluster`. With `cached`, as in `cwb
    audit`, rows are cached in the user's cache folder and only changed files are read; without it nothing is written.
    An unreadable file is a row with an `error`. Raises BadInput for a folder that does not exist, and for a scheduler
    that does not answer.
    """
    works = candidates([Path(folder) for folder in folders])
    found = audit_files(works, RowCache(paths.audits()) if cached else None, cluster)
    return audit_of(row for one in found for row in one.rows)
