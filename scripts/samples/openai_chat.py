# ruff: noqa: E501 (sentences of the story stay whole)
"""The OpenAI chat: an assistant of a parcel service, and one tool result that is larger than all the rest together.

The lesson: `export_events` returns 60 KB once, of which two lines mattered. Ids of calls repeat from turn to turn, as they
do with some servers, so results must be paired in order.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

Json = dict[str, Any]

SYSTEM = (
    "You are the desk assistant of Lighterage, a small parcel service on an island group. You look things up and change "
    "parcels with the tools. Never change a parcel before the person has confirmed it in words. Parcel numbers look like "
    "LG-000000-A and are always quoted whole. Times are local (UTC+1)."
)

TOOLS = (
    (
        "search_parcels",
        "Parcels by recipient, boat or state.",
        {"query": "string", "state": "string", "limit": "integer"},
    ),
    ("get_parcel", "Everything about one parcel.", {"parcel": "string"}),
    ("boat_schedule", "Departures of a boat on a day.", {"boat": "string", "day": "string"}),
    ("export_events", "All scan events of a boat on a day. Large.", {"boat": "string", "day": "string"}),
    (
        "update_parcel",
        "Change a parcel's state or destination.",
        {"parcel": "string", "change": "string", "reason": "string"},
    ),
    ("notify", "Send a short message to a recipient.", {"parcel": "string", "text": "string"}),
)
PORTS = ("Osterney", "Grawholm", "Sandwik", "Torp", "Hallingen", "Nordmole")
LOST = ("LG-204117-A", "LG-204131-C", "LG-204150-B")


def parcel(number: str, port: str, state: str, note: str = "") -> str:
    found = {
        "parcel": number,
        "to": port,
        "state": state,
        "grams": 400 + int(number[3:9]) % 7000,
        "boat": "Marit",
        "note": note,
    }
    return json.dumps(found, ensure_ascii=False)


def events(count: int) -> str:
    """The scans of a boat's day. Three parcels are carried off at Torp although they are for Sandwik."""
    random, moment = Random(60), datetime(2026, 1, 14, 5, 40, tzinfo=UTC)
    rows: list[Json] = []
    for number in range(count):
        moment += timedelta(seconds=random.randrange(9, 95))
        code = f"LG-{204000 + random.randrange(900):06d}-{random.choice('ABCDE')}"
        port = PORTS[min(len(PORTS) - 1, number * len(PORTS) // count)]
        kind = random.choice(("loaded", "scanned", "scanned", "handed over", "carried off"))
        rows.append(
            {
                "t": moment.strftime("%H:%M:%S"),
                "parcel": code,
                "event": kind,
                "port": port,
                "by": f"scanner {random.randrange(1, 7)}",
            }
        )
    for place, code in zip((count * 3 // 6 + 4, count * 3 // 6 + 5, count * 3 // 6 + 9), LOST, strict=True):
        rows[place] |= {"parcel": code, "event": "carried off", "port": "Torp", "note": "label says Sandwik"}
    return json.dumps({"boat": "Marit", "day": "2026-01-14", "events": rows}, ensure_ascii=False)


class Chat:
    def __init__(self) -> None:
        self.messages: list[Json] = [{"role": "system", "content": SYSTEM}]

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def say(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})

    def call(self, *calls: tuple[str, Json, str], text: str | None = None) -> None:
        """Parallel calls with their results. The ids start anew in each message."""
        functions = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given, ensure_ascii=False)},
            }
            for number, (name, given, _) in enumerate(calls, 1)
        ]
        self.messages.append({"role": "assistant", "content": text, "tool_calls": functions})
        for number, (_, _, result) in enumerate(calls, 1):
            self.messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})


def chat_session() -> str:
    c = Chat()
    tell(c)
    tools = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": {
                    "type": "object",
                    "properties": {field: {"type": kind} for field, kind in fields.items()},
                    "required": list(fields),
                },
            },
        }
        for name, description, fields in TOOLS
    ]
    body = {"model": "gpt-4.1", "temperature": 0.2, "messages": c.messages, "tools": tools, "tool_choice": "auto"}
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def tell(c: Chat) -> None:
    c.user(
        "Morning. Three people in Sandwik ring me: parcels that should have come with the Marit yesterday are not there."
    )
    c.call(
        (
            "search_parcels",
            {"query": "Sandwik", "state": "missing", "limit": 20},
            json.dumps({"parcels": list(LOST), "total": 3}),
        ),
        (
            "boat_schedule",
            {"boat": "Marit", "day": "2026-01-14"},
            json.dumps({"stops": [{"port": p, "at": f"{6 + 2 * n:02d}:10"} for n, p in enumerate(PORTS)]}),
        ),
    )
    c.call(
        *(
            ("get_parcel", {"parcel": code}, parcel(code, "Sandwik", "missing", "loaded at Osterney 05:58"))
            for code in LOST
        )
    )
    c.say(
        "Three parcels are marked missing: LG-204117-A, LG-204131-C and LG-204150-B. All were loaded on the Marit in Osterney at 05:58; none was scanned in Sandwik."
    )
    c.user("Where did they get off then?")
    c.call(
        ("export_events", {"boat": "Marit", "day": "2026-01-14"}, events(545)),
        text="I'll go through the boat's scans of that day.",
    )
    c.say(
        'At Torp. All three were carried off there, within a few minutes, each with the scanner\'s note "label says Sandwik". Somebody emptied the wrong cage.'
    )
    c.user("Are they still in Torp?")
    c.call(
        (
            "search_parcels",
            {"query": "Torp shed", "state": "stored", "limit": 50},
            json.dumps({"parcels": [*LOST, "LG-204402-D"], "total": 4}),
        ),
    )
    c.say("Yes, in the shed at Torp, together with LG-204402-D, which belongs there.")
    c.user("When does a boat go from Torp to Sandwik?")
    c.call(
        (
            "boat_schedule",
            {"boat": "Marit", "day": "2026-01-15"},
            json.dumps({"stops": [{"port": "Torp", "at": "12:10"}, {"port": "Hallingen", "at": "14:10"}]}),
        ),
        (
            "boat_schedule",
            {"boat": "Svale", "day": "2026-01-15"},
            json.dumps({"stops": [{"port": "Torp", "at": "11:30"}, {"port": "Sandwik", "at": "13:05"}]}),
        ),
    )
    c.say(
        "The Svale leaves Torp today at 11:30 and is in Sandwik at 13:05. Shall I put all three parcels on the Svale? I change nothing before you say so."
    )
    c.user("Only two of them, LG-204117-A and LG-204131-C. The third customer comes to Torp herself. Yes, do it.")
    c.call(
        (
            "update_parcel",
            {"parcel": "LG-204117-A", "change": "boat=Svale", "reason": "carried off at Torp"},
            '{"ok": true}',
        ),
        (
            "update_parcel",
            {"parcel": "LG-204131-C", "change": "boat=Svale", "reason": "carried off at Torp"},
            '{"ok": false, "error": "parcel is locked by scanner 4"}',
        ),
    )
    c.call(
        (
            "update_parcel",
            {"parcel": "LG-204131-C", "change": "boat=Svale", "reason": "carried off at Torp, second try"},
            '{"ok": true}',
        ),
        text="The second one was locked for a moment, I try it again.",
    )
    c.say("LG-204117-A and LG-204131-C go with the Svale at 11:30. LG-204150-B stays in the shed at Torp.")
    c.user("Tell the three of them.")
    c.call(
        *(
            ("notify", {"parcel": code, "text": text}, '{"sent": true}')
            for code, text in zip(
                LOST,
                (
                    "Your parcel comes today at 13:05.",
                    "Your parcel comes today at 13:05.",
                    "Your parcel waits for you in the shed at Torp.",
                ),
                strict=True,
            )
        ),
    )
    c.say("All three are told.")
    c.user("And how often has this happened in Torp this month? Only the number, please.")
    c.call(
        (
            "search_parcels",
            {"query": "carried off at Torp", "state": "any", "limit": 50},
            json.dumps({"parcels": [*LOST, "LG-203310-A", "LG-203877-E"], "total": 5}),
        )
    )
    c.say("Five.")
    c.user("Which scanner was it on the 14th? You had the list of scans.")
