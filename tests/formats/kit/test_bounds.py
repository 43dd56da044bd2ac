"""What no session holds is told from its bytes, before decoding it fills the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.formats.kit import bounds
from workbench.formats.kit.bounds import beyond
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import records_of

LONGEST, MOST = 100, 20


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds themselves are those of memory."""
    monkeypatch.setattr(bounds, "LONGEST_TEXT", LONGEST)
    monkeypatch.setattr(bounds, "MOST_VALUES", MOST)


def told(data: bytes) -> str:
    return beyond(b"[[[" + data + b",,,", 3, 3 + len(data))


@pytest.mark.parametrize("inner", [b"x", b"\\n", b"\\\\", b'\\"', b",", b'[{\\"'])
@pytest.mark.parametrize("before", [b"[", b'["a\\\\",', b'{"k": '])
def test_a_text_with_its_quotes_is_too_long_from_one_byte_on(inner: bytes, before: bytes) -> None:
    text = (inner * ((LONGEST - 2) // len(inner))).ljust(LONGEST - 2, b"x")
    assert told(before + b'"' + text + b'"]') == ""
    assert told(before + b'"x' + text + b'"]') == "a text of 0 MB"
    assert told(before + b'"x' + text + b"\\") == "a text of 0 MB"  # cut off


@pytest.mark.parametrize("inner", [b"0", b"{}", b"[]", b'""', b'",,,"', b'"[{"', b'"\\",,"'])
def test_values_are_counted_outside_texts(inner: bytes) -> None:
    own = inner in (b"{}", b"[]")
    count = MOST // 2 if own else MOST
    fits = b"[" + b",".join([inner] * count) + b"]"
    assert told(fits + b" " * LONGEST) == ""
    more = b"[" + b",".join([inner] * (count + 1)) + b"]"
    assert told(more + b" " * LONGEST) == "more than 20 values"


def test_a_document_is_refused_and_a_line_kept_as_it_is() -> None:
    giant = b'{"a":"' + b"x" * LONGEST + b'"}'
    with pytest.raises(
        BadInput, match=r"^x\.json: of its 0 MB JSON holds a text of 0 MB, which is no session's; leave"
    ):
        parse(Path("x.json"), giant)
    found = list(records_of(b'{"b":1}\n' + giant + b'\n{"c":2}\n'))
    assert [(one.value, one.start, one.stop, one.line, one.problem) for one in found] == [
        ({"b": 1}, 0, 7, 1, ""),
        (None, 8, 116, 2, "holds a text of 0 MB, which is no session's; kept as it is, not shown"),
        ({"c": 2}, 117, 124, 3, ""),
    ]
