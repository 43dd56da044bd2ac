"""Select and order the events that ADK sends to an agent, by the rules of its request builder.

Rewound events and other branches are left out. A compaction hides the events in its range of time and takes their place
at its end. A result follows its call. Source: `flows/llm_flows/contents.py` of https://github.com/google/adk-python.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.adk import either
from workbench.formats.kit.document import Item
from workbench.formats.kit.values import dict_of, list_of, word_of

CALLS = "workbench_calls"
"""Key in an event's metadata with the ids that this program gave to its calls without one. If the key is missing, their
ids are made from the event's."""

_FRAMEWORK_CALLS = ("adk_framework", "adk_request_credential", "adk_request_confirmation")
"""Calls between the framework and its application; they are not sent to the model."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """Agent whose context was read: `chosen` by the caller, else the last to speak. `nameless` has the ids made here
    for calls that have none in the file."""

    agent: str
    nameless: frozenset[str]
    chosen: bool


@dataclass(frozen=True, slots=True)
class AgentEvents:
    """Event indexes: `live` on the agent's branch and not rewound, `order` as sent to it, `compactions` among them."""

    live: frozenset[int]
    order: tuple[int, ...]
    compactions: tuple[int, ...]


def compaction_of(event: Item) -> Item:
    return dict_of(dict_of(event.get("actions")).get("compaction"))


def speaker_of(event: Any) -> str:
    """Return the agent that wrote an event; "" for the user's events, compactions and events without content."""
    holder = dict_of(event)
    author = word_of(holder.get("author")) or ""
    says = bool(_parts(holder)) and holder.get("partial") is not True and not compaction_of(holder)
    return author if says and author != "user" else ""


def last_speaker(events: Sequence[Any]) -> str:
    """Return the agent that spoke last in events not rewound, with which ADK continues; "" if none spoke."""
    latest_first = (dict_of(events[n]) for n in sorted(_live(events), reverse=True))
    return next((speaker for event in latest_first if (speaker := speaker_of(event)) and _is_sendable(event)), "")


def others_in(events: Sequence[Any], agent: str) -> frozenset[int]:
    """Indexes of events by agents other than `agent`, and of the results of their calls."""
    callers: dict[str, str] = {}
    others: set[int] = set()
    for n, event in enumerate(map(dict_of, events)):
        speaker = speaker_of(event)
        callers |= {str(call["id"]): speaker for call in _calls_in(event, "function_call") if call.get("id")}
        answered = {callers.get(str(response.get("id")), "") for response in _calls_in(event, "function_response")}
        if agent and (speaker not in ("", agent) or answered - {"", agent}):
            others.add(n)
    return frozenset(others)


def events_sent_to(agent: str, events: Sequence[Any]) -> AgentEvents:
    """Select and order what the agent is sent in a request after these events."""
    items = [dict_of(event) for event in events]
    live = _live(items)
    own = next((items[n] for n in sorted(live, reverse=True) if speaker_of(items[n]) == agent), {})
    scope = either(own, "isolation_scope")
    tools = {str(call.get("id")) for item in items for call in _calls_in(item, "function_call")}
    branch = _branch_path(own)
    on_branch = frozenset(
        n
        for n in live
        if either(items[n], "isolation_scope") == scope and _is_on(branch, _branch_path(items[n]), agent, tools)
    )
    sent = [n for n in sorted(on_branch) if compaction_of(items[n]) or _is_sendable(items[n])]
    ranges = {n: span for n in sent if (span := _range(items[n]))}
    order = _restore_calls(_hide_compacted(sent, items, ranges), sent, items) if ranges else sent
    return AgentEvents(on_branch, tuple(_pair_results(order, items, others_in(items, agent))), tuple(ranges))


def _live(events: Sequence[Any]) -> set[int]:
    """Indexes of events not rewound, found from the end: a rewind that was itself rewound has no effect."""
    firsts: dict[str, int] = {}
    for n, event in enumerate(events):
        firsts.setdefault(str(either(dict_of(event), "invocation_id")), n)
    live: set[int] = set()
    n = len(events) - 1
    while n >= 0:
        back = either(dict_of(dict_of(events[n]).get("actions")), "rewind_before_invocation_id")
        if not back:
            live.add(n)
        elif firsts.get(str(back), n) < n:
            n = firsts[str(back)]
        n -= 1
    return live


def _branch_path(event: Item) -> list[str]:
    branch = word_of(event.get("branch"))
    return branch.split(".") if branch else []


def _is_on(own: list[str], other: list[str], agent: str, tools: set[str]) -> bool:
    """True for a branch that is the agent's or leads to it; an agent without a branch sees all, except branches that a
    tool opened under its call's id: these are for the user alone."""
    if own:
        return own[: len(other)] == other
    names = (step.rpartition("@") for step in other)
    return not any(mark and id in tools and name != agent for name, mark, id in names)


def _parts(event: Item) -> list[Any]:
    return list_of(dict_of(event.get("content")).get("parts"))


def _calls_in(event: Item, key: str) -> list[Item]:
    """Return the calls (`function_call`) or results (`function_response`) of an event."""
    values = (either(dict_of(part), key) for part in _parts(event))
    return [value for value in values if isinstance(value, dict)]


def _is_sendable(event: Item) -> bool:
    calls_and_results = [*_calls_in(event, "function_call"), *_calls_in(event, "function_response")]
    if any(one.get("name") in _FRAMEWORK_CALLS for one in calls_and_results):
        return False
    return any(_is_visible(dict_of(part)) for part in _parts(event))


def _is_visible(part: Item) -> bool:
    """True for a part that holds more than a thought."""
    others = any(value for key, value in part.items() if key not in ("thought", "text"))
    return others or bool(part.get("text") and part.get("thought") is not True)


def _range(event: Item) -> tuple[float, float] | None:
    compaction = compaction_of(event)
    start, end = (seconds_of(either(compaction, key)) for key in ("start_timestamp", "end_timestamp"))
    return (start, end) if start is not None and end is not None else None


def _hide_compacted(sent: Sequence[int], items: Sequence[Item], ranges: dict[int, tuple[float, float]]) -> list[int]:
    """Indexes in order of time without the events that compactions hide. A compaction inside the range of another is
    hidden by it; of equal ranges the later one stays."""
    outer: list[int] = []
    latest = float("-inf")
    for n, (_, end) in sorted(ranges.items(), key=lambda item: (item[1][0], -item[1][1], -item[0])):
        if end > latest:
            outer.append(n)
            latest = end
    starts = [ranges[n][0] for n in outer]
    ends = [ranges[n][1] for n in outer]  # both rise: none lies within another
    placed: list[tuple[float, int]] = [(ranges[n][1], n) for n in outer]
    time = float("-inf")
    for n in sent:
        if n in ranges:
            continue
        time = event_time if (event_time := seconds_of(items[n].get("timestamp"))) is not None else time
        place = bisect_right(starts, time) - 1
        if place < 0 or time > ends[place]:
            placed.append((time, n))
    return [n for _, n in sorted(placed)]


def _restore_calls(order: Sequence[int], sent: Sequence[int], items: Sequence[Item]) -> list[int]:
    """Restore each hidden call whose result is sent, together with its other results, before that result."""
    present = set(order)
    call_of = dict(_calls_of_results(sent, items))
    restored: list[int] = []
    for n in order:
        call = call_of.get(n)
        if call is not None and call not in present:
            siblings = [m for m, answered in call_of.items() if answered == call and m not in present]
            restored += [call, *siblings]
            present.update((call, *siblings))
        restored.append(n)
    return restored


def _pair_results(order: Sequence[int], items: Sequence[Item], others: frozenset[int]) -> Iterator[int]:
    """Yield the indexes, each result directly after its call. Of several updates of a result only the last is yielded,
    and a result without a call is left out. Other agents' calls and results stay in place."""
    own = [n for n in order if n not in others]
    answers: dict[int, dict[str, int]] = {}
    for n, call in _calls_of_results(own, items):
        for response in _calls_in(items[n], "function_response"):
            answers.setdefault(call, {})[str(response.get("id") or f"{response.get('name')} {n}")] = n
    for n in order:
        if n in others or not _calls_in(items[n], "function_response"):
            yield n
            yield from sorted(set(answers.get(n, {}).values()))


def _calls_of_results(order: Sequence[int], items: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Yield (index of an event with results, index of the newest earlier event whose call it answers, by id or
    name)."""
    calls: dict[tuple[str, str], int] = {}
    for n in order:
        callers = [
            call
            for response in _calls_in(items[n], "function_response")
            if (call := calls.get(_key(response))) is not None
        ]
        if callers:
            yield n, callers[0]
        calls |= {_key(call): n for call in _calls_in(items[n], "function_call")}


def _key(call: Item) -> tuple[str, str]:
    id = word_of(call.get("id"))
    return ("id", id) if id else ("name", str(call.get("name")))
