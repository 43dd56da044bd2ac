"""Interface of a format: how to recognise, read, write, validate and repair one kind of session file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.formats.glance import SessionGlance
from workbench.formats.kit.jsonl import Lines
from workbench.formats.kit.marks import NoteSlot
from workbench.formats.kit.sheet import RepairSheet, SheetEntry
from workbench.formats.look import Look
from workbench.formats.loss import Loss, summed
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.roles import Api
from workbench.session import Billed, Message, Session

Progress = Callable[[int, int], None]
"""Called repeatedly with (bytes done, total bytes); may raise to cancel the load."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default."""


FILE = "\0file"
"""Placeholder in a command for the path of the export at the time the command runs."""

NAME = "\0name"
"""Placeholder in a command for the name of a session that is a folder."""


@dataclass(frozen=True, slots=True)
class Written:
    """A written session, not yet on disk.

    name: the file name that the agent expects.
    id: the new session's id.
    home: the path where the agent looks for the file, "" if any path works.
    folder: the working folder for `commands`, "" if any works.
    commands: the words of each command needed to resume the session (`steps.py` makes shell lines of them).
    by_hand: what the user must do if no command resumes the session.
    losses: what the format cannot carry, each kind once.
    sidecar: name and content of a file that the agent needs next to the session.
    session_folder: the folder where the agent looks for sessions saved as folders.

    Ids and folders come from session files, which anyone may have written. So `name` becomes a plain file name, `home`
    never leads up, and commands are dropped if the id could act as an option or as more than one word.
    """

    data: bytes
    name: str
    id: str = ""
    home: str = ""
    folder: str = ""
    commands: Sequence[Sequence[str]] = ()
    by_hand: str = ""
    losses: Sequence[Loss] = ()
    sidecar: tuple[str, bytes] | None = None
    session_folder: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "losses", summed(self.losses))
        object.__setattr__(self, "name", _plain(self.name))
        if self.sidecar:
            object.__setattr__(self, "sidecar", (_plain(self.sidecar[0]), self.sidecar[1]))
        steps = _CONTROL.sub("_", self.home).split("/")
        object.__setattr__(self, "home", "/".join("_" if step == ".." else step for step in steps))
        if self.id and not _WORD.fullmatch(self.id):
            object.__setattr__(self, "commands", ())

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the losses as texts."""
        return tuple(map(str, self.losses))

    def home_of(self, where: Path) -> str:
        """Return the path where the agent looks for an export saved as `where`, "" if any path works."""
        return f"{self.session_folder}/{where.name}" if self.session_folder and where.is_dir() else self.home


def _plain(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name).lstrip(".") or "session"


_NOT_IN_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]|\.\.+(?=[/\\])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WORD = re.compile(r"\w[\w.:@+-]{0,299}")

Writer = Callable[[Session, Sequence[Message]], Written]
Validator = Callable[[bytes], list[str]]


class ExportForm(Struct, frozen=True):
    """Another form in which the agent accepts a compacted session, besides that of `Codec.write`.

    `validate`: None if the rules of `Codec.validate` apply.
    """

    id: str
    title: str
    write: Writer
    validate: Validator | None = None


class Folder(Struct, frozen=True):
    """A session as a folder: the name that the agent gives it, and the content of each file by its path inside."""

    name: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Part:
    """A session or branch among several in one file: its id, title and number of messages in the file."""

    id: str
    title: str
    messages: int


class RecordedRequest(Struct, frozen=True):
    """A request that the file records in addition to the conversation. Its messages are compared with our context.

    `answer`: id of the answering message, "" if there is none.
    """

    answer: str
    messages: tuple[Message, ...]


class Skimmed(Struct, frozen=True):
    """A session of which only the usage was read.

    begun: the context of the first call and its answer; title, model, cost and so on are those of the complete session.
    bills: the usage of all calls, including the first.
    """

    begun: Session
    bills: tuple[Billed, ...]


ReadLines = Callable[[Path, Lines, Progress], Session]


class RecordRepair(Struct, frozen=True):
    """Functions that repair the records of a damaged session (`workbench/repairs/`).

    records(sheet): repairs single records: header, links, counts, older compactions.
    context(sheet, sent, session): repairs the records that are sent, in their order; `session` is the session as read
      before the repair. None if the format's writer repairs tool pairs.
    is_headless(records): True if decoded records are of the format although their header is missing. None if the
      format recognises them anyway.
    listed: the key of a document's list of messages, "" for the document itself; None for a format of lines.
    """

    records: Callable[[RepairSheet], None]
    context: Callable[[RepairSheet, Sequence[SheetEntry], Session], None] | None = None
    is_headless: Callable[[Sequence[dict[str, Any]]], bool] | None = None
    listed: str | None = None


@dataclass(frozen=True, slots=True)
class Codec:
    """Functions that read, write and validate the sessions of a format.

    read(path, data, progress): raises BadInput with one sentence when nothing can be read.
    write(session, messages): `messages` is the new context. A message of this format with records is copied byte for
      byte from `session.records` (except links and ids that the agent's loader requires); any other is rendered from
      its blocks. None for a read-only format.
    validate(data): returns the agent's own loader rules that the data breaks, one sentence each. Shares no code with
      `write`. None if the rules are not known: then nothing is checked.
    forms: other forms that the agent accepts, each as exact as `write`.
    read_folder(path, progress): reads a session that is a folder, which `Format.recognise_folder` knows.
    folder(session, data): converts the output of `write` to the folder in which the agent stores a session; None if the
      loaded session lacks data that only such a folder has.
    sessions_in(path, data), read_part(path, data, id, progress): for a file that may hold several sessions. `read` then
      returns the first or newest, with a warning about the others. None if files hold one session. `read_part` alone
      reads what a session stores apart, such as sub-agents.
    branches(path, data): returns the branches of a damaged session of which the agent resumes only a part: `read`
      returns that part, `read_part` any branch. None if such damage is unknown for the format.
    addressed(session, data, id, losses): adds name, location and commands by which the agent finds `data`, which holds
      `session` under `id`. None if the agent does not look for sessions by id.
    requests(session): yields the complete requests that the file records, in order; None if the agent records none.
    main_file(path): returns the file with the messages in a session's folder, None if there is none.
    glance(path): returns a summary of a session that is read in part; None if both ends of its file are sufficient.
    list_sessions(path): returns summaries of the sessions in a database, newest first, by queries alone. Raises
      BadInput.
    request_texts(session): yields the last user text of each recorded request, "" if it ends with another text; for
      sessions whose requests `requests` does not return.
    relatives(session): returns id and description of a session's sub-agents, branches and other parts.
    note: where a file can hold an export note (`formats/export_note.py`); None if the agent accepts only known keys.
    skim(path, data): reads only usage, many times faster than `read`; returns None if the complete file must be read.
      None for a format of which audits read few files.
    alone(line): returns True if a file with this first line needs no other file for `read`. None if this cannot be
      known.
    newest(path, data): reads the session's newest epochs from the end of the file, numbered from 1, with
      `Session.begins_at`. From the newest ended epoch on, they equal those of `read`. Returns None if the end of the
      file is not sufficient. None for a format that is always read completely.
    by_line(first): returns a reader, equal to `read`, that needs one line at a time in memory, for a file with this
      first line (an object); None if it needs more. The `note` is then in the first line. None for a format that is
      never read this way.
    repair(): returns the repair of single records; None if a damaged session can only be rewritten.
    memories: `read` finds the agent's long-term memories in the file, and `write` stores `session.memories` there.
    """

    read: Callable[[Path, bytes, Progress], Session]
    write: Writer | None = None
    validate: Validator | None = None
    forms: tuple[ExportForm, ...] = ()
    read_folder: Callable[[Path, Progress], Session] | None = None
    folder: Callable[[Session, bytes], Folder | None] | None = None
    sessions_in: Callable[[Path, bytes], tuple[Part, ...]] | None = None
    read_part: Callable[[Path, bytes, str, Progress], Session] | None = None
    addressed: Callable[[Session, bytes, str, Sequence[Loss]], Written] | None = None
    requests: Callable[[Session], Iterator[RecordedRequest]] | None = None
    main_file: Callable[[Path], Path | None] | None = None
    glance: Callable[[Path], SessionGlance | None] | None = None
    list_sessions: Callable[[Path], list[SessionGlance]] | None = None
    request_texts: Callable[[Session], Iterator[str]] | None = None
    relatives: Callable[[Session], list[tuple[str, str]]] | None = None
    note: NoteSlot | None = None
    skim: Callable[[Path, bytes], Skimmed | None] | None = None
    memories: bool = False
    alone: Callable[[bytes], bool] | None = None
    newest: Callable[[Path, bytes], Session | None] | None = None
    by_line: Callable[[bytes], ReadLines | None] | None = None
    repair: Callable[[], RecordRepair] | None = None
    branches: Callable[[Path, bytes], tuple[Part, ...]] | None = None


def _below(window: int) -> int:
    return window - 1


class TriggerSetting(Struct, frozen=True):
    """How a user sets the size at which the agent compacts, by the agent's documentation.

    words(trigger, window): returns the instruction to compact at `trigger` tokens with this window (tokens).
    highest(window): returns the highest trigger in tokens; no setting can exceed it.
    in_tokens: the setting is a number of tokens, the same for all windows.
    """

    words: Callable[[int, int], str]
    highest: Callable[[int], int] = _below
    in_tokens: bool = False


class CompactCommand(Struct, frozen=True):
    """Command with which the user has an agent compact its session now.

    takes_instruction: the text after the name becomes part of the prompt for the summary.
    most_characters: the agent cuts a longer text; None if it does not.
    """

    agent: str
    name: str = "/compact"
    takes_instruction: bool = False
    most_characters: int | None = None


@dataclass(frozen=True)
class Format:
    """One on-disk format: its name, how its files are recognised, and its codec, which is imported on first use.

    recognise(look): returns why a file is of this format (a short phrase), "" if it is not.
    keys: typical keys of its documents, messages or lines; an unrecognised file is compared with them.
    recognise_folder(path): like `recognise` for an agent that stores a session as a folder; None for other agents.
    api: the API that its sessions are sent to; None if the agent uses several.
    preset: the id of the preset that compacts like the agent; "" if there is none.
    places(machine): yields the folders in which the agent stores its sessions, according to its environment variables;
      they may not exist. None if there is no usual place.
    trigger_setting: None if the agent has none.
    compact_command: None if the agent has none, or none is known.
    program: the agent's program, which holds its prompts; None if no prompt in it is known.
    suffixes: file name suffixes besides those of JSON and JSON lines.
    marks: paths of files in a session's folder that identify it; `{name}` stands for the folder's name.
    """

    id: str
    title: str
    recognise: Callable[[Look], str]
    load: Callable[[], Codec]
    recognise_folder: Callable[[Path], str] | None = None
    api: Api | None = None
    preset: str = ""
    keys: frozenset[str] = frozenset()
    places: Callable[[Machine], Iterable[Place]] | None = None
    trigger_setting: TriggerSetting | None = None
    compact_command: CompactCommand | None = None
    program: Program | None = None
    suffixes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @cached_property
    def codec(self) -> Codec:
        """The codec, imported when it is first used."""
        return self.load()
