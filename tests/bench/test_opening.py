"""Where a session opens, and under which policy: at the epoch that overflowed, as its own tool compacts."""

from __future__ import annotations

import pytest

from tests.paths import SAMPLES
from tests.tui.app import session_of, story
from workbench.bench import DEFAULT_PRESET, at_epoch, choose_preset, open_bench
from workbench.bench.saved_work import SavedWork, restore_work, work_of
from workbench.compaction.preset import agent_preset_id, load_preset, preset_names
from workbench.formats.files import load
from workbench.formats.registry import formats
from workbench.tokens import Counter

CODEX = load(SAMPLES / "codex-two-compactions.jsonl")


def test_a_formats_preset_is_there() -> None:
    named = {known.id: known.preset for known in formats() if known.preset}
    assert set(named.values()) <= set(preset_names())
    assert {"claude-code": "claude-code", "codex": "codex", "gemini": "gemini-cli"}.items() <= named.items()


def test_a_session_opens_where_it_was_compacted_last_as_its_tool_compacts() -> None:
    bench = open_bench(CODEX, Counter())
    assert (bench.epoch, len(CODEX.epochs), bench.preset, bench.policy) == (2, 3, "codex", load_preset("codex").policy)
    named = open_bench(CODEX, Counter(), epoch=3, preset="trim")
    assert (named.epoch, named.preset) == (3, "trim")
    nobodys = session_of(story(3).messages)
    assert (agent_preset_id(nobodys), open_bench(nobodys, Counter()).preset, DEFAULT_PRESET) == (
        "",
        DEFAULT_PRESET,
        "augment-example",
    )


@pytest.mark.parametrize(("epoch", "remembered"), [(1, 1), (2, 2), (3, "last")])
def test_what_a_person_chose_last_time_wins(epoch: int, remembered: object) -> None:
    counter = Counter()
    left = choose_preset(at_epoch(open_bench(CODEX, counter), epoch, counter), load_preset("trim"))
    work = work_of(left)
    assert (work.epoch, work.preset) == (remembered, "trim")
    back = restore_work(
        SavedWork.model_validate_json(work.model_dump_json()), open_bench(CODEX, counter), counter
    ).bench
    assert (back.epoch, back.preset) == (epoch, "trim")
