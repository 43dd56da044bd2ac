"""Presets and prompts, and messages about invalid ones."""

from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.resources import PROMPTS
from workbench.compaction.preset import default_preset, has_prompt, load_preset, preset_names, read_preset
from workbench.compaction.prompts import lint_summary_prompt, read_prompt
from workbench.compaction.strategies import all_strategies, strategy


@pytest.mark.parametrize("name", preset_names())
def test_every_bundled_preset_reads_and_says_where_it_is_from(name: str) -> None:
    preset = load_preset(name)
    assert preset.about
    assert preset.source
    assert strategy(preset.strategy).lint(preset.policy) == ()
    assert set(preset.basis.values()) <= {"documented", "assumed"}


def test_every_strategy_has_a_preset_to_start_from() -> None:
    for one in all_strategies():
        assert default_preset(one.id).strategy == one.id


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("strategy = ", "not valid TOML"),
        ("about = 'x'", "no 'strategy'"),
        ("strategy = 'nope'", "Strategy 'nope' does not exist"),
        ("strategy = 'exchange-summary'\ncolour = 1", "unknown key 'colour'"),
        ("strategy = 'exchange-summary'\n[policy]\nmin_tail_exchanges = -1", "policy.min_tail_exchanges = -1"),
        ("strategy = 'exchange-summary'\n[policy]\ncolour = 1", "setting 'policy.colour' does not exist"),
        ("strategy = 'exchange-summary'\n[policy]\nprompt = { prompt = 'gone.md' }", "policy.prompt"),
        ("strategy = 'exchange-summary'\n[basis]\nprompt = 'guessed'", "basis.prompt"),
        (
            "strategy = 'exchange-summary'\n[product]\ndefault_on = 'yes'",
            "product.default_on = 'yes' is invalid",
        ),
        ("strategy = 'exchange-summary'\n[product]\ncolour = true", "product.colour = True"),
        (
            "strategy = 'exchange-summary'\nearlier = 5",
            "every [[earlier]] needs before",
        ),
        ("strategy = 'exchange-summary'\n[[earlier]]\nbefore = '2'", "every [[earlier]] needs before"),
        ("strategy = 'exchange-summary'\n[[earlier]]\nbefore = '2'\npolicy = {colour = 1}", "does not exist"),
        ("strategy = 'exchange-summary'\npolicy = 5", "policy = 5 must be a table; begin it with [policy]"),
    ],
)
def test_a_bad_preset_is_refused_by_file_and_field(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_preset(path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_users_preset_is_found_and_wins() -> None:
    folder = paths.presets()
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(
        "strategy = 'exchange-summary'\nabout = 'mine'\n[policy]\nmin_tail_exchanges = 7\n"
    )
    assert "mine" in preset_names()
    assert load_preset("mine").policy.model_dump()["min_tail_exchanges"] == 7
    with pytest.raises(BadInput, match="choose one of"):
        load_preset("nobody")


@pytest.mark.parametrize("path", sorted(PROMPTS.iterdir()), ids=lambda path: path.name)
def test_every_prompt_has_its_header_and_names_its_placeholders(path: Path) -> None:
    prompt = read_prompt(path)
    assert prompt.text
    assert prompt.language in ("en", "zh")
    if path.suffix != ".jinja":
        for name in prompt.placeholders:
            assert f"{{{name}}}" in prompt.text


def test_a_prompt_without_header_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.md"
    path.write_text("Summarize.")
    with pytest.raises(BadInput, match="line 1"):
        read_prompt(path)
    path.write_text("---\nid x\n---\nSummarize.")
    with pytest.raises(BadInput, match="line 2"):
        read_prompt(path)


FORM = "The prompt sets no output format: ask for <summary></summary> tags or named sections."
VAGUE = "The prompt is too vague: list what to record (requirements, actions, decisions, pending tasks)."
WHO = "The prompt does not define 'I': state that 'I' in the summary is the agent."


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        (" ", ("The prompt is empty, which disables the summary: state what to record.",)),
        ("Summarize the conversation.", (FORM, VAGUE, WHO)),
        ("Tell me what happened. Wrap it in <summary> tags.", (VAGUE, WHO)),
        ("The GOAL of all, in sections, with 'I' as the agent.", (VAGUE,)),
        ("The GOAL and each ERROR, in sections, with 'I' as the agent.", ()),
        ("Summarize: user requirements, agent actions, key decisions, pending tasks, in <summary> tags.", (WHO,)),
    ],
)
def test_the_lint_names_what_the_document_warns_of(prompt: str, says: tuple[str, ...]) -> None:
    assert lint_summary_prompt(prompt) == says


@pytest.mark.parametrize(
    ("name", "is_named"), [("claude-code", True), ("ledger", True), ("cursor", False), ("trim", False)]
)
def test_which_presets_name_a_prompt_file(name: str, is_named: bool) -> None:
    assert has_prompt(name) == is_named


def test_an_unknown_preset_has_no_prompt_to_ask_for() -> None:
    with pytest.raises(BadInput):
        has_prompt("nobodys")
