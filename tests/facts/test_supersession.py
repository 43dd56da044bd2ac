"""Sentences that give another value for what an earlier one says."""

from __future__ import annotations

import pytest

from workbench.facts.supersession import superseding
from workbench.facts.values import values_by_kind

NAMES = "Ada Bert Cleo Dora Emil Fay Gus Hedy Ivo Jane Karl Lena Moe Nell Otto Pia Quin Rosa Sven Tess"
FILLER = tuple(f"Oil the hinges of {name} before lunch." for name in NAMES.split())
"""Sentences without a rare word of the tests, so that a word of two sentences is rare."""


def updated(*sentences: str) -> list[int | None]:
    """Return the result for these sentences, each in a message of its own, after the filler; indexes count from the
    first of them."""
    every = (*FILLER, *sentences)
    found = superseding(every, tuple(range(len(every))))
    assert found[: len(FILLER)] == (None,) * len(FILLER)
    return [None if one is None else one - len(FILLER) for one in found[len(FILLER) :]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A ticket costs seven pounds.", "A ticket costs £9."),
        ("A ticket costs seven pounds.", "A ticket costs nine pounds."),
        ("Opening night is on 6 November.", "Opening night is on 13 November."),
        ("The service logs to /var/log/weir.", "The service logs to /data/weir."),
        ("Siobhan draws the icons.", "Bartek draws the icons."),
        ("Guests stay at the Hotel Bellmoor.", "Guests stay at the Mill House."),
        ("Load the rows in batches of 5000.", "Load the rows in batches of 1200."),
        ("We meet on Monday at the weir.", "We meet on Tuesday at the weir."),
        ("The buoy listens on port 8080.", "The buoy listens on port 8443."),
        ("Letters are due within 48 hours.", "Letters are due within 24 hours."),
        ("The spare oar is with Mrs Pohl.", "The spare oar is with the Okafors."),
        ("The pump is with Marisol.", "The pump is with Augustin."),
    ],
)
def test_the_same_sentence_with_another_value(old: str, new: str) -> None:
    assert updated(old, new) == [1, None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A ticket costs seven pounds.", "A ticket costs seven pounds."),
        ("A ticket costs seven pounds.", "A dinner costs nine pounds."),
        ("We rehearse in the old school.", "We rehearse in the pavilion."),  # both may be true
        ("Alice likes long walks.", "Carla likes long walks."),  # as well
        ("My brother Tom is tall.", "My brother Max is tall."),
        ("Fix the bug in src/weir.py.", "Fix the bug in src/gate.py."),
        ("We work on part 2.", "We work on part 3."),
        ("Oil gate 1 before noon.", "Oil gate 2 before noon."),
        ("It is 7.", "It is 9."),  # too few words
        ("My old bike is 5 years old.", "My red bike is now 9 years old."),
    ],
)
def test_another_subject_a_list_or_an_order_updates_nothing(old: str, new: str) -> None:
    assert updated(old, new) == [None, None]


def test_two_of_one_form_are_an_update_and_three_a_list() -> None:
    seats = [f"The boat seats {n} people." for n in (4, 6, 8)]
    assert updated(*seats[:2]) == [1, None]
    assert updated(*seats) == [None, None, None]


def test_sentences_of_one_message_do_not_update_each_other() -> None:
    pair = ("A ticket costs seven pounds.", "A ticket costs nine pounds.")
    assert superseding(pair, (3, 3)) == (None, None)
    assert superseding(pair, (3, 4)) == (1, None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The movers are allowed eleven thousand francs.", "Actually, the movers may charge up to CHF 13,500."),
        ("The demo must be ready on 10 April.", "Change of plan: the demo should be finished on 2026-04-24."),
        ("The music is made by Anouk.", "The soundtrack comes no longer from Anouk but from Teo."),
        ("We work on the branch feat/weir.", "We moved, the branch is feat/sluice from now on."),
        ("The ceremony is on 12 September.", "Change of plan, they say their vows on the 19th of September."),
        # the old one is gone, and there is another
        ("Ruth rows us to the island.", "Ruth broke her arm, so Omar rows us over."),
        ("We stay at the Mill House.", "The Mill House was full, so we sleep at a hostel in Brig."),
        ("The posters are printed by Vogt.", "Since Vogt closed down, Hanke prints the posters."),
        # words of one field
        ("The submission is due on 3 May.", "They moved the deadline to the 17th."),
    ],
)
def test_an_announced_change_in_other_words(old: str, new: str) -> None:
    assert updated(old, new) == [1, None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The movers are allowed eleven thousand francs.", "The movers may charge up to CHF 13,500."),
        ("The demo must be ready on 10 April.", "The dinner will be on 2026-04-24."),
        ("Ruth rows us to the island.", "Ruth likes the island."),
        ("The tram comes back to town at 15:45.", "The tram leaves town at 7:50 now."),
        ("Good morning, the next one is long.", "So the regatta will be on the last weekend of June."),
        ("My boat leaves at 9:40.", "Her boat leaves at 11:15 now."),  # another person's
    ],
)
def test_other_words_without_enough_in_common_update_nothing(old: str, new: str) -> None:
    assert updated(old, new) == [None, None]


def test_a_change_in_other_words_updates_what_it_has_most_in_common_with() -> None:
    exams, trip = "The exams end on July 3.", "The trip begins on July 11."
    change = "Change of plan, departure is the eighteenth of July."
    assert updated(exams, trip, change) == [None, 2, None]
    assert updated(trip, exams, change) == [2, None, None]


def test_a_session_with_tool_calls_needs_more_in_common() -> None:
    said = (*FILLER, "The movers are allowed 900 francs.", "Actually, the movers may charge up to CHF 1,150.")
    assert superseding(said, tuple(range(len(said))))[-2] == len(said) - 1
    assert superseding(said, tuple(range(len(said))), works=True)[-2] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The boat costs 900 francs.", "We asked again, and the boat now costs 950 francs."),
        ("The hull will be green.", "Correction: the hull will be blue."),
        ("The lock is oiled twice a day.", "The lock is oiled three times a day now."),
        ("Ruth steers the boat.", "Change of plan, Omar steers the boat, Ruth is ill."),
        ("We sail on Friday 4 June.", "We sail on Saturday 5 June."),
        ("We sail on Friday at 9:30.", "We sail on Saturday at 10:15."),
        ("The buoy runs on Ubuntu 22.", "The buoy runs on Debian 12."),
        ("Our hall holds 32.", "Our hall holds 40."),
        ("The flag is #1F4E5F.", "The flag is #23404A."),
        ("The lock opens at 6.30pm.", "The lock opens at 7pm."),
        ("Das Boot kostet 900 Franken.", "Korrektur: Das Boot kostet 950 Franken."),
        ("Le bateau part le 4 juin.", "Finalement, le bateau part le 5 juin."),
        ("船票一共是一百元。", "更正一下，船票一共是两百元。"),
    ],
)
def test_an_announced_change_in_the_same_words(old: str, new: str) -> None:
    assert updated(old, new) == [1, None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The boat costs 900 francs.", "We asked again, and the boat costs 900 francs now."),
        ("On Sundays the shop opens at 8.", "On Mondays the shop opens at 9."),
        ("Ruth tosses the coin.", "Then Omar tosses the coin."),  # one after the other
        ("Can't wait to see the sea!", "And now I can't wait to see the lake!"),
        ("Our boat is at 3 Mill Lane.", "Our boat is at 9 Park Road."),  # maybe another boat
    ],
)
def test_the_same_words_that_may_both_hold(old: str, new: str) -> None:
    assert updated(old, new) == [None, None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Wow, great idea!", "Wow, you're awesome for going for it!"),
        ("Hey Ada, that's awesome!", "Hey Ada, great chatting with you again!"),
    ],
)
def test_small_talk_supersedes_nothing(old: str, new: str) -> None:
    assert updated(old, new) == [None, None]


def test_a_word_of_many_sentences_is_not_rare() -> None:
    change = "Actually, the pier takes 9 boats."
    piers = [f"At low tide we paint {word} on the pier." for word in ("poles", "planks", "bollards", "lamps")]
    assert updated("The pier takes 7 boats.", change)[0] == 1
    assert updated("Our pier has room for 7 boats.", change)[0] == 1
    assert updated("On the pier stand 7 boats.", *piers, "Actually, the pier gets 9 boats, moored.")[0] is not None


@pytest.mark.parametrize(
    ("old", "new", "updates"),
    [
        ("We work on part 20.", "We work on part 30.", False),
        ("We work on part 200.", "We work on part 300.", True),
        ("We sail with boats 12.", "We sail with boats 13.", True),
        ("12 people sail with us.", "14 people sail with us.", True),
        ("Our pilot is Ruth.", "Our pilot is Omar.", True),
        ("Our pilot Ruth sails.", "Our pilot Omar sails.", False),
        ("Never sail on Monday.", "Never sail on Tuesday.", False),
        ("Never carry 12 people.", "Never carry 14 people.", True),
        ("Our boat takes 12 people on board.", "Our boat takes 14 people on board, I think.", True),
        ("Our boat takes 12 people on board.", "Our small boat takes 14 people on board.", False),
        ("You must not use the crane at night.", "You may use the crane at night.", True),
        ("You must not use the crane at night.", "You can use the crane.", False),
        ("Answer in German.", "Now speak French please.", True),
        ("Write the log in German.", "Answer in French now.", False),
        ("It holds nine boats.", "Make that eight, please.", True),
        ("It holds nine boats.", "Make that green.", False),
    ],
)
def test_a_value_for_which_there_is_one_place(old: str, new: str, updates: bool) -> None:
    """With tool calls, an update in other words needs more points, so the place decides."""
    said = (*FILLER, old, new)
    found = superseding(said, tuple(range(len(said))), works=True)
    assert found[len(FILLER) :] == (len(FILLER) + 1 if updates else None, None)


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("On the 18th of July at 9:30.", {"date": {"18.7"}, "time": {"9:30"}}),
        ("It ends on 2026-07-18.", {"date": {"18.7"}}),
        ("It ends on 18.07.2026.", {"date": {"18.7"}}),
        ("It costs two hundred euros.", {"money": {"200"}}),
        ("It costs CHF 13,500.", {"money": {"13500"}}),
        ("It takes 45 minutes.", {"number second": {"2700"}}),
        ("We expect ninety-four guests.", {"number guest": {"94"}}),
        ("Write to #field-alerts and user://saves.", {"code": {"#field-alerts", "user://saves"}}),
        ("Ask Ruth Oller about it.", {"name": {"Ruth Oller"}}),
        ("Ruth Oller owns the boat.", {"name": {"Ruth Oller"}}),
        ("We leave in May 5.", {"date": {"5.5"}}),
        ("Ask Marisol about it.", {"name": {"Marisol"}}),  # March is no part of a name,
        ("We oiled 3 decks.", {"number deck": {"3"}}),  # and December none of a deck
        ("Leave it as it is.", {}),
    ],
)
def test_values_by_kind(sentence: str, values: dict[str, set[str]]) -> None:
    assert values_by_kind(sentence) == values
