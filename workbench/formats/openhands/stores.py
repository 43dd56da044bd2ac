"""Other storage forms of OpenHands events: folders of conversations, and evaluation output with a line per task.

Each is converted to one list of events.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import read_file
from workbench.formats.format import Part, no_progress
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import render
from workbench.formats.kit.json_spans import field_of
from workbench.formats.kit.jsonl import loads_bounded, objects_of, records_of
from workbench.formats.kit.values import dict_of, dollars_of
from workbench.formats.openhands import V0_FILE
from workbench.session import LoadWarning, Records

Event = dict[str, Any]

_LARGEST = 1 << 30
_MOST_FILES = 200_000


# -- Folders


def events_of(path: Path) -> bytes:
    """Return the events of a folder as one list, in numerical order. Raises BadInput if there is none."""
    parts: list[bytes] = []
    size = 0
    try:
        for file in _event_files(path / "events"):
            size += file.stat().st_size
            if size > _LARGEST or len(parts) >= _MOST_FILES:
                raise BadInput(
                    f"{path} has more than {_LARGEST >> 20} MiB or {_MOST_FILES} events; open a part of them as a list."
                )
            parts.append(read_file(file).strip().removeprefix(b"\xef\xbb\xbf") or b"null")
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
    """Return the tasks of an evaluation in file order, without runs that have no history."""
    return tuple(
        Part(str(number), _title(line), len(_events(line["history"])))
        for number, _, line in _lines(data)
        if isinstance(line.get("history"), list)
    )


def _title(line: Event) -> str:
    error = as_text(line.get("error") or "")
    return name_of(line) + (f": {error[:80]}" if error else "")


def name_of(line: Event) -> str:
    """Return the name of a run: the instance of a benchmark, or the issue for the resolver."""
    issue = dict_of(line.get("issue"))
    numbered = f"{as_text(issue.get('owner') or '')}/{as_text(issue.get('repo') or '')}#{as_text(issue.get('number'))}"
    return as_text(line["instance_id"]) if "instance_id" in line else numbered


def run_of(path: Path, data: bytes, number: str) -> tuple[bytes, Event]:
    """Return the events of the task on a line, counted from 1, and the other fields of the line. Raises BadInput."""
    for place, raw, line in _lines(data):
        if str(place) != number or not isinstance(line.get("history"), list):
            continue
        about = {key: value for key, value in line.items() if key != "history"}
        flat = _events(line["history"])
        own = field_of(raw, "history") if flat == line["history"] else None
        return own or render(flat), about
    raise BadInput(f"{path} has no run {number!r}; choose a listed one.")


def _lines(data: bytes) -> Iterator[tuple[int, bytes, Event]]:
    for record in records_of(data):
        if isinstance(record.value, dict) and ("instance_id" in record.value or "issue" in record.value):
            yield record.line, data[record.start : record.stop], record.value


def _events(history: list[Any]) -> list[Any]:
    """Return a history's events. Old histories are lists of pairs of action and observation, or events without ids."""
    if history and all(isinstance(item, list) for item in history):
        history = [event for pair in history for event in pair if event]
    if any(not isinstance(item, dict) or "id" in item or "kind" in item for item in history):
        return history
    return [_numbered(history, place) for place in range(len(history))]


def _numbered(history: list[Event], place: int) -> Event:
    """Return an old event in the later form: with id and source, and its top-level fields under `args` or `extras`. A
    result answers the event before it."""
    event = history[place]
    if "observation" in event:
        about = {key: value for key, value in event.items() if key not in ("observation", "content", "message")}
        of = {"observation": event["observation"], "content": event.get("content"), "extras": about}
        return {"id": place, "source": "agent", "cause": place - 1, **of}
    args = {key: value for key, value in event.items() if key not in ("action", "args", "message")}
    arguments = event.get("args") if isinstance(event.get("args"), dict) else args
    # The source is not recorded: a first message, or one after another message, is the user's.
    before = history[place - 1].get("action") if place else "message"
    is_users = event.get("action") == "message" and before == "message"
    source = event.get("source") or ("user" if is_users else "agent")
    return {"id": place, "source": source, "action": event.get("action"), "args": arguments}


def model_of(about: Event) -> str | None:
    """Return the model in the metadata of a run."""
    metadata = about.get("metadata")
    config = metadata.get("llm_config") if isinstance(metadata, dict) else None
    model = config.get("model") if isinstance(config, dict) else None
    return model if isinstance(model, str) and model else None


def cost_of(about: Event) -> float | None:
    """Return the recorded cost of a run in dollars."""
    return dollars_of(dict_of(about.get("metrics")).get("accumulated_cost"))


def listed(data: bytes) -> tuple[bytes, list[LoadWarning]]:
    """Return events on separate lines as one list, and a warning for each line without an event."""
    records, warnings = Records(data), list[LoadWarning]()
    events = objects_of(records_of(data), len(data), records, warnings, no_progress)
    return b"[\n" + b",\n".join(records[index] for _, index, _ in events) + b"\n]\n", warnings


def state_of(path: Path) -> Event | None:
    """Return the contents of base_state.json; {} if it is missing, None if it is unreadable."""
    try:
        value = loads_bounded(read_file(path / "base_state.json"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
