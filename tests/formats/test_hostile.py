"""What nobody meant to be read, beside what every format's conformance holds: archives that unpack to gigabytes, links
in circles, and paths in a session that lead elsewhere."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest
import zstandard

from tests.formats.claude_code_build import jsonl, small
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.files import load
from workbench.formats.format import Format, no_progress


def test_archives_that_unpack_to_gigabytes_are_refused_early(tmp_path: Path) -> None:
    zeros = zstandard.ZstdCompressor(level=3).compressobj()
    line = (SAMPLES / "codex-two-compactions.jsonl").read_bytes()
    packed = zeros.compress(line) + b"".join(zeros.compress(bytes(1 << 20)) for _ in range(64)) + zeros.flush()
    path = tmp_path / "rollout-x.jsonl.zst"
    path.write_bytes(packed)
    with pytest.raises(BadInput, match="unpacks to more than"):
        load(path)
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/a_epoch_1.json", b'{"messages":[]}' + b" " * (70 << 20))
    path = tmp_path / "log.eval"
    path.write_bytes(into.getvalue())
    with pytest.raises(BadInput, match="unpacks to more than"):
        load(path)


def test_links_in_circles_and_names_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(BadInput, match=r"cannot be read|does not exist"):
        load(circle)
    folder = tmp_path / "task"
    (folder / "events").mkdir(parents=True)
    (folder / "events" / "again").symlink_to(folder)
    (folder / "base_state.json").write_text("{}")
    with pytest.raises(BadInput, match="no events"):
        load(folder)
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    out = f"../../../../../../..{secret}"
    lines = small()
    lines[1]["message"]["content"] = f"@{out} <image>{secret}</image>"
    for line in lines:
        line |= {"cwd": str(tmp_path), "sessionId": out, "agentId": out}
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*lines))
    before = sorted(os.listdir(tmp_path))
    session = load(path)
    written = registry.by_id("claude-code").codec.write(session, session.context())
    assert b"the secret" not in written.data
    assert "/" not in written.name
    assert ".." not in written.home.removeprefix("~/")
    assert sorted(os.listdir(tmp_path)) == before


DOCUMENTS = [known for known in registry.formats() if known.id != "aider"]
NOTHING = [b"", b"7", b"[1", b'{"messages":7,"history":7,"chatHistory":7,"events":7,"steps":7,"info":{"id":"ses_1"}}']


@pytest.mark.parametrize("data", NOTHING)
@pytest.mark.parametrize("format", DOCUMENTS, ids=lambda format: format.id)
def test_what_holds_no_session_is_refused_in_a_sentence_with_the_files_name(format: Format, data: bytes) -> None:
    with pytest.raises(BadInput, match=r"^x\.json\b.*[a-zK.]$"):
        format.codec.read(Path("x.json"), data, no_progress)
