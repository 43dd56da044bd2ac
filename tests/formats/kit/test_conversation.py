"""Documents with a list of messages: what is wrong with them, and the title."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.format import no_progress
from workbench.formats.kit.conversation import Document
from workbench.session import Message, Opaque, Session, Text


class Notes(Document):
    format = "notes"
    needs = "has no notes; open another file"

    def session(self) -> Session:
        items = self.items(self.body.get("notes"))
        messages = [
            Message(self.unique_id("n"), "user", (Text(item["said"]),))
            if isinstance(item, dict)
            else self.not_an_object(index, item, "note")
            for index, item in enumerate(items)
        ]
        return self._session(messages, self.body.get("title"))


def _read(value: Any) -> Session:
    return Notes.read(Path("notes.json"), json.dumps(value).encode(), no_progress)


def test_a_document_without_the_list_is_refused_with_what_to_open() -> None:
    with pytest.raises(BadInput, match=r"notes\.json: has no notes; open another file\.$"):
        _read({"notes": 5})


def test_an_item_that_is_no_object_is_shown_unchanged_with_a_warning() -> None:
    session = _read({"notes": [{"said": "one"}, 7, {"said": "two"}]})
    assert len({message.id for message in session.messages}) == 3
    assert session.messages[1].blocks == (Opaque("int", 7),)
    assert session.messages[1].source == (1,)
    assert [warning.text for warning in session.warnings] == ["note 2 is not an object; shown unchanged"]


@pytest.mark.parametrize(("title", "shown"), [(None, "one"), ("", ""), ("Own", "Own")])
def test_a_session_without_a_title_is_titled_by_its_first_words(title: str | None, shown: str) -> None:
    assert _read({"notes": [{"said": "one"}], "title": title}).title == shown
