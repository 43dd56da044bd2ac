"""Width and height of images, from headers that are written here."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.images import gif, jpeg, png, webp
from workbench.session import Media, media_of
from workbench.session.images import pixels_of, pixels_of_encoded


@pytest.mark.parametrize(
    ("encoded", "pixels"),
    [
        (png(2162, 322), (2162, 322)),
        (png(2162, 322, 9_000), (2162, 322)),
        (png(1, 65_536), (1, 65_536)),
        (png(0, 10), None),
        (png(10, 10)[:28], None),
        (gif(640, 8_001), (640, 8_001)),
        (jpeg(1_200, 900), (1_200, 900)),
        (jpeg(1_200, 900, exif=300), (1_200, 900)),
        (jpeg(1_200, 900, exif=60_000), (1_200, 900)),
        (jpeg(1_200, 900, frame=0xC2), (1_200, 900)),
        (webp(b"VP8X", 2_001, 3), (2_001, 3)),
        (webp(b"VP8L", 2_001, 3), (2_001, 3)),
        (webp(b"VP8 ", 2_001, 3), (2_001, 3)),
        (png(30, 40).replace("+", "-").replace("/", "_"), (30, 40)),
        ("\n".join(png(30, 40)[at : at + 20] for at in range(0, 44, 20)), (30, 40)),
        (b64encode(b"%PDF-1.7 no image at all").decode(), None),
        ("ÿØÿ no base64", None),
        ("https://example.org/a.png", None),
        ("", None),
    ],
)
def test_pixels_stand_in_the_header(encoded: str, pixels: tuple[int, int] | None) -> None:
    assert pixels_of_encoded(encoded) == pixels


def test_media_know_their_pixels_and_the_length_of_their_base64() -> None:
    encoded = png(30, 40)
    assert media_of("image/png", encoded) == Media("image/png", 40, (30, 40))
    assert media_of("image/png", f"data:image/png;base64,{encoded}") == Media("image/png", 62, (30, 40))
    assert media_of("application/pdf", "JVBERi0=") == Media("application/pdf", 8)


STARTS = [b"\xff\xd8\xff", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"GIF89a", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"]


@given(st.binary(max_size=64), st.sampled_from(STARTS))
def test_any_bytes_can_be_read(data: bytes, start: bytes) -> None:
    pixels_of(data)
    found = pixels_of(start + data)
    assert found is None or min(found) > 0


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    pixels_of_encoded(text)
