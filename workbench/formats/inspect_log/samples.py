"""A log's samples as bytes: `.json` holds them in a list, `.eval` is a zip with a file for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats.kit import zipped
from workbench.formats.kit.document import elements, parse, splice
from workbench.formats.kit.json_spans import replace_fields
from workbench.formats.kit.magic import ZIP
from workbench.formats.kit.values import dict_of

_SAMPLE = re.compile(r"samples/.+\.json")
_HEADERS = ("header.json", "_journal/start.json")


def samples_of(path: Path, data: bytes) -> list[bytes]:
    """The bytes of every sample. Raises BadInput when there is none."""
    if data.startswith(ZIP):
        samples = [raw for name, raw in _unzipped(path, data) if _SAMPLE.fullmatch(name)]
    else:
        found = dict_of(parse(path, data)[0]).get("samples")
        samples = elements(data, "samples") if isinstance(found, list) else []
    if not samples:
        raise BadInput(f"{path}: this Inspect log holds no samples; open one that was written with samples.")
    return samples


def log_of(path: Path, data: bytes, samples: Sequence[bytes], number: int) -> bytes:
    """The log as JSON with the one sample in it."""
    if not data.startswith(ZIP):
        return data if len(samples) == 1 else splice(data, "samples", [number])
    found = dict(_unzipped(path, data))
    header = next((found[name] for name in _HEADERS if found.get(name)), b'{"version":2,"eval":{}}')
    if not isinstance(parse(path, header)[0], dict):
        raise BadInput(f"{path}: the header of this log is not an object; restore a whole copy and open that.")
    return replace_fields(header, {"samples": b"[" + samples[number] + b"]"})


def _unzipped(path: Path, data: bytes) -> list[tuple[str, bytes]]:
    """Header and samples, sorted by name. Raises BadInput for a damaged zip, and for one that grows beyond bounds."""
    found = zipped.members(path, data, lambda name: bool(_SAMPLE.fullmatch(name)) or name in _HEADERS)
    return sorted(found, key=lambda member: _by_number(member[0]))


def _by_number(name: str) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"[0-9]{1,18}", name)], name
