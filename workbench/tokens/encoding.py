"""The o200k_base encoding, built from the ranks in this package: no download, no cache folder, no environment variable.

`tiktoken.get_encoding` and tiktoken's constructor of o200k_base download the ranks, without a timeout. Ranks and split
pattern are therefore copied here.
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
"""SHA-256 of the unpacked ranks, as tiktoken checks it."""

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
"""Pattern by which o200k_base splits text into words before merging, from tiktoken 0.14 (MIT, OpenAI)."""

SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}


@cache
def o200k() -> Encoding:
    """Return the encoding, built once per process (about 0.4 s). Raises BadInput if the bundled ranks are damaged."""
    from tiktoken import Encoding

    return Encoding("o200k_base", pat_str=PATTERN, mergeable_ranks=read_ranks(RANKS), special_tokens=SPECIAL)


def read_ranks(path: Path) -> dict[bytes, int]:
    """Ranks by token bytes. Raises BadInput if the file is missing, not gzip, or damaged."""
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
    # The hash proves the form: line i is "<base64> i".
    decode = binascii.a2b_base64
    return {decode(line[: line.index(b" ")]): rank for rank, line in enumerate(data.splitlines())}
