"""What is a standing instruction, in nine languages, and which one replaces which."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tests.facts.talk import agent, user
from workbench.facts.standing import (
    PIN_REASON,
    RULE_PROBABILITY,
    is_instruction,
    rules_in_text,
    standing_rules,
)
from workbench.facts.standing_grammar import PROHIBITION
from workbench.facts.standing_signs import LONG_MESSAGE, Sentence, is_long, probabilities
from workbench.facts.wording import LONGEST_SENTENCE

SENTENCES = Path(__file__).with_name("sentences")


@pytest.mark.parametrize(("name", "stands"), [("standing", True), ("ordinary", False)])
def test_standing_instructions_are_found_and_ordinary_sentences_are_not(name: str, stands: bool) -> None:
    """None of them is among what was learned from."""
    sentences = (SENTENCES / f"{name}.txt").read_text("utf-8").splitlines()
    assert len(sentences) >= 60
    assert len([sentence for sentence in sentences if is_instruction(sentence) is not stands]) <= (2 if stands else 0)


def by_language(name: str = "languages") -> dict[str, list[str]]:
    """The lines of a file: `+` before an instruction, or what holds one, `-` before anything else."""
    found: dict[str, list[str]] = {}
    for line in (SENTENCES / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            found[line[2:]] = []
        else:
            found[[*found][-1]].append(line)
    return found


@pytest.mark.parametrize(("language", "lines"), by_language().items())
def test_nine_languages_are_read_by_one_grammar(language: str, lines: list[str]) -> None:
    found = [line for line in lines if is_instruction(line[2:])]
    wanted = [line for line in lines if line[0] == "+"]
    right = [line for line in found if line[0] == "+"]
    assert len(lines) >= 20
    assert len(found) - len(right) <= 1
    assert len(right) / len(wanted) >= 0.9


@pytest.mark.parametrize(("language", "lines"), by_language("messages").items())
def test_whole_messages_are_told_from_orders_of_one_thing(language: str, lines: list[str]) -> None:
    wanted = [line for line in lines if line[0] == "+"]
    found = [line for line in lines if [*rules_in_text(line[2:])]]
    assert {line[0] for line in lines} == {"+", "-"}
    assert len([line for line in found if line[0] == "-"]) <= 1
    assert len(found) / len(wanted) >= 0.85


@pytest.mark.parametrize("lines", by_language("independent").values(), ids=["other author", "causes"])
def test_rules_are_found_in_messages_that_another_author_labelled(lines: list[str]) -> None:
    """The grammar was improved with them, and with own messages for each cause of an error."""
    assert [line for line in lines if bool([*rules_in_text(line[2:])]) is not (line[0] == "+")] == []


def test_all_nine_are_there() -> None:
    assert [*by_language("messages")] == [*by_language()]
    assert [*by_language()] == ["en", "de", "fr", "es", "pt", "ru", "zh", "ja", "ko"]


SUMMARY = (
    "Your task is to create a detailed summary of the conversation so far.\nFrom now on never leave anything out."
    + " x" * 200
)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Budget cap is 956 dollars. Never exceed it without approval.", None),
        ("Hello. Never exceed the cap. Bye.", ["Never exceed the cap."]),
        ("## Ground rules\n- All methods take self\n- Pushing is my job\n\nNow fix the parser.",
         ["All methods take self", "Pushing is my job"]),
        ("Please keep these rules in mind until the end:\n1. Never log tokens.\n2. Port 80 is the proxy's.",
         ["Never log tokens.", "Port 80 is the proxy's."]),
        ("Files in the folder:\n- a.py\n- b.py", []),
        ("Never push to main,\nit is protected.", ["Never push to main,"]),
        ("Please do not touch anything that lies in the folder with the old\nmigrations, they are\nfrozen. Go.",
         ["Please do not touch anything that lies in the folder with the old\nmigrations, they are"]),
        ("He said \"never push to main\" to me.", []),
        (SUMMARY, []),
        (SUMMARY[:390], ["From now on never leave anything out."]),
    ],
)  # fmt: skip
def test_rules_stand_as_they_were_written(words: str, found: list[str] | None) -> None:
    said = [text for text, _ in rules_in_text(words)]
    assert said == ([words] if found is None else found)
    assert all(text in words for text in said)


@pytest.mark.parametrize(
    ("rule", "one_thing"),
    [
        ("Every paragraph must have four lines.", "Write a poem about the harbour."),
        ("Jeder Absatz muss vier Zeilen haben.", "Schreibe ein Gedicht über den Hafen."),
        ("Chaque paragraphe doit contenir quatre lignes.", "Écris un poème sur le port."),
        ("Cada párrafo debe tener cuatro líneas.", "Escribe un poema sobre el puerto."),
        ("Cada parágrafo deve ter quatro linhas.", "Escreva um poema sobre o porto."),
        ("Каждый абзац должен быть короче четырёх строк.", "Напиши стихотворение о гавани."),
        ("每一段必须少于四行。", "写一首关于港口的诗。"),
        ("各段落は必ず四行以内にしてください。", "港についての詩を書いてください。"),
        ("각 문단은 반드시 네 줄 이내여야 합니다.", "항구에 대한 시를 작성해 주세요."),
    ],
)
def test_how_one_text_is_to_be_is_a_rule_only_where_no_text_is_asked_for(rule: str, one_thing: str) -> None:
    assert [*rules_in_text(f"{one_thing} {rule}")] == [*rules_in_text(f"{rule}\n{one_thing}")] == []
    assert [text for text, _ in rules_in_text(rule)] == [rule]


@pytest.mark.parametrize(
    ("rule", "one_thing"),
    [
        ("From now on use four lines at most.", "Write a poem about the harbour."),
        ("Ab jetzt höchstens vier Zeilen.", "Schreibe ein Gedicht über den Hafen."),
        ("Désormais, quatre lignes au maximum.", "Écris un poème sur le port."),
        ("De ahora en adelante, cuatro líneas como máximo.", "Escribe un poema sobre el puerto."),
        ("A partir de agora, no máximo quatro linhas.", "Escreva um poema sobre o porto."),
        ("С этого момента не больше четырёх строк.", "Напиши стихотворение о гавани."),
        ("从现在起最多四行。", "写一首关于港口的诗。"),
        ("今後は四行以内でお願いします。", "港についての詩を書いてください。"),
        ("앞으로는 네 줄 이내로 해 주세요.", "항구에 대한 시를 작성해 주세요."),
    ],
)
def test_what_is_for_all_to_come_is_a_rule_beside_anything(rule: str, one_thing: str) -> None:
    assert [text for text, _ in rules_in_text(f"{one_thing} {rule}")] == [rule]
    assert [text for text, _ in rules_in_text(f"{rule}\n{one_thing}")] == [rule]


@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ("Never touch the ferry module.", "Add a timetable to the page."),
        ("Don't commit the fixtures.", "The timetable is off by an hour since Monday."),
        ("Commite bitte keine Testdateien.", "Der Fahrplan geht seit Montag eine Stunde falsch."),
        ("Ne touche pas au dossier quai.", "L'horaire est faux depuis lundi."),
        ("No toques la carpeta muelle.", "El horario está mal desde el lunes."),
        ("Não mexa na pasta cais.", "O horário está errado desde segunda."),
        ("Не трогай папку с причалами.", "Расписание отстаёт на час с понедельника."),
        ("不要改动码头目录。", "从星期一开始时刻表就错了一个小时。"),
        ("桟橋フォルダーは触らないで。", "月曜から時刻表が一時間ずれています。"),
        ("부두 폴더는 건드리지 마세요.", "월요일부터 시간표가 한 시간 어긋나요."),
    ],
)
def test_how_the_agent_works_is_a_rule_beside_a_request(rule: str, where: str) -> None:
    assert [text for text, _ in rules_in_text(f"{where} {rule}")] == [rule]


@pytest.mark.parametrize(
    "rule",
    [
        "The pier takes 5 ferries. Never exceed it.",
        "码头停五艘船。永远不要超过它。",
        "桟橋の上限は5隻です。それを絶対に超えないで。",
    ],
)
def test_a_rule_holds_the_sentence_that_it_refers_to(rule: str) -> None:
    assert [text for text, _ in rules_in_text(rule)] == [rule]


@pytest.mark.parametrize(
    ("rule", "surely"),
    [("Never touch the tests.", True), ("Ask me before you commit.", True), ("Use the pier module only.", False)],
)
def test_in_a_long_text_only_what_is_sure_is_a_rule(rule: str, surely: bool) -> None:
    plan = "The pier is built of oak. " * (LONG_MESSAGE // len("The pier is built of oak. ") + 1)
    assert [text for text, _ in rules_in_text(rule)] == [rule]
    assert [text for text, _ in rules_in_text(f"{plan}{rule}")] == ([rule] if surely else [])


def test_three_characters_of_a_language_without_spaces_are_divided_into_runs() -> None:
    assert {"用", "用中", "用中文", "文$"} <= Sentence("用中文").words
    assert {"中文", "lint"} <= Sentence("lint 中文").words
    assert "中" not in Sentence("lint 中文").words


def test_a_message_is_long_from_its_size_on() -> None:
    assert not is_long([Sentence("x" * LONG_MESSAGE)])
    assert is_long([Sentence("x" * LONG_MESSAGE), Sentence("y")])


@pytest.mark.parametrize(
    ("earlier", "later", "replaces"),
    [
        ("Answer in French.", "From now on, answer in English.", True),
        ("请用中文回答", "以后请用英文回答", True),
        ("Use npm, not yarn.", "Use pnpm instead of npm.", True),
        ("Two spaces, not tabs.", "Four spaces, not tabs.", True),
        ("Never add comments.", "Always add comments.", True),
        ("Summaries: at most 100 words.", "Summaries: at most 200 words.", True),
        ("Verwende npm statt yarn.", "Verwende pnpm statt npm.", True),
        ("Use npm, not yarn.", "We use pnpm now, no longer npm.", True),
        ("Utilise npm, pas yarn.", "Utilise pnpm au lieu de npm.", True),
        ("Never push to main.", "Never delete the backups.", False),
        ("Use pnpm instead of npm.", "Always use ruff instead of flake8.", False),
        ("Answer in French.", "Never push to main.", False),
        ("No emojis in commit messages.", "No new dependencies please", False),
        ("不要修改测试文件", "不要提交到主分支", False),
        ("Answer in French.", "Write commit messages in English.", False),
        ("Comments in English.", "Comments in German, please.", True),
        ("Limit answers about cooking to 100 words.", "Limit answers about travel to 50 words.", False),
        ("Answers: at most 100 words.", "Answers about travel: at most 50 words.", False),
        ("Use black for the docs.", "Use ruff instead of black in src.", False),
        ("Keep functions under 20 lines.", "Keep files under 300 lines.", False),
        ("Responde siempre en español.", "A partir de ahora responde en inglés.", True),
        ("Отвечай на русском.", "Теперь отвечай на английском.", True),
        ("Never publish without asking me.", "You can publish without asking me now.", True),
        ("Use semicolons in all scripts.", "Actually, use commas in all scripts.", True),
        ("Use semicolons in all scripts.", "Actually, also use commas in all scripts.", False),
        ("Use semicolons in all scripts.", "Actually, use commas in all tables.", False),
        ("Keep functions under 20 lines.", "Actually, keep files under 300 lines.", False),
        ("Never touch the drafts folder.", "Actually, never touch the photos folder.", False),
        ("Never touch menu1.py again.", "Never touch menu2.py again.", False),
        ("Never delete step-3 of the plan.", "Never delete step-4 of the plan.", False),
        ("Never edit src/v2/a.py.", "Never edit src/v3/a.py.", False),
        ("Keep images under 20px wide.", "Keep images under 30px wide.", True),
        ("答案不超过100字。", "答案不超过200字。", True),
        ("All fees must be told in pounds.", "From now on all fees must be told in yen.", True),
        ("All fees must be told in pounds.", "All weights must be told in grams.", False),
        ("Пиши не больше двух абзацев.", "Теперь пиши не больше пяти абзацев.", True),
        ("Keep titles under 40 words.", "Correction: keep titles under 60 words.", True),
        ("Keep titles under 40 words.", "New limit: keep titles under 60 words.", True),
        ("Antworte immer auf Deutsch.", "Antworte ab jetzt wieder auf Englisch.", True),
        ("Utilise toujours vim dans ce dépôt.", "Finalement, utilise toujours nano dans ce dépôt.", True),
        ("Use flit for uploads.", "From now on use twine for uploads.", True),
        ("Use flit for uploads.", "From now on write notes for uploads.", False),
        ("Use tabs in all scripts.", "Use spaces instead of tabs in all scripts.", True),
        ("Always write dates as DD.MM.YYYY.", "From now on write dates as YYYY-MM-DD.", True),
        ("항상 한국어로 답해 주세요.", "이제부터 영어로 답해 주세요.", True),
        ("Always write guides in Pascal.", "From now on write tests in Pascal.", False),
        ("Always mail Rosa the draft.", "From now on mail Otto the draft.", True),
        ("Never ship on Mondays.", "Never ship in December.", False),
        ("Never ship on Mondays.", "Never ship on Fridays.", False),
        ("Never write more than 3 lines.", "Never write more than 5 lines.", True),
        ("Ask me before every upload.", "You can upload without asking me from now on.", True),
        ("Always wait at most 30 seconds for an answer.", "Always wait at most 2 minutes for an answer.", True),
        ("Schreibe Kommentare immer auf Deutsch.", "Schreibe Kommentare ab jetzt auf Französisch.", True),
    ],
)
def test_the_latest_wins_of_what_speaks_of_one_thing(earlier: str, later: str, replaces: bool) -> None:
    first, second = standing_rules([user(earlier), agent("Sure."), user(later)])
    assert (first.superseded_by, second.superseded_by) == (second.fact if replaces else None, None)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never touch the migrations.", "OK, you may touch the migrations now."),
        ("Ändere die Tests nicht.", "Du darfst die Tests jetzt ändern."),
        ("不要修改测试文件", "现在可以修改测试文件了"),
        ("Always ship to the beta ring first.", "You no longer need to ship to the beta ring first."),
        ("Always ask me before you ship.", "You don't have to ask me before you ship anymore."),
        ("Do not use smileys.", "Smileys are fine now."),
        ("Keine Smileys.", "Smileys sind jetzt erlaubt."),
        ("No uses paquetes nuevos.", "Ahora puedes usar paquetes nuevos."),
        ("Never ship on Mondays.", "Shipping on Mondays is fine now."),
        ("Reply in French.", "Please switch back to English."),
        ("Keep every answer under 100 words.", "Forget the limit of 100 words."),
        ("Name branches feature/x.", "Correction: name branches feat/x."),
    ],
)
def test_a_prohibition_can_be_taken_back(earlier: str, later: str) -> None:
    first, *others = standing_rules([user(earlier), agent("Sure."), user("You can push now."), user(later)])
    assert first.fact.text == earlier
    assert first.superseded_by is not None
    assert first.superseded_by.text == later
    assert {one.fact.text for one in others} <= {later}


def test_an_exception_leaves_the_rule_as_it_is() -> None:
    said = ["Never touch the drafts folder.", "You may touch the drafts folder this once."]
    assert [one.superseded_by for one in standing_rules([user(text) for text in said])] == [None]


def test_what_is_taken_back_has_to_be_told_apart() -> None:
    """With two rules about answers nobody can tell which is meant."""
    said = [
        "Keep every answer under 100 words.",
        "Never begin an answer with a greeting.",
        "Forget the rule about answers.",
    ]
    assert [one.superseded_by for one in standing_rules([user(text) for text in said])] == [None, None]


def test_pin_passages_stand_and_repetitions_count_once() -> None:
    messages = [
        user("Build it. <Pin>The port is 8080,\nand stays so.</Pin> Never push."),
        agent("<Pin>not mine</Pin> I will never push."),
        user("```\nNever in code.\n```\nnever push."),
        user("Never from a summary.", kind="summary"),
    ]
    pin, push = standing_rules(messages)
    assert (pin.fact.text, pin.reason, pin.fact.message) == (
        "The port is 8080,\nand stays so.",
        PIN_REASON,
        messages[0].id,
    )
    assert (push.fact.text, push.fact.message) == ("never push.", messages[2].id)


def test_the_text_around_a_pin_is_two_texts() -> None:
    words = "Never push<Pin>a</Pin>Never pull</Pin>\nNever stash <pin> </pin>"
    assert rules_in_text(words) == (
        ("a", PIN_REASON),
        ("Never push", PROHIBITION),
        ("Never pull</Pin>", PROHIBITION),
        ("Never stash", PROHIBITION),
    )


@pytest.mark.parametrize("begin", ["never push ", "NEVER push "])
def test_a_repeated_rule_stands_at_its_last_place(begin: str) -> None:
    messages = [user("Never push it."), user("Always name the ticket."), user(f"{begin}it.")]
    found = [(one.fact.kind, one.fact.text, one.fact.index) for one in standing_rules(messages)]
    assert found == [("instruction", "Always name the ticket.", 1), ("instruction", f"{begin}it.", 2)]


@pytest.mark.parametrize(("chars", "found"), [(LONGEST_SENTENCE, 1), (LONGEST_SENTENCE + 1, 0)])
def test_a_rule_is_no_longer_than_a_sentence(chars: int, found: int) -> None:
    assert len(rules_in_text("Never push " + "x" * (chars - 12) + ".")) == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("but the map might not be valid when we split the commits", []),
        ("the commits may not be clean when we split the files", []),
        ("mais les commits pourraient ne pas être propres avant chaque fusion", []),
        ("never touch the commits, they might not be clean", ["never touch the commits, they might not be clean"]),
        ("work on it. from now on ask me before you push", ["from now on ask me before you push"]),
        ("see no. five. from now on ask me before you push", ["from now on ask me before you push"]),
    ],
)
def test_a_doubt_is_no_rule_and_a_short_word_ends_a_sentence(words: str, found: list[str]) -> None:
    assert [text for text, _ in rules_in_text(words)] == found


@pytest.mark.parametrize(
    ("rule", "beside"),
    [
        ("Grandpa is allergic to shellfish, so nothing from the sea in any menu.", "What could we cook on Sunday?"),
        ("Here in the workshop we never weld without goggles.", "Write the sign for the door."),
        ("Anything you send to the printers needs my initials.", "Is the flyer done?"),
        ("Temperatures in kelvin please, wherever you give one.", "How hot is the kiln?"),
        ("The keys folder stays out of the archive.", "Pack the rest."),
        ("It would be nice if you named the file each time.", "Where is the bug?"),
        ("Keep your summaries brief please, I see them on a tiny screen.", "What is a fjord?"),
        ("Whenever you quote a law, give me the paragraph.", "Can my landlord do that?"),
        ("Meine Schwester ist allergisch gegen Nüsse, also keine Nüsse in allen Rezepten.", "Was backen wir?"),
        ("Chez nous on ne mange jamais de viande.", "Une idée pour dimanche ?"),
    ],
)
def test_a_habit_a_circumstance_and_a_general_limit_are_rules_beside_a_question(rule: str, beside: str) -> None:
    assert [text for text, _ in rules_in_text(f"{beside} {rule}")] == [rule]


@pytest.mark.parametrize(
    ("for_now", "rule"),
    [
        ("Don't deploy yet, I have to look at the log.", "Don't deploy the docs folder, ever."),
        ("Please don't touch the config this time.", "Please don't touch the config in any branch."),
        ("Hold off on the merge until Friday.", "Hold off on any merge until I say so."),
        ("Ask Ida before the oven is opened.", "Always ask before the oven is opened."),
        ("Code lies in src/app", "Comments in English"),
        ("The manual says you must never open the valve.", "You must never open the valve."),
        ("The guide says never to open two valves.", "Never open two valves, whatever the guide says."),
        ("The parser must never return null.", "Never return null."),
        ("Schick den Brief noch nicht ab.", "Schick nie einen Brief ab."),
        ("Ne supprime pas le fichier pour l'instant.", "Ne supprime jamais le fichier."),
        ("No borres la tabla todavía.", "No borres nunca la tabla."),
        ("先不要删除文件。", "以后不要删除文件。"),
    ],
)
def test_what_holds_for_now_is_reported_or_describes_a_part_is_no_rule(for_now: str, rule: str) -> None:
    assert [*rules_in_text(for_now)] == []
    assert [text for text, _ in rules_in_text(rule)] == [rule]


def test_an_exception_for_once_replaces_no_rule() -> None:
    rule = "Use tabs in all scripts."
    (found,) = standing_rules([user(rule), agent("Done."), user("Just this once, use spaces in all scripts.")])
    assert (found.fact.text, found.superseded_by) == (rule, None)


def test_what_stands_beside_it_weighs_with_a_sentence() -> None:
    rule, order = Sentence("At most four lines."), Sentence("Write a poem about the harbour.")
    (alone,), (_, beside) = probabilities([rule]), probabilities([order, rule])
    assert alone > RULE_PROBABILITY > beside
    assert probabilities([rule]) == [alone]


def test_a_weight_is_told_for_every_sign_once() -> None:
    rows = (files("workbench.facts") / "standing_weights.tsv").read_text("utf-8").splitlines()
    signs = [row.split("\t")[0] for row in rows]
    assert signs == sorted(set(signs))
    assert {len(row.split("\t")) for row in rows} == {3}


def test_a_sentence_that_begins_in_a_quotation_is_no_instruction_by_itself() -> None:
    """Wider than people wrap, as a program prints it: the quotation tells which lines belong together."""
    review = (
        "The callback is empty, so process failures are silently swallowed and nobody is told of them at all here or "
        'anywhere else, which is consistent with the "best\n'
        '  effort — never block" comment, but if you ever want to know that the hook is broken, this hides it.'
    )
    assert [*rules_in_text(review)] == []


def test_a_line_behind_a_sign_for_inches_is_one_by_itself() -> None:
    text = 'The old screen is 27" wide\nalways call the new one "the big screen" in every message'
    assert [rule for rule, _ in rules_in_text(text)] == ['always call the new one "the big screen" in every message']
