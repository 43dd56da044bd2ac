"""Where OpenHands keeps events other than as one list: folders of conversations, and what
evaluations write, a line for each task.

Each is given as the list of events that it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Part
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import field_of
from workbench.formats.kit.jsonl import loads, records_of
from workbench.formats.openhands.signature import V0_FILE

Event = dict[str, Any]

_LARGEST = 1 << 30
_MOST_FILES = 200_000


# -- Folders


def events_of(path: Path) -> bytes:
    """The events of a folder as one list, in the order of their numbers. Raises BadInput where there is none."""
    parts: list[bytes] = []
    size = 0
    try:
        for file in _event_files(path / "events"):
            size += file.stat().st_size
            if size > _LARGEST or len(parts) >= _MOST_FILES:
                raise BadInput(
                    f"{path} has more than {_LARGEST >> 20} MiB or {_MOST_FILES} events; open a part of them as a list."
                )
            parts.append(file.read_bytes().strip().removeprefix(b"\xef\xbb\xbf") or b"null")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; check the folder and its permissions.") from None
    if not parts:
        raise BadInput(f"{path} has no events; name the folder of a conversation that has some in its folder events.")
    return b"[\n" + b",\n".join(parts) + b"\n]\n"


def _event_files(folder: Path) -> list[Path]:
    files = [file for file in folder.iterdir() if not file.is_symlink() and file.is_file()]
    numbered = [file for file in files if V0_FILE.fullmatch(file.name)]
    if numbered:
        return sorted(numbered, key=lambda file: int(file.stem))
    return sorted(file for file in files if file.name.startswith("event-") and file.suffix == ".json")


# -- Evaluations


def runs_in(data: bytes) -> tuple[Part, ...]:
    """The tasks of an evaluation in the file's order; a run without a history is none."""
    return tuple(
        Part(str(number), _title(line), len(_events(line["history"])))
        for number, _, line in _lines(data)
        if isinstance(line.get("history"), list)
    )


def _title(line: Event) -> str:
    error = as_text(line.get("error") or "")
    return as_text(line["instance_id"]) + (f": {error[:80]}" if error else "")


def run_of(path: Path, data: bytes, number: str) -> tuple[bytes, Event]:
    """The events of the task on a line from 1, and what the line says beside them. Raises BadInput."""
    for place, raw, line in _lines(data):
        if str(place) != number or not isinstance(line.get("history"), list):
            continue
        about = {key: value for key, value in line.items() if key != "history"}
        flat = _events(line["history"])
        own = field_of(raw, "history") if flat == line["history"] else None
        return own or render(flat), about
    raise BadInput(f"{path} has no run {number!r}; choose one of those it lists.")


def _lines(data: bytes) -> Iterator[tuple[int, bytes, Event]]:
    for record in records_of(data):
        if isinstance(record.value, dict) and "instance_id" in record.value:
            yield record.line, data[record.start : record.stop], record.value


def _events(history: list[Any]) -> list[Any]:
    """A history's events; it once was a list of pairs of an action and its observation."""
    pairs = all(isinstance(item, list) for item in history)
    return [event for pair in history for event in pair if event] if history and pairs else history


def model_of(about: Event) -> str | None:
    """The model that the metadata of a run name."""
    metadata = about.get("metadata")
    config = metadata.get("llm_config") if isinstance(metadata, dict) else None
    model = config.get("model") if isinstance(config, dict) else None
    return model if isinstance(model, str) and model else None


def state_of(path: Path) -> Event | None:
    """What base_state.json says; nothing where there is none, None where it cannot be read."""
    try:
        value = loads((path / "base_state.json").read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
