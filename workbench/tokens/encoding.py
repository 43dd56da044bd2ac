"""The o200k_base encoding, built from the ranks in this package: no download, no cache folder, no environment variable.

`tiktoken.get_encoding` would fetch the ranks from the network without a timeout and its own
constructor of o200k_base starts by downloading, so the split pattern stands here as a copy.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import BadInput

if TYPE_CHECKING:
    from tiktoken import Encoding

RANKS = Path(__file__).resolve().parent / "ranks" / "o200k_base.tiktoken.gz"

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""SHA-256 of the unpacked ranks, the same that tiktoken requires of o200k_base."""

PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""How o200k_base cuts text into words before merging, as tiktoken 0.14 has it (MIT, OpenAI)."""

SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}


@cache
def o200k() -> Encoding:
    """The encoding, built once per process (about 0.4 s). Raises BadInput when the bundled ranks are damaged."""
    from tiktoken import Encoding

    return Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=read_ranks(RANKS), special_tokens=SPECIAL)


def read_ranks(path: Path) -> dict[bytes, int]:
    """Token bytes to rank. Raises BadInput when the file is missing, not gzip, or not the ranks it should be."""
    import binascii
    import gzip
    import hashlib
    import zlib

    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"{path}: the tokenizer's ranks cannot be read ({error}); reinstall compaction-workbench."
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise BadInput(
            f"{path}: the tokenizer's ranks are damaged (sha256 {found[:12]}…, expected {SHA256[:12]}…); "
            "reinstall compaction-workbench."
        )
    # The hash vouches for the shape: line i is "<base64> i".
    decode = binascii.a2b_base64
    return {decode(line[: line.index(b" ")]): rank for rank, line in enumerate(data.splitlines())}
