"""Bills and counts of real sessions."""

from pathlib import Path

import pytest

from workbench.formats.files import load
from workbench.session import Session
from workbench.tokens import Basis, Counter, Sizes, calls_of, find_model, sizes_of


def opened(shared: Path, name: str) -> Session:
    return load(shared / "sessions" / "claude-code" / name)


def sized(session: Session, epoch: int | None = None) -> Sizes:
    messages, counter = session.context(epoch), Counter()
    assert counter.count_all(messages, lambda done, total: None, lambda: False)
    return sizes_of(messages, session.model, counter)


def test_the_anchored_total_of_spotter_is_its_last_bill(shared: Path) -> None:
    session = opened(shared, "spotter-fa812bfe.jsonl")
    for epoch, bill in ((1, 166_874), (2, 76_350)):
        sizes = sized(session, epoch)
        assert calls_of(session.context(epoch))[-1].context == bill
        assert sizes.overhead + sum(sizes.tokens[: sizes.anchored_until]) == bill
        # Claude Code's system prompt and tools, which no file records.
        assert 24_000 <= sizes.overhead <= 29_000
        assert sizes.overhead_basis is Basis.CALIBRATED


@pytest.mark.parametrize(
    "name",
    [
        "spotter-fa812bfe.jsonl",
        "entire-cd95add-3compactions.jsonl",
        "entire-432b48f-progress.jsonl",
        "agentcmd-full-session-four.jsonl",
    ],
)
def test_the_calibration_meets_the_bills_of_real_sessions(shared: Path, name: str) -> None:
    session = opened(shared, name)
    for epoch in session.epochs:
        sizes, messages = sized(session, epoch.number), session.context(epoch.number)
        metered = sum(map(sizes.meter.tokens, messages))
        assert metered == pytest.approx(sum(sizes.tokens), rel=0.15)
        assert min(sizes.tokens) >= 0
        assert sizes.meter.basis is Basis.CALIBRATED


def test_the_model_of_a_real_session_is_in_the_table(shared: Path) -> None:
    info = find_model(opened(shared, "spotter-fa812bfe.jsonl").model)
    assert info is not None
    assert info.window == 200_000
