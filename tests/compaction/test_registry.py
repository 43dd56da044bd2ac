"""Strategies are found by name, imported on demand, and may come from an installed distribution."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import workbench
from tests.analysis.courses import course_of_messages
from tests.paths import ROOT, SAMPLES
from tests.toy_strategy import STRATEGY as TOY
from tests.toy_strategy import Words
from workbench.analysis.replay import replay
from workbench.base.environment import use_environment
from workbench.base.errors import BadInput
from workbench.compaction.preset import default_preset, load_preset
from workbench.compaction.prompts import load_prompt, prompt_files
from workbench.compaction.settings import setting_named
from workbench.compaction.strategies import (
    GROUP,
    OWN,
    OWN_WITH_REMEDY,
    all_strategies,
    remedies,
    strategy,
    strategy_ids,
    unusable,
)
from workbench.conformance.building import agent, user

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution that offers these strategies, by id, where distributions are looked for."""

    def made(**offered: str) -> None:
        folder = tmp_path / "toys-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
        lines = "".join(f"{id.replace('_', '-')} = {place}\n" for id, place in offered.items())
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
        monkeypatch.syspath_prepend(str(tmp_path))

    return made


@pytest.fixture
def toy(install: Install) -> None:
    install(headline="tests.toy_strategy:STRATEGY")


_LOADED = """
import json, os, sys
from workbench.compaction import strategies
before = strategies.strategy_ids()
for id in sys.argv[1:]:
    if not os.fork():
        strategies.strategy(id)
        names = [name.rsplit(".", 1)[1] for name in sys.modules if name.startswith(strategies.__name__ + ".")]
        print(json.dumps([id, names]), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def imported() -> dict[str, list[str]]:
    """The modules of strategies that are there once one is named, in a process for each."""
    run = subprocess.run([sys.executable, "-c", _LOADED, *OWN], cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(map(json.loads, run.stdout.splitlines()))


@pytest.mark.parametrize("id", OWN)
def test_a_strategy_is_imported_when_it_is_named_and_no_other(id: str, imported: dict[str, list[str]]) -> None:
    assert imported[id] == [OWN[id]]
    assert strategy(id).id == id


def test_an_unknown_strategy_is_answered_with_the_known_ones(toy: None) -> None:
    with pytest.raises(BadInput, match=r"Strategy 'trimm' does not exist; choose one of: .*trim, .*ledger, headline\."):
        strategy("trimm")


def test_an_installed_strategy_is_found_by_name_after_the_own_ones(toy: None) -> None:
    assert strategy("headline") is TOY
    assert strategy_ids() == (*OWN, "headline")
    assert [one.id for one in all_strategies()] == [*OWN, "headline"]
    assert unusable() == ()


def test_one_that_cannot_be_used_is_told_in_a_sentence_and_stops_nothing_else(install: Install) -> None:
    install(
        gone="tests.no_such_module:STRATEGY",
        other="tests.toy_strategy:STRATEGY",
        policy="tests.toy_strategy:HeadlinePolicy",
        trim="tests.toy_strategy:STRATEGY",
    )
    assert [one.id for one in all_strategies()] == list(OWN)
    assert strategy("trim").id == "trim"
    gone, other, policy = unusable()
    assert gone.startswith("'gone' of toys cannot be imported (ModuleNotFoundError: No module named 'tests.no_such_mod")
    assert other == "The entry point 'other' loads a strategy with the id 'headline'; use the same name for both."
    assert policy.startswith("'policy' of toys is a ModelMetaclass and no Strategy")
    with pytest.raises(BadInput, match="'gone' of toys cannot be imported"):
        strategy("gone")


def test_a_variable_of_a_longer_name_is_not_the_shorter_ones(install: Install) -> None:
    with use_environment({"CWB_TRIM_HEADLINE_WORDS": "3"}):
        with pytest.raises(BadInput, match="CWB_TRIM_HEADLINE_WORDS matches no setting"):
            default_preset("trim")
        install(trim_headline="tests.toy_strategy:STRATEGY")
        assert default_preset("trim").sources == load_preset("trim").sources


def test_without_a_preset_of_its_name_a_strategy_has_its_policys_defaults(toy: None) -> None:
    preset = default_preset("headline")
    assert preset == load_preset("headline")
    assert (preset.id, preset.strategy, preset.policy) == ("headline", "headline", TOY.policy_type())


def test_an_installed_strategy_compacts_compares_and_replays(toy: None) -> None:
    session = workbench.load(SAMPLES / "claude-code-overflow.jsonl")
    assert workbench.compact(session, "headline").report.status == "compacted"
    assert [column.strategy for column in workbench.compare(session, "headline")] == ["headline"]
    (played,) = workbench.replay(session, "headline")
    assert (played.name, bool(played.compacted)) == ("headline", True)


def test_a_replay_gives_each_message_to_a_meter_once(toy: None) -> None:
    """Whatever a strategy measures, a replay costs one addition a message: before the last answer stand 7 999."""
    messages = [one for n in range(4_000) for one in (user(f"u{n}", "go on"), agent(f"a{n}", "done it"))]
    preset = default_preset("headline")
    Words.added = 0
    played = replay(
        course_of_messages(messages), replace(preset, policy=preset.policy.with_(trigger_words=7_999)), None
    )
    assert (Words.added, played.triggers[0].value, played.missed) == (7_999, 2 * 3_999, ())


def test_every_prompt_is_used_by_one_strategy_in_a_field_that_there_is() -> None:
    used = [(id, one, field) for one in all_strategies() for id, field in one.prompts.items()]
    assert len({id for id, _, _ in used}) == len(used)
    assert {load_prompt(file).id for file in prompt_files()} - {id for id, _, _ in used} == {
        "regenerate-section",
        "judge",
        "probe",
        "probe-judge",
    }
    for id, one, field in used:
        assert not field or setting_named(one.policy_type, field).kind == "lines", id


_NO_PROMPTS = """
from workbench.base import resources
from pathlib import Path
resources.PROMPTS = Path("nowhere")
from workbench.compaction.strategies import all_strategies
print(len(all_strategies()))
"""


def test_a_prompt_is_read_when_it_is_asked_for_and_not_before() -> None:
    run = subprocess.run([sys.executable, "-c", _NO_PROMPTS], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(len(OWN))


def test_the_table_of_remedies_names_every_own_strategy_that_has_one() -> None:
    assert {one.id for one in all_strategies() if one.id in OWN and one.remedy} == set(OWN_WITH_REMEDY)
    assert [one.id for one, _ in remedies(100_000)] == list(OWN_WITH_REMEDY)
