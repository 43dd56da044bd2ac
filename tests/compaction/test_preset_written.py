"""A written preset reads back to the same policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.preset import (
    Preset,
    load_preset,
    preset_names,
    preset_path,
    preset_toml,
    read_preset,
    save_preset,
)
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(['"""', "\n", "\r\n", "\\", "\\n", "\t", "'", "\x00", "{summary}", "漢", " \\\n  "])).map(
        "".join
    ),
)


def changes(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Some fields of a policy with values that may or may not be allowed."""
    choices: dict[str, st.SearchStrategy[Any]] = {}
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            choices[name] = changes(kind)
        elif kind is bool:
            choices[name] = st.booleans()
        elif kind is int:
            choices[name] = st.integers(0, 10**12)
        elif kind is float:
            choices[name] = st.floats(0, 100) | st.integers(0, 100)
        elif kind is str:
            choices[name] = TEXTS
    return st.fixed_dictionaries({}, optional=choices)


@pytest.mark.parametrize("one", all_strategies(), ids=lambda one: one.id)
@given(data=st.data())
def test_what_is_written_reads_back_to_the_same_policy(
    one: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    policy = one.policy_type()
    for name, value in data.draw(changes(one.policy_type)).items():
        try:
            policy = policy.with_(**{name: value})
        except ValidationError:
            continue
    about = data.draw(TEXTS)
    path = tmp_path_factory.mktemp("presets") / "mine.toml"
    path.write_bytes(preset_toml(Preset("mine", one.id, about, "", policy)).encode())
    again = read_preset(path)
    assert (again.strategy, again.about, again.policy) == (one.id, about, policy)


@pytest.mark.parametrize("name", preset_names())
def test_every_bundled_preset_can_be_saved_under_another_name(name: str) -> None:
    preset = load_preset(name)
    path = save_preset(Preset("mine", preset.strategy, preset.about, preset.source, preset.policy, preset.basis))
    assert path == paths.presets() / "mine.toml"
    again = load_preset("mine")
    assert (again.policy, again.about, again.source) == (preset.policy, preset.about, preset.source)
    assert [file.name for file in path.parent.iterdir()] == ["mine.toml"]


def test_a_changed_group_stands_in_the_file_and_a_preset_is_written_over() -> None:
    group = ExchangeSummaryPolicy().abridged_history_params
    policy = ExchangeSummaryPolicy(abridged_history_params=group.model_copy(update={"total_chars_limit": 7}))
    for about in ("first", "second"):
        path = save_preset(Preset("mine", "exchange-summary", about, "", policy))
        assert (read_preset(path).policy, read_preset(path).about) == (policy, about)
    limits = ", ".join(f"{name} = {value}" for name, value in policy.abridged_history_params.model_dump().items())
    assert f"abridged_history_params = {{{limits}}}" in path.read_text()


def test_a_prompt_stands_in_the_file_as_the_lines_it_has() -> None:
    policy = ExchangeSummaryPolicy(prompt='First line.\nSecond "line".')
    assert 'First line.\nSecond "line".' in preset_toml(Preset("mine", "exchange-summary", "", "", policy))


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65, "a b"])
def test_a_name_that_is_no_files_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not a valid preset name"):
        preset_path(name)


def test_a_text_that_no_file_holds_is_refused_and_nothing_is_written() -> None:
    policy = ExchangeSummaryPolicy(prompt="half \ud800")
    with pytest.raises(BadInput, match="half of a character"):
        save_preset(Preset("mine", "exchange-summary", "", "", policy))
    assert not list(paths.presets().glob("*")) if paths.presets().exists() else True


def test_a_folder_that_cannot_be_made_is_named(own_home: Path) -> None:
    paths.presets().parent.parent.mkdir(parents=True, exist_ok=True)
    paths.presets().parent.write_text("in the way")
    with pytest.raises(BadInput, match="cannot be made"):
        save_preset(load_preset("trim"))


@pytest.mark.parametrize("one", [one for one in all_strategies() if one.parameters], ids=lambda one: one.id)
@given(data=st.data())
def test_params_that_are_copied_are_pasted_to_the_same_policy(one: Any, data: st.DataObject) -> None:
    """An empty text means a field's default there."""
    policy = one.policy_type()
    for name, value in data.draw(changes(one.policy_type)).items():
        try:
            policy = policy.with_(**{name: value}) if value != "" else policy
        except ValidationError:
            continue
    assert one.parameters.read(one.parameters.write(policy)).policy == policy
