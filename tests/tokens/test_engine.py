import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.text import valid_unicode
from workbench.tokens.encoding import o200k
from workbench.tokens.engine import (
    WINDOW,
    Count,
    Engine,
    Ordinary,
    Together,
    count_piece,
    estimate_tokens,
    load_engine,
    pieces,
    splintr_engine,
    tiktoken_engine,
)


@pytest.fixture(scope="module")
def fast() -> Engine:
    engine = splintr_engine()
    if engine is None:
        pytest.skip("splintr-rs is not installed")
    return engine


WORDS = [
    *("the", "quick", "brown", "fox", "don't", "", "é日本", "x=1;", "//", "note\n\n\tdef", "f(a,", "b):\n", "", "", ""),
    *("return", "a+b\n1234567", "====", "naïve\r\n"),
]


def document(chars: int, seed: int) -> str:
    rnd = random.Random(seed)
    parts: list[str] = []
    length = 0
    while length < chars:
        parts.append(rnd.choice(WORDS))
        length += len(parts[-1]) + 1
    return " ".join(parts)


@pytest.mark.parametrize("seed", range(6))
def test_splitting_a_long_text_changes_no_count(seed: int) -> None:
    text = document(300_000, seed)
    parts = list(pieces(text))
    assert "".join(parts) == text
    assert len(parts) > 4
    assert all(0 < len(part) <= WINDOW for part in parts)
    assert tiktoken_engine().count(text) == Count(len(o200k().encode_ordinary(text)))


@pytest.mark.parametrize("window", [64, 1_000, 16_384])
def test_splitting_is_exact_at_any_window(window: int) -> None:
    text = document(40_000, 9)
    counted = Ordinary("test", o200k().encode_ordinary, window).count(text)
    assert counted.tokens == len(o200k().encode_ordinary(text))


def test_a_text_without_a_safe_place_is_cut_hard_and_costs_next_to_nothing() -> None:
    rnd = random.Random(3)
    text = "".join(rnd.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(200_000))
    assert [len(part) for part in pieces(text)] == [WINDOW, WINDOW, WINDOW, 200_000 - 3 * WINDOW]
    whole = len(o200k().encode_ordinary(text))
    assert abs(tiktoken_engine().count(text).tokens - whole) <= 0.001 * whole


@given(st.text(max_size=400), st.integers(1, 50))
def test_pieces_put_together_are_the_text(text: str, window: int) -> None:
    parts = list(pieces(text, window))
    assert "".join(parts) == text
    assert all(len(part) <= window for part in parts)


SPECIAL = ["<|endoftext|>", "<|endofprompt|>", "<|think|>", "<|im_start|>user", "a <|endoftext|> b<|fim_prefix|>"]


@pytest.mark.parametrize("text", SPECIAL)
def test_special_tokens_in_a_text_are_ordinary_text(text: str) -> None:
    assert tiktoken_engine().count(text).tokens == len(o200k().encode_ordinary(text)) > 1
    assert text != SPECIAL[0] or tiktoken_engine().count(text) == Count(7)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ud83d\ude00", "日\ud800" * 40_000])
def test_lone_surrogates_count_as_replacements(text: str) -> None:
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert valid_unicode(text) == clean
    assert tiktoken_engine().count(text) == tiktoken_engine().count(clean)


def test_sanitising_leaves_clean_text_alone() -> None:
    text = "é日👩\ufeffx"
    assert valid_unicode(text) is text


def test_a_million_spaces_are_counted_exactly_in_pieces() -> None:
    count = tiktoken_engine().count(" " * 1_000_000)
    assert count.exact
    assert 0 < count.tokens < 100_000


def test_a_panic_of_the_tokenizer_is_caught_and_labelled(capfd: pytest.CaptureFixture[str]) -> None:
    # tiktoken panics on whitespace runs that long; a version that no longer does counts them.
    text = " " * 1_000_000
    count = Ordinary("unsplit", o200k().encode_ordinary, window=2_000_000).count(text)
    capfd.readouterr()
    assert count.exact or count.tokens == estimate_tokens(text)


class PanicException(BaseException):
    """What a panic of a tokenizer's own code is called."""


def test_only_panics_are_caught() -> None:
    def panics(text: str) -> list[int]:
        raise PanicException("runtime error")

    def interrupted(text: str) -> list[int]:
        raise KeyboardInterrupt

    assert count_piece(panics, "four words of text") == Count(estimate_tokens("four words of text"), exact=False)
    with pytest.raises(KeyboardInterrupt):
        count_piece(interrupted, "text")


def test_one_bad_piece_labels_the_whole_text() -> None:
    def panics_on_b(text: str) -> list[int]:
        if "b" in text:
            raise PanicException("runtime error")
        return [0] * len(text)

    assert Ordinary("test", panics_on_b, window=4).count("aaaa" + "aaaa") == Count(8)
    assert Ordinary("test", panics_on_b, window=4).count("aaaa" + "bbbb") == Count(4 + estimate_tokens("bbbb"), False)


@given(st.one_of(st.text(max_size=300), st.text(alphabet="ab \n\t\r'<|>/=日é٣", max_size=300)))
def test_splintr_counts_as_tiktoken_does(fast: Engine, text: str) -> None:
    assert fast.count(text) == tiktoken_engine().count(text)


@pytest.mark.parametrize(
    "text", [*SPECIAL, "x\ud800y", "a" * 200_000, " " * 200_000, "=" * 100_000, document(200_000, 5)]
)
def test_splintr_counts_odd_texts_as_tiktoken_does(fast: Engine, text: str) -> None:
    assert fast.count(text) == tiktoken_engine().count(text)


TEXTS = st.one_of(
    st.text(max_size=80), st.text(alphabet="ab \n'<|/>=日é٣\ud800", max_size=80), st.sampled_from(SPECIAL)
)


@given(st.lists(TEXTS, max_size=12), st.integers(1, 100))
def test_texts_counted_together_have_the_counts_of_each_alone(fast: Engine, texts: list[str], window: int) -> None:
    assert isinstance(fast, Together)
    alone = replace(fast.alone, window=window)
    assert [*replace(fast, alone=alone).counts(texts)] == [alone.count(text) for text in texts]


def test_what_a_tokenizer_breaks_on_together_is_counted_one_by_one() -> None:
    def panics(texts: list[str]) -> tuple[bytes, bytes]:
        raise PanicException("runtime error")

    def panics_on_b(text: str) -> list[int]:
        return panics([text]) and [] if "b" in text else [0] * len(text)

    together = Together(Ordinary("test", panics_on_b), panics)
    assert [*together.counts(["aaa", "bbbb", ""])] == [Count(3), Count(estimate_tokens("bbbb"), False), Count(0)]


def test_the_fast_engine_is_taken_when_it_is_there(fast: Engine) -> None:
    assert load_engine().name == "splintr"


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 40,
        "def f(a: int) -> str:\n    return str(a + 1)\n" * 40,
        '{"type":"text","count":12,"path":"/a/b/c.py"}' * 40,
        "日本語の文章を数えます。" * 40,
        "Привет, как твои дела сегодня? " * 40,
        "Größe über Äpfel ölig. " * 40,
        "",
    ],
)
def test_the_estimate_is_of_the_right_size(text: str) -> None:
    counted = tiktoken_engine().count(text).tokens
    assert 0.5 * counted <= estimate_tokens(text) <= 2 * counted


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_the_estimate_takes_any_text(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= 2 * len(text)


@pytest.mark.parametrize(
    ("text", "window", "expected"),
    [
        ("aaa bbb ccc ddd", 10, ["aaa bbb", " ccc ddd"]),
        ("aaa bbb ccc", 11, ["aaa bbb ccc"]),
        ("aaa bbb ccc", 8, ["aaa", " bbb ccc"]),
        ("aaa bbb", 4, ["aaa ", "bbb"]),
        ("aaa bbb", 3, ["aaa", " bb", "b"]),
        ("ab\ncd\nef", 7, ["ab\ncd\n", "ef"]),
        ("", 4, [""]),
    ],
)
def test_a_text_is_cut_at_the_last_safe_place_of_a_window(text: str, window: int, expected: list[str]) -> None:
    assert list(pieces(text, window)) == expected


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a" * 36, 10),
        ("é" * 25, 10),
        ("日" * 15, 10),
        ("😀" * 15, 10),
        ("a" * 36 + "é" * 25 + "日" * 15 + "😀" * 15, 40),
    ],
)
def test_the_estimate_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_estimate_of_a_long_text_is_that_of_its_parts() -> None:
    """It is encoded in parts of a million characters: a copy of all of it would take as much memory again."""
    kinds = {"aé": 1 / 3.6 + 1 / 2.5, "漢🦊": 2 / 1.5}
    for text, tokens in kinds.items():
        assert estimate_tokens("x" + text * 1_000_000) == round(1 / 3.6 + 1_000_000 * tokens)
