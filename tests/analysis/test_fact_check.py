"""Agreement of the measure with humans: hand-labelled pairs of a fact and a text, and word lists that state nothing."""

from __future__ import annotations

import random
import re

import pytest

from workbench.analysis.claims import State
from workbench.analysis.fact_check import LONGEST_LINE, FactVerdict, SearchedText, fact_query
from workbench.analysis.labelled import PAIR_SETS, LabelledPair, PairSet, labelled_pairs
from workbench.analysis.sense import Sense, content_words, sense_of
from workbench.facts.fact import FactKind

FLOORS = {"tuning": 0.97, "held": 0.93}
"""Of the pairs of each half so many are judged as they are labelled, *present* and *right* each."""


@pytest.mark.parametrize("half", PAIR_SETS)
def test_the_measure_agrees_with_labels(half: PairSet) -> None:
    found = list(labelled_pairs(half))
    assert len(found) >= 140
    judged = [pair.verdict for pair in found]
    present = [(one.presence != "none") == pair.present for pair, one in zip(found, judged, strict=True)]
    right = [one.right == pair.right for pair, one in zip(found, judged, strict=True)]
    for agreed in (present, right):
        assert sum(agreed) >= FLOORS[half] * len(found), [
            f"{pair.label} {pair.fact} | {pair.text}" for pair, ok in zip(found, agreed, strict=True) if not ok
        ]


@pytest.mark.parametrize("half", PAIR_SETS)
def test_a_superseded_rule_stated_as_binding_is_stale(half: PairSet) -> None:
    gone = [pair for pair in labelled_pairs(half) if pair.query.state == "gone"]
    assert [pair.verdict.stale for pair in gone] == [pair.label == "#" for pair in gone]


def sentences() -> list[LabelledPair]:
    """One pair for each sentence of many words with spaces."""
    found = {
        pair.fact: pair
        for half in PAIR_SETS
        for pair in labelled_pairs(half)
        if pair.query.sentences and pair.fact.isascii()
    }
    return [pair for fact, pair in found.items() if len(fact.split()) >= 4]


@pytest.mark.parametrize("joined", [" ", ", ", "\n"])
@pytest.mark.parametrize("ordered", [True, False])
def test_a_list_of_all_the_words_states_nothing(joined: str, ordered: bool) -> None:
    facts = sentences()
    words = sorted({word for pair in facts for word in re.findall(r"[\w-]+", pair.fact)})
    if not ordered:
        random.Random(1).shuffle(words)
    said = SearchedText([joined.join(words)])
    assert [pair.fact for pair in facts if said.judge(pair.query).presence != "none"] == []
    assert len(facts) >= 24


@pytest.mark.parametrize(("others", "most"), [(0, 0.25), (2, 0.14), (3, 0.1)])
def test_shuffled_words_of_a_sentence_rarely_state_it(others: int, most: float) -> None:
    """Little words and all: of such, with two words of something else, 41 % were called right."""
    chance, told, made = random.Random(3), 0, 0
    for pair in sentences():
        words = re.findall(r"[\w'-]+", pair.fact.lower())
        for _ in range(10):
            salad = words + chance.sample(["harbour", "ferry", "buoy", "crew", "chart", "watch"], others)
            chance.shuffle(salad)
            told += SearchedText([" ".join(salad)]).judge(pair.query).right
            made += 1
    assert made >= 240
    assert told <= most * made


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("Nora is the owner of the boat.", "The owner of the boat is Nora."),
        ("Never paint the hull on Mondays.", "On Mondays, never paint the hull."),
        ("The letters are signed by Elena.", "Elena signs the letters."),
        (
            "Schreibe Berichte immer mit Tinte und nie mit Kreide.",
            "Berichte immer mit Tinte schreiben, nie mit Kreide.",
        ),
    ],
)
def test_an_honest_sentence_in_another_order_is_no_salad(fact: str, said: str) -> None:
    one = fact_query("instruction", fact)
    assert one is not None
    assert SearchedText([said]).judge(one).right


def test_a_quotation_and_a_paraphrase_score_alike() -> None:
    right = [
        pair for half in PAIR_SETS for pair in labelled_pairs(half) if pair.label == "=" and pair.query.state != "gone"
    ]
    right = [pair for pair in right if pair.query.sentences]
    quoted = [SearchedText([f"It was said: {pair.fact}"]).judge(pair.query).presence == "full" for pair in right]
    full = [pair.verdict.presence == "full" for pair in right]
    assert sum(quoted) >= 0.95 * len(quoted)
    assert sum(full) >= 0.8 * len(full)


def test_two_words_that_change_places_turn_a_long_sentence_round() -> None:
    long = "For the nightly import of readings from three northern stations we will store values in {} instead of {}."
    one = fact_query("decision", long.format("Postgres", "Redis"))
    assert one is not None
    said = [
        SearchedText(["Agreed: " + long.format(*pair)[:-1]]).judge(one)
        for pair in (("Postgres", "Redis"), ("Redis", "Postgres"))
    ]
    assert [(verdict.presence, verdict.right) for verdict in said] == [("full", True), ("full", False)]


@pytest.mark.parametrize("path", ["src/part3.py", "/src/part3.py", "./src/part3.py", "~/src/part3.py"])
def test_a_sentence_about_paths_is_a_sentence_and_no_list(path: str) -> None:
    said = SearchedText([f"The user said: Never touch the generated files. I did the steps in {path} and in {path}."])
    rule, named = fact_query("instruction", "Never touch the generated files."), fact_query("path", path)
    assert rule is not None
    assert named is not None
    assert (said.judge(rule).presence, said.judge(named).presence) == ("full", "full")


@pytest.mark.parametrize(
    ("fact", "said", "right"),
    [
        (
            "Run the harbour checks after every edit of the tide tables.",
            "After every edit of the tide tables, run the harbour checks.",
            True,
        ),
        (
            "Run the harbour checks after every edit of the tide tables.",
            "Always edit the tide tables after running the harbour checks.",
            False,
        ),
        ("Run the linter before every commit.", "After running the linter, commit.", True),
        ("The budget for the buoys is 40 euros.", "The budget for the buoys is €40.", True),
        ("The budget for the buoys is 40 euros.", "The budget for the buoys is 40 dollars.", False),
        ("The ferry leaves every week on Tuesday.", "The ferry leaves each week on Tuesday.", True),
        ("The ferry leaves every week on Tuesday.", "The ferry leaves every week on Thursday.", False),
        ("Put new helpers in the CLI package.", "New helpers belong in the CLI package: put them there.", True),
        ("Put new helpers in the CLI package.", "Put new helpers in the core package.", False),
        ("Only the owner may restart the lighthouse.", "The lighthouse may be restarted by the owner only.", True),
        ("Only the owner may restart the lighthouse.", "Anyone may restart the lighthouse, not only the owner.", False),
        ("Don't use tabs.", "Tabs are not to be used.", True),
        ("The regatta is held in Lyon.", "The Lyon regatta is held in August.", True),
        ("Ring the bell after the call, not before.", "The bell is rung after the call.", True),
        ("Ring the bell after the call, not before.", "The bell is rung before the call.", False),
        ("Vor jedem Anlegen die Taue prüfen.", "Die Taue prüfen wir vor jedem Anlegen.", True),
        ("Vor jedem Anlegen die Taue prüfen.", "Die Taue prüfen wir nach jedem Anlegen.", False),
        ("The lock takes 100 boats per hour.", "The lock takes 100 boats an hour.", True),
        ("The lock takes 100 boats per hour.", "The lock takes 100 boats a day.", False),
        ("Round fees up to the next euro.", "Fees are rounded up to the next euro.", True),
        ("Round fees up to the next euro.", "Fees are rounded down to the next euro.", False),
        ("每次靠岸前检查缆绳。", "靠岸之前必须检查缆绳。", True),
        ("No flags on the mast.", "Flags on the mast are left out.", True),
        ("Ne répare rien sans plan.", "On peut réparer sans plan.", False),
        ("보고는 세 문장 이내로 해 줘.", "보고는 세 문장을 넘지 않는다.", True),
        ("보고는 세 문장 이내로 해 줘.", "보고는 최소 세 문장으로 한다.", False),
        ("Answer within 2 hours.", "Answers come within two hours.", True),
        ("Answer within 2 hours.", "Answers come within two days.", False),
        ("Write the captions in Danish.", "The captions are written in Danish.", True),
        ("Write the captions in Danish.", "The captions are written in Polish.", False),
        ("Prefer ropes over chains.", "Chains are preferred to ropes.", False),
        ("Prefer rope to chain.", "Chain is preferred over rope.", False),
        ("We keep the lamp and drop the bell.", "The lamp is kept, the bell is dropped.", True),
        ("We keep the lamp and drop the bell.", "The bell is kept, the lamp is dropped.", False),
        ("The regatta is on June 14 in Lyon.", "The regatta takes place in Lyon on June 14.", True),
        ("The regatta is on June 14 in Lyon.", "The regatta takes place in Nice on June 14.", False),
        ("Keep captions to no more than three lines.", "Captions must be at most three lines.", True),
        ("Keep captions to no more than three lines.", "Captions must be at least three lines.", False),
        (
            "Send the tide report on the 3rd of each month.",
            "The tide report is sent on the third of every month.",
            True,
        ),
        ("The harbour office is kept at 19 degrees.", "The harbour office: 29 degrees.", False),
        ("Usa nudos simples en vez de nudos dobles.", "Nudos simples, no dobles.", True),
        ("Usa nudos simples en vez de nudos dobles.", "Nudos dobles, no simples.", False),
        ("Finger weg vom Ordner boje.", "Der Ordner boje darf nicht angefasst werden.", True),
        ("boje フォルダは絶対に触らないで。", "boje フォルダには触らないこと。", True),
        ("No hagas push sin aprobación.", "Haz push sin aprobación.", False),
        ("Moor first, then unload.", "First unload, then moor.", False),
        ("Moor first, then unload.", "Unloading comes after mooring.", True),
        ("Weigh the crates before loading them.", "Load the crates, weigh them afterwards.", False),
        ("Erst wiegen, dann löschen.", "Gelöscht wird erst nach dem Wiegen.", True),
        ("Erst wiegen, dann löschen.", "Erst löschen, dann wiegen.", False),
        ("Primero la carga, luego el barco.", "Primero el barco, luego la carga.", False),
        ("테스트 후에 배포해.", "배포 후에 테스트한다.", False),
        ("提交前先运行测试。", "先运行测试，然后提交。", True),
        ("Keep the tide tables unchanged.", "The tide tables must stay as they are.", True),
        ("Keep the tide tables unchanged.", "The tide tables may be changed.", False),
        ("Lamps only for the pier.", "Everything but the pier gets lamps.", False),
        ("Send the tide report on the 3rd of each month.", "Send the tide report on the 13th of each month.", False),
        ("Write one log per trip.", "Write two logs per trip.", False),
        ("Alle Texte bitte in der Du-Form.", "Alle Texte sind in der Sie-Form.", False),
        ("Tom steers the ferry.", "The ferry is steered by Kim.", False),
        ("The ticket costs 12 euros.", "The ticket is 12 €.", True),
    ],
)
def test_changes_that_negate_a_sentence(fact: str, said: str, right: bool) -> None:
    one = fact_query("instruction", fact)
    assert one is not None
    verdict = SearchedText([said]).judge(one)
    assert (verdict.presence != "none", verdict.right) == (True, right)


@pytest.mark.parametrize(
    ("fact", "said", "same"),
    [
        ("340", "Honey has 340 g a cup.", True),
        ("340", "Honey has 340 ml a cup.", True),
        ("340", "Honey has 34 g a cup.", False),
        ("340 g", "Honey has 0.34 kg a cup.", True),
        ("340 g", "Honey has 340 kg a cup.", False),
        ("2 GB", "Honey has 2048 MB a cup.", True),
        ("2 GB", "Honey has 2000 MB a cup.", True),
        ("2 GB", "Honey has 1800 MB a cup.", False),
        ("1,500 ms", "Honey has 1.5 s a cup.", True),
        ("1,500 ms", "Honey has 1 500 ms a cup.", True),
    ],
)
def test_a_value_is_the_same_in_another_unit_and_without_one(fact: str, said: str, same: bool) -> None:
    one = fact_query("number", fact, f"Honey has {fact} a cup.")
    assert one is not None
    assert SearchedText([said]).judge(one).right is same


@pytest.mark.parametrize(
    ("fact", "heap"),
    [
        ("Never mail the captain directly.", "mail captain direct never contact"),
        ("Send invoices on the 3rd of each month.", "invoices month send each 3rd captain billing date"),
        ("Be terse.", "The captain asked for terse log files to be deleted."),
        ("Round every fee up to the next 5 cents.", "fee cents round next every five up total currency"),
        ("Only the owner may restart the lamp.", "lamp restart owner only captain harbour crew may"),
    ],
)
def test_the_words_of_a_short_rule_do_not_state_it(fact: str, heap: str) -> None:
    one = fact_query("instruction", fact)
    assert one is not None
    assert SearchedText([heap]).judge(one).presence == "none"


@pytest.mark.parametrize(
    ("kind", "fact", "state", "said", "right"),
    [
        ("command", "make sail", "failed", "make sail reports no problems.", False),
        ("command", "make sail", "passed", "make sail has 3 failing tests.", False),
        ("command", "make sail", "passed", "make sail finished without errors.", True),
        ("path", "src/sail.py", "modified", "src/sail.py was left untouched.", False),
        ("path", "src/sail.py", "deleted", "src/sail.py no longer exists.", True),
    ],
)
def test_a_claim_may_stand_behind_a_verb(kind: FactKind, fact: str, state: State, said: str, right: bool) -> None:
    one = fact_query(kind, fact, "", state)
    assert one is not None
    assert SearchedText([said]).judge(one).right is right


def test_equal_lines_are_compared_once_and_endless_facts_by_their_beginning() -> None:
    """A log of fifty thousand equal lines was compared line by line with every fact; minutes went by."""
    line, rule = "push the parser", "Never push the parser to main."
    one, endless = fact_query("instruction", rule), fact_query("instruction", "Never push " + "a:b " * 10_000)
    assert one is not None
    assert endless is not None
    log = "\n".join([line] * 1_000)
    assert SearchedText([log, rule, log])._sentences == SearchedText([line, rule])._sentences
    for long, short in (([log, rule], [line, rule]), ([rule, log], [rule, line]), ([log], [line])):
        assert [SearchedText(long).judge(fact) for fact in (one, endless)] == [
            SearchedText(short).judge(fact) for fact in (one, endless)
        ]
    assert len(endless.sentences[0].sense.text) <= LONGEST_LINE


UNREVIEWED = "Never merge branches that are not reviewed."
LIMIT = "No line may be longer than 100 characters."


@pytest.mark.parametrize(
    ("fact", "said", "right"),
    [
        (UNREVIEWED, "Merge branches that are not reviewed.", False),
        (UNREVIEWED, "Branches that are not reviewed must never be merged.", True),
        (UNREVIEWED, "Branches that are not reviewed must be merged.", False),
        ("Merge branches that are not reviewed.", UNREVIEWED, False),
        ("Do not deploy builds which were not tested.", "Deploy builds which were not tested.", False),
        ("Do not deploy builds which were not tested.", "Builds which weren't tested are not deployed.", True),
        ("Don't delete files you did not create.", "Delete files you did not create.", False),
        ("Don't delete files you did not create.", "Never delete files that you did not create yourself.", True),
    ],
)
def test_a34_each_verb_has_its_own_sign(fact: str, said: str, right: bool) -> None:
    one = fact_query("instruction", fact)
    assert one is not None
    verdict = SearchedText([said]).judge(one)
    assert (verdict.presence != "none", verdict.right) == (True, right)


@pytest.mark.parametrize(
    ("fact", "said", "right"),
    [
        ("No line may be longer than 100.", "keep lines under 100", True),
        (LIMIT, "Keep lines under 100 characters.", True),
        (LIMIT, "Lines have at most 100 characters.", True),
        (LIMIT, "Lines must not be longer than 100 characters.", True),
        (LIMIT, "Lines may be longer than 100 characters.", False),
        (LIMIT, "Keep lines over 100 characters.", False),
        (LIMIT, "No line may be longer than 120 characters.", False),
        (LIMIT, "No line may be shorter than 100 characters.", False),
        ("Keep lines under 100 characters.", LIMIT, True),
        ("Keep lines under 100 characters.", "Lines may be longer than 100 characters.", False),
        ("No reply may have fewer than 20 words.", "Replies have at least 20 words.", True),
        ("No reply may have fewer than 20 words.", "Replies have at most 20 words.", False),
    ],
)
def test_a34_a_denied_limit_is_the_other_limit(fact: str, said: str, right: bool) -> None:
    one = fact_query("instruction", fact)
    assert one is not None
    verdict = SearchedText([said]).judge(one)
    assert (verdict.presence != "none", verdict.right) == (True, right)


def test_a34_short_rules_on_one_line_are_found_each() -> None:
    rules = ("Answer in French from now on.", "Do NOT use tabs.", "Never log the token.")
    said, listed = SearchedText([" ".join(rules)]), SearchedText([" ".join(rules).replace(".", "")])
    for rule in rules:
        one = fact_query("instruction", rule)
        assert one is not None
        assert said.judge(one) == FactVerdict("full", True)
    turned = fact_query("instruction", "Always log the token.")
    assert turned is not None
    assert said.judge(turned) == FactVerdict("full", False)
    assert listed.judge(one).presence == "none", "a heap of words without an end is none of them"


def test_a34_the_words_of_a_limit_identify_its_number() -> None:
    one = fact_query(
        "number", "60 seconds", "requests to wait longer. Never wait longer than 60 seconds; prefer to poll."
    )
    assert one is not None
    assert SearchedText(["Never wait longer than 60 seconds; prefer to poll."]).judge(one) == FactVerdict("full", True)


def test_content_words_are_those_of_the_sense() -> None:
    for pair in labelled_pairs():
        for text in (pair.fact, pair.text, f"{pair.fact}; {pair.text}"):
            for language in ("english", pair.query.language):
                assert content_words(text, language) == {*sense_of(text, language).order}, text


def test_only_lines_about_an_answer_are_read_for_their_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = fact_query("decision", "Yes", "Should the ferry stop at the island?")
    assert answer is not None
    read: list[str] = []

    def counted(text: str, language: str) -> Sense:
        read.append(text)
        return sense_of(text, language)

    monkeypatch.setattr("workbench.analysis.fact_check.sense_of", counted)
    lines = ["The lamp is red.", "The ferry does not stop at the island.", "Ropes are long."]
    assert SearchedText(lines).judge(answer) == FactVerdict("full", False)
    assert read == [lines[1]]
