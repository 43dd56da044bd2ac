"""What a person does to the plan by flags, as on the bench by keys: pins, edits, the split."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.bench import Bench, split_at, toggle_dropped, toggle_pin, toggle_shortened
from workbench.cli.reference import message_id


def by_hand(
    bench: Bench, *, pins: Sequence[str], drops: Sequence[str], shortens: Sequence[str], split: str | None
) -> Bench:
    """The bench with the messages pinned, dropped and shortened and the split set that the flags name.

    One that is to be dropped and shortened is dropped. Raises BadInput for a message that is not there.
    """
    dropped, shortened, pinned = (_ids(bench, named) for named in (drops, shortens, pins))
    for id in shortened:
        bench = toggle_shortened(bench, (id,))
    if dropped:
        bench = toggle_dropped(bench, dropped)
    for id in pinned:
        bench = toggle_pin(bench, id)
    return split_at(bench, message_id(bench.messages, split)) if split else bench


def _ids(bench: Bench, named: Sequence[str]) -> list[str]:
    """Ids, each once: a message named twice is not let go again."""
    return list(dict.fromkeys(message_id(bench.messages, one) for one in named))
