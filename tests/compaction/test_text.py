from hypothesis import given
from hypothesis import strategies as st

from workbench.compaction.prompts import fill
from workbench.compaction.text import cut_at_sentence, cut_middle, summary_inside, without_summary_tags


def test_vector_8_a_cut_in_the_middle_keeps_both_ends() -> None:
    cut = cut_middle("A" * 2_500 + "Z" * 2_500, 1_000)
    assert len(cut) == 1_000
    assert cut == "A" * 500 + "…" + "Z" * 499


def test_the_start_gets_the_odd_character() -> None:
    assert cut_middle("abcdefgh", 4) == "ab…h"
    assert cut_middle("abcdefgh", 1) == "…"
    assert cut_middle("abcdefgh", 0) == ""


@given(st.text(), st.integers(0, 80))
def test_a_cut_has_exactly_its_limit(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    assert len(cut) == min(limit, len(text))
    assert cut == text or "…" in cut or limit == 0


@given(st.text(), st.integers(1, 80))
def test_a_cut_at_a_sentence_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(cut_at_sentence(text, limit)) <= limit


def test_a_long_summary_is_cut_after_a_sentence() -> None:
    assert cut_at_sentence("One sentence here. Another one follows. And a third", 42) == (
        "One sentence here. Another one follows.…"
    )


def test_vector_9_a_placeholder_inside_a_value_stays() -> None:
    filled = fill("<{summary}|{abridged_history}>", {"summary": "{abridged_history}", "abridged_history": "A"})
    assert filled == "<{abridged_history}|A>"


def test_one_outer_pair_of_tags_is_removed() -> None:
    assert without_summary_tags("\n<summary>\n<summary>x</summary>\n</summary> ") == "<summary>x</summary>"
    assert without_summary_tags("see <summary>x</summary>") == "see <summary>x</summary>"


def test_the_summary_proper_is_found_inside_a_node() -> None:
    assert summary_inside("<supervisor>\n<summary>\nwhat I did\n</summary>\n</supervisor>") == "what I did"
    assert summary_inside("no tags") == "no tags"
