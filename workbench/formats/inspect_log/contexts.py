"""What each call of a sample was sent, as its log records it, and the epochs that follow from it.

The event of a call holds its whole input, or ranges (`input_refs`) into `events_data.messages`, where messages of the
same contents stand once, whatever their ids. The conversation's own calls are those whose answers are among the
sample's messages; others write summaries, grade, or belong to an agent that was called as a tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.inspect_log.items import Items
from workbench.formats.kit.ids import unique_id
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, word_of
from workbench.session.message import Message, Thinking, Usage
from workbench.session.session import Compaction, Epoch, Way

_WAYS: dict[str, Way] = {"summary": "summary", "edit": "clearing"}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the conversation: the indexes of what it was sent (none where the log was written without inputs) and
    of its answer, and the compaction that the log records before it."""

    sent: tuple[int, ...]
    answer: int
    compaction: Item | None
    event: Item


def inputs_of(sample: Item, event: Item) -> list[Any]:
    """The messages that the call of an event was sent."""
    given = list_of(event.get("input"))
    if given:
        return given
    pool = list_of(dict_of(sample.get("events_data")).get("messages"))
    ranges = [span for span in list_of(event.get("input_refs")) if isinstance(span, list) and len(span) == 2]
    return [item for start, stop in ranges if type(start) is int and type(stop) is int for item in pool[start:stop]]


def answer_of(event: Item) -> Item:
    """The message that came back; {} where none did."""
    choices = list_of(dict_of(event.get("output")).get("choices"))
    return dict_of(dict_of(choices[0]).get("message")) if choices else {}


@dataclass(slots=True)
class Contexts:
    """The messages of a sample, with those behind them that stand in an input alone (cleared results, what was removed
    from the sample), and its calls.

    `size` is how many are the sample's own. `untold` are the compactions behind which no call tells what it was sent.
    `forms` tells of a message in an input which of the sample's it is in
    another form.
    """

    items: Items
    messages: list[Message]
    ids: dict[str, int]
    size: int = 0
    calls: list[Call] = field(default_factory=list)
    untold: list[Item] = field(default_factory=list)
    forms: dict[int, int] = field(default_factory=dict)
    _by_id: dict[str, int] = field(default_factory=dict)
    _by_key: dict[str, list[int]] = field(default_factory=dict)
    _by_call: dict[str, int] = field(default_factory=dict)
    _known: dict[str, list[tuple[Any, Message, str]]] = field(default_factory=dict)
    _newest: tuple[Sequence[Any], tuple[int, ...]] = ((), ())

    def __post_init__(self) -> None:
        self.size = len(self.messages)
        for index, message in enumerate(self.messages):
            self._by_id[message.id] = index
            self._by_key.setdefault(_key(message), []).append(index)
            self._by_call.update((result.call_id, index) for result in message.results)

    def read(self, sample: Item) -> None:
        """Take the calls and compactions from the sample's events."""
        compaction: Item | None = None
        answered: set[int] = set()
        for event in map(dict_of, list_of(sample.get("events"))):
            if event.get("event") == "compaction" and not event.get("role"):
                compaction = event
                self.untold.append(event)
            if event.get("event") != "model" or (answer := self._answer(answer_of(event), answered)) is None:
                continue
            answered.add(answer)
            sent = self._indexes(inputs_of(sample, event), answer)
            self.calls.append(Call(sent, answer, compaction, event))
            compaction = None
            if sent:
                self.untold.clear()

    def _answer(self, item: Item, answered: set[int]) -> int | None:
        """The place among the sample's messages, by id or, where it has none, by its contents."""
        if not item:
            return None
        if id := word_of(item.get("id")):
            return self._by_id.get(id)
        same = self._by_key.get(_key(self.items.message(item, "")), ())
        return next((index for index in same if index not in answered), None)

    def _indexes(self, given: Sequence[Any], answer: int) -> tuple[int, ...]:
        """Which messages an input holds: what the one before it held, and more. Of several with the same contents it is
        the newest that stands before what follows."""
        earlier, indexes = self._newest
        held = next((n for n, pair in enumerate(zip(given, earlier, strict=False)) if not _same(*pair)), None)
        held = min(len(given), len(earlier)) if held is None else held
        found: list[int] = []
        before, used = answer, {*indexes[:held]}
        for item in reversed(given[held:]):
            message, key = self._seen(item)
            same = self._by_key.get(key, [])
            own = next((index for index in reversed(same) if index < before), None)
            index = own if own is not None else next((index for index in same if index not in used), None)
            if index is None:
                index = self._add(message, key)
            elif own is not None:
                before = own
            used.add(index)
            found.append(index)
        self._newest = given, (*indexes[:held], *reversed(found))
        return self._newest[1]

    def _seen(self, item: Any) -> tuple[Message, str]:
        """A message of an input and its key. One that stands in several inputs is read once."""
        name = word_of(dict_of(item).get("id")) or str(dict_of(item).get("content"))[:100]
        seen = self._known.setdefault(name, [])
        for raw, message, key in seen:
            if _same(raw, item):
                return message, key
        message = self.items.message(item, str(len(self.messages) + 1))
        seen.append((item, message, _key(message)))
        return seen[-1][1:]

    def _add(self, message: Message, key: str) -> int:
        """A message that is not the sample's. One that answers a call is its result in another form."""
        index = len(self.messages)
        form = next((self._by_call[r.call_id] for r in message.results if r.call_id in self._by_call), None)
        form = form if form is not None else self._by_id.get(message.id)
        name = message.id
        if form is not None:
            self.forms[index] = form
            name = self.messages[form].id + ("~cleared" if message.results else "~sent")
        self.messages.append(replace(message, id=unique_id(name, self.ids), source=()))
        self._by_key.setdefault(key, []).append(index)
        return index

    def epochs(self) -> tuple[Epoch, ...]:
        """An epoch for each stretch of calls of which each was sent what the one before was, and its answer."""
        calls = [call for call in self.calls if call.sent]
        if not calls:
            return (Epoch(1, range(self.size)),)
        epochs: list[Epoch] = []
        context: list[int] = []
        for place, call in enumerate(calls):
            lost = self._lost(context, call.sent)
            if lost and call.compaction is None and any(lost <= {*later.sent} for later in calls[place + 1 :]):
                continue  # another agent's view of the conversation
            if lost or (call.compaction is not None and tuple(context) != call.sent[: len(context)]):
                context += self._behind(context, call.answer)
                ended_by = self._ended_by(context, call, lost)
                self._date(call.sent, context, ended_by.time)
                epochs.append(Epoch(len(epochs) + 1, tuple(context), ended_by))
            context = [*call.sent, call.answer]
        return (*epochs, Epoch(len(epochs) + 1, (*context, *self._behind(context, self.size))))

    def _date(self, sent: Sequence[int], context: Sequence[int], time: float | None) -> None:
        """What a compaction put there is as old as it is: bills before that are for another context."""
        for index in sent:
            message = self.messages[index]
            if index not in context and (index in self.forms or message.kind == "summary"):
                self.messages[index] = replace(message, time=time)

    def _behind(self, context: Sequence[int], stop: int) -> list[int]:
        """What came behind the newest answer of a context and was in no call yet: results, for the most part."""
        after, there = range(context[-1] + 1, stop), {*context}
        return [index for index in after if index not in there and self.messages[index].kind != "summary"]

    def _lost(self, context: Sequence[int], sent: Sequence[int]) -> set[int]:
        """What of a context the next call was not sent again. Reasoning that is left out and a system prompt that tells
        another time are no loss."""
        if sent[: len(context)] == tuple(context):
            return set()
        there, before = {*sent}, {*context}
        words = {_key(self.messages[index], thoughts=False) for index in there - before}
        answers = {self.forms[index] for index in sent if index in self.forms and not self.messages[index].results}
        return {
            index
            for index in context
            if index not in there
            and self.messages[index].role != "system"
            and self.forms.get(index, index) not in answers
            and _key(self.messages[index], thoughts=False) not in words
        }

    def _ended_by(self, context: Sequence[int], call: Call, lost: set[int]) -> Compaction:
        new = [self.messages[index] for index in call.sent if index not in context]
        summary = next((message.id for message in new if message.kind == "summary"), None)
        cleared = {self.forms.get(index) for index in call.sent} & {self.forms.get(index, index) for index in lost}
        way: Way = "summary" if summary else "clearing" if cleared else "removal"
        event = call.compaction or {}
        trigger = word_of(dict_of(event.get("metadata")).get("trigger")) or ""
        return Compaction(
            "auto" if trigger == "threshold" else trigger,
            count_of(event.get("tokens_before")) or None,
            summary,
            seconds_of(event.get("timestamp")),
            _WAYS.get(str(event.get("type")), way),
            count_of(event.get("tokens_after")) or None,
            tuple(self.messages[index].id for index in context if index in call.sent),
        )

    def with_bills(self, epochs: Sequence[Epoch]) -> tuple[Message, ...]:
        """The messages, of which each answer has its time and its bill, in the form in which later calls were sent it
        where that is the only one that was."""
        sent = {index for epoch in epochs for index in epoch.members}
        resent = {self.forms[index]: index for index in sent if index in self.forms}
        messages = self.messages.copy()
        for call in self.calls:
            place = call.answer if call.answer in sent else resent.get(call.answer, call.answer)
            stamp = seconds_of(call.event.get("completed")) or seconds_of(call.event.get("timestamp"))
            usage = usage_of(dict_of(call.event.get("output")).get("usage"))
            messages[place] = replace(messages[place], usage=usage, time=stamp)
        return tuple(messages)


def usage_of(given: Any) -> Usage | None:
    """What a call cost; None where that is not told."""
    usage = dict_of(given)
    sent, said = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    read, made = (count_of(usage.get(f"input_tokens_cache_{what}")) for what in ("read", "write"))
    if not sent + read + made:
        return None
    # With some providers the input has the cached tokens in it; the total tells.
    within = usage.get("total_tokens") == sent + said
    dollars = dollars_of(usage.get("total_cost"))
    return Usage(max(sent - read - made, 0) if within else sent, said, read, made, cost=dollars)


def _same(raw: Any, other: Any) -> bool:
    return raw is other or bool(raw == other)


def _key(message: Message, *, thoughts: bool = True) -> str:
    """What is the same in two messages of the same contents."""
    blocks = [block for block in message.blocks if thoughts or not isinstance(block, Thinking)]
    return f"{message.role} {blocks!r}"
