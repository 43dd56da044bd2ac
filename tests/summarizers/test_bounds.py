"""Bounds on answers: at their borders by themselves, and through the real clients against a server on loopback."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.summarizers.fake_api import FakeApi, Reply, answer, in_one_piece
from tests.summarizers.hostile_api import MB, STREAM, Hostile, compressed, gzip
from tests.summarizers.live_calls import QUICK, ask, over, request
from workbench.base.figures import grouped
from workbench.compaction.summary_request import Summary, SummaryFailed
from workbench.summarizers import bounds, live
from workbench.summarizers.bounds import (
    BOUNDS,
    BoundedReader,
    Framing,
    OutOfBounds,
    ResponseBounds,
    exceeded_json_bound,
)
from workbench.summarizers.live_events import PromptSent

EVERY = pytest.mark.parametrize("protocol", ["messages", "chat", "responses"])
SMALL = ResponseBounds(
    document=100, error=50, stream=100, lines=100, piece=40, pieces=5, piece_lines=4, parts=12, depth=3
)
ONCE = replace(QUICK, tries=1)


def read(parts: Iterable[bytes], cut: Framing = "whole", *, zipped: bool = False, is_error: bool = False) -> bytes:
    reading = BoundedReader(cut, zipped=zipped, is_error=is_error, bounds=SMALL)
    return b"".join([piece for part in parts for piece in reading.feed(part)] + [*reading.rest()])


def refused(parts: Iterable[bytes], cut: Framing = "whole", *, zipped: bool = False, is_error: bool = False) -> str:
    with pytest.raises(OutOfBounds) as raised:
        read(parts, cut, zipped=zipped, is_error=is_error)
    return raised.value.what


# --- at the borders ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [99, 100, 101])
@pytest.mark.parametrize("zipped", [False, True])
def test_f18_a_document_is_read_up_to_its_limit(size: int, zipped: bool) -> None:
    data = b"x" * size
    sent = gzip(data) if zipped else data
    parts = [sent[at : at + 7] for at in range(0, len(sent), 7)]
    if size <= SMALL.document:
        assert read(parts, zipped=zipped) == data
    else:
        assert refused(parts, zipped=zipped) == "an answer of more than 100 bytes"


@pytest.mark.parametrize("size", [50, 51])
def test_f1_an_error_has_a_limit_of_its_own(size: int) -> None:
    data = [gzip(b"x" * size)]
    if size == 50:
        assert read(data, zipped=True, is_error=True) == b"x" * 50
    else:
        assert refused(data, zipped=True, is_error=True) == "an error answer of more than 50 bytes"


def test_f1_a_bomb_is_decompressed_no_further_than_its_limit() -> None:
    bomb = gzip(b"", b"x" * MB, 50)
    reading = BoundedReader("whole", zipped=True)
    with pytest.raises(OutOfBounds):
        list(reading.feed(bomb))
    assert BOUNDS.document < reading.decoded <= BOUNDS.document + 65_536


def test_f1_what_follows_the_gzip_counts_too() -> None:
    """A decompressor is through with its data and takes no more; what comes all the same is counted."""
    assert read([gzip(b"whole"), b"!" * 20], zipped=True) == b"whole"
    assert refused([gzip(b"whole"), b"!" * 100], zipped=True) == "an answer of more than 100 bytes"


def test_f1_what_is_no_gzip_is_said_to_be_none() -> None:
    assert refused([b"plain words"], zipped=True).startswith("an answer that is no gzip (")


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_f18_events_come_whole_however_they_are_sent(end: bytes) -> None:
    events = b"data: one" + end + b"data: two" + end + b"data: th"
    reading = BoundedReader("events", bounds=SMALL)
    pieces = [piece for at in range(len(events)) for piece in reading.feed(events[at : at + 1])]
    assert pieces == [b"data: one" + end, b"data: two" + end]
    assert [*reading.rest()] == [b"data: th"]


@pytest.mark.parametrize(
    ("data", "more", "cut", "what"),
    [
        (b"x" * 38 + b"\n\n", b"x" * 39 + b"\n\n", "events", "an event of more than 40 bytes"),
        (b"x" * 39 + b"\n", b"x" * 40 + b"\n", "lines", "a line of more than 40 bytes"),
        (b"x" * 40, b"x" * 41, "lines", "a line of more than 40 bytes"),
        (b"x\n" * 3 + b"\n", b"x\n" * 4 + b"\n", "events", "an event of more than 4 lines"),
        (b"x\n\n" * 5, b"x\n\n" * 6, "events", "more than 5 events"),
        (b"x\n" * 5, b"x\n" * 6, "lines", "more than 5 lines"),
    ],
)
def test_f18_a_stream_is_read_up_to_its_limits(data: bytes, more: bytes, cut: Framing, what: str) -> None:
    """Just at each limit, and one over it: in one piece, and byte by byte."""
    assert read([data], cut) == read([bytes([one]) for one in data], cut) == data
    assert refused([more], cut) == refused([bytes([one]) for one in more], cut) == what


def test_f18_an_event_without_an_end_is_refused_before_it_has_one() -> None:
    assert refused([b"data: "] + [b"x"] * 100, "events") == "an event of more than 40 bytes"


def test_f18_a_stream_has_a_limit_of_bytes() -> None:
    assert read([b"x" * 23 + b"\n\n"] * 4, "events")
    assert refused([b"x" * 23 + b"\n\n"] * 4 + [b"x"], "events") == "an answer of more than 100 bytes"


@pytest.mark.parametrize(
    ("data", "much"),
    [
        (b"[[[]]]", ""),
        (b"[[[]],[[]]]", ""),
        (b'{"a":[{}]}', ""),
        (b"[[[[]]]]", "JSON that is nested more than 3 deep"),
        (b'{"a":{"a":{"a":{}}}}', "JSON that is nested more than 3 deep"),
        (b'["[[[[[[", "\\"[[[[", "\\\\"]', ""),
        (b'"[[[[[[[[[[[[[[', ""),
        (b"[],[],[],[],[],[]", "JSON of more than 12 texts, lists and values"),
        (b"[1,2,3,4,5,6,7,8,9,0,1]", ""),
        (b"[1,2,3,4,5,6,7,8,9,0,1,2,3]", "JSON of more than 12 texts, lists and values"),
        (b'["' + b",[{" * 50 + b'"]', ""),
    ],
)
def test_f18_json_holds_no_more_than_its_limits(data: bytes, much: str) -> None:
    """What stands in a text is no nesting and no value."""
    assert exceeded_json_bound(data, SMALL) == much


def test_f18_a_quote_on_another_line_of_an_event_hides_nothing() -> None:
    assert (
        exceeded_json_bound(b'event: "\ndata: [[[[]]]]\n\n', SMALL, is_event=True)
        == "JSON that is nested more than 3 deep"
    )
    assert exceeded_json_bound(b"event: [[[[[[[\ndata: []\n\n", SMALL, is_event=True) == ""


def test_f18_a_text_that_never_ends_is_looked_at_once() -> None:
    """Each quote of it could begin a text anew: a look from each would take a million times a million steps."""
    assert exceeded_json_bound(b"[" * 4 + b'"' + b'\\"' * MB, replace(SMALL, depth=9)) == ""


# --- through the clients ----------------------------------------------------------------------------------------------

DEEP = b"[" * 50_000 + b"]" * 50_000


def too_much(protocol: str, api: FakeApi, what: str) -> str:
    there = over(protocol, api)
    return f"{there.address} sends {what}; stopped reading; check {there.address_source}"


@EVERY
@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Hostile(gzip(b'{"a":"', b"x" * MB, 20, b'"}'), encoding="gzip"), "an answer of more than 16 000 000 bytes"),
        (Hostile(gzip(b"", b"x" * MB, 8), kind=STREAM, encoding="gzip"), "an event of more than 4 000 000 bytes"),
        (Hostile(encoding="gzip, gzip"), "an answer in the encoding gzip, gzip, which was not asked for"),
        (Hostile(b"{}", encoding="br"), "an answer in the encoding br, which was not asked for"),
        (Hostile(length=100 * MB), "an answer of more than 16 000 000 bytes"),
        (Hostile(DEEP), "an answer with JSON that is nested more than 100 deep"),
        (Hostile(b"data: " + DEEP + b"\n\n", begins=True), "an event with JSON that is nested more than 100 deep"),
        (Hostile(b"[" + b"[]," * 300_000), "an answer with JSON of more than 500 000 texts, lists and values"),
    ],
)
async def test_f1_an_answer_beyond_its_bounds_is_named(protocol: str, reply: Hostile, what: str, api: FakeApi) -> None:
    api.replies = [reply]
    got, _ = await ask(request(), connection=over(protocol, api))
    assert got == SummaryFailed("error", too_much(protocol, api, what))
    assert len(api.received) == 1


@EVERY
@pytest.mark.parametrize(
    "reply",
    [
        Hostile(gzip(b'{"error": {"message": "', b"x" * MB, 4, b'"}}'), status=400, encoding="gzip"),
        Hostile(for_ever=b"x" * MB, status=400),
        Hostile(for_ever=b"x" * MB, status=400, kind=STREAM),
        Hostile(length=2 * MB, status=400),
    ],
)
async def test_f1_an_error_beyond_its_bounds_is_named(protocol: str, reply: Hostile, api: FakeApi) -> None:
    api.replies = [reply]
    got, _ = await ask(request(), connection=over(protocol, api))
    what = f"an error answer of more than {grouped(MB)} bytes; stopped reading"
    assert got == SummaryFailed("error", f"the server refused the request (400: {what})")
    assert reply.sent < 30 * MB


@EVERY
async def test_f1_an_error_beyond_its_bounds_is_tried_again_where_its_status_says_so(
    protocol: str, api: FakeApi
) -> None:
    api.replies = [Hostile(gzip(b"", b"x" * MB, 4), status=529, encoding="gzip"), answer("whole")]
    got, events = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert len([event for event in events if isinstance(event, PromptSent)]) == 2


@EVERY
@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (Hostile(b'{"a":"', for_ever=b"x" * MB), "an answer of more than 16 000 000 bytes"),
        (Hostile(b"data: ", for_ever=b"x" * MB, begins=True), "an event of more than 4 000 000 bytes"),
        (Hostile(for_ever=b": x\n" * 250_000, begins=True), "an event of more than 4 000 000 bytes"),
    ],
)
async def test_f18_an_answer_without_an_end_is_refused_at_its_limit(
    protocol: str, reply: Hostile, what: str, api: FakeApi
) -> None:
    """What the server could send beyond it are the buffers of two sockets."""
    api.replies = [reply]
    got, _ = await ask(request(), connection=over(protocol, api))
    await api.gone.wait()
    assert got == SummaryFailed("error", too_much(protocol, api, what))
    assert reply.sent < 40 * MB


@EVERY
async def test_f18_a_stream_of_words_without_an_end_is_refused_at_its_limit(protocol: str, api: FakeApi) -> None:
    words = Hostile(word="words " * 10_000, begins=True)
    api.replies = [words]
    got, _ = await ask(request(), connection=over(protocol, api))
    await api.gone.wait()
    most = grouped(live.MAX_ANSWER_CHARS)
    assert got == SummaryFailed("inflated", f"the answer has more than {most} characters; stopped reading")
    assert words.sent < 30 * MB


@EVERY
@pytest.mark.parametrize("more", [0, 1])
async def test_f18_pieces_are_counted_against_the_tokens_asked_for(
    protocol: str, more: int, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SPARE_PIECES", 10)
    api.replies = [answer(*["w "] * (50 + more))]
    got, _ = await ask(request(max_output_tokens=20), connection=over(protocol, api))
    if more:
        said = "the answer has more than 50 pieces where 20 tokens were asked for; stopped reading"
        assert got == SummaryFailed("inflated", said)
    else:
        assert isinstance(got, Summary)


@EVERY
async def test_f18_events_that_say_nothing_are_counted(
    protocol: str, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "BOUNDS", replace(BOUNDS, pieces=500))
    api.replies = [Hostile(for_ever=b": nothing\n\n" * 100, begins=True)]
    got, _ = await ask(request(), connection=over(protocol, api))
    assert got == SummaryFailed("error", too_much(protocol, api, "more than 500 events"))


@EVERY
async def test_f1_a_header_without_an_end_is_refused(protocol: str, api: FakeApi) -> None:
    header = Hostile(for_ever=b"x" * MB, head="HTTP/1.1 200 OK\r\nx-long: ")
    api.replies = [header]
    got, _ = await ask(request(), ONCE, connection=over(protocol, api))
    assert isinstance(got, SummaryFailed)
    assert got.detail.startswith(f"the connection to {over(protocol, api).address} failed (")
    assert header.sent < 30 * MB


@EVERY
@pytest.mark.parametrize("reply", [answer("who", "le"), in_one_piece("whole")])
@pytest.mark.parametrize("encoding", ["gzip", "x-gzip"])
async def test_f1_gzip_is_asked_for_and_read(protocol: str, encoding: str, reply: Reply, api: FakeApi) -> None:
    api.replies = [compressed(reply, encoding)]
    got, _ = await ask(request(), connection=over(protocol, api))
    assert isinstance(got, Summary)
    assert (got.text, got.usage and got.usage.output) == ("whole", 42)
    assert api.received[0].headers["accept-encoding"] == "gzip"
