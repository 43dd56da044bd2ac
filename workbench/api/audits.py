"""Every session at once: the rows of an audit, and what they come to."""

from __future__ import annotations

from pathlib import Path

from workbench.auditing.audit import Audit, audit_of
from workbench.auditing.cache import RowCache
from workbench.auditing.run import audit_files, candidates
from workbench.base import paths


def audit(*folders: str | Path, cluster: str = "", cached: bool = False) -> Audit:
    """Read every session that agents keep on this machine, or below `folders` (or files), and say what compactions did
    to each.

    It runs on all cores, or on the workers of the Dask scheduler at the address `cluster`. With `cached` only files are
    read that changed since the last time, as `cwb audit` does, which keeps the rows in the user's cache folder; without
    it nothing is written. A file that cannot be read is a row with its `error`. Raises BadInput for a folder that does
    not exist, and for a scheduler that does not answer.
    """
    works = candidates([Path(folder) for folder in folders])
    found = audit_files(works, RowCache(paths.audits()) if cached else None, cluster)
    return audit_of(row for one in found for row in one.rows)
