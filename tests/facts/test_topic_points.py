"""Features of two sentences, by which a later one updates an earlier one, each by itself."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from workbench.facts.supersession import (
    MOST_EXCHANGED,
    MOST_SHARED,
    POINTS,
    _both_hold,
    _changed,
    _is_corrected,
    _other_value,
    _place,
    _points,
)
from workbench.facts.topics import Topic

EMPTY = Topic(
    (), frozenset(), frozenset(), (), frozenset(), {}, frozenset(), {}, frozenset(), (), frozenset(),
    orders=False, chat=False, languages=("en",), language="english",
)  # fmt: skip
SETS = ("bare", "terms", "things", "names", "ended", "cues")


def topic(**given: Any) -> Topic:
    fields = {name: getattr(EMPTY, name) for name in EMPTY.__struct_fields__} | given
    return Topic(**fields | {name: frozenset(fields[name]) for name in SETS})


def values(**kinds: str) -> dict[str, frozenset[str]]:
    return {kind: frozenset(several.split()) for kind, several in kinds.items()}


MAY, JUNE = topic(values=values(date="1.5")), topic(values=values(date="1.6"))


@pytest.mark.parametrize(
    ("old", "new", "features"),
    [
        (topic(), topic(), {"quiet": 1}),
        (topic(), topic(cues=["now"]), {"changes": 1}),
        (topic(), topic(cues=["elliptic"]), {"changes": 1}),
        (topic(), topic(cues=["ends"]), {}),
        (topic(), topic(cues=["explains"]), {}),
        (topic(), topic(cues=["allowed"]), {"quiet": 1}),
        (topic(cues=["now"]), topic(), {"quiet": 1}),
        # words
        (topic(words=("hull",)), topic(words=("mast", "x")), {"quiet": 1, "length": 1, "newer length": 2}),
        (topic(words=("hull",) * 30), topic(words=("x",) * 40), {"quiet": 1, "length": 30, "newer length": 40}),
        (topic(words=("hull",) * 31), topic(words=("x",) * 41), {"quiet": 1, "length": 30, "newer length": 40}),
        (topic(words=("the", "hull")), topic(), {"quiet": 1, "length": 2, "subject": 1}),
        (topic(words=("hull", "the")), topic(), {"quiet": 1, "length": 2}),
        (topic(words=("boats", "go")), topic(), {"quiet": 1, "length": 2, "subject": 1}),
        (topic(words=("hull", "is")), topic(), {"quiet": 1, "length": 2, "subject": 1}),
        (topic(words=("ruth",), names=["ruth"]), topic(), {"quiet": 1, "length": 1, "subject": 1}),
        # shared terms
        (topic(terms="ab"), topic(terms="bc"), {"quiet": 1, "shared": 0.5, "rarest": 0.5}),
        (topic(terms="abx"), topic(terms="bxc"), {"quiet": 1, "shared": 0.75, "rarest": 0.5}),
        (topic(terms="abcdefgh"), topic(terms="abcdefgh"), {"quiet": 1, "shared": MOST_SHARED, "rarest": 0.5}),
        (topic(terms="ab"), topic(terms="bc", ended="b"), {"quiet": 1, "shared": 0.5, "rarest": 0.5, "gone": 0.5}),
        (topic(terms="ab"), topic(terms="bc", ended="ac"), {"quiet": 1, "shared": 0.5, "rarest": 0.5}),
        # names
        (topic(names=["ruth"]), topic(bare=["ruth"]), {"quiet": 1, "name": 0.5}),
        (topic(names=["ruth"]), topic(names=["ruth"]), {"quiet": 1}),
        (topic(names=["ruth"]), topic(bare=["ruth"], names=["omar"], cues=["ends"]), {"name": 0.5, "swap": 0.5}),
        (topic(names=["ruth"]), topic(bare=["ruth"], names=["ruth"], cues=["ends"]), {"name": 0.5}),
        (topic(names=["ruth"]), topic(bare=["ruth"], names=["omar"]), {"quiet": 1, "name": 0.5}),
        (topic(), topic(names=["omar"], cues=["ends"]), {}),
        # fields
        (topic(fields={"due": {"a"}}), topic(fields={"due": {"b"}}), {"quiet": 1, "field": 0.5}),
        (topic(fields={"due": {"a"}}), topic(fields={"due": {"a"}}), {"quiet": 1}),
        (topic(fields={"due": {"a"}}), topic(fields={"due": {"a", "b"}}), {"quiet": 1}),
        (topic(fields={"due": {"a", "b"}}), topic(fields={"due": {"a"}}), {"quiet": 1}),
        (topic(fields={"due": {"a", "c"}}), topic(fields={"due": {"a", "b"}}), {"quiet": 1, "field": 0.5}),
        (topic(fields={"due": {"a"}}), topic(fields={"pay": {"b"}}), {"quiet": 1}),
        # values
        (MAY, JUNE, {"quiet": 1, "kind": 1, "when": 1}),
        (MAY, MAY, {"quiet": 1, "when": 1}),
        (MAY, topic(values=values(time="9:30")), {"quiet": 1, "when": 1}),
        (MAY, topic(), {"quiet": 1}),
        (topic(), MAY, {"quiet": 1}),
        (topic(values=values(money="9")), topic(values=values(money="8")), {"quiet": 1, "kind": 1}),
        (topic(values=values(money="9 8")), topic(values=values(money="8 7")), {"quiet": 1}),
        (topic(values=values(name="Ruth")), topic(values=values(name="Omar")), {"quiet": 1}),
    ],
)
def test_the_points_of_each_feature(old: Topic, new: Topic, features: dict[str, float]) -> None:
    rarity = defaultdict(lambda: 0.5, x=0.25)
    expected = sum(POINTS[name] * amount for name, amount in features.items())
    assert _points(old, new, rarity) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        (values(date="1.5"), values(date="1.6"), {"when"}),
        (values(date="1.5", time="9"), values(date="1.6", time="8"), {"when"}),
        (values(date="1.5", money="9"), values(date="1.6", money="8"), {"when", "money"}),
        (values(money="9", pace="daily"), values(money="8", pace="daily"), {"money"}),
        (values(money="9 8"), values(money="8 7"), set()),
        (values(name="Ruth"), values(name="Omar"), set()),
        (values(money="9"), values(date="1.6"), set()),
    ],
)
def test_the_kinds_of_values_that_change(old: Any, new: Any, kinds: set[str]) -> None:
    assert _changed(topic(values=old), topic(values=new)) == kinds


MOST = " ".join("b" * MOST_EXCHANGED)


@pytest.mark.parametrize(
    ("first", "second", "place"),
    [
        ("a b c", "a x c", (0, 1, 3, 1)),
        ("a b c", "a x y c", (0, 1, 4, 1)),
        ("a b c d", "a b x y", (0, 2, 4, 0)),
        ("a b c d", "x y c d", (0, 0, 4, 2)),
        ("a b c", "a b c", None),
        ("a b", "a b c", None),
        ("a b c", "a b", None),
        ("a b c", "a x y", None),
        ("a b c", "so , a x c", (2, 1, 5, 1)),
        ("a b c", "a x c , so", (0, 1, 3, 1)),
        ("a b c", "so a x c", None),
        ("a b c", "a x , c", None),
        ("a b c d", "a x , a x c d", (3, 1, 7, 2)),
        ("a b c d", "a x c d , a x d", (0, 1, 4, 2)),
        (f"a {MOST} c", "a x c", (0, 1, 3, 1)),
        (f"a b {MOST} c", "a x c", None),
        ("a b c", f"a {MOST.replace('b', 'x')} c", (0, 1, 2 + MOST_EXCHANGED, 1)),
        ("a b c", f"a x {MOST.replace('b', 'x')} c", None),
        ("a a b a", "a a x a", (0, 2, 4, 1)),
        ("a a", "a a a", None),
    ],
)
def test_the_place_of_an_exchanged_value(first: str, second: str, place: tuple[int, ...] | None) -> None:
    assert _place(tuple(first.split()), tuple(second.split())) == place


NOW = {"cues": ["now"]}


def about(order: str, **given: Any) -> Topic:
    return topic(order=tuple(order.split()), things=order.split(), **given)


@pytest.mark.parametrize(
    ("old", "new", "is_corrected"),
    [
        # it forbids what was allowed, or permits what was forbidden
        (about("a b", cues=["forbids"]), about("a b"), True),
        (about("a b"), about("a b", cues=["forbids"]), True),
        (about("a b"), about("a b"), False),
        (about("a", cues=["forbids"]), about("a"), False),
        (about("a b c", cues=["forbids"]), about("a b"), False),
        (about("a", cues=["forbids"]), about("a", **NOW), True),
        (about("a b c", cues=["forbids"]), about("a", **NOW), True),
        (about("a b", cues=["forbids"]), about("a b c", **NOW), False),
        (about("a b", cues=["forbids"]), about("c", **NOW), False),
        (about("a b", cues=["forbids"]), about("a b", cues=["forbids"]), False),
        (about("a b", cues=["forbids"]), about("a b", cues=["forbids", "allowed"]), True),
        (about("a b", cues=["forbids", "allowed"]), about("a b", cues=["forbids", "allowed"]), False),
        (about("a b"), about("a b", cues=["allowed"]), False),
        # small talk, an exception, another's
        (about("a b", cues=["forbids", "feels"]), about("a b"), False),
        (about("a b", cues=["forbids"]), about("a b", chat=True), False),
        (about("a b", cues=["forbids"]), about("a b", chat=True, orders=True), True),
        (about("a b", cues=["forbids"]), about("a b", cues=["once"]), False),
        (about("a b", cues=["forbids"], words=("my",)), about("a b", words=("her",)), False),
        (about("a b", cues=["forbids"], words=("her",)), about("a b", words=("my",)), True),
        # another value
        (about("a", values=values(money="9")), about("a", values=values(money="8"), **NOW), True),
        (about("a", values=values(money="9")), about("a", values=values(money="8")), False),
        (about("a", values=values(money="9")), about("a b", values=values(money="8"), **NOW), False),
        (about("a b", values=values(money="9")), about("a", values=values(money="8"), **NOW), False),
        (about("a b c", values=values(money="9")), about("a b", values=values(money="8"), **NOW), True),
        (about("a", values=values(money="9")), about("", values=values(money="8"), **NOW), False),
        (about("", values=values(money="9")), about("", values=values(money="8"), **NOW), False),
        (about("", values=values(tongue="german")), about("", values=values(tongue="french"), **NOW), True),
        (about("a", values=values(tongue="german")), about("", values=values(tongue="french"), **NOW), False),
        # a rejected choice
        (about("a b"), about("a c", rejected=(frozenset("b"),)), True),
        (about("a b d"), about("a c", rejected=(frozenset("b"),)), False),
        (about("a b d"), about("a c", rejected=(frozenset("b"),), **NOW), True),
        (about("a b d e"), about("a c", rejected=(frozenset("b"),), **NOW), False),
        (about("b"), about("a c", rejected=(frozenset("b"),)), True),
        (about("a b"), about("a c", rejected=(frozenset("b"),), **NOW), True),
        (about("a b"), about("a c", rejected=(frozenset("bd"),), **NOW), False),
        (about("a b"), about("a c", rejected=(frozenset("d"), frozenset("b"))), True),
        # another choice
        (about("a b", words=("we",)), about("a c", words=("we",), **NOW), True),
        (about("a b", words=("we",)), about("a c", words=("so", "we"), **NOW), True),
        (about("a b", words=("we",)), about("a c", words=("so", "now", "we"), **NOW), False),
        (about("a b", words=("so", "we")), about("a c", words=("we",), **NOW), False),
        (about("a b", names="b"), about("a c", **NOW), True),
        (about("a b", words=("we",)), about("a c", words=("we",)), False),
        (about("a b", words=("we",)), about("a", words=("we",), **NOW), False),
        (about("a", words=("we",)), about("a c", words=("we",), **NOW), False),
        (about("a b c", words=("we",)), about("a d", words=("we",), **NOW), False),
        (about("a b", words=("we",)), about("a c d", words=("we",), **NOW), False),
        (about("a b c d", words=("we",)), about("a d e f", words=("we",), **NOW), True),
        (about("b a c d", words=("we",)), about("a d e f", words=("we",), **NOW), False),
        (about("a b c d", words=("we",)), about("e a d f", words=("we",), **NOW), False),
        (about("a b", words=("we",), values=values(money="9")), about("a c", words=("we",), **NOW), False),
        (about("a b", words=("we",), values=values(name="B")), about("a c", words=("we",), **NOW), True),
        (about("a b", words=("we",)), about("a c", words=("we",), values=values(name="C"), **NOW), True),
    ],
)
def test_what_corrects_a_sentence(old: Topic, new: Topic, is_corrected: bool) -> None:
    assert _is_corrected(old, new) is is_corrected


HULL = topic(terms="ab", values=values(money="9"))


@pytest.mark.parametrize(
    ("old", "new", "hold"),
    [
        (HULL, HULL, True),
        (HULL, topic(terms="abc", values=values(money="9", date="1.5")), True),
        (HULL, topic(terms="a", values=values(money="9")), False),
        (HULL, topic(terms="ab", values=values(money="8")), False),
        (HULL, topic(terms="ab", values=values(date="9")), False),
        (HULL, topic(terms="ab", values=values(money="9"), ended="b"), False),
        (HULL, topic(terms="ab", values=values(money="9"), ended="c"), True),
        (topic(terms="ab"), topic(terms="ab"), False),
        (topic(words=("my",)), topic(words=("her",)), True),
        (topic(values=values(money="9", date="1.5")), topic(values=values(money="8", date="1.6")), True),
        (topic(values=values(time="9", date="1.5")), topic(values=values(time="8", date="1.6")), False),
    ],
)
def test_which_sentences_both_hold(old: Topic, new: Topic, hold: bool) -> None:
    assert _both_hold(old, new) is hold


@pytest.mark.parametrize(
    ("old", "new", "other"),
    [
        (values(money="9"), values(money="8"), True),
        (values(money="9"), values(money="9"), False),
        ({"number boat": frozenset("9")}, values(number="8"), True),
        ({"number boat": frozenset("9")}, values(number="9"), False),
        (values(money="9"), values(number="8"), False),
        (values(money="9"), values(number="8", money="8"), False),
        (values(number="9"), values(money="8"), False),
    ],
)
def test_another_value_of_a_kind_that_both_have(old: Any, new: Any, other: bool) -> None:
    assert _other_value(topic(values=old), topic(values=new)) is other
