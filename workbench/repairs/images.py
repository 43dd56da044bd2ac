"""Replace images above the limits of the API by a text, in the records that hold them."""

from __future__ import annotations

from workbench.formats.fixes import Fault
from workbench.formats.kit.images import ImageBlock, image_blocks, text_block
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, entry_of, value_at
from workbench.session import Message, Session
from workbench.tokens.request_limits import ExcessImage, Limit, excess_images, images_of, request_bytes, session_limits

_IMAGE_FAULTS = {
    Limit.PIXELS: Fault.IMAGE_PIXELS,
    Limit.BYTES: Fault.IMAGE_BYTES,
    Limit.COUNT: Fault.IMAGE_COUNT,
    Limit.REQUEST: Fault.REQUEST_BYTES,
}


def limit_images(sheet: RepairSheet, session: Session) -> None:
    """Replace the images that put the newest context above the limits of its API."""
    context = session.context()
    limits = session_limits(session)
    if limits is None:
        return
    images = sum(image.media.size for image in images_of(context))
    if limits.request_bytes is not None and (rest := request_bytes(context) - images) > limits.request_bytes:
        sheet.unrepaired(Fault.REQUEST_BYTES, subject=rest)
    for image in reversed(excess_images(context, limits)):
        for entry in _holders(sheet, session, context[image.message]):
            blocks = [block for block in image_blocks(entry.value) if block.is_image(image.media)]
            if blocks:
                _replace(sheet, entry, blocks[-1], image)
                break


def _holders(sheet: RepairSheet, session: Session, message: Message) -> list[SheetEntry]:
    """Return the records of a message, newest first; for a document that is a single entry, that entry."""
    if len(sheet.entries) == 1:
        return sheet.entries
    found = [entry_of(sheet, sheet.entries, session, record) for record in reversed(message.source)]
    return [entry for entry in found if entry is not None]


def _replace(sheet: RepairSheet, entry: SheetEntry, block: ImageBlock, image: ExcessImage) -> None:
    text = f"[{image}: {image.reason}; removed by a repair]"
    made = text_block(value_at(entry.value, block.path), text)
    assert made is not None, "an image is found by its block"
    entry.put(block.path, made)
    sheet.fixed(_IMAGE_FAULTS[image.limit], entry, f"{image}: {image.reason}")
