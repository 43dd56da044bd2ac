"""What is a standing instruction, in four languages, and which one replaces which."""

from __future__ import annotations

import pytest

from tests.facts.talk import agent, user
from workbench.facts.standing import PIN_REASON, reason_of, standing

STANDING = """
Answer in French
Please reply in German from here.
two spaces, not tabs
Tabs, not spaces!
No emojis in commit messages.
No new dependencies please
Use pnpm instead of npm.
Please use type hints everywhere
Keep the public API backward compatible.
keep commits small
Refactor the loader without changing its public interface.
I prefer composition over inheritance.
I don't want any mocks in the tests
Summaries: at most 100 words.
Keep in mind that the staging database is shared.
All new endpoints should have an integration test.
stop adding comments
The migrations folder is off limits.
do NOT use a subagent
no need for backward compatibility
Comments in English, please.
Never force-push.
Antworte auf Deutsch.
Bitte keine neuen Abhängigkeiten.
Ändere die Tests nicht.
Ab jetzt immer zuerst die Tests laufen lassen.
Zwei Leerzeichen, keine Tabs
Verwende pnpm statt npm.
Die öffentliche API darf sich nicht ändern.
Niemals auf main pushen!
Baue das um, ohne die Schnittstelle zu ändern.
Nur die Standardbibliothek verwenden.
Achte darauf, dass alle Tests grün bleiben.
Réponds en français.
Ne modifie pas les tests.
N'utilise jamais eval.
Pas de nouvelles dépendances, s'il te plaît.
Utilise pnpm au lieu de npm.
À partir de maintenant, réponds en anglais.
Deux espaces, pas de tabulations
Refactorise sans changer l'interface publique.
Il ne faut jamais pousser sur main.
L'API publique doit rester compatible.
请用中文回答
不要修改测试文件
以后都用 pnpm
必须先跑测试再提交
不能改动公共接口
始终使用类型注解
注释请用英文
回答不超过100字
用空格而不是制表符
保持接口不变
""".strip().split("\n")

ORDINARY = """
Fix the parser.
can you add a test for the empty case?
Now update the README and push.
the build always fails on CI
It never worked on my machine.
We always get a timeout here.
I don't know why it fails.
no, that's horrible.
No idea what this means
no problem
Not sure yet.
ok, do nothing, can we add some tests?
Let's use the second one.
I think we should also keep agent lines at each prompt start
What must I do to run it?
The function should return a list but returns None.
that doesn't work, not even locally
remember when we changed this last week?
If yes, do it, if not commit first
go on, keep going
don't worry about it
the response was in French
it prints two lines, not three?
there is no output
No tests were found.
I can't find the file, maybe it was not committed
you havne't read it in full i suppose
Why is the answer in German?
use the read tool to look at it
ok use that
continue
Der Test schlägt immer fehl.
Keine Ahnung, was das heißt.
Das geht nicht.
Kannst du bitte den Parser reparieren?
Ich verstehe das nicht.
Es läuft nie durch.
Kein Problem, mach weiter.
Schreibe einen Test dafür.
Ça ne marche pas.
Le test échoue toujours.
Je ne comprends pas.
Corrige le bug s'il te plaît.
Pas de problème.
Elle ne renvoie rien.
测试总是失败
要不要加缓存？
为什么不能运行？
帮我修复这个问题
别人也遇到了这个问题
这个函数不对
不用了，谢谢
程序一直报错
""".strip().split("\n")


def test_standing_instructions_are_found_and_ordinary_sentences_are_not() -> None:
    assert [sentence for sentence in STANDING if not reason_of(sentence)] == []
    assert [(sentence, reason_of(sentence)) for sentence in ORDINARY if reason_of(sentence)] == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Answer in French.", "From now on, answer in English."),
        ("请用中文回答", "以后请用英文回答"),
        ("Use npm, not yarn.", "Use pnpm instead of npm."),
        ("Two spaces, not tabs.", "Four spaces, not tabs."),
        ("Never add comments.", "Always add comments."),
        ("Summaries: at most 100 words.", "Summaries: at most 200 words."),
        ("Verwende npm statt yarn.", "Verwende pnpm statt npm."),
        ("Use npm, not yarn.", "We use pnpm now, no longer npm."),
        ("Utilise npm, pas yarn.", "Utilise pnpm au lieu de npm."),
    ],
)
def test_the_latest_wins(earlier: str, later: str) -> None:
    first, second = standing([user(earlier), agent("Sure."), user(later)])
    assert first.superseded_by == second.fact
    assert second.superseded_by is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never push to main.", "Never delete the backups."),
        ("Use pnpm instead of npm.", "Use ruff instead of flake8."),
        ("Answer in French.", "Never push to main."),
        ("No emojis in commit messages.", "No new dependencies please"),
        ("不要修改测试文件", "不要提交到主分支"),
    ],
)
def test_what_speaks_of_another_thing_replaces_nothing(earlier: str, later: str) -> None:
    assert [one.superseded_by for one in standing([user(earlier), agent("Sure."), user(later)])] == [None, None]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never touch the migrations.", "OK, you may touch the migrations now."),
        ("Ändere die Tests nicht.", "Du darfst die Tests jetzt ändern."),
        ("不要修改测试文件", "现在可以修改测试文件了"),
    ],
)
def test_a_prohibition_can_be_taken_back(earlier: str, later: str) -> None:
    (only,) = standing([user(earlier), agent("Sure."), user("You can push now."), user(later)])
    assert only.fact.text == earlier
    assert only.superseded_by is not None
    assert only.superseded_by.text == later


def test_pin_passages_stand_and_repetitions_count_once() -> None:
    messages = [
        user("Build it. <Pin>The port is 8080,\nand stays so.</Pin> Never push."),
        agent("<Pin>not mine</Pin> I will never push."),
        user("```\nNever in code.\n```\nnever push."),
        user("Never from a summary.", kind="summary"),
    ]
    pin, push = standing(messages)
    assert (pin.fact.text, pin.reason, pin.fact.message) == (
        "The port is 8080,\nand stays so.",
        PIN_REASON,
        messages[0].id,
    )
    assert (push.fact.text, push.fact.message) == ("never push.", messages[2].id)
