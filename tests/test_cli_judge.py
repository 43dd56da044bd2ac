"""A model as judge of retention: the real client, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from tests.summarizers.fake_api import MODEL, answer, fake_api
from tests.summarizers.live_calls import client_talks_to
from workbench.analysis.labelled import labelled_pairs
from workbench.analysis.model_judge import ITEMS_PER_CALL, judgements
from workbench.compaction.summary_request import Summary, SummaryFailed

LIVE = f"anthropic:{MODEL}"


def test_what_a_judge_says_is_read_line_by_line() -> None:
    said = judgements(
        [Summary("1 yes yes\n2 part no\n- 3: no, yes\nI am not sure of 4\n5 maybe yes"), SummaryFailed("timeout")]
    )
    assert {number: (one.present, one.right) for number, one in said.items()} == {
        1: (1.0, True),
        2: (0.5, False),
        3: (0.0, False),
    }


@pytest.mark.parametrize(("right", "shares"), [("yes", 1.0), ("no", 0.0)])
async def test_its_agreement_stands_beside_its_score(
    right: str, shares: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    labelled = list(labelled_pairs())
    calls = -(-len(labelled) // ITEMS_PER_CALL)
    says = "\n".join(f"{number} yes {right}" for number in range(1, len(labelled) + 1))
    async with fake_api(*[answer(says)] * (calls + 1)) as api:
        client_talks_to(api, monkeypatch)
        args = ("retention", session, "--strategy", "exchange-summary", "--judge", LIVE, "--json")
        run = await asyncio.to_thread(cwb, *args)
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)["judge"]
    assert len(api.received) == calls + 1
    assert all("<items>" in one.prompt for one in api.received)
    assert found["facts"] > 0
    assert (found["kept_share"], found["correct_share"]) == (1.0, shares)
    assert found["labelled_pairs"] == len(labelled)
    assert found["kept_agreement_share"] == pytest.approx(sum(pair.label != "-" for pair in labelled) / len(labelled))
    agreed = [(pair.label == "=") == (right == "yes") for pair in labelled]
    assert found["correct_agreement_share"] == pytest.approx(sum(agreed) / len(labelled))


def test_a_judge_is_for_one_compaction(tmp_path: Path) -> None:
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    run = cwb("retention", session, "--recorded", "--judge", LIVE)
    assert run.exit_code == 2
    assert "--judge judges one compaction" in run.output
