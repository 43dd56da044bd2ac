"""A user's own prompts: checked before saving, refused with the line at fault, and never run as code."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.resources import PROMPTS
from workbench.compaction.exchange.abridge import AbridgedHistoryParams, abridge
from workbench.compaction.preset import load_preset
from workbench.compaction.prompts import file_of, filled, load_prompt, prompt_files, write_own
from workbench.compaction.templates import ROOM, rendered
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
        ("context-reset.en.md", "---\nid: context-reset\n---\nOne\nTwo {topic}\n", "line 5: unknown placeholder"),
        ("message-window.en.md", "---\nid: message-window\n---\n{max_chars} {size}\n", "allowed: max_chars"),
        (NAME, HEADER + "{{ user_message }}\n{{ mood }}\n", "line 5: unknown placeholder 'mood'"),
        (NAME, HEADER + "\n{% if %}\n", "line 5: "),
        ("mine.md", "no header\n", "line 1: "),
        ("mine.md", "---\nid: x\nodd\n---\n", "line 3: "),
        ("mine.md", "---\nlanguage: en\n---\n", "no 'id'"),
        ("mine.md", "---\nid: x\nplaceholders: a\n---\n{a} {b}\n", "line 5: unknown placeholder 'b'"),
        ("../mine.md", "---\nid: x\n---\nwords\n", "not a valid prompt name"),
        ("mine.txt", "---\nid: x\n---\nwords\n", "not a valid prompt name"),
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
    with pytest.raises(BadInput, match=f"^{paths.prompts() / NAME}.*correct the template"):
        write_own(NAME, f"{HEADER}{template}\n")


TWICE = "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}"
WIDE = 10**10


@pytest.mark.parametrize(
    "template",
    [
        f"{{{{ 'a' | center({WIDE}) }}}}",
        f"{{{{ 'a'.center({WIDE}) }}}}",
        f"{{{{ ['a'] | map('center', {WIDE}) | list }}}}",
        f"{{{{ 'a'.zfill(width={WIDE}) }}}}",
        f"{{{{ 1.to_bytes({WIDE}, 'big') }}}}",
        f"{{{{ (1).to_bytes({WIDE}, 'big') }}}}",
        f"{{{{ '\t'.expandtabs({WIDE}) }}}}",
        f"{{{{ '%{WIDE}d' | format(1) }}}}",
        f"{{{{ '%{WIDE}d' % 1 }}}}",
        f"{{{{ '%*d' % ({WIDE}, 1) }}}}",
        f"{{{{ '{{:>{WIDE}}}'.format(1) }}}}",
        f"{{{{ [1] | tojson(indent={WIDE}) }}}}",
        f"{{{{ 1.5 | round({WIDE}, 'floor') }}}}",
        f"{{{{ 'a' | indent({WIDE}, first=True) }}}}",
        "{{ ('a' * 30000) | replace('a', 'a' * 30000) }}",
        "{{ ('a' * 30000).replace('', 'a' * 30000) }}",
        "{{ ('a' * 30000).encode().replace(''.encode(), ('a' * 30000).encode()) }}",
        "{{ ('a' * 30000).translate({97: 'a' * 30000}) }}",
        "{{ range(30000) | join('a' * 30000) }}",
        "{{ ('a' * 30000).join('b' * 30000) }}",
        "{{ ('\n' * 30000) | indent(30000, blank=True) }}",
        "{{ ('%(a)s' * 30000) % {'a': 'a' * 30000} }}",
        "{{ ('{0}' * 30000).format('a' * 30000) }}",
        "{% set n = namespace(a='ab') %}{% for i in range(60) %}{% set n.a = n.a ~ n.a %}{% endfor %}",
        "{% set n = namespace(a='ab') %}{% for i in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
        "{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a }}",
        "{% set l = [1] %}{% for i in range(60) %}{{ l.extend(l) }}{% endfor %}",
        "{% set a = 'ab' %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40,
        TWICE + "{{ " + "m(" * 40 + "'ab'" + ")" * 40 + " }}",
        "{% for i in range(90000) %}" + "words " * 99 + "{% endfor %}",
        "{% for i in range(900) %}{% set x = range(9000) | sort %}{% endfor %}",
        "{% for a in 'a' %}" * 60 + "{% endfor %}" * 60,
        "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
        "{{ ([1] * 30000) | tojson(indent=30000) }}",
        "{% set n = namespace(a=1) %}{% for i in range(900) %}{% set n.a = [n.a] %}{% endfor %}"
        "{{ n.a | tojson(indent=2000) }}",
        pytest.param("{{ 'a' }}" * 30_000, id="a template that is long itself"),
    ],
)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="nothing tells here how much memory is used")
def test_a_template_makes_no_more_than_a_text(template: str) -> None:
    """And is refused before: there is little more memory than the test has already."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 150_000_000, hard))
    try:
        with pytest.raises(BadInput, match=f"^{paths.prompts() / NAME}.*correct the template") as refused:
            write_own(NAME, f"{HEADER}{template}\n")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert "MemoryError" not in str(refused.value)


def test_a_rendering_has_room_for_just_so_many_characters() -> None:
    half = {"words": "x" * (ROOM // 2)}
    assert len(rendered("{{ words }}{{ words }}", half)) == ROOM
    with pytest.raises(OverflowError, match="more than 20000000 characters"):
        rendered("{{ words }}.{{ words }}", half)


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("{{ 'a' | center(5) }}|{{ 'a'.ljust(3) }}|{{ '7'.zfill(3) }}", "  a  |a  |007"),
        ("{{ 'a,b' | replace(',', ' ') }}{{ 'x'.replace('x', 'y') }}", "a by"),
        ("{{ ['a', 'b'] | join(', ') }}{{ '-'.join('ab') }}", "a, ba-b"),
        ("{{ 'a\nb' | indent(2) }}", "a\n  b"),
        ("{{ '%s of %3d' | format('a', 7) }}{{ '%d' % 5 }}{{ '{:>3}'.format(1) }}", "a of   75  1"),
        ("{{ 'a' ~ 1 ~ 'b' }}{{ 'a' + 'b' }}{{ 1 + 2 }}{{ none }}", "a1bab3None"),
        (
            "{{ [3, 1] | sort | map('string') | list }}{{ {'a': 1} | tojson }}{{ 2.5 | round }}",
            "['1', '3']{\"a\": 1}2.0",
        ),
        ("{{ [[1], {'a': []}] | tojson(indent=1) | length }}", "30"),
        ("{{ ' a ' | trim | upper | default('x') }}{{ missing | default('x') }}", "Ax"),
        ("{{ ['a', 'b'] | select('equalto', 'a') | first }}", "a"),
    ],
)
def test_what_templates_are_made_of_does_as_jinja_says(template: str, made: str) -> None:
    assert rendered(template, {}) == made


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
        with pytest.raises(OverflowError, match=r"^the result of \*\*? is too large$"):
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
    with pytest.raises(BadInput, match="line 4: its loops and calls need more than"):
        abridge(context, 2, AbridgedHistoryParams())


def test_an_edit_made_elsewhere_is_in_use_at_once() -> None:
    context = context_of([user("u1", "Why?"), agent("a1", "Done.")])
    path = write_own(NAME, f"{HEADER}one {{{{ user_message }}}}\n")
    assert abridge(context, 2, AbridgedHistoryParams()).text == "one Why?"
    path.write_text(f"{HEADER}another {{{{ user_message }}}}\n")
    assert abridge(context, 2, AbridgedHistoryParams()).text == "another Why?"
    path.unlink()
    assert "<user>" in abridge(context, 2, AbridgedHistoryParams()).text
