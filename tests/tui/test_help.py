"""Every screen explains itself, and every key has a name by which it can be remapped."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from workbench.tui.keys import FORMER, SHARED, every_place, known_key_ids
from workbench.tui.screens.help import ABOUT_BENCH, HelpScreen

PLACES = [place for place in every_place() if place.__dict__.get("BINDINGS")]
SCREENS = [place for place in every_place() if issubclass(place, Screen) and "compose" in place.__dict__]
SCREENS.remove(HelpScreen)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_every_key_has_an_id_of_its_own_and_says_what_it_does(place: type[Widget]) -> None:
    bindings = place.__dict__["BINDINGS"]
    assert all(isinstance(binding, Binding) and binding.tooltip for binding in bindings)
    ids = Counter(binding.id for binding in bindings)
    assert None not in ids
    assert [id for id, count in ids.items() if count > 1] == []
    assert set(ids) <= known_key_ids()


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_every_screen_has_a_text_that_its_help_key_shows(screen: type[Screen[object]]) -> None:
    assert screen.HELP
    bindings = [binding for place in screen.__mro__ for binding in place.__dict__.get("BINDINGS", ())]
    keys = {key for binding in Binding.make_bindings(bindings) for key in binding.key.split(",")}
    assert {"f1", "question_mark"} <= keys or "?" in keys


MOST_IDS = 109


def test_there_are_no_more_ids_than_there_were() -> None:
    assert len(known_key_ids()) <= MOST_IDS, "share an id of keys.py, or remove a key"


def test_an_id_has_the_same_keys_on_every_screen() -> None:
    keys: dict[str, set[frozenset[str]]] = {}
    for place in PLACES:
        for id in {binding.id for binding in place.__dict__["BINDINGS"]}:
            own = Binding.make_bindings(binding for binding in place.__dict__["BINDINGS"] if binding.id == id)
            keys.setdefault(id, set()).add(frozenset(one.key for one in own))
    on_bench = frozenset({"space", *SHARED["help"].split(",")})  # space marks a row on other screens
    keys["help"].remove(on_bench)
    assert {id: found for id, found in keys.items() if len(found) > 1} == {}
    assert {id for id in SHARED if keys[id] != {frozenset(SHARED[id].split(","))}} == set()
    assert not set(FORMER) & known_key_ids()


@pytest.mark.parametrize("word", ["epoch", "round", "exchange", "fact", "fate", "split"])
def test_words_that_the_screen_cannot_do_without_are_explained_where_help_begins(word: str) -> None:
    explained = rf"\ba {word} is |\ban {word} is |\b{word}s?, each |\bis the {word}:"
    assert re.search(explained, ABOUT_BENCH, re.IGNORECASE)
