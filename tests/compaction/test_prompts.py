"""A user's own prompts: checked before they are saved, refused with the line that is wrong, and never run as code."""

from __future__ import annotations

import pytest

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.resources import PROMPTS
from workbench.compaction.exchange.abridge import AbridgedHistoryParams, abridge
from workbench.compaction.preset import load_preset
from workbench.compaction.prompts import file_of, filled, load_prompt, prompt_files, write_own
from workbench.compaction.templates import rendered
from workbench.conformance.building import agent, context_of, user

HEADER = "---\nid: abridged-entry\n---\n"
NAME = "abridged-entry.jinja"


@pytest.mark.parametrize(
    "template",
    [
        "{{ user_message.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ user_message.__init__.__globals__ }}",
        "{% for i in range(10000000) %}{{ i }}{% endfor %}",
        "{% include 'secrets' %}",
        "{{ 1 / 0 }}",
    ],
)
def test_a_template_runs_in_a_sandbox_and_its_line_is_named(template: str) -> None:
    with pytest.raises(BadInput, match="line 5: ") as caught:
        write_own(NAME, f"{HEADER}fine {{{{ user_message }}}}\n{template}\n")
    assert "\n" not in str(caught.value)
    assert not paths.prompts().exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("context-reset.en.md", "---\nid: context-reset\n---\nOne\nTwo {topic}\n", "line 5: nothing fills"),
        ("message-window.en.md", "---\nid: message-window\n---\n{max_chars} {size}\n", "it takes max_chars"),
        (NAME, HEADER + "{{ user_message }}\n{{ mood }}\n", "line 5: nothing fills the placeholder 'mood'"),
        (NAME, HEADER + "\n{% if %}\n", "line 5: "),
        ("mine.md", "no header\n", "line 1: "),
        ("mine.md", "---\nid: x\nodd\n---\n", "line 3: "),
        ("mine.md", "---\nlanguage: en\n---\n", "no 'id'"),
        ("mine.md", "---\nid: x\nplaceholders: a\n---\n{a} {b}\n", "line 5: nothing fills the placeholder 'b'"),
        ("../mine.md", "---\nid: x\n---\nwords\n", "no name for a prompt"),
        ("mine.txt", "---\nid: x\n---\nwords\n", "no name for a prompt"),
    ],
)
def test_what_cannot_be_used_is_not_written(name: str, text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        write_own(name, text)
    assert not paths.prompts().exists()


def test_what_is_saved_is_in_use_at_once() -> None:
    assert load_prompt("context-reset.en.md") == load_prompt("context-reset.en.md")
    shipped = load_preset("context-reset").policy.model_dump()["prompt"]
    path = write_own("context-reset.en.md", "---\nid: context-reset\n---\nTell it as a ballad.\n")
    assert load_prompt("context-reset.en.md").text == "Tell it as a ballad."
    assert (file_of("context-reset.en.md"), path.parent) == (path, paths.prompts())
    assert load_preset("context-reset").policy.model_dump()["prompt"] == "Tell it as a ballad."
    write_own("mine.md", "---\nid: context-reset\nlanguage: fr\n---\nEn vers.\n")
    assert "mine.md" in prompt_files()
    with pytest.raises(BadInput, match="exists"):
        write_own("mine.md", "---\nid: context-reset\n---\nOther.\n", overwrite=False)
    assert load_prompt("mine.md").language == "fr"
    path.unlink()
    assert load_preset("context-reset").policy.model_dump()["prompt"] == shipped


@pytest.mark.parametrize("name", [path.name for path in sorted(PROMPTS.iterdir()) if path.is_file()])
def test_every_prompt_of_the_program_could_be_a_users(name: str) -> None:
    write_own(name, (PROMPTS / name).read_text("utf-8"))
    bundled = load_prompt(name)
    (paths.prompts() / name).unlink()
    assert load_prompt(name) == bundled


LOOPS = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"
CALLS = "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}{% endmacro %}{{ twice(90) }}"


@pytest.mark.parametrize(
    "template",
    [
        LOOPS,
        "{% for a in range(400) recursive %}{{ loop(range(400)) }}{% endfor %}",
        "{% for a in range(40000) %}{% for b in 'abc' %}{% for c in 'abc' %}{% endfor %}{% endfor %}{% endfor %}",
        "{% for a in range(900) %}{{ range(900) | map('string') | list }}{% endfor %}",
        CALLS,
        "{{ 9 ** (9 ** 9) }}",
        "{{ 'x' * 10 ** 9 }}",
        "{{ user_message | batch(10 ** 9, 'x') }}",
    ],
)
def test_a_template_comes_to_an_end(template: str) -> None:
    with pytest.raises(BadInput, match=f"^{paths.prompts() / NAME}.*mend the template"):
        write_own(NAME, f"{HEADER}{template}\n")


BIG = "(2 ** 49999)"
"""A number of 50,000 bits."""


@pytest.mark.parametrize(
    ("product", "made"),
    [
        ("6 * 7", "42"),
        ("2 ** 10", "1024"),
        ("'ab' * 3", "ababab"),
        ("2 * [1]", "[1, 1]"),
        ("1.5 * 2", "3.0"),
        ("('x' * 100000) | length", "100000"),
        ("'x' * 100001", None),
        ("(50000 * (1, 2)) | length", "100000"),
        ("50001 * (1, 2)", None),
        ("2 ** 50000 > 1", "True"),
        ("2 ** 50001 > 1", None),
        (f"{BIG} * {BIG} > 1", "True"),
        (f"{BIG} * (2 ** 50000) > 1", None),
    ],
)
def test_a_product_in_a_template_has_a_size(product: str, made: str | None) -> None:
    text = f"{{{{ {product} }}}}"
    if made is None:
        with pytest.raises(OverflowError, match=r"^what \*\*? makes is too large$"):
            rendered(text, {})
    else:
        assert rendered(text, {}) == made


def test_a_template_may_loop_as_an_entry_needs() -> None:
    letters = "{% for letter in file %}{{ loop.index }}{% endfor %}{{ range(3) | list }}"
    write_own(NAME, f"{HEADER}{{% for file in files_viewed %}}{letters}{{% endfor %}}\n")
    shown = filled(paths.prompts() / NAME, load_prompt(NAME), {"files_viewed": ["a.py", "b"]})
    assert shown == "1234[0, 1, 2]1[0, 1, 2]"


def test_what_only_real_values_bring_about_is_one_sentence_too() -> None:
    """The words it is tried with are few; a session's may be many, and of another kind."""
    write_own(NAME, f"{HEADER}{{% for a in user_message %}}{{% for b in user_message %}}{{% endfor %}}{{% endfor %}}\n")
    context = context_of([user("u1", "x" * 900), agent("a1", "Done.")])
    with pytest.raises(BadInput, match="line 4: its loops and calls take more than"):
        abridge(context, 2, AbridgedHistoryParams())


def test_an_edit_made_elsewhere_is_in_use_at_once() -> None:
    context = context_of([user("u1", "Why?"), agent("a1", "Done.")])
    path = write_own(NAME, f"{HEADER}one {{{{ user_message }}}}\n")
    assert abridge(context, 2, AbridgedHistoryParams()).text == "one Why?"
    path.write_text(f"{HEADER}another {{{{ user_message }}}}\n")
    assert abridge(context, 2, AbridgedHistoryParams()).text == "another Why?"
    path.unlink()
    assert "<user>" in abridge(context, 2, AbridgedHistoryParams()).text
