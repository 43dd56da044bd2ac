"""Every screen explains itself, and every key has a name by which it can be remapped."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from workbench.tui.keys import every_place, known_key_ids
from workbench.tui.screens.all_keys import AllKeysScreen
from workbench.tui.screens.help import ABOUT_BENCH, HelpScreen

PLACES = [place for place in every_place() if place.__dict__.get("BINDINGS")]
SCREENS = [place for place in every_place() if issubclass(place, Screen) and "compose" in place.__dict__]
SCREENS.remove(HelpScreen)
SCREENS.remove(AllKeysScreen)  # shows keys and nothing else


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


def test_one_name_is_one_key_wherever_it_stands() -> None:
    bindings = {id(binding): binding for place in PLACES for binding in place.__dict__["BINDINGS"]}
    names = Counter(binding.id for binding in bindings.values())
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("word", ["epoch", "round", "exchange", "fact", "fate", "split"])
def test_words_that_the_screen_cannot_do_without_are_explained_where_help_begins(word: str) -> None:
    explained = rf"\ba {word} is |\ban {word} is |\b{word}s?, each |\bis the {word}:"
    assert re.search(explained, ABOUT_BENCH, re.IGNORECASE)
