"""How a person names a message on the command line: by id, by the beginning of an id, or by its number."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.errors import BadInput
from workbench.session import Message


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
        raise BadInput(f"{reference!r} begins {len(found)} message ids; give more of the one that is meant.")
    raise BadInput(
        f"There is no message {reference!r} in this epoch; give an id, the beginning of one, or a number from 1 to "
        f"{len(messages)}, as `cwb inspect --json` lists them."
    )
