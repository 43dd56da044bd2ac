"""Signs of a rule in one sentence of a message."""

from __future__ import annotations

from workbench.facts.standing_signs import Sentence, signs

MESSAGE = [
    Sentence("Is the hull of it red?", False),
    Sentence("Never push {x}:", True),
    Sentence("Fix the bug.", False),
]
FORM = {"question", "bullet", "colon", "code"}
AROUND = {"a rule", "a question", "rules only", "alone", "beside", "pasted"}


def test_the_form_of_a_sentence() -> None:
    assert [signs(MESSAGE, at) & FORM for at in range(3)] == [{"question"}, {"bullet", "colon", "code"}, set()]
    assert signs([Sentence("Never push**：**", False)], 0) & FORM == {"colon"}


def test_the_sentences_around_a_sentence() -> None:
    assert [signs(MESSAGE, at) & AROUND for at in range(3)] == [
        {"a rule", "beside"},
        {"a question", "beside"},
        {"a rule", "a question", "beside"},
    ]
    assert signs([MESSAGE[2], MESSAGE[0]], 0) & AROUND == {"a question", "beside"}
    assert signs(MESSAGE[1:], 1) & AROUND == {"a rule", "rules only", "beside"}
    assert signs(MESSAGE[1:2], 0) & AROUND == {"alone"}
    assert signs(MESSAGE[1:2], 0, pasted=True) & AROUND == {"alone", "pasted"}


def test_the_reach_with_each_sign_around() -> None:
    found = signs(MESSAGE[1:2], 0, pasted=True)
    assert {one for one in found if one.startswith("reach")} == {"reach:WORK", "reach:WORK alone", "reach:WORK pasted"}
    assert {one for one in signs(MESSAGE, 0) if one.startswith("reach")} == {
        "reach:NONE",
        "reach:NONE beside",
        "reach:NONE a rule",
    }


def test_words_have_stems_and_numbers_are_alike() -> None:
    assert Sentence("Never pushing 12, don't", False).words == {"never", "pushing", "pushi*", "#", ",", "don't"}


def test_words_without_spaces_are_runs_of_characters() -> None:
    assert Sentence("不要推 ab/c 12。!", False).words == {
        *("^", "不", "要", "推", " ", "w", "0", "$"),
        *("^不", "不要", "要推", "推 ", " w", "w ", " 0", "0$"),
        *("^不要", "不要推", "要推 ", "推 w", " w ", "w 0", " 0$"),
        *("^不要推", "不要推 ", "要推 w", "推 w ", " w 0", "w 0$"),
    }
    assert Sentence("不要 push", False).words == {"不要", "push"}
