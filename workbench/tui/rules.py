"""Rules of the context on the bench: the message of each, the cost of a pin, and its states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from workbench.analysis.broken_rules import broken_rules
from workbench.analysis.suggested_pins import ANSWER, SuggestedPin, pin_tokens, suggest
from workbench.analysis.watched_rules import StateChange, best_place, judge_recorded, sentence_to_watch
from workbench.base.errors import BadInput
from workbench.bench import Bench, RuleState, rule_states
from workbench.compaction.shape import Shape
from workbench.session import Message
from workbench.tui.plain import figure, one_line

if TYPE_CHECKING:
    from workbench.compaction.outcome import Outcome

MOST_OFFERED = 500
"""Maximum number of sentences listed from one message."""

MOST_ASKED = 50
"""Maximum number of requests listed if no rule is in force, the newest first."""

_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """Sentence in the list of rules. `kind` is the kind of rule, or the source of another sentence. `index` is the
    index of the message that states it, None if none does; `tokens` is the cost of pinning that message. `replaced_by`
    is the number (from 1) of the message with a newer rule: None without one, 0 if the context does not hold it.
    `is_found`: a rule of the session, not just a sentence of it."""

    sentence: str
    kind: str = ""
    index: int | None = None
    tokens: int = 0
    replaced_by: int | None = None
    is_found: bool = False
    is_suggested: bool = False
    """True if pinning all rules pins this one: it is in force, and its message is short or marked with <Pin>."""

    @property
    def is_in_force(self) -> bool:
        """True for a rule of the session that no later message replaced; an answer is not a rule."""
        return self.is_found and self.kind != ANSWER and self.replaced_by is None


def rules_of(bench: Bench, index: int, own: Sequence[str] = ()) -> tuple[RuleEntry, ...]:
    """Return rules and other sentences, each once.

    First come the watched sentences and those in `own`, then the rules in force in message `index` and the user's other
    sentences there, then the rules in force in other messages. If no rule is in force, the newest requests follow.
    Then come sentences of the message that are not the user's: the agent's, tool results, text that a user hands over.
    Replaced rules are last. O(messages).
    """
    context, shape = bench.context, bench.layout.shape
    numbers = {message.id: at + 1 for at, message in enumerate(shape.messages)}
    found = [_entry_of_pin(pin, numbers) for pin in suggest(context)]
    known = {rule.sentence: rule for rule in reversed(found)}

    def cost(at: int | None) -> int:
        return 0 if at is None else pin_tokens(context, at)

    def written(sentence: str) -> RuleEntry:
        at = best_place(sentence, shape)
        return known.get(sentence, RuleEntry(sentence, "your own", at, cost(at)))

    def of_message(sentences: Sequence[str], kind: str) -> list[RuleEntry]:
        return [known.get(one, RuleEntry(one, kind, index, cost(index))) for one in sentences]

    in_force = [rule for rule in found if rule.replaced_by is None]
    here = [rule for rule in in_force if rule.index == index]
    elsewhere = [rule for rule in in_force if rule.index != index]
    message = shape.masked_at(index) if index < len(shape.messages) else None
    others = of_message(sentences_in(message), "") if message else []
    requests = [] if in_force else [RuleEntry(one, "a request", at, cost(at)) for at, one in _newest_requests(shape)]
    results = of_message(result_sentences(message), "from a tool") if message else []
    is_users = message is not None and message.user_text and not hands_over(message.user_text)
    ordered = (here, others, elsewhere, requests, results) if is_users else (here, elsewhere, requests, others, results)
    replaced = [rule for rule in found if rule.replaced_by is not None]
    listed: dict[str, RuleEntry] = {}
    for rule in chain(map(written, dict.fromkeys((*bench.watched, *own))), *ordered, replaced):
        listed.setdefault(rule.sentence, rule)
    return tuple(listed.values())


def _entry_of_pin(pin: SuggestedPin, numbers: dict[str, int]) -> RuleEntry:
    replaced_by = numbers.get(pin.superseded_by, 0) if pin.superseded_by is not None else None
    return RuleEntry(pin.text, pin.reason, pin.index, pin.tokens, replaced_by, True, pin.accepted_unasked)


def sentences_in(message: Message) -> tuple[str, ...]:
    """Return the complete sentences of a message's text in order, each once, without code and pasted text; at most
    `MOST_OFFERED`."""
    return tuple(dict.fromkeys(_whole(message.text)))[:MOST_OFFERED]


def result_sentences(message: Message) -> tuple[str, ...]:
    """Return the sentences in a message's tool results, each once; at most `MOST_OFFERED`. Results are mostly data, so
    a sentence must end with a full stop, `!` or `?`."""
    found = (one for result in message.results for one in _whole(result.text) if one.endswith(tuple(".!?。！？")))
    return tuple(dict.fromkeys(found))[:MOST_OFFERED]


def _whole(text: str) -> Iterator[str]:
    from workbench.facts.pastes import without_paste
    from workbench.facts.wording import is_complete, searched_part, sentences

    for sentence in sentences(without_paste(searched_part(text))):
        one = " ".join(sentence.split())
        some_words = one.count(" ") >= _LEAST_WORDS - 1 or any(not sign.isascii() and sign.isalpha() for sign in one)
        if some_words and is_complete(one):
            yield one


def _newest_requests(shape: Shape) -> Iterator[tuple[int, str]]:
    """Yield (index, request) of the user's `MOST_ASKED` newest messages, the newest first. The request is the first
    question, else the first sentence; such a sentence comes last if the message hands over somebody else's text."""
    messages = shape.messages
    users = (at for at in reversed(range(len(messages))) if messages[at].user_text and not messages[at].is_summary)
    handed: list[tuple[int, str]] = []
    for at in islice(users, MOST_ASKED):
        text = shape.masked_at(at).user_text
        whole = tuple(_whole(text))
        question = next((one for one in whole if one.endswith(("?", "？"))), "")
        if question or (whole and not hands_over(text)):
            yield at, question or whole[0]
        elif whole:
            handed.append((at, whole[0]))
    yield from handed


def hands_over(text: str) -> bool:
    """True if a message begins with a line such as `got this feedback:`: the rest is somebody else's text."""
    first, _, rest = text.strip().partition("\n")
    return first.rstrip().endswith((":", "：")) and bool(rest.strip())


# --- states -----------------------------------------------------------------------------------------------------------


def states(bench: Bench, sentences: Sequence[str], *, after: bool = True, again: bool = False) -> list[RuleState]:
    """Return the state of each sentence now; with `after`, also after the bench's run (offline if there is none); with
    `after` and `again`, also after a second compaction. Reads every message: call it in a thread."""
    outcome: Outcome | None = None
    try:
        outcome = (bench.result or bench.offline).outcome if after else None
    except BadInput:  # nothing to compact here; the bench says so
        again = False
    return [*rule_states(replace(bench, watched=tuple(sentences)), outcome, again=again)]


def epochs_of(bench: Bench, sentence: str) -> tuple[StateChange, ...]:
    """Return the state of a sentence before and after each recorded compaction; () if there is none. Reads every
    message."""
    return judge_recorded(sentence, bench.session).passed if len(bench.session.epochs) > 1 else ()


def broken_of(bench: Bench) -> dict[str, str]:
    """Return words by rule, for the rules that were broken up to the end of the epoch: the number of calls that broke
    the rule, and one of them. Reads every call: call it in a thread."""
    return {one.text: one.calls for one in broken_rules(bench.session, bench.epoch)}


def toggle_watched(watch: Callable[[str], tuple[str, ...]], text: str) -> str:
    """Watch a sentence, or stop watching it; return a line that says which, or why it cannot be watched."""
    try:
        sentence = sentence_to_watch(text)
        last = "".join(watch(sentence)[-1:])  # for a negated part the complete sentence is watched
        return (
            f"watched: “{one_line(last, 60)}”" if sentence in last else f"no longer watched: “{one_line(sentence, 60)}”"
        )
    except BadInput as refused:
        return f"✘ {refused}"


def rule_words(rule: RuleEntry) -> str:
    """Return the kind of the rule, the number of its message, and that of the message that replaces it."""
    where = "" if rule.index is None else f"message {figure(rule.index + 1)}"
    replaced = f"replaced by message {figure(rule.replaced_by)}" if rule.replaced_by else ""
    return ", ".join(filter(None, (rule.kind, where, replaced)))
