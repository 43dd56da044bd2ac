"""Collect ledger entries from a context: those of an earlier ledger, and facts from the messages since."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.compaction.context import Context
from workbench.compaction.ledger.entries import EntryKind, LedgerEntry
from workbench.compaction.ledger.text import Ledger, is_ledger, read_ledger
from workbench.compaction.shape import Shape, newest_per_shape, per_shape
from workbench.compaction.shape_facts import facts_of, sentence_states_of, standing_of
from workbench.compaction.summary_extras import Original, original_of
from workbench.compaction.summary_template import text_of_summaries
from workbench.facts.commands_and_paths import REFUSED_BY_USER, core_command
from workbench.facts.error_states import READ_ONLY_COMMAND
from workbench.facts.fact import Fact
from workbench.facts.novelty import novelty
from workbench.facts.requests import typed_requests
from workbench.facts.shell_lines import simple_commands
from workbench.facts.standing import is_compaction_prompt, leans_on_previous, standing_rules
from workbench.facts.statements import sentence_states
from workbench.facts.typed import PartKind, typed_parts
from workbench.facts.wording import is_agent_message, message_prose, sentences
from workbench.session import Message, Text

OLD = -1
"""Index for an entry that no message of the context contains."""
NO_LEDGER = Ledger(0, (), ())
"""Earlier ledger of a context without one."""


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """Entry with its place in the context: index of its source, and of the newest message that has it; both `OLD` for
    an entry of an earlier ledger."""

    entry: LedgerEntry
    at: int = OLD
    last: int = OLD
    name: str = ""
    """Key of a mere name that messages mention."""
    weight: float = 1.0
    """Worth relative to others of its kind."""
    start: int = 0
    """Place among the sentences of a message; for the user's sentences, the offset in the message's text, or in what an
    earlier ledger lists of it."""


Found = dict[tuple[EntryKind, str], FoundEntry]
"""Entries by `_key`."""


@dataclass(frozen=True)
class Numbering:
    """Numbers of messages, counted from the session's first over all compactions.

    `ledger`: index of the earlier ledger, `OLD` if there is none. It is followed by the messages that it lists as
    pinned, then by those after `upto`.
    """

    ledger: int = OLD
    before: Ledger = NO_LEDGER

    def __call__(self, index: int) -> int:
        """Number of the message at an index of the context."""
        if index <= self.ledger:
            return index + 1
        after = index - self.ledger - 1
        pinned = self.before.pinned
        return pinned[after] if after < len(pinned) else self.before.upto + 1 + after - len(pinned)

    def after_cut(self, staying: Iterable[int], cut: int) -> tuple[tuple[int, ...], int]:
        """Pins and last number that a new ledger must state. `staying`: indexes of messages kept before `cut`.

        Returns the numbers of the messages that follow the ledger out of order, and the number after which the others
        continue.
        """
        in_order = self.ledger + 1 + len(self.before.pinned)
        out_of_order = (*staying, *range(cut, in_order))
        return tuple(map(self, out_of_order)), self(max(cut, in_order)) - 1


@per_shape
def numbering(shape: Shape) -> Numbering:
    """Numbering of this context's messages, by the newest ledger among them."""
    for index in range(len(shape.messages) - 1, -1, -1):
        if is_ledger(shape.messages[index]):
            return Numbering(index, read_ledger(shape.masked_at(index).text) or NO_LEDGER)
    return Numbering()


def ledger_entries(context: Context) -> tuple[FoundEntry, ...]:
    """Entries that a ledger of this whole context could hold, without mere names; the most important first, equally
    important ones newest first.

    A fact that occurs several times is one entry with its newest state and source: a file that was viewed and then
    changed is `modified`, and a command has the result of its last run.
    """
    return _ledger_entries(context.shape, original_of(context))


@newest_per_shape
def _ledger_entries(shape: Shape, original: Original | None) -> tuple[FoundEntry, ...]:
    number = numbering(shape)
    found = {_key(entry): FoundEntry(entry) for entry in number.before.entries}
    facts = [fact for fact in facts_of(shape) if fact.index != number.ledger]
    rules = [*_instructions(shape, number)]
    for one in (*rules, *_user_sentences(shape, number, rules)):
        found.pop(_key(one.entry), None)
        found[_key(one.entry)] = one
    for fact in facts:
        if entry := _entry_of(fact, number(fact.index)):
            found[_key(entry)] = _updated(found.get(_key(entry)), entry, fact.index)
    _join_answers(found)
    for one in (*_reasons(shape, number), *_agent_sentences(shape, number)):
        found.setdefault(_key(one.entry), one)
    commands = [fact for fact in facts if fact.kind == "command"]
    _resolve_errors(found, commands, number)
    _weigh_commands(found, commands)
    entries = _with_request_states(found, shape, original)
    return tuple(sorted(entries, key=lambda one: (one.entry.rank, -one.entry.source)))


def _join_answers(found: Found) -> None:
    """Give each sentence of the user that answers a question of the agent that question as its detail, and remove the
    separate decision."""
    for key, answer in [*found.items()]:
        entry = answer.entry
        said = found.get(("user", entry.text.lower())) if entry.state == "answer" else None
        if said and said.entry.source == entry.source and said.entry.state != "gone":
            found[_key(said.entry)] = replace(said, entry=replace(said.entry, detail=entry.detail))
            del found[key]


def _key(entry: LedgerEntry) -> tuple[EntryKind, str]:
    """Key that is equal for entries of the same fact."""
    if entry.kind == "command":
        return entry.kind, core_command(entry.text)
    if entry.kind == "decision" and entry.detail:
        return entry.kind, f"{entry.text.lower()}\0{' '.join(entry.detail.split())}"
    return entry.kind, entry.text if entry.kind in ("file", "identifier") else entry.text.lower()


def _instructions(shape: Shape, number: Numbering) -> Iterable[FoundEntry]:
    """Standing instructions; of two that contradict each other, the later one is in force."""
    messages, place = _with_earlier(shape, number, "instruction", "<Pin>{}</Pin>")
    for one in standing_of(shape) if number.ledger == OLD else standing_rules(messages):
        index, source = place(one.fact)
        entry = LedgerEntry("instruction", one.fact.text, source)
        yield FoundEntry(_superseded(entry, place(one.superseded_by)[1]) if one.superseded_by else entry, index, index)


def _superseded(entry: LedgerEntry, by: int | None) -> LedgerEntry:
    """Entry that the message with number `by` superseded; unchanged if None."""
    return entry if by is None else replace(entry, state="gone", detail=f"superseded by #{by}")


def _user_sentences(shape: Shape, number: Numbering, rules: Iterable[FoundEntry]) -> Iterable[FoundEntry]:
    """The user's sentences in order, except those that are rules and have an entry as such."""
    messages, place = _with_earlier(shape, number, "user", "{}")
    superseded = {
        (one.fact.index, one.fact.text): place(one.superseded_by)[1]
        for one in (sentence_states_of(shape) if number.ledger == OLD else sentence_states(messages))
        if one.superseded_by is not None
    }
    rule_texts = defaultdict[int, str](str)
    for rule in rules:
        rule_texts[rule.at] += f"\n{' '.join(rule.entry.text.split())}"
    found: list[FoundEntry] = []
    earlier = _earlier(number, "user")
    ends: Counter[int] = Counter()
    for order, entry in enumerate([*earlier, *_earlier(number, "document")]):
        known = replace(entry, state=entry.state.replace("open", ""))
        found.append(FoundEntry(_superseded(known, superseded.get((order, entry.text))), start=ends[entry.source]))
        ends[entry.source] += len(entry.text) + 1
    for position, words in typed_requests(messages):
        if position < len(earlier) or is_compaction_prompt(words):
            continue
        index, source = place(Fact("request", words, "", position))
        for part in typed_parts(words):
            if part.text not in rule_texts[index]:
                entry = LedgerEntry(_KIND_OF_PART[part.kind], part.text, source)
                entry = _superseded(entry, superseded.get((position, part.text)))
                found.append(FoundEntry(entry, index, index, start=part.start))
    yield from _weighted(found)


_KIND_OF_PART: Mapping[PartKind, EntryKind] = {"typed": "user", "note": "user", "document": "document"}


def _weighted(found: Sequence[FoundEntry]) -> Iterable[FoundEntry]:
    """Sentences of one speaker, weighted by their novelty relative to the mean. A sentence that leans on the one before
    it ("Never exceed it.") makes that one rank as high as itself."""
    news = novelty([one.entry.text for one in found])
    mean = sum(news) / (len(news) or 1) or 1.0
    weights = [new / mean for new in news]
    for number in range(len(found) - 1, 0, -1):
        one, before = found[number], found[number - 1]
        if before.at == one.at != OLD and before.entry.kind == one.entry.kind and leans_on_previous(one.entry.text):
            lengths = [len(each.entry.text) + FRAME_OF_SENTENCE for each in (before, one)]
            weights[number - 1] = max(weights[number - 1], weights[number] * lengths[0] / lengths[1])
    for one, weight in zip(found, weights, strict=True):
        yield replace(one, weight=weight)


FRAME_OF_SENTENCE = 10
"""Characters that a sentence takes in addition to its text, with its share of the item's beginning."""


Place = Callable[[Fact], tuple[int, int]]
"""Function that returns the index and number of the message with a fact."""


def _with_earlier(shape: Shape, number: Numbering, kind: EntryKind, template: str) -> tuple[list[Message], Place]:
    """Entries of one kind from an earlier ledger, each as a message made by `template`, then the messages of the
    context; and the function that finds the place of a fact in them."""
    earlier = _earlier(number, kind)
    messages_before = [
        Message(f"earlier-{at}", "user", (Text(template.format(one.text)),)) for at, one in enumerate(earlier)
    ]
    since = [index for index in range(len(shape.messages)) if index != number.ledger]

    def place(fact: Fact) -> tuple[int, int]:
        if fact.index < len(messages_before):
            return OLD, earlier[fact.index].source
        index = since[fact.index - len(messages_before)]
        return index, number(index)

    return [*messages_before, *(shape.masked[index] for index in since)], place


def _earlier(number: Numbering, kind: EntryKind) -> list[LedgerEntry]:
    """Entries of one kind in an earlier ledger that are still in force."""
    return [entry for entry in number.before.entries if entry.kind == kind and entry.state != "gone"]


_REASON = re.compile(
    r"\b(?:instead(?: of)?|rather than|decided?|deciding|going with|go with|switch(?:ed|ing)? to|prefer|settled|"
    r"no longer|won't|chose|root cause|turns out|the (?:fix|cause|problem|issue|reason|plan|approach) (?:is|was)|"
    r"stattdessen|plutôt que|en lugar de|em vez de|вместо)\b|而不是|改用|原因是"
)
LONGEST_REASON = 300
REASON_WEIGHT = 0.4
"""Weight of a sentence that gives a reason or changes course, relative to a decision."""


def _reasons(shape: Shape, number: Numbering) -> Iterable[FoundEntry]:
    """Sentences in which the agent gives a reason or an alternative. They may not be decisions, but they state most of
    the reasons for decisions."""
    for index, message in enumerate(shape.masked):
        if index == number.ledger or not is_agent_message(message):
            continue
        for sentence in sentences(message_prose(message)):
            if len(sentence) <= LONGEST_REASON and _REASON.search(sentence.lower()):
                entry = LedgerEntry("decision", sentence, number(index))
                yield FoundEntry(entry, index, index, weight=REASON_WEIGHT)


def _agent_sentences(shape: Shape, number: Numbering) -> Iterable[FoundEntry]:
    """The agent's sentences: those of an earlier ledger, then those of the messages since. Where the agent works with
    tools they weigh little, because files, commands and errors tell what it did."""
    found = [FoundEntry(entry, start=order) for order, entry in enumerate(_earlier(number, "agent"))]
    for index, message in enumerate(shape.masked):
        if index != number.ledger and is_agent_message(message):
            for start, sentence in enumerate(sentences(message_prose(message))):
                words = " ".join(sentence.split())
                found.append(FoundEntry(LedgerEntry("agent", words, number(index)), index, index, start=start))
    works = any(fact.kind == "command" or fact.detail == "viewed" for fact in facts_of(shape))
    weight = WORKING_AGENT_WEIGHT if works else 1.0
    for one in _weighted(found):
        yield replace(one, weight=one.weight * weight)


WORKING_AGENT_WEIGHT = 0.02
"""Weight of a sentence of an agent that works with tools, relative to one in a conversation."""


_ERROR_STATES = {"resolved": "fixed", "open": "open", "unknown": "", "": ""}


def _entry_of(fact: Fact, source: int) -> LedgerEntry | None:
    """Entry for a fact of message number `source`; None for facts that get none, or get it elsewhere."""
    match fact.kind:
        case "decision":
            return LedgerEntry("decision", fact.text, source, "answer" if fact.detail else "", fact.detail)
        case "url":
            return LedgerEntry("url", fact.text, source)
        case "error":
            detail = f"{fact.detail}; {fact.by}" if fact.by else fact.detail
            return LedgerEntry("error", fact.text, source, _ERROR_STATES[fact.state], detail)
        case "path" if fact.detail != "mentioned" and fact.ok is not False:
            return LedgerEntry("file", fact.text, source, fact.detail)
        case "command" if fact.detail != REFUSED_BY_USER:
            state = "ran" if fact.ok is None else "ok" if fact.ok else "failed"
            return LedgerEntry("command", fact.text, source, state, fact.detail)
    return None


def _updated(known: FoundEntry | None, entry: LedgerEntry, at: int) -> FoundEntry:
    """Merge a new occurrence into a known entry. A changed file stays changed when it is viewed. A decision or an
    address keeps its first source, because it does not change."""
    if known is not None:
        old = known.entry.state
        if entry.kind in ("decision", "url") or (entry.kind == "file" and entry.state == "viewed" and old != "deleted"):
            return replace(known, last=at)
        if entry.kind == "file" and entry.state == "modified" and old == "created":
            entry = replace(entry, state="created")
    return FoundEntry(entry, at, at)


def _resolve_errors(found: Found, commands: Iterable[Fact], number: Numbering) -> None:
    """Mark errors of an earlier ledger whose command has succeeded since as fixed."""
    succeeded = {core_command(fact.text): number(fact.index) for fact in commands if fact.ok}
    for key, one in found.items():
        if one.at == OLD and one.entry.kind == "error" and one.entry.state != "fixed":
            command = one.entry.detail.partition("`")[2].partition("`")[0]
            if command in succeeded:
                detail = f"{one.entry.detail}; succeeded in #{succeeded[command]}"
                found[key] = replace(one, entry=replace(one.entry, state="fixed", detail=detail))


ONLY_LOOKS = 0.3
"""Weight of a command that only looks at files: its result is in the file entries."""


def _weigh_commands(found: Found, commands: Iterable[Fact]) -> None:
    """Weigh commands by their number of runs, alone or within a longer line: commands that ran often will run again."""
    runs = Counter(one for fact in commands for one in {*_commands_that_act(fact.text)})
    for key, one in found.items():
        if one.entry.kind == "command":
            most = max((runs[command] for command in _commands_that_act(one.entry.text)), default=0)
            found[key] = replace(one, weight=most or ONLY_LOOKS)


def _commands_that_act(line: str) -> list[str]:
    """Simple commands of a line that do more than look at files."""
    return [one for one in simple_commands(line) if not READ_ONLY_COMMAND.match(one)]


def _with_request_states(found: Found, shape: Shape, original: Original | None) -> Iterable[FoundEntry]:
    """Mark the sentences of the session's first request as first and those of the newest as open; if the newest message
    only sets rules, none is open. The first is added even if a recorded compaction removed it from the context."""
    from_user = [one for one in found.values() if one.entry.is_from_user]
    first = _first_request(from_user, shape, original)
    in_force = (one.entry for one in found.values() if one.entry.is_from_user or one.entry.kind == "instruction")
    newest = max((entry.source for entry in in_force if entry.state != "gone"), default=0)
    for one in (*found.values(), *(one for one in first if _key(one.entry) not in found)):
        if one.entry.is_from_user and one.entry.state != "gone":
            state = "open" if one.entry.source == newest else "first" if one in first else ""
            yield replace(one, entry=replace(one.entry, state=state))
        else:
            yield one


def _first_request(from_user: Sequence[FoundEntry], shape: Shape, original: Original | None) -> Sequence[FoundEntry]:
    """Sentences of the session's first request: some of `from_user`, or new entries if only the session's first context
    has them. Empty if unknown: after an agent's compaction, the oldest request of a context need not be the first.
    After a ledger it is, because the ledger would list an older one."""
    if first := [one for one in from_user if one.entry.state == "first"]:
        return first
    start = min((one.entry.source for one in from_user), default=0)
    oldest = [one for one in from_user if one.entry.source == start]
    if original is None:
        return oldest if numbering(shape).ledger != OLD else ()
    if original.id in shape.index_of:
        return oldest
    parts = [*typed_parts(original.text)]
    texts = {part.text for part in parts}
    for number in dict.fromkeys(one.entry.source for one in from_user):
        same = [one for one in from_user if one.entry.source == number]
        if texts.issuperset(one.entry.text for one in same):
            return same
    entries = ((LedgerEntry(_KIND_OF_PART[part.kind], part.text, original.number), part.start) for part in parts)
    return [FoundEntry(entry, start=start) for entry, start in entries]


def narratives_of(context: Context, carried: Iterable[int]) -> str:
    """Text of earlier summaries; of a ledger only its narrative, because its entries become entries again."""
    texts = []
    for index in carried:
        ledger = read_ledger(context.messages[index].text)
        texts.append(text_of_summaries(context, [index]) if ledger is None else ledger.narrative)
    return "\n\n".join(filter(None, texts))
