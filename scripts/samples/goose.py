# ruff: noqa: E501 (sentences of the story stay whole)
"""The goose session, as goose exports it: nothing is deleted, older messages are only hidden from the agent.

The lesson: what a person sees is not what the agent sees. The guest's allergy stands on the screen, in a message that was
hidden from the agent; the summary has the menu and not the allergy, and the next menu has the nuts back.
"""

from __future__ import annotations

import json
from typing import Any

from samples.text import Clock, Ids

Json = dict[str, Any]


class Kitchen:
    def __init__(self) -> None:
        self.clock, self.ids = Clock("2026-06-05T09:00:00"), Ids(660)
        self.messages: list[Json] = []
        self.began = self.clock.stamp()

    def _add(self, role: str, content: list[Json], seen: bool = True) -> None:
        self.clock.wait(20)
        created = int(self.clock.now.timestamp())
        metadata = {"userVisible": seen, "agentVisible": True}
        id = f"msg_20260605_1_{len(self.messages)}"
        self.messages.append({"id": id, "role": role, "created": created, "content": content, "metadata": metadata})

    def user(self, text: str) -> None:
        self._add("user", [{"type": "text", "text": text}])

    def say(self, text: str, *calls: tuple[str, Json, str]) -> None:
        """A response, and the results of its calls: one part for the agent, one for the person's screen."""
        made = [(self.ids.named("call_"), *call) for call in calls]
        requests = [
            {
                "type": "toolRequest",
                "id": id,
                "toolCall": {"status": "success", "value": {"name": name, "arguments": given}},
            }
            for id, name, given, _ in made
        ]
        self._add("assistant", ([{"type": "text", "text": text}] if text else []) + requests)
        if made:
            self._add("user", [self._response(id, result) for id, _, _, result in made])

    @staticmethod
    def _response(id: str, result: str) -> Json:
        parts = [
            {"type": "text", "text": result, "annotations": {"audience": ["assistant"]}},
            {
                "type": "text",
                "text": f"{len(result)} characters",
                "annotations": {"audience": ["user"], "priority": 0.0},
            },
        ]
        return {
            "type": "toolResponse",
            "id": id,
            "toolResult": {"status": "success", "value": {"content": parts, "isError": False}},
        }

    def compact(self, summary: str, again: str) -> None:
        for message in self.messages:
            message["metadata"]["agentVisible"] = False
        self._add("user", [{"type": "text", "text": summary}], seen=False)
        self._add(
            "assistant",
            [
                {
                    "type": "text",
                    "text": "Your context was compacted. The previous message contains a summary of the conversation so far.\nDo not mention that you read a summary or that conversation summarization occurred.\nJust continue the conversation naturally based on the summarized context.",
                }
            ],
            seen=False,
        )
        self.user(again)


def goose_session() -> str:
    k = Kitchen()
    k.user(
        "Plan the menu for Saturday, eleven people, from what is in stock.csv. Mrs Lindqvist must not get nuts, not even traces."
    )
    k.say(
        "I look at the stock and at last year's menu.",
        (
            "developer__shell",
            {"command": "cat stock.csv"},
            "item,kg\nbeetroot,9\ngoat cheese,2\nwalnuts,1\ntrout,6\npotatoes,15\ncream,3\nhazelnut oil,0.5\npears,5\n",
        ),
        (
            "developer__shell",
            {"command": "cat menus/2025.md"},
            "1. Beetroot with goat cheese and walnuts\n2. Trout, potatoes, dill\n3. Pears in caramel, hazelnut cream\n",
        ),
    )
    k.say(
        "Beetroot with goat cheese (no walnuts), trout with potatoes, pears in caramel with plain cream. The hazelnut oil stays shut on Saturday."
    )
    k.user("Good. Write it down.")
    k.say(
        "",
        (
            "developer__text_editor",
            {
                "command": "write",
                "path": "menus/saturday.md",
                "file_text": "1. Beetroot with goat cheese\n2. Trout, potatoes, dill\n3. Pears in caramel, cream\n",
            },
            "Successfully wrote to menus/saturday.md",
        ),
    )
    k.say("menus/saturday.md is written.")
    k.compact(
        "**User goals**: a menu for Saturday, eleven people, from stock.csv.\n**Done**: menus/saturday.md: beetroot with goat cheese, trout with potatoes, pears in caramel with cream.\n**Files**: stock.csv (walnuts 1 kg and hazelnut oil 0.5 kg are not used yet), menus/2025.md (last year: walnuts with the beetroot, hazelnut cream with the pears).\n**Next**: wait for the user.",
        "The beetroot looks a bit bare. What could we put on it?",
    )
    k.say(
        "The kilo of walnuts is not used yet; they were on it last year. I add them.",
        (
            "developer__text_editor",
            {
                "command": "str_replace",
                "path": "menus/saturday.md",
                "old_str": "Beetroot with goat cheese",
                "new_str": "Beetroot with goat cheese and walnuts",
            },
            "The file menus/saturday.md has been edited.",
        ),
    )
    k.say("The beetroot has walnuts now.")
    k.user("Is everything on the menu fine for all of our guests?")
    about: Json = {
        "id": "20260605_1",
        "working_dir": "/home/ada/inn",
        "name": "Saturday menu",
        "user_set_name": False,
        "session_type": "user",
    }
    about |= {
        "created_at": k.began,
        "updated_at": k.clock.stamp(),
        "extension_data": {"enabled_extensions.v0": {"extensions": []}},
    }
    about |= {"total_tokens": 6_910, "input_tokens": 6_800, "output_tokens": 110, "schedule_id": None, "recipe": None}
    return (
        json.dumps(about | {"message_count": len(k.messages), "conversation": k.messages}, ensure_ascii=False, indent=1)
        + "\n"
    )
