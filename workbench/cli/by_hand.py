"""What a person does to the plan by flags, as on the bench by keys: pins, edits, the split."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.suggested_pins import auto_pins, suggest
from workbench.base.errors import BadInput
from workbench.bench import Bench, split_at, toggle_dropped, toggle_pin, toggle_shortened, with_watched_rules
from workbench.cli.selection import Selection
from workbench.session import Message


def by_hand(bench: Bench, chosen: Selection) -> Bench:
    """The bench with messages pinned, dropped and shortened and the split set as was named, and the sentences watched.

    One that is to be dropped and shortened is dropped. With `auto_pin` every suggested pin that is accepted unasked
    is added. Raises BadInput for a message that is not there.
    """
    dropped, shortened, pinned = (_ids(bench, named) for named in (chosen.drops, chosen.shortens, chosen.pins))
    for id in shortened:
        bench = toggle_shortened(bench, (id,))
    if dropped:
        bench = toggle_dropped(bench, dropped)
    for id in pinned:
        bench = toggle_pin(bench, id)
    if chosen.split:
        bench = split_at(bench, message_id(bench.messages, chosen.split))
    for id in auto_pins(suggest(bench.context)) if chosen.auto_pin else ():
        if id not in bench.pins:
            bench = toggle_pin(bench, id)
    return with_watched_rules(bench, chosen.watched) if chosen.watched else bench


def _ids(bench: Bench, named: Sequence[str]) -> list[str]:
    """Ids, each once: a message named twice is not let go again."""
    return list(dict.fromkeys(message_id(bench.messages, one) for one in named))


def message_id(messages: Sequence[Message], reference: str) -> str:
    """The id that `reference` stands for among the messages of a context.

    An id itself comes first, then a number (1 is the first message, as `cwb inspect` counts), then the beginning of
    exactly one id. Raises BadInput when nothing fits or several do.
    """
    if any(message.id == reference for message in messages):
        return reference
    if reference.isascii() and reference.isdigit():
        number = int(reference) if len(reference) < 10 else 0
        if 1 <= number <= len(messages):
            return messages[number - 1].id
    found = [message.id for message in messages if reference and message.id.startswith(reference)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{reference!r} matches {len(found)} message ids; give more characters.")
    raise BadInput(
        f"There is no message {reference!r} in this epoch; give an id, its beginning, or a number from 1 to "
        f"{len(messages)}, as `cwb inspect --json` lists them."
    )
