"""What Cline and Roo demand of a history they load and send, judged on the JSON alone (formats.md §2.9)."""

from __future__ import annotations

import json
from typing import Any


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each, naming messages by their place from 1.

    Judged is what would be sent: from the newest summary on (with the first message in front of one that the assistant
    speaks), without what a sliding window hid. Results must answer the message before; calls may go unanswered, as
    Cline records results as texts.
    """
    try:
        items = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError) as error:
        return [f"not a JSON document: {error}"]
    if not isinstance(items, list) or not items:
        return ["there are no messages"]
    faults: list[str] = []
    summaries: set[str] = set()
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict) or item.get("role") not in ("user", "assistant"):
            faults.append(f"message {number}: its role is neither user nor assistant")
            continue
        if "ts" in item and not isinstance(item["ts"], int | float):
            faults.append(f"message {number}: its ts is no number")
        if item.get("isSummary") and "condenseId" in item:
            if str(item["condenseId"]) in summaries:
                faults.append(f"message {number}: another summary has its condenseId")
            summaries.add(str(item["condenseId"]))
        if not (isinstance(item.get("content"), str | list) or item.get("type") == "reasoning"):
            faults.append(f"message {number}: its content is neither text nor a list of blocks")
    if faults:
        return faults
    for number, item in enumerate(items, 1):
        parent = item.get("condenseParent")
        if parent and str(parent) not in summaries:
            faults.append(f"message {number}: the summary {parent} that hides it is not in the history")
    return faults + _sent_faults(items)


def _sent_faults(items: list[dict[str, Any]]) -> list[str]:
    sent = list(enumerate(items, 1))
    newest = next((at for at in range(len(items) - 1, -1, -1) if items[at].get("isSummary") is True), None)
    if newest is not None:
        spoken = items[newest]["role"] == "assistant" and newest > 0 and items[0]["role"] == "user"
        sent = ([sent[0]] if spoken else []) + sent[newest:]
    windows = {str(item.get("truncationId")) for _, item in sent if item.get("isTruncationMarker")}
    sent = [(number, item) for number, item in sent if str(item.get("truncationParent")) not in windows]
    faults: list[str] = []
    if not sent or sent[0][1]["role"] != "user":
        faults.append("the first message that is sent is not the user's")
    open_calls: set[str] = set()
    for number, item in sent:
        blocks = item.get("content")
        blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        if not item.get("content") and item.get("type") != "reasoning":
            faults.append(f"message {number}: its content is empty")
        for block in blocks:
            kind = block.get("type")
            if not isinstance(kind, str):
                faults.append(f"message {number}: a block has no type")
            elif kind == "tool_result" and str(block.get("tool_use_id")) not in open_calls:
                faults.append(
                    f"message {number}: answers {block.get('tool_use_id')}, which the message before does not call"
                )
            elif kind == "text" and not isinstance(block.get("text"), str):
                faults.append(f"message {number}: a text block has no text")
            elif kind == "tool_use" and not (isinstance(block.get("id"), str) and isinstance(block.get("name"), str)):
                faults.append(f"message {number}: a call has no id or no name")
        if item["role"] == "assistant" and item.get("type") != "reasoning":
            open_calls = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
    return faults
