import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.tokens.encoding import PATTERN, RANKS, SHA256, SPECIAL, o200k, read_ranks

OFFLINE = """
import os, socket, sys
os.environ.pop("TIKTOKEN_CACHE_DIR", None)
def refuse(*a, **k): raise AssertionError("the network was asked")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from workbench.tokens.engine import tiktoken_engine
print(tiktoken_engine().count("hello world, <|endoftext|>").tokens)
print([name for name in ("requests", "urllib3", "tiktoken_ext.openai_public", "http.client") if name in sys.modules])
"""


def test_the_encoding_is_built_without_any_network() -> None:
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["10", "[]"]


def test_the_room_imports_neither_tokenizer_nor_database() -> None:
    code = (
        "import sys, workbench.tokens; "
        "print([n for n in ('tiktoken', 'splintr', 'sqlite3', 'pydantic', 'anthropic', 'textual') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_encoding_is_o200k_base() -> None:
    encoding = o200k()
    assert encoding.n_vocab == 200_019
    assert encoding is o200k()
    # Published ids: https://github.com/openai/tiktoken, o200k_base.
    assert encoding.encode_ordinary("hello world") == [24912, 2375]
    assert encoding.decode(encoding.encode_ordinary("日本語 ü 👩‍👩‍👧")) == "日本語 ü 👩‍👩‍👧"


def test_pattern_and_specials_are_those_of_the_installed_tiktoken() -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    source = Path(public.__file__).read_text(encoding="utf-8")
    body = source[source.index("def o200k_base()") :]
    body = body[: body.index("def o200k_harmony")]
    for part in PATTERN.split("|\\p{N}{1,3}|")[0].split("|[^"):
        assert part in body
    for token in (r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)"):
        assert token in PATTERN
        assert token in body
    assert all(str(rank) in body for rank in SPECIAL.values())


def test_other_ranks_are_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.decompress(RANKS.read_bytes()))
    data[1_000_000] ^= 1
    damaged = tmp_path / "o200k_base.tiktoken.gz"
    damaged.write_bytes(gzip.compress(bytes(data), 1))
    found, expected = hashlib.sha256(bytes(data)).hexdigest(), SHA256
    with pytest.raises(BadInput) as refused:
        read_ranks(damaged)
    assert str(refused.value) == (
        f"{damaged}: the tokenizer's ranks are damaged (sha256 {found[:12]}…, expected {expected[:12]}…); "
        "reinstall compaction-workbench."
    )


@pytest.mark.parametrize("content", [b"", b"not gzip", RANKS.read_bytes()[:9_000]], ids=["empty", "text", "cut short"])
def test_unreadable_ranks_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ranks.gz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"ranks\.gz.*reinstall"):
        read_ranks(path)
    with pytest.raises(BadInput, match="missing"):
        read_ranks(tmp_path / "missing.gz")


def test_the_note_beside_the_ranks_names_origin_licence_and_hash() -> None:
    note = RANKS.with_name("README.md").read_text(encoding="utf-8")
    assert "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d" in note
    assert "github.com/openai/tiktoken" in note
    assert "MIT License" in note
