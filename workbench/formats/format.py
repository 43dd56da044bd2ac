"""What every format module provides: how to recognise, read and write one kind of session file."""

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
from workbench.formats.kit.note import NoteSlot
from workbench.formats.kit.sheet import RepairSheet, SheetEntry
from workbench.formats.look import Look
from workbench.formats.loss import Loss, summed
from workbench.formats.machine import Machine, Place, Program
from workbench.formats.roles import Api
from workbench.session import Billed, Message, Session

Progress = Callable[[int, int], None]
"""Called now and then with (bytes done, bytes in all); may raise to cancel the load."""


def no_progress(done: int, total: int) -> None:
    """For callers that do not watch."""


FILE = "\0file"
"""In a command, the word for the path at which the export lies when the command is run."""

NAME = "\0name"
"""In a command, the word for the name of a session that is a folder."""


@dataclass(frozen=True, slots=True)
class Written:
    """A session in its new form, not yet on disk.

    `name` is the file name its tool expects; `id` the new session's id; `home` where the file must lie for its tool, if
    it must lie somewhere, with the file `beside` it, by name and content, where the tool wants one, and `kept_in` where
    a session that is saved as a folder lies, under that folder's name; `commands` the words of each command that is
    needed to resume it, in `folder` if that matters, and `by_hand` what to do where none does it (`steps.py` makes
    lines for a shell of these). `losses` are what the format could not carry, each kind once.

    Ids and folders come out of sessions, which anyone may have written: `name` is made a plain file name, `home` never
    leads up, and there is no command with an id that a program could take for an option or for more than a word.
    """

    data: bytes
    name: str
    id: str = ""
    home: str = ""
    folder: str = ""
    commands: Sequence[Sequence[str]] = ()
    by_hand: str = ""
    losses: Sequence[Loss] = ()
    beside: tuple[str, bytes] | None = None
    kept_in: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "losses", summed(self.losses))
        object.__setattr__(self, "name", _plain(self.name))
        if self.beside:
            object.__setattr__(self, "beside", (_plain(self.beside[0]), self.beside[1]))
        steps = _UNSEEN.sub("_", self.home).split("/")
        object.__setattr__(self, "home", "/".join("_" if step == ".." else step for step in steps))
        if self.id and not _WORD.fullmatch(self.id):
            object.__setattr__(self, "commands", ())

    @property
    def notes(self) -> tuple[str, ...]:
        """The losses in words."""
        return tuple(map(str, self.losses))

    def home_of(self, where: Path) -> str:
        """Where what was saved as `where` must lie for its tool, "" where that does not matter."""
        return f"{self.kept_in}/{where.name}" if self.kept_in and where.is_dir() else self.home


def _plain(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name).lstrip(".") or "session"


_NOT_IN_NAMES = re.compile(r"[/\\\x00-\x1f\x7f]|\.\.+(?=[/\\])")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")
_WORD = re.compile(r"\w[\w.:@+-]{0,299}")

Writer = Callable[[Session, Sequence[Message]], Written]
Validator = Callable[[bytes], list[str]]


class Way(Struct, frozen=True):
    """Another form in which a format's tool takes a compacted session, beside the one that `Codec.write` gives.

    `validate` is its own where the loader's rules are others for it.
    """

    id: str
    title: str
    write: Writer
    validate: Validator | None = None


class Folder(Struct, frozen=True):
    """A session as a folder: the name that its tool gives it, and the files by their paths in it."""

    name: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Part:
    """A session among several in one file: its id there, its title, and how many messages the file holds for it."""

    id: str
    title: str
    messages: int


class Sent(Struct, frozen=True):
    """A request that the file itself records beside the conversation, as the messages it held: a check of our context.

    `answer` is the id of the message that came back, "" where none did.
    """

    answer: str
    messages: tuple[Message, ...]


class Skimmed(Struct, frozen=True):
    """A session of which only the bills were read. `begun` is as much of it as its first call was sent, and the answer;
    what else it says of the session (title, model, cost …) is of the whole. `bills` are all, the first among them."""

    begun: Session
    bills: tuple[Billed, ...]


ReadLines = Callable[[Path, Lines, Progress], Session]


class RecordRepair(Struct, frozen=True):
    """How the records of a damaged session are repaired (`workbench/repairs/`).

    records(sheet): what is wrong with records by themselves: header, links, counts, older compactions.
    context(sheet, sent, session): what is wrong with the records that are sent, in their order; `session` is as it is
      read before. None where the format's writer repairs the pairs.
    is_headless(records): whether decoded records are of the format though their header is missing; None where the
      format's signature recognises them.
    listed: the key of a document's list of messages, "" for the document itself; None for a format of lines.
    """

    records: Callable[[RepairSheet], None]
    context: Callable[[RepairSheet, Sequence[SheetEntry], Session], None] | None = None
    is_headless: Callable[[Sequence[dict[str, Any]]], bool] | None = None
    listed: str | None = None


@dataclass(frozen=True, slots=True)
class Codec:
    """How the sessions of a format are read, written and judged.

    read(path, data, progress): raises BadInput with one sentence when nothing can be read.
    write(session, messages): `messages` is the new context. A message whose `source` is not empty and whose session is
      of this format is copied byte for byte from `session.records` (but for links and ids that the tool's loader
      requires); any other is rendered from its blocks. None for a format that is read only.
    validate(data): judged from the tool's own loader rules, sharing no code with `write`; what is wrong, a sentence
      each. None where nobody has written the rules down: then nothing is said of a file.
    ways: other forms that the tool takes, each as exact as `write`.
    read_folder(path, progress): for a tool that keeps a session as a folder, which `Format.recognise_folder` knows.
    folder(session, data): what `write` wrote for a session as the folder in which the tool keeps one; None where the
      loaded session does not hold what only that has.
    sessions_in(path, data), read_part(path, data, id, progress): for a file that may hold several sessions; None where
      it holds one. `read` then gives the first or newest, with a warning that there are more. `read_part` alone is for
      what a session keeps apart and nobody need choose from: its sub-agents.
    branches(path, data): the branches of a session whose file is damaged, so that its tool resumes only a part of it:
      `read` gives that one, `read_part` any. None for a format in which nobody knows of such damage.
    addressed(session, data, id, losses): `data`, which is `session` under that id, with the name, the place and the
      commands by which its tool finds it; None where it is not looked for under any.
    requests(session): the requests that the file records whole, in their order; None for a tool that records none.
    main_file(path): the file with the messages in the folder of a session; None where there is none.
    glance(path): a session at a glance, read in part; None where the two ends of its file tell it.
    list_sessions(path): the sessions in a database at a glance, the newest first, by queries alone. Raises BadInput.
    request_texts(session): what each recorded request ends with, "" for one that does not end with the user's text;
      for sessions whose requests `requests` does not give.
    relatives(session): what belongs to a session beside its messages, by id and description: sub-agents, branches.
    note: where a file has room for what an export says of itself (`formats/export_note.py`); None where its tool takes
      nothing but what it knows.
    skim(path, data): what the bills of a session tell, many times as fast as `read`; None where that would not be all,
      and for a tool of whose files nobody reads so many.
    alone(line): whether everything that `read` gives of a file with this first line stands in that file, whatever lies
      beside it. None where that cannot be told.
    newest(path, data): the session with its newest epochs alone, numbered from 1, and `Session.begins_at`: from the
      newest that ended on, each with the context that `read` gives it, read in less time from the file's end. None
      where that does not tell them, and for a format of which nothing is read so.
    by_line(first): how a file with this first line, which is an object, is read line by line, with what `read` gives;
      None where more of it than a line must be at hand, and for a format of which no file is read so. The `note` is
      then in the first line.
    repair(): how records are repaired one by one; None where a damaged session is only written anew.
    memories: whether `read` finds an agent's long-term memories in the file and `write` puts `session.memories` there.
    """

    read: Callable[[Path, bytes, Progress], Session]
    write: Writer | None = None
    validate: Validator | None = None
    ways: tuple[Way, ...] = ()
    read_folder: Callable[[Path, Progress], Session] | None = None
    folder: Callable[[Session, bytes], Folder | None] | None = None
    sessions_in: Callable[[Path, bytes], tuple[Part, ...]] | None = None
    read_part: Callable[[Path, bytes, str, Progress], Session] | None = None
    addressed: Callable[[Session, bytes, str, Sequence[Loss]], Written] | None = None
    requests: Callable[[Session], Iterator[Sent]] | None = None
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

    words(trigger, window): what to set, so that a context is compacted at `trigger` tokens of a window of so many.
    highest(window): tokens at which the agent compacts at the latest, whatever is set.
    in_tokens: a size is set, the same for windows of any size.
    """

    words: Callable[[int, int], str]
    highest: Callable[[int], int] = _below
    in_tokens: bool = False


@dataclass(frozen=True)
class Format:
    """One on-disk format: its name, by what its files are known, and its codec, which is imported when asked for.

    recognise(look): returns why a file is of this format (a short phrase), "" if it is not.
    keys: some that its documents, messages or lines have; by them a file that no format takes is said to come near one.
    recognise_folder(path): the same for a tool that keeps a session as a folder; None where it does not.
    api: the one that its sessions go to; None where the tool speaks to several, each as it wants.
    preset: the id of the preset that compacts as the tool does; "" where there is none.
    places(machine): the folders in which the agent keeps its sessions, moved by the variables that it reads; whether
      they exist is not checked. None where it has no usual place.
    trigger_setting: None where the agent has none.
    program: None where nobody knows of a prompt in it.
    suffixes: of its files, besides those of JSON and lines.
    marks: paths of files, in the folder of a session, that mark it as one; `{name}` stands for the folder's name.
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
    program: Program | None = None
    suffixes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @cached_property
    def codec(self) -> Codec:
        """The codec, imported when it is first used."""
        return self.load()
