"""Read the recorded input of each call of a sample, and derive the epochs.

A call's event holds its complete input, or ranges (`input_refs`) into `events_data.messages`, where messages of equal
content are stored once, whatever their ids. Calls belong to the conversation if their answers are among the sample's
messages; others write summaries, grade, or belong to an agent that was called as a tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.base.stamps import seconds_of
from workbench.formats.inspect_log.items import MessageReader
from workbench.formats.kit.document import Item
from workbench.formats.kit.names import unique_id
from workbench.formats.kit.values import count_of, dict_of, dollars_of, list_of, word_of
from workbench.session.message import Message, Thinking, Usage
from workbench.session.session import Compaction, Epoch, Way

_WAYS: dict[str, Way] = {"summary": "summary", "edit": "clearing"}


@dataclass(frozen=True, slots=True)
class SampleCall:
    """A call of the conversation. `sent`: indexes of its input, empty where the log has no inputs. `compaction`: the
    event of a compaction directly before it."""

    sent: tuple[int, ...]
    answer: int
    compaction: Item | None
    event: Item


def inputs_of(sample: Item, event: Item) -> list[Any]:
    """Return the recorded input of a call's event, empty without one."""
    input = list_of(event.get("input"))
    if input:
        return input
    pool = list_of(dict_of(sample.get("events_data")).get("messages"))
    ranges = [span for span in list_of(event.get("input_refs")) if isinstance(span, list) and len(span) == 2]
    return [item for start, stop in ranges if type(start) is int and type(stop) is int for item in pool[start:stop]]


def answer_of(event: Item) -> Item:
    """Return the answer of a call's event, {} without one."""
    choices = list_of(dict_of(event.get("output")).get("choices"))
    return dict_of(dict_of(choices[0]).get("message")) if choices else {}


@dataclass(slots=True)
class SampleContexts:
    """Messages and calls of a sample. After the sample's own `size` messages come those that only an input holds:
    cleared results, and messages removed from the sample.

    `without_input`: newest compactions after which no call records its input. `forms`: for a message of an input that
    is another form of a sample's message, the index of the latter.
    """

    reader: MessageReader
    messages: list[Message]
    ids: dict[str, int]
    size: int = 0
    calls: list[SampleCall] = field(default_factory=list)
    without_input: list[Item] = field(default_factory=list)
    forms: dict[int, int] = field(default_factory=dict)
    _by_id: dict[str, int] = field(default_factory=dict)
    _by_key: dict[str, list[int]] = field(default_factory=dict)
    _by_call: dict[str, int] = field(default_factory=dict)
    _input_messages: dict[str, list[tuple[Any, Message, str]]] = field(default_factory=dict)
    _newest_input: tuple[Sequence[Any], tuple[int, ...]] = ((), ())

    def __post_init__(self) -> None:
        self.size = len(self.messages)
        for index, message in enumerate(self.messages):
            self._by_id[message.id] = index
            self._by_key.setdefault(_key(message), []).append(index)
            self._by_call.update((result.call_id, index) for result in message.results)

    def read(self, sample: Item) -> None:
        """Read the calls and compactions from the sample's events."""
        compaction: Item | None = None
        answered: set[int] = set()
        for event in map(dict_of, list_of(sample.get("events"))):
            if event.get("event") == "compaction" and not event.get("role"):
                compaction = event
                self.without_input.append(event)
            if event.get("event") != "model" or (answer := self._answer(answer_of(event), answered)) is None:
                continue
            answered.add(answer)
            sent = self._indexes(inputs_of(sample, event), answer)
            self.calls.append(SampleCall(sent, answer, compaction, event))
            compaction = None
            if sent:
                self.without_input.clear()

    def _answer(self, item: Item, answered: set[int]) -> int | None:
        """Return the index of an answer among the sample's messages, by id or else by content; None if it is not
        there."""
        if not item:
            return None
        if id := word_of(item.get("id")):
            return self._by_id.get(id)
        same = self._by_key.get(_key(self.reader.message(item, "")), ())
        return next((index for index in same if index not in answered), None)

    def _indexes(self, items: Sequence[Any], answer: int) -> tuple[int, ...]:
        """Return the message indexes of an input, which usually extends the previous one. Of messages with equal
        content, choose the newest before the next message."""
        earlier, indexes = self._newest_input
        common = next((n for n, pair in enumerate(zip(items, earlier, strict=False)) if not _same(*pair)), None)
        common = min(len(items), len(earlier)) if common is None else common
        new_indexes: list[int] = []
        before, used = answer, {*indexes[:common]}
        for item in reversed(items[common:]):
            message, key = self._read_input_message(item)
            same = self._by_key.get(key, [])
            candidate = next((index for index in reversed(same) if index < before), None)
            index = candidate if candidate is not None else next((index for index in same if index not in used), None)
            if index is None:
                index = self._add(message, key)
            elif candidate is not None:
                before = candidate
            used.add(index)
            new_indexes.append(index)
        self._newest_input = items, (*indexes[:common], *reversed(new_indexes))
        return self._newest_input[1]

    def _read_input_message(self, item: Any) -> tuple[Message, str]:
        """Return a message of an input and its key. A message of several inputs is read once."""
        name = word_of(dict_of(item).get("id")) or str(dict_of(item).get("content"))[:100]
        seen = self._input_messages.setdefault(name, [])
        for raw, message, key in seen:
            if _same(raw, item):
                return message, key
        message = self.reader.message(item, str(len(self.messages) + 1))
        seen.append((item, message, _key(message)))
        return seen[-1][1:]

    def _add(self, message: Message, key: str) -> int:
        """Add a message that is not the sample's and return its index. Results of a known call are another form of
        it."""
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
        """Return an epoch for each run of calls in which each input extends the previous input and answer."""
        calls = [call for call in self.calls if call.sent]
        if not calls:
            return (Epoch(1, range(self.size)),)
        epochs: list[Epoch] = []
        context: list[int] = []
        for place, call in enumerate(calls):
            lost = self._missing_from(context, call.sent)
            if lost and call.compaction is None and any(lost <= {*later.sent} for later in calls[place + 1 :]):
                continue  # another agent's view of the conversation
            if lost or (call.compaction is not None and tuple(context) != call.sent[: len(context)]):
                context += self._unsent_after(context, call.answer)
                ended_by = self._compaction_before(context, call, lost)
                self._set_times(call.sent, context, ended_by.time)
                epochs.append(Epoch(len(epochs) + 1, tuple(context), ended_by))
            context = [*call.sent, call.answer]
        return (*epochs, Epoch(len(epochs) + 1, (*context, *self._unsent_after(context, self.size))))

    def _set_times(self, sent: Sequence[int], context: Sequence[int], time: float | None) -> None:
        """Set the time of messages that a compaction added to its time: earlier usage was billed without them."""
        for index in sent:
            message = self.messages[index]
            if index not in context and (index in self.forms or message.kind == "summary"):
                self.messages[index] = replace(message, time=time)

    def _unsent_after(self, context: Sequence[int], stop: int) -> list[int]:
        """Return messages after the newest answer of a context that no call has sent yet, mostly results."""
        after, present = range(context[-1] + 1, stop), {*context}
        return [index for index in after if index not in present and self.messages[index].kind != "summary"]

    def _missing_from(self, context: Sequence[int], sent: Sequence[int]) -> set[int]:
        """Return the indexes of a context that the next input lacks. Missing reasoning and a changed system prompt do
        not count."""
        if sent[: len(context)] == tuple(context):
            return set()
        present, before = {*sent}, {*context}
        contents = {_key(self.messages[index], thoughts=False) for index in present - before}
        answers = {self.forms[index] for index in sent if index in self.forms and not self.messages[index].results}
        return {
            index
            for index in context
            if index not in present
            and self.messages[index].role != "system"
            and self.forms.get(index, index) not in answers
            and _key(self.messages[index], thoughts=False) not in contents
        }

    def _compaction_before(self, context: Sequence[int], call: SampleCall, lost: set[int]) -> Compaction:
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

    def with_usage(self, epochs: Sequence[Epoch]) -> tuple[Message, ...]:
        """Return the messages with time and usage of each answer. If later inputs only hold another form of an answer,
        that form gets them."""
        sent = {index for epoch in epochs for index in epoch.members}
        resent = {self.forms[index]: index for index in sent if index in self.forms}
        messages = self.messages.copy()
        for call in self.calls:
            place = call.answer if call.answer in sent else resent.get(call.answer, call.answer)
            stamp = seconds_of(call.event.get("completed")) or seconds_of(call.event.get("timestamp"))
            usage = usage_of(dict_of(call.event.get("output")).get("usage"))
            messages[place] = replace(messages[place], usage=usage, time=stamp)
        return tuple(messages)


def usage_of(recorded: Any) -> Usage | None:
    """Return the recorded usage of a call, None without one."""
    usage = dict_of(recorded)
    input, output = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
    read, written = (count_of(usage.get(f"input_tokens_cache_{what}")) for what in ("read", "write"))
    if not input + read + written:
        return None
    # Some providers include cached tokens in the input, which the total shows.
    includes_cached = usage.get("total_tokens") == input + output
    dollars = dollars_of(usage.get("total_cost"))
    return Usage(max(input - read - written, 0) if includes_cached else input, output, read, written, cost=dollars)


def _same(raw: Any, other: Any) -> bool:
    return raw is other or bool(raw == other)


def _key(message: Message, *, thoughts: bool = True) -> str:
    """Return a key that is equal for messages of equal role and content."""
    blocks = [block for block in message.blocks if thoughts or not isinstance(block, Thinking)]
    return f"{message.role} {blocks!r}"
