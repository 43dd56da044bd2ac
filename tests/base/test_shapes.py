"""How much of what is a secret is masked, and how little of what is none, on two lists of shapes."""

from __future__ import annotations

import json

import pytest

from tests.base.shapes import Shape, leaks, met, missed, shapes, touched
from tests.products import mostly_full
from workbench.base.secrets import MASK, masked, masked_value

SECRET, ORDINARY = shapes("secret"), shapes("ordinary")
MET = ("", "later_", "last_", "fresh_", "rules_", "seventh_", "ninth_")
"""The lists of lines as sessions hold them; of the first one the odd lines alone were tuned on."""


def test_the_lists_are_long_enough_and_no_line_stands_twice() -> None:
    assert min(len(SECRET), len(ORDINARY)) >= 150
    assert len({shape.about for shape in (*SECRET, *ORDINARY)}) == len(SECRET) + len(ORDINARY)
    assert [shape.about for shape in SECRET if not shape.secrets] == []


@pytest.mark.parametrize("for_tuning", [True, False], ids=["tuned on", "only measured"])
def test_of_the_secrets_nineteen_in_twenty_are_masked(for_tuning: bool) -> None:
    half = _half(SECRET, for_tuning)
    found = missed(masked, half)
    assert len(found) <= len(half) * 0.05, [shape.about for shape in found]


@pytest.mark.parametrize("for_tuning", [True, False], ids=["tuned on", "only measured"])
def test_of_ordinary_things_one_in_fifty_is_masked_at_most(for_tuning: bool) -> None:
    half = _half(ORDINARY, for_tuning)
    found = touched(masked, half)
    assert len(found) <= len(half) * 0.02, [shape.about for shape in found]


def test_the_lists_of_what_sessions_hold_are_long_enough_and_no_line_stands_twice() -> None:
    for kind in ("secret", "ordinary"):
        assert len(met(kind)) >= 300
        texts = [shape.marked for name in MET for _, shape in met(f"{name}{kind}")]
        assert len(set(texts)) == len(texts)
        assert all(bool(shape.secrets) == (kind == "secret") for name in MET for _, shape in met(f"{name}{kind}"))


HALVES = {
    "tuned on": lambda among: among[0::2],
    "only measured": lambda among: among[1::2],
    "all": lambda among: among,
}


@pytest.mark.parametrize(
    ("name", "half"),
    [
        ("", "tuned on"),
        ("", "only measured"),
        ("later_", "all"),
        ("last_", "all"),
        ("fresh_", "all"),
        ("rules_", "all"),
        ("seventh_", "all"),
        ("ninth_", "all"),
    ],
)
def test_f7_of_what_sessions_hold_98_percent_is_masked_and_one_percent_of_look_alikes(name: str, half: str) -> None:
    secrets, ordinary = ([shape for _, shape in HALVES[half](met(f"{name}{kind}"))] for kind in ("secret", "ordinary"))
    left, beside = missed(masked, secrets), touched(masked, ordinary)
    assert len(left) <= len(secrets) * 0.02, [shape.about for shape in left]
    assert len(beside) <= len(ordinary) * 0.01, [shape.about for shape in beside]


@pytest.mark.parametrize("depth", mostly_full([1, 2, 3], in_short=[1, 3]))
def test_f6_within_json_as_much_is_masked_and_it_stays_json(depth: int) -> None:
    among = [*SECRET, *(shape for name in MET for _, shape in met(f"{name}secret"))]
    bare = {shape.about for shape in missed(masked, among)}
    nested = [_within_json(shape, depth) for shape in among]
    assert {shape.about for shape in nested if leaks(shape, masked(shape.text))} <= bare
    for shape in nested:
        value = masked(shape.text)
        for _ in range(depth):
            value = json.loads(value)["text"]
        assert value.startswith("a line before\n")


def _within_json(shape: Shape, depth: int) -> Shape:
    marked = f"a line before\n{shape.marked}\nand one after"
    for _ in range(depth):
        marked = json.dumps({"text": marked, "number": 1}, ensure_ascii=False)
    return Shape(shape.about, marked)


def test_a_part_of_a_secret_left_in_place_is_a_leak() -> None:
    whole = [Shape("", "password=⟨abcdef123456⟩ abc")]
    assert missed(lambda text: text.replace("abcdef1", "*"), whole) == []
    assert missed(lambda text: text.replace("abcdef", "*"), whole) == whole


@pytest.mark.parametrize(
    ("head", "tail", "percent"), [(0.5, 0, 8), (0, 0.5, 11), (0.25, 0.25, 19)], ids=["head", "tail", "both ends"]
)
def test_of_a_secret_that_is_cut_in_its_middle_most_is_masked(head: float, tail: float, percent: int) -> None:
    """Of those of twenty characters and more, with half of them left; docs/secrets.md says the figures."""
    torn = []
    for shape in SECRET:
        for secret in (secret for secret in shape.secrets if len(secret) >= 20):
            before, _, after = shape.text.partition(secret)
            start, end = secret[: round(len(secret) * head)], secret[len(secret) - round(len(secret) * tail) :]
            marked = (f"{before}⟨{start}⟩" if head else "") + "…" + (f"⟨{end}⟩{after}" if tail else "")
            torn.append(Shape(shape.about, marked))
    left = missed(masked, torn)
    assert len(left) <= len(torn) * percent / 100, [shape.about for shape in left]


def test_masked_text_is_masked() -> None:
    assert [once for shape in SECRET if masked(once := masked(shape.text)) != once] == []


def test_a_value_of_json_is_judged_with_its_key_and_keys_are_masked_too() -> None:
    token = "ghp_" + "aB3dE6gH" * 5
    value = {"password": "abc123def", "a": ["abc123def", {"api_key": 'x" abc123def4'}], token: {token: "abc123def"}}
    clean = {"password": MASK, "a": ["abc123def", {"api_key": MASK}], MASK: {MASK: "abc123def"}}
    assert masked_value(value) == clean
    assert masked_value((None, 1, True, "x")) == [None, 1, True, "x"]


def _half(among: list[Shape], for_tuning: bool) -> list[Shape]:
    return [shape for shape in among if shape.is_for_tuning == for_tuning]
