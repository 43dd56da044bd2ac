"""Compressed files: limits to the byte, and what a damaged file is refused with."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from workbench.base.errors import BadInput
from workbench.formats.kit import compressed
from workbench.formats.kit.compressed import unpack_zstd, zip_members, zstd_head

HERE = Path("x.bin")
DATA = bytes(range(256)) * 40


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits themselves are those of memory."""
    monkeypatch.setattr(compressed, "LARGEST", 2 << 20)
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 4)
    monkeypatch.setattr(compressed, "_FREE_ZSTD", 1_000)
    monkeypatch.setattr(compressed, "_FREE_ZIP", 1 << 20)


def test_the_head_of_a_file_is_unpacked_as_far_as_it_is_there() -> None:
    whole = packed(DATA)
    assert zstd_head(whole, 300) == DATA[:300]
    assert zstd_head(whole, 1 << 20) == DATA
    assert DATA.startswith(zstd_head(whole[:-9], 1 << 20))
    assert zstd_head(b"\x28\xb5\x2f\xfd" + b"\xff" * 20, 300) == b""
    assert zstd_head(b"plain", 300) == b""


def test_a_file_of_several_frames_is_unpacked_whole() -> None:
    assert unpack_zstd(HERE, packed(DATA) + packed(b"more")) == DATA + b"more"


def test_a_damaged_file_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r"^x\.bin: the zstd data are damaged \(.+\); restore a whole copy and open that\.$"
    ):
        unpack_zstd(HERE, b"\x28\xb5\x2f\xfd" + b"\xff" * 20)


def test_without_the_package_a_file_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert zstd_head(packed(DATA), 300) == b""
    with pytest.raises(BadInput) as raised:
        unpack_zstd(HERE, packed(DATA))
    assert str(raised.value) == (
        "x.bin is zstd-compressed; unpack it (zstd -d) or install the package zstandard, then open it again."
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("free", [999, 1_000])
def test_a_short_file_may_have_any_ratio(free: int) -> None:
    assert unpack_zstd(HERE, packed(b"x" * free)) == b"x" * free


@pytest.mark.usefixtures("small")
def test_a_file_may_not_have_too_high_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(b"x" * 1_001)
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 1_001 / len(data))
    assert unpack_zstd(HERE, data) == b"x" * 1_001
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 1_000 / len(data))
    with pytest.raises(BadInput) as raised:
        unpack_zstd(HERE, data)
    assert str(raised.value) == "x.bin unpacks to more than 0 MiB, too much for a session; unpack it yourself."


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("size", "fits"), [(2 << 20, True), ((2 << 20) + 1, False)])
def test_a_file_may_not_be_too_large(size: int, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 10**9)
    data = packed(b"x" * size)
    if fits:
        assert len(unpack_zstd(HERE, data)) == size
    else:
        with pytest.raises(BadInput, match=r"^x\.bin unpacks to more than 2 MiB, too much for a session"):
            unpack_zstd(HERE, data)


# -- Archives


def archive(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, extra: bytes = b"") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name)
            entry.extra, entry.compress_type = extra, method
            made.writestr(entry, data)
    return file.getvalue()


def with_zstd_member(data: bytes, *, broken: bool = False, extra: bytes = b"") -> bytes:
    """An archive as other programs write it: its one member is packed by a method that older Pythons do not know."""
    raw = packed(data)
    made = bytearray(archive({"a.json": raw}, zipfile.ZIP_STORED, extra))
    crc = zipfile.crc32(data).to_bytes(4, "little")  # type: ignore[attr-defined]
    central = made.rindex(b"PK\x01\x02")
    made[8:10] = made[central + 10 : central + 12] = (93).to_bytes(2, "little")
    made[14:18] = made[central + 16 : central + 20] = b"\0\0\0\0" if broken else crc
    return bytes(made)


def members(data: bytes) -> list[tuple[str, bytes]]:
    return [*zip_members(HERE, data, lambda name: name.endswith(".json"))]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_accepted_members_are_unpacked_in_order(method: int) -> None:
    data = archive({"b.json": b"2", "skip.png": b"0" * 9, "a.json": DATA}, method)
    assert members(data) == [("b.json", b"2"), ("a.json", DATA)]


def test_a_member_packed_with_zstd_is_unpacked_and_checked() -> None:
    assert members(with_zstd_member(DATA)) == [("a.json", DATA)]
    assert members(with_zstd_member(DATA, extra=b"\x99\x99\x02\x00ab")) == [("a.json", DATA)]
    damaged = with_zstd_member(DATA).replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe")
    with pytest.raises(BadInput, match=r"^x\.bin: the zstd data are damaged"):
        members(damaged)
    with pytest.raises(BadInput) as raised:
        members(with_zstd_member(DATA, broken=True))
    assert str(raised.value) == (
        "x.bin: the zip cannot be read (Bad CRC-32 for file 'a.json'); restore a whole copy and open that."
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("sizes", "count"), [((1 << 19, 1 << 19), 2), ((1 << 19, (1 << 19) + 1), 1), (((1 << 20) + 1,), 0)]
)
def test_all_members_together_may_have_so_many_bytes(sizes: tuple[int, ...], count: int) -> None:
    data = archive({f"{number}.json": b"x" * size for number, size in enumerate(sizes)})
    found = zip_members(HERE, data, lambda name: True)
    assert [len(raw) for _, raw in (next(found) for _ in range(count))] == [*sizes[:count]]
    if count == len(sizes):
        assert next(found, None) is None
    else:
        with pytest.raises(BadInput) as raised:
            next(found)
        assert str(raised.value) == "x.bin unpacks to more than 1 MiB; unpack the part you need yourself."


@pytest.mark.usefixtures("small")
def test_a_larger_archive_may_unpack_to_more_but_not_to_more_than_any(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive({"a.json": b"x" * ((2 << 20) + 1)})
    for ratio, most in ((10**9, 2), (4, 1)):
        monkeypatch.setattr(compressed, "HIGHEST_RATIO", ratio)
        with pytest.raises(BadInput, match=f"unpacks to more than {most} MiB"):
            members(data)
    fits = archive({"a.json": b"x" * (2 << 20)})
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 10**9)
    assert len(members(fits)[0][1]) == 2 << 20


def test_the_words_of_an_error_are_cut() -> None:
    data = archive({"a" * 400 + ".json": DATA})
    at = data.index(b"PK\x01\x02")
    damaged = data[: at - 20] + b"\xff" * 20 + data[at:]
    with pytest.raises(BadInput) as raised:
        members(damaged)
    assert len(str(raised.value)) < 300
    with pytest.raises(
        BadInput, match=r"^x\.bin: the zip cannot be read \(.+\); restore a whole copy and open that\.$"
    ):
        members(b"PK\x03\x04 no archive")
