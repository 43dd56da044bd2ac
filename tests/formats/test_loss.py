"""Losses of an export in words, which are made of their kinds and counts."""

from __future__ import annotations

import pytest

from workbench.formats.format import Written
from workbench.formats.loss import Loss, LossKind, count_losses, loss_of, summed
from workbench.session import Media, Opaque, Thinking


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (Loss(LossKind.REASONING), "1 reasoning block left out: only the model that wrote it can use it"),
        (Loss(LossKind.REASONING, 12_000), "12 000 reasoning blocks left out: only the model that wrote it can use it"),
        (Loss(LossKind.SYSTEM_PROMPT, 1, ("Codex",)), "system prompt left out: Codex sends its own"),
        (
            Loss(LossKind.USER_INSERTED, 2, ("the API allows no assistant message there",), "[…]"),
            "2 user messages inserted, '[…]': the API allows no assistant message there",
        ),
        (Loss(LossKind.SUMMARIES_AS_EVENTS, 2, ("ADK",)), "2 summaries made by ADK, written as an ordinary event"),
    ],
)
def test_the_text_of_a_loss(loss: Loss, text: str) -> None:
    assert str(loss) == text


def test_a24_every_kind_has_a_text_of_its_own() -> None:
    texts = {str(Loss(kind, 2, ("X", "Y")[: kind.placeholders], "Z")) for kind in LossKind}
    assert len(texts) == len(LossKind)
    assert [text for text in texts if "{" in text or not text[0].isalnum()] == []


@pytest.mark.parametrize("details", [(), ("one", "two")])
def test_a_loss_has_as_many_details_as_its_text_has_places(details: tuple[str, ...]) -> None:
    with pytest.raises(TypeError, match=f"MEMORIES takes 1 details, not {len(details)}"):
        Loss(LossKind.MEMORIES, 1, details)


def test_losses_of_one_kind_are_one_unless_their_details_differ() -> None:
    blocks = [Thinking("a"), Opaque("b", {}), Media("image/png", 9), Thinking("c")]
    losses = summed(
        [*map(loss_of, blocks), Loss(LossKind.ERROR_MARKS, 2, ("A",)), Loss(LossKind.ERROR_MARKS, 3, ("B",))]
    )
    assert losses == (
        Loss(LossKind.REASONING, 2),
        Loss(LossKind.UNKNOWN_BLOCKS),
        Loss(LossKind.MEDIA),
        Loss(LossKind.ERROR_MARKS, 2, ("A",)),
        Loss(LossKind.ERROR_MARKS, 3, ("B",)),
    )
    assert [count_losses(losses, kind) for kind in (LossKind.REASONING, LossKind.ERROR_MARKS)] == [2, 5]
    assert count_losses(losses, LossKind.MEDIA, LossKind.REASONING) == 3


def test_what_was_written_says_its_losses_in_words() -> None:
    written = Written(b"", "x", losses=(Loss(LossKind.MEDIA), Loss(LossKind.MEDIA), Loss(LossKind.UNCHANGED)))
    assert written.losses == (Loss(LossKind.MEDIA, 2), Loss(LossKind.UNCHANGED))
    assert written.notes == (
        "2 attachments replaced by a one-line placeholder",
        "nothing changed: this is the loaded session",
    )
