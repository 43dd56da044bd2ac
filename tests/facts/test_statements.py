"""What a person states in conversation, and what updates it."""

from __future__ import annotations

import pytest

from tests.facts.talk import agent, call, user
from workbench.facts.all_facts import find_facts
from workbench.facts.statements import is_statement, sentence_states, statement_facts
from workbench.facts.supersession import superseding
from workbench.facts.wording import LONGEST_SENTENCE


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("My budget is 956 dollars.", True),
        ("I live in Lisbon with two cats.", True),
        ("Our wedding is on May 4 in Rome.", True),
        ("Mein Zug fährt um 14:30 Uhr.", True),
        ("Мой рейс в 14:30.", True),
        ("我的预算是5000元。", True),
        ("My partner is allergic to nuts.", True),
        ("I've been thinking.", False),
        ("Is my budget 956 dollars?", False),
        ("Never spend more than 956 dollars.", False),
        ("That sounds nice.", False),
        ("Thanks a lot!", False),
    ],
)
def test_a_statement_has_something_specific(sentence: str, told: bool) -> None:
    assert [fact.text for fact in find_facts([user(sentence)]) if fact.kind == "stated"] == [sentence] * told


def test_where_tools_work_only_what_is_said_of_oneself_counts() -> None:
    said = "The build took 90 seconds on Ubuntu 24. My machine has 8 cores."
    at_work = [user(said), agent("", call("Bash", {"command": "make"}))]
    assert [fact.text for fact in statement_facts(at_work)] == ["My machine has 8 cores."]
    assert len(sentence_states([user(said), agent("I see.")])) == 2


@pytest.mark.parametrize(
    ("earlier", "later", "updates"),
    [
        ("My budget is 956 dollars.", "My budget is now 1,200 dollars.", True),
        ("Our flight is on Monday at 9.", "Our flight is on Tuesday at 9.", True),
        ("Our flight is on Monday at 9.", "Our flight is on Tuesday at 10.", False),
        ("My brother Tom is 12.", "My brother Max is 12.", False),
        ("My budget is 956 dollars.", "My budget for food is 200 dollars.", False),
        ("My budget is 956 dollars.", "My budget for food is now 200 dollars.", False),
        ("My train leaves at 9:40.", "They moved my train, it leaves at 11:15 now.", True),
        ("My train leaves at 9:40.", "My sister called, her train leaves at 11:15 now.", False),
        ("I have 3 dogs.", "I have 3 cats.", False),
        ("Our flight is on Monday at 9.", "Our flight was moved to Tuesday at 10.", True),
        ("My budget is 956 dollars.", "My budget has been raised to 1,200 dollars.", True),
        ("Our shop is at 3 Mill Lane.", "We moved: our shop is at 9 Park Road.", True),
        ("Our shop is at 3 Mill Lane.", "Our shop is at 9 Park Road.", False),
        ("Vivo en Porto.", "Ahora vivo en Braga.", True),
        ("I live in Porto, Portugal.", "I now live in Braga, Portugal.", True),
        ("I live in Porto, Portugal.", "My aunt now lives in Braga, Portugal.", False),
        ("My mail is ida@old.example.", "My mail is now ida@new.example.", True),
        ("My mail is ida@old.example.", "My aunt's mail is now eva@new.example.", False),
        ("My address is 3 Mill Lane.", "My new address is 9 Park Road.", True),
        ("My old bike is 5 years old.", "My red bike is now 9 years old.", False),
        ("La cita es el lunes a las 9.", "La cita pasa al martes a las 11.", True),
        ("La cita es el lunes a las 9.", "La cena pasa al martes a las 11.", False),
        ("Der Termin ist am Montag um 9 Uhr.", "Der Termin wurde auf Dienstag um 11 Uhr verschoben.", True),
    ],
)
def test_only_another_value_of_the_same_updates_a_statement(earlier: str, later: str, updates: bool) -> None:
    first, second = sentence_states([user(earlier), agent("Noted."), user(later)])
    assert (first.superseded_by, second.superseded_by) == (second.fact if updates else None, None)


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        (["Use two sails for the trip.", "Make that three."], {0}),
        (["Use two sails for the trip.", "The crew has 4 cooks.", "Make that five."], {1}),
        (["Paint the hull green.", "Actually, paint the hull blue."], {0}),
        (["Paint the hull green.", "Actually, paint the mast blue."], set()),
        (["Paint the hull green.", "Actually, also paint the hull blue."], set()),
        (["The contact for cargo is Ruth.", "The contact for cargo is Omar now."], {0}),
        (["The contact for cargo is Ruth.", "The contact for mail is Omar now."], set()),
        (["Standups are at 9.", "Standups move to 10."], {0}),
        (["Store charts in S3.", "We moved charts to R2, S3 is gone."], {0}),
        (["Never touch the anchor.", "Go ahead and change the anchor whenever you need to."], {0}),
        (["Do not paint the hull.", "Actually, now the hull is allowed."], {0}),
        (["Never touch the anchor.", "Just for this trip, touch the anchor."], set()),
        (["My daughter Ana is 7.", "Actually my son is 9."], set()),
        (["The cruise is from June 3 to June 9.", "We had to shift the cruise: June 10 to June 16."], {0}),
        (["Use npm.", "Instead of npm use yarn."], {0}),
        (["Draw charts in blue.", "Draw charts in orange instead."], {0}),
        (["Draw charts in blue.", "Draw sails in orange instead."], set()),
        (["The sail rule is eight knots.", "We raised it: the sail rule is ten knots."], {0}),
        (["The report is for Lena.", "Now check the lamp."], set()),
        (["Nimm Maven für den Build.", "Statt Maven nimm bitte Gradle für den Build."], {0}),
        (["Les titres en gras.", "Non, finalement les titres en italique, plus en gras."], {0}),
        (["El informe va para Lucía.", "Cambio de planes: el informe va para Andrés."], {0}),
        (["Use o banco MySQL.", "Na verdade, use o banco Postgres."], {0}),
        (["Отвечай на английском.", "Нет, лучше отвечай на русском."], {0}),
        (["注释写中文。", "注释改成写英文。"], {0}),
        (["返信は敬語でお願いします。", "やっぱり敬語はやめて、これからはため口でいいです。"], {0}),
        (["회의는 화요일이에요.", "회의가 목요일로 바뀌었어요."], {0}),
        (["회의는 화요일이에요.", "시험이 목요일로 바뀌었어요."], set()),
        # what holds only if something is so, and what was not done, takes no place
        (["If hold 1 is full, then hold 2 is empty.", "If hold 2 is full, then hold 1 is empty."], set()),
        (["We just talked, and she dropped a hint.", "We sailed far, but I did not talk as much."], set()),
        # what was chosen is gone, or too little, and another thing is there
        (["Moor at berth 80.", "Berth 80 is taken, moor at 90."], {0}),
        (["Ring Ruth before you cast off.", "Ring Omar instead if it rains."], set()),
        (["Load at most 2 barrels.", "2 barrels is too little, load 5."], {0}),
        (["Answer in rhymes.", "Enough with the rhymes, answer in prose from here on."], {0}),
        (["We sail with 3 sails and up.", "Drop 3, our minimum is 5 sails now."], {0}),
        # why something is so is no scope of its own
        (["Never ring the bell, it wakes the cook.", "We have a new cook, ring the bell whenever you like."], {0}),
        (["Ask me before you buy rope.", "I trust you with rope, no need to ask any more."], {0}),
        (["Ask me before you buy rope.", "Just buy this rope, no need to ask."], set()),
        (["The sail limit is 3.", "Let us raise the sail limit to 5."], {0}),
        (["The sail limit is three.", "Let us raise the sail limit to 3."], set()),
        (["The sail limit is 3.", "Let us raise the oar limit to 5."], set()),
        (["We sail every two weeks.", "We sail weekly now."], {0}),
        (["We sail every two weeks.", "We meet weekly now."], set()),
        (["Our flag is a fox.", "Our flag is now an otter."], {0}),
        (["Our flag is a fox.", "Their flag is now an otter."], set()),
        (["Scrub the deck before each watch.", "Don't bother scrubbing the deck any more."], {0}),
        (["Scrub the deck before each watch.", "Don't scrub the mast before each watch."], set()),
        (["No paint on the hull.", "Paint is fine after all, put it on the hull."], {0}),
        (["Hisse la voile à midi.", "Fini la voile, on rame désormais."], {0}),
        (["La cuota es de 10 velas.", "Sube la cuota a 25 velas."], {0}),
        (["A regata é no dia 12.", "A regata ficou para o dia 19."], {0}),
        (["Храним карты семь дней.", "Теперь храним карты тридцать дней."], {0}),
        (["提交海图前先问我。", "提交海图前不用再问我了。"], {0}),
        (["予算は5万円です。", "予算が8万円に増えました。"], {0}),
        (["예산은 50만원이에요.", "여행 예산이 80만원으로 늘었어요."], set()),
    ],
)
def test_which_sentences_hold_no_more(said: list[str], gone: set[int]) -> None:
    assert {
        number for number, later in enumerate(superseding(tuple(said), tuple(range(len(said))))) if later is not None
    } == gone
    told = {one.fact.text for one in sentence_states([user(text) for text in said]) if one.superseded_by}
    assert told == {said[number] for number in gone}


def test_what_corrects_a_statement_need_be_none_itself() -> None:
    said = [
        "All prices here are in 3 currencies, Euro first.",
        "Correction: all prices here are in 4 currencies, Euro first.",
    ]
    (first, *_) = sentence_states([user(text) for text in said])
    assert first.superseded_by is not None
    assert first.superseded_by.text == said[1]


@pytest.mark.parametrize(("chars", "states"), [(LONGEST_SENTENCE, True), (LONGEST_SENTENCE + 1, False)])
def test_a_statement_is_no_longer_than_a_sentence(chars: int, states: bool) -> None:
    sentence = "My budget is 956 dollars, " + "x" * (chars - 27) + "."
    assert (len(sentence), is_statement(sentence)) == (chars, states)
    assert [one.fact.text for one in sentence_states([user(sentence)])] == [sentence] * states


def test_a_repeated_sentence_stands_at_its_last_place() -> None:
    said = [user("The hull is green."), user("The mast is red. Is it?"), user("the hull is green.")]
    assert [(one.fact.kind, one.fact.text, one.fact.message, one.fact.index) for one in sentence_states(said)] == [
        ("stated", "The mast is red.", said[1].id, 1),
        ("stated", "the hull is green.", said[2].id, 2),
    ]


def test_a_session_with_tool_calls_has_fewer_superseded_sentences() -> None:
    names = "Ada Bert Cleo Dora Emil Fay Gus Hedy Ivo Jane Karl Lena Moe Nell Otto Pia Quin Rosa Sven Tess"
    said = [user(f"Oil the hinges of {name} before lunch.") for name in names.split()]
    said += [user("The movers are allowed 900 francs."), user("Actually, the movers may charge up to CHF 1,150.")]
    old, new = sentence_states(said)[-2:]
    assert (old.superseded_by, new.superseded_by) == (new.fact, None)
    at_work = sentence_states([*said, agent("", call("Bash", {"command": "make"}))])
    assert [one.superseded_by for one in at_work[-2:]] == [None, None]
