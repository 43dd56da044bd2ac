"""How much each sentence of a speaker says that was not said before."""

from __future__ import annotations

from math import log

import pytest

from workbench.facts.novelty import COURTESY, QUESTION, VALUE, novelty


def test_a_word_counts_by_its_rarity_and_half_as_much_each_time_it_is_said_again() -> None:
    kettle, lid = log(4 / 3), log(4 / 1)
    assert novelty(["kettle", "kettle lid", "kettle"]) == pytest.approx([kettle, kettle / 2 + lid, kettle / 4])


def test_values_count_up_to_four_of_them() -> None:
    one, four, five = (novelty([f"gate {' '.join(['7'] * count)}"])[0] for count in (1, 4, 5))
    assert four - one == pytest.approx(3 * VALUE)
    assert five == pytest.approx(four)


def test_courtesies_and_questions_count_little() -> None:
    told, asked, thanked = novelty(["lantern burns", "valve turns?", "Thanks, great!"])
    assert asked == pytest.approx(QUESTION * told)
    assert 0 < thanked <= COURTESY * told


def test_a_sentence_of_function_words_and_no_sentence() -> None:
    assert novelty(["it is"]) == [0.0]
    assert novelty([]) == []
