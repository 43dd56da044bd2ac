"""The prompts on the command line, and a user's own in place of the program's."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from workbench.base import paths
from workbench.compaction.preset import load_preset
from workbench.compaction.prompts import load_prompt


def own(name: str, text: str) -> Path:
    paths.prompts().mkdir(parents=True, exist_ok=True)
    path = paths.prompts() / name
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "session.jsonl", session_lines())


def test_a_prompt_of_the_users_stands_first(session: Path) -> None:
    own("context-reset.en.md", "---\nid: context-reset\n---\nTell it as a ballad.\n")
    assert "Tell it as a ballad." in cwb("prompts", "show", "context-reset.en", session).stdout
    rows = {row.split()[0]: row.split()[1:] for row in cwb("prompts").stdout.splitlines()}
    assert rows["prompt"] == ["language", "strategy", "own", "placeholders"]
    assert rows["context-reset.en"] == ["en", "context-reset", "yes"]
    assert rows["context-reset.zh"] == ["zh", "context-reset"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "context-reset.en.md",
            "---\nid: x\n---\n\nOne.\nTwo {topic}.\n",
            "line 6: unknown placeholder 'topic'",
        ),
        ("context-reset.en.md", "no header\n", "line 1"),
        ("message-window.en.md", "---\nid: x\nplaceholders: size\n---\n{max_chars} and {size}\n", "line 5"),
        ("abridged-entry.jinja", "---\nid: x\n---\n{{ user_message }}\n{{ mood }}\n", "line 5: unknown placeholder"),
        ("abridged-entry.jinja", "---\nid: x\n---\n\n{% if %}\n", "line 5"),
    ],
)
def test_a_broken_prompt_of_the_users_is_one_sentence_with_its_line(name: str, text: str, said: str) -> None:
    path = own(name, text)
    run = cwb("prompts")
    assert run.exit_code == 2
    assert str(path) in run.stderr
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_what_a_template_must_not_see_is_nothing(session: Path) -> None:
    """What the sandbox does not refuse, it leaves empty."""
    unsafe = (
        "[{{ self.__init__ }}]",
        "[{{ ().__class__ }}]",
        "[{{ user_message | attr('__class__') }}]",
        "[{{ '{0.__class__}'.format(user_message) }}]",
        "[{% if user_message.__class__ %}seen{% endif %}]",
    )
    own(
        "abridged-entry.jinja",
        "\n".join(("---\nid: abridged-entry\n---", "<agent_actions>{{ user_message }}", *unsafe)),
    )
    run = cwb("prompts", "render", "abridged-entry", session)
    assert run.exit_code == 0, run.stderr
    assert "Please do step 3." in run.stdout
    assert run.stdout.count("[]") >= len(unsafe)
    assert "class" not in run.stdout


PRODUCTS = "Sum up the conversation in a summary for {whoever} rows on." + " Be exact." * 20


def request(path: Path, prompt: str) -> Path:
    turns = [{"role": "user", "content": "Row."}, {"role": "assistant", "content": "Rowed."}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [*turns, {"role": "user", "content": prompt}]}
    path.write_text(json.dumps(body), "utf-8")
    return path


def test_a_product_s_own_prompt_is_adopted_and_its_preset_uses_it(tmp_path: Path) -> None:
    before = load_preset("claude-code")
    run = cwb("prompts", "adopt", "claude-code", request(tmp_path / "body.json", PRODUCTS))
    assert run.exit_code == 0, run.stderr
    assert "Be exact. Be exact." not in run.stdout, "it is kept and not shown"
    assert "request 1" in run.stdout
    path = paths.prompts() / "claude-code.adopted.md"
    assert str(path) in run.stdout
    after = load_preset("claude-code")
    assert after.policy == before.policy.with_(prompt=PRODUCTS)
    assert (after.sources["prompt"], after.basis["prompt"]) == ("adopted", "documented")
    assert load_preset("roo").policy.model_dump()["prompt"] == load_prompt("context-reset.en.md").text
    assert "claude-code.adopted" in cwb("prompts").stdout
    assert "{whoever} rows on" in cwb("prompts", "show", "claude-code.adopted").stdout
    path.unlink()
    assert load_preset("claude-code") == before


def test_another_prompt_takes_its_place_only_by_force(tmp_path: Path) -> None:
    first, second = request(tmp_path / "a.json", PRODUCTS), request(tmp_path / "b.json", PRODUCTS + " More.")
    assert cwb("prompts", "adopt", "codex", first).exit_code == 0
    assert cwb("prompts", "adopt", "codex", first).exit_code == 0
    run = cwb("prompts", "adopt", "codex", second)
    assert (run.exit_code, "--force replaces it" in run.stderr) == (2, True)
    told = json.loads(cwb("prompts", "adopt", "codex", second, "--force", "--json").stdout)
    assert told["found"] == [
        {"file": str(second), "location": "request 1", "filled_in_when_sent": [], "chars": len(PRODUCTS) + 6}
    ]
    assert load_preset("codex").policy.model_dump()["prompt"].endswith(" More.")
    table = cwb("prompts", "adopt", "codex", second, "--force", "--csv").stdout
    (row,) = csv.DictReader(io.StringIO(table))
    assert row == {key: str(value) if key != "filled_in_when_sent" else "" for key, value in told["found"][0].items()}


def test_what_has_no_package_on_the_path_was_looked_for_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert "No prompt of pi was found in the program on PATH; name " in cwb("prompts", "adopt", "pi").stderr


def test_where_nothing_is_found_a_sentence_says_where_it_was_looked_for(tmp_path: Path) -> None:
    for words, said in (
        (
            ("codex",),
            "Codex' program is compiled, and its prompt has no markers; name a",
        ),
        (("pi", tmp_path), str(tmp_path)),
        (("pi", request(tmp_path / "x.json", "Go on.")), "x.json"),
        (("trim",), "The preset trim has no replaceable prompt"),
        (("nope",), "Preset"),
        (("codex", tmp_path / "missing.json"), "does not exist"),
    ):
        run = cwb("prompts", "adopt", *words)
        assert run.exit_code == 2
        assert said in run.stderr
        assert len(run.stderr.strip().splitlines()) == 1
    assert not paths.prompts().exists()
