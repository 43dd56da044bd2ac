# ruff: noqa: E501 (sentences of the story stay whole)
"""The pi session: a tree with an abandoned branch, an aborted response, and one compaction that kept the last round.

The lesson: a number lives where it was last said. The cheese's temperature is first 32 degrees, on the abandoned branch 36,
and 34 in the end; the compaction's summary names the first. Whoever reads the file from top to bottom finds all three.
"""

from __future__ import annotations

import json
from typing import Any

from samples.text import Clock, Ids, approximate_tokens

Json = dict[str, Any]


class Tree:
    def __init__(self) -> None:
        self.clock, self.ids = Clock("2026-03-21T06:30:00"), Ids(440)
        head = {
            "type": "session",
            "version": 3,
            "id": self.ids.uuid(),
            "timestamp": self.clock.stamp(),
            "cwd": "/home/ada/dairy",
        }
        self.lines: list[Json] = [head]
        self.leaf: str | None = None
        self._sent = 3_100
        self.add("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
        self.add("thinking_level_change", thinkingLevel="low")

    def add(self, kind: str, **more: Any) -> str:
        id = self.ids.uuid()[:8]
        self.lines.append({"type": kind, "id": id, "parentId": self.leaf, "timestamp": self.clock.wait(1), **more})
        self.leaf = id
        return id

    def _message(self, body: Json) -> str:
        self._sent += approximate_tokens(json.dumps(body, ensure_ascii=False))
        return self.add("message", message=body | {"timestamp": int(self.clock.now.timestamp() * 1000)})

    def user(self, text: str) -> str:
        self.clock.wait(120)
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]})

    def say(self, text: str, *calls: tuple[str, Json, str], stop: str = "") -> None:
        sent, content = self._sent, [{"type": "text", "text": text}] if text else []
        results = []
        for name, given, result in calls:
            id = self.ids.named("toolu_")
            content.append({"type": "toolCall", "id": id, "name": name, "arguments": given})
            results.append(
                {
                    "role": "toolResult",
                    "toolCallId": id,
                    "toolName": name,
                    "content": [{"type": "text", "text": result}],
                    "isError": result.startswith("error"),
                }
            )
        output = approximate_tokens(json.dumps(content, ensure_ascii=False))
        counts = [sent // 10, output, sent - sent // 10, 0, sent + output]
        usage: Json = dict(zip(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), counts, strict=True))
        usage["cost"] = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        body = {
            "role": "assistant",
            "content": content,
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "usage": usage,
        }
        self._message(body | {"stopReason": stop or ("toolUse" if calls else "stop")})
        for result in results:
            self._message(result)


def pi_session() -> str:
    t = Tree()
    t.user(
        "The curd of batch 88 breaks when it is turned. The recipe is in recipes/alm.toml. What is different from batch 81?"
    )
    t.say(
        "I compare the two logs.",
        (
            "read",
            {"path": "recipes/alm.toml"},
            "[milk]\nwarm_to = 32  # degrees\nrennet_ml = 11\n\n[curd]\ncut_after_min = 40\n",
        ),
        (
            "bash",
            {"command": "diff logs/81.csv logs/88.csv | head"},
            "< 07:10,milk,32.0\n---\n> 07:10,milk,29.5\n< 07:52,cut\n---\n> 07:40,cut\n",
        ),
    )
    t.say(
        "Batch 88 was rennetted at 29.5 degrees instead of 32 and cut after 30 minutes instead of 40. Both make a soft curd."
    )
    fork = t.leaf
    t.user("Then warm to 36, so we have some room.")
    t.say(
        "I set 36.",
        ("edit", {"path": "recipes/alm.toml", "old": "warm_to = 32", "new": "warm_to = 36"}, "1 replacement"),
    )
    t.say("At 36 degrees the rennet works too fast and", stop="aborted")
    t.leaf = fork
    t.add(
        "branch_summary",
        fromId=fork,
        summary="36 degrees was tried in the recipe and given up: too fast for the rennet. The file was set back to 32.\n",
    )
    t.user("Back. Let us warm the milk to 34 and cut by feel, but never before 35 minutes. Write that into the recipe.")
    kept = t.leaf
    t.say(
        "",
        ("edit", {"path": "recipes/alm.toml", "old": "warm_to = 32", "new": "warm_to = 34"}, "1 replacement"),
        (
            "edit",
            {"path": "recipes/alm.toml", "old": "cut_after_min = 40", "new": "cut_not_before_min = 35"},
            "1 replacement",
        ),
    )
    t.say("The recipe says 34 degrees and no cut before 35 minutes.")
    t.add(
        "compaction",
        summary="Batch 88 broke because the milk had 29.5 degrees instead of the recipe's 32 and was cut after 30 minutes. The recipe was changed since.",
        firstKeptEntryId=kept,
        tokensBefore=t._sent + 900,
    )
    t.add("label", targetId=kept, label="new recipe")
    t._message(
        {
            "role": "bashExecution",
            "command": "git diff --stat",
            "output": " recipes/alm.toml | 4 ++--\n",
            "exitCode": 0,
            "cancelled": False,
            "truncated": False,
        }
    )
    t.user("Make a card for the wall: two lines, big.")
    t.say(
        "",
        (
            "write",
            {"path": "cards/alm.txt", "content": "MILK 34 DEGREES\nNO CUT BEFORE 35 MINUTES\n"},
            "40 bytes written",
        ),
    )
    t.say("The card is in cards/alm.txt.")
    t.user("To how many degrees did we warm batch 81?")
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in t.lines)
