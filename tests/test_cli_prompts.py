"""The prompts on the command line, and a user's own in place of the program's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from workbench.base import paths


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
    (line,) = (line for line in cwb("prompts").stdout.splitlines() if "context-reset.en" in line)
    assert "yours" in line
    assert "context-reset.zh" in cwb("prompts").stdout


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "context-reset.en.md",
            "---\nid: x\n---\n\nOne.\nTwo {topic}.\n",
            "line 6: nothing fills the placeholder 'topic'",
        ),
        ("context-reset.en.md", "no header\n", "line 1"),
        ("message-window.en.md", "---\nid: x\nplaceholders: size\n---\n{max_chars} and {size}\n", "line 5"),
        ("abridged-entry.jinja", "---\nid: x\n---\n{{ user_message }}\n{{ mood }}\n", "line 5: nothing fills"),
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
