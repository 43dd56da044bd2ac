"""Read tau-bench results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Progress
from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import parse, splice
from workbench.formats.kit.marks import marked
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.values import dict_of, list_of, word_of
from workbench.formats.openai_chat.embedded import Item, chat_messages
from workbench.formats.tau_bench import ID
from workbench.session import Kind, Message, Records, Session


class Reader(Numbered[tuple[int, Item]]):
    """Reader of a list of results, one session each. An entry is (index in the list, result)."""

    what = "session"

    def read_entries(self, progress: Progress) -> list[tuple[int, Item]]:
        entries, _ = parse(self.path, self.data)
        if not isinstance(entries, list) or not entries:
            raise BadInput(f"{self.path}: has no list of results; open a results file of tau-bench.")
        return [*enumerate(map(dict_of, entries))]

    def describe(self, entry: tuple[int, Item]) -> tuple[str, int]:
        """Return the title (task, trial and reward, as far as recorded) and the number of messages."""
        fields = (("task", "task_id"), ("trial", "trial"), ("reward", "reward"))
        title = ", ".join(f"{word} {as_text(entry[1][key])}" for word, key in fields if key in entry[1])
        return title, len(list_of(entry[1].get("traj")))

    def session(self, entry: tuple[int, Item]) -> Session:
        place, result = entry
        items = result.get("traj")
        if not isinstance(items, list):
            raise BadInput(f"{self.path}: entry {place + 1} has no traj; choose another one.")
        chat = chat_messages(self.path, items, self.warnings)
        messages = tuple(replace(m, kind=kind) for m, kind in zip(chat, kinds_of(items, chat), strict=True))
        return Session(
            format=ID,
            path=self.path,
            messages=messages,
            records=Records(self.data if len(self.entries) == 1 else splice(self.data, None, [place])),
            id="-".join(as_text(result[key]) for key in ("task_id", "trial") if result.get(key) is not None),
            title=first_words(messages),
            model=word_of(dict_of(result.get("info")).get("model")),
            warnings=tuple(self.warnings),
        )


def kinds_of(items: Sequence[Any], chat: Sequence[Message]) -> list[Kind]:
    """Return the kind of each message of a `traj`: the one that an export marked, else the kind of the message read."""
    return [marked(dict_of(item)) or message.kind for item, message in zip(items, chat, strict=True)]


def kinds(items: Sequence[Any]) -> list[Kind]:
    """Return the kind of each message of a `traj`, for the writer."""
    return kinds_of(items, chat_messages(Path(), items, []))
