"""Words as they are compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.facts.terms import stem, token_terms

WORDS = [f"{head}{end}" for head in ("abend", "bearbeit", "datei", "verhandl", "x") for end in ("", "en", "ungen")] * 40


@pytest.fixture
def threads_that_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("threads_that_take_turns_often")
def test_several_threads_take_endings_off_at_once() -> None:
    bare = stem.__wrapped__  # each time anew: the cache would ask once for a word
    alone = [bare(word, "german") for word in WORDS]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda _: [bare(word, "german") for word in WORDS], range(6)))
    assert together == [alone] * 6


@pytest.mark.parametrize(
    ("token", "language", "found"),
    [
        ("l'arbre", "french", ["arbre"]),
        ("L'arbre", "french", ["arbre"]),
        ("qu'arbre", "french", ["arbre"]),
        ("l'arbre", "english", ["l'arbre"]),
        ("boat's", "english", ["boat"]),
        ("boat's", "german", ["boat"]),
        ("ausgeliefert", "german", ["auslief"]),
        ("gemalt", "german", ["mal"]),
        ("gemalt", "english", ["gemalt"]),
        ("tabelt", "german", ["tabel"]),
        ("tabelt", "english", ["tabelt"]),
        ("tabt", "german", ["tabt"]),
        ("deployed", "english", ["=deploy"]),
        ("deployment", "german", ["=deploy"]),
        ("geprüft", "german", ["pruf"]),
        ("ok", "english", []),
        ("the", "german", []),
        ("der", "german", []),
        ("der", "english", ["der"]),
        ("never", "english", []),
        ("twelve", "english", ["12"]),
        ("Du-Form", "german", ["du", "form"]),
        ("12,000", "english", ["12000"]),
        ("src\\a.py", "english", ["a.py"]),
        ("./", "english", []),
        ("船在码头", "english", ["船", "码头"]),
        ("码头不得船只", "english", ["码头", "船只"]),
        ("码头上", "english", ["码头", "头上"]),
        ("カードー", "english", ["カード"]),
        ("ひら", "english", []),
        ("의자는", "english", ["의자"]),
        ("의", "english", []),
    ],
)
def test_the_terms_of_a_word(token: str, language: str, found: list[str]) -> None:
    assert [*token_terms(token, language)] == found
