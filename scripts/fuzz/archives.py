"""Archives that lie: sizes, sums, names and places that are not true, links, archives within archives, and bombs."""

from __future__ import annotations

import gzip
import io
import lzma
import random
import stat
import struct
import tarfile
import zipfile
import zlib
from functools import cache

import zstandard

from scripts.fuzz.inputs import bytes_changed, seed_of, seeds
from scripts.fuzz.structure import KINDS, changed

NAMES = (
    *(
        "/etc/passwd",
        "../../../tmp/w",
        "..\\..\\x",
        "C:\\x",
        "samples/../samples/1_epoch_1.json",
        "samples//1_epoch_1.json",
    ),
    *("samples/1_epoch_1.json/", "", ".", "\x00", "header.json\x00.txt", "samples/é.json", "n" * 5_000, "header.json"),
    *("samples/1_epoch_99999999999999999999.json", "samples/-1_epoch_1.json", "summaries.json", "_journal/start.json"),
)
BOMB = 300 << 20
"""Bytes that a bomb unpacks to."""


@cache
def members() -> dict[str, bytes]:
    """An Inspect log as its archive has it: a header and samples."""
    data = next(seed.data for seed in seeds("inspect") if seed.data.startswith(b"PK"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@cache
def _zeros(method: int) -> bytes:
    """A zip whose sample is a bomb, of a method of zip."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as archive:
        archive.writestr("header.json", members()["header.json"])
        with archive.open("samples/1_epoch_1.json", "w", force_zip64=True) as file:
            file.write(b'{"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "')
            for _ in range((BOMB if method == zipfile.ZIP_DEFLATED else BOMB // 4) >> 20):  # the others pack slowly
                file.write(b" " * (1 << 20))
            file.write(b'"}]}')
    return into.getvalue()


@cache
def _session() -> bytes:
    """A Codex session, which its tool also keeps zstd-compressed."""
    return next(seed.data for seed in seeds("codex") if seed.lines)


@cache
def _zstd_bomb(inside: bool) -> bytes:
    """As the whole file, or behind a session's first lines."""
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    parts = [packer.compress(_session() if inside else b"")]
    parts += [packer.compress(b" " * (1 << 20)) for _ in range(2 * BOMB >> 20)]
    return b"".join([*parts, packer.flush()])


@cache
def _gzip_bomb() -> bytes:
    return gzip.compress(b" " * BOMB, 6, mtime=0)


@cache
def bombs() -> tuple[bytes, ...]:
    zips = [_zeros(method) for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)]
    return (*zips, _zstd_bomb(True), _zstd_bomb(False), _gzip_bomb())


def made(dice: random.Random) -> bytes:
    """An archive that lies, of one of the kinds that tools keep sessions in, or of another."""
    match dice.randrange(12):
        case 0 | 1 | 2 | 3 | 4 | 5:
            return _zip(dice)
        case 6 | 7 | 8:
            return _zstd(dice)
        case 9:
            return _gzip(dice)
        case 10:
            return _tar(dice)
        case _:
            return dice.choice(bombs())


def _member(data: bytes, dice: random.Random) -> bytes:
    seed = seed_of(data)
    return changed(seed, dice.choice(KINDS), dice) if seed.ways and dice.random() < 0.5 else data


def _zip(dice: random.Random) -> bytes:
    into = io.BytesIO()
    method = dice.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(into, "w", method) as archive:
        for name, data in members().items():
            entry = zipfile.ZipInfo(name if dice.random() < 0.85 else dice.choice(NAMES))
            entry.compress_type = method
            if dice.random() < 0.1:  # a link
                entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
                data = dice.choice((b"header.json", b"/etc/passwd", name.encode(), b"../" * 20 + b"etc/passwd"))
            archive.writestr(entry, _member(data, dice) if dice.random() < 0.6 else data)
        for _ in range(dice.choice((0, 0, 1, 3))):
            inner = dice.choice((into.getvalue(), b"{}", b"", members()["header.json"], zstandard.compress(b"{}")))
            archive.writestr(zipfile.ZipInfo(dice.choice(NAMES)), inner)
        if dice.random() < 0.05:
            for number in range(600):
                archive.writestr(zipfile.ZipInfo(f"samples/{number + 9}_epoch_1.json"), b"{}")
    data = bytearray(into.getvalue())
    for _ in range(dice.choice((0, 1, 1, 2, 4))):
        _lie(data, dice)
    return bytes(data) if dice.random() < 0.85 else bytes_changed(bytes(data), dice)


def _lie(data: bytearray, dice: random.Random) -> None:
    """A field of a header that is not true: flags, method, sum, sizes, lengths, attributes or place."""
    local = dice.random() < 0.4
    sign, fields = (b"PK\x03\x04", _LOCAL) if local else (b"PK\x01\x02", _CENTRAL)
    if dice.random() < 0.15:
        sign, fields = b"PK\x05\x06", _END
    places = [at for at in range(len(data)) if data.startswith(sign, at)] if len(data) < 200_000 else [data.find(sign)]
    if not places or places[0] < 0:
        return
    at = dice.choice(places)
    offset, width = dice.choice(fields)
    limit = 1 << 8 * width
    there = int.from_bytes(data[at + offset : at + offset + width], "little")
    value = dice.choice(
        (0, 1, limit - 1, limit // 2, there + 1, there - 1, there * 2, 93, 8, 99, dice.randrange(limit))
    )
    data[at + offset : at + offset + width] = (value % limit).to_bytes(width, "little")


_LOCAL = ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2))
_CENTRAL = ((6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (38, 4), (42, 4))
_END = ((4, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2))


def _zstd(dice: random.Random) -> bytes:
    session = _member(_session(), dice)
    match dice.randrange(9):
        case 0:  # said to be of another size
            packed = zstandard.ZstdCompressor(write_content_size=True).compress(session)
            return packed[:5] + dice.randbytes(2) + packed[7:]
        case 1:
            half = len(session) // 2
            return (
                zstandard.compress(session[:half])
                + dice.choice((b"", b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd", b"junk"))
                + zstandard.compress(session[half:])
            )
        case 2:  # a frame to be skipped that is said to be of four gigabytes
            return b"\x50\x2a\x4d\x18" + struct.pack("<I", dice.choice((0, 4, 2**32 - 1))) + zstandard.compress(session)
        case 3:
            return zstandard.compress(zstandard.compress(session))
        case 4:
            packed = zstandard.compress(session)
            return packed[: dice.randrange(4, len(packed))]
        case 5:  # a window of terabytes
            return (
                b"\x28\xb5\x2f\xfd"
                + bytes([dice.choice((0x00, 0x04, 0x20, 0xC0))])
                + bytes([dice.choice((0xFF, 0xF8, 0x88))])
                + dice.randbytes(40)
            )
        case 6:
            return zstandard.ZstdCompressor(level=19, write_checksum=True, write_content_size=False).compress(session)
        case 7:
            return zstandard.compress(session * dice.choice((1, 60, 400)))
        case _:
            return bytes_changed(zstandard.compress(session), dice)


def _gzip(dice: random.Random) -> bytes:
    session = _member(_session(), dice)
    packed = dice.choice((gzip.compress(session, mtime=0), zlib.compress(session), lzma.compress(session)))
    return bytes_changed(packed, dice) if dice.random() < 0.6 else packed


def _tar(dice: random.Random) -> bytes:
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode=dice.choice(("w", "w:gz"))) as archive:
        for name, data in members().items():
            entry = tarfile.TarInfo(name if dice.random() < 0.6 else dice.choice(NAMES[:6]))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = dice.choice((tarfile.SYMTYPE, tarfile.LNKTYPE)), "/etc/passwd"
        archive.addfile(link)
    return into.getvalue() if dice.random() < 0.7 else bytes_changed(into.getvalue(), dice)
