"""Does a chosen sentence still stand? The one answer for contexts, outcomes, generations and answers of a model alike.

A sentence is *verbatim* where it stands as it is, white space aside; *paraphrased* where another sentence says as much
and rightly (`workbench.analysis.holding`); *contradicted* where one says it with another sign, value or order; *gone*
where none does. Of several places the best counts.

In messages a paraphrase is looked for where rules are told: in summaries, prompts and what the person said. That the
agent says it ran the tests is no rule to run them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct

from workbench.analysis.head_index import texts_of
from workbench.analysis.holding import ENOUGH, LIGHT, Said, Sought, sought
from workbench.analysis.recorded import recorded_outcome
from workbench.analysis.retention import new_messages, staying, unread
from workbench.base.errors import BadInput
from workbench.base.memory import remembered
from workbench.base.printable import one_line
from workbench.base.secrets import MASK
from workbench.base.tables import Column
from workbench.compaction.context import prompted
from workbench.compaction.outcome import Outcome
from workbench.compaction.shape import Shape, per_shape
from workbench.facts.terms import SYNONYMS, stem
from workbench.facts.wording import is_agent_message, sentences
from workbench.session import Message, Session
from workbench.session.masked import searched_message

Verdict = Literal["verbatim", "paraphrased", "contradicted", "gone", "unknown"]
"""`unknown`: what was put in its place cannot be read."""

BEST_FIRST: tuple[Verdict, ...] = get_args(Verdict)

HEAD_CHARS = 24
"""Characters of a sentence that head its column."""


def sentence_columns(watched: Iterable[str]) -> tuple[Column, ...]:
    """A table's columns for the verdicts on watched sentences, headed by their beginnings."""
    return tuple(Column(head, head) for head in (f"“{one_line(one, HEAD_CHARS)}”" for one in watched))


LONGEST = 1_000
"""A watched sentence has no more characters."""


def judge(sentence: str, text: str) -> Verdict:
    """How one sentence stands in one text; one without a word is gone."""
    form = _form(_flat(sentence))
    return form.in_text(text) if form.sought else "gone"


def judge_messages(sentence: str, messages: Iterable[Message]) -> Verdict:
    """How a sentence stands in messages; gone in none."""
    form = _form(_flat(sentence))
    return _best(form.in_message(message) for message in messages) if form.sought else "gone"


def _best(verdicts: Iterable[Verdict]) -> Verdict:
    best: Verdict = "gone"
    for verdict in verdicts:
        if verdict == "verbatim":
            return verdict
        best = min(best, verdict, key=BEST_FIRST.index)
    return best


def _places(sentence: str, shape: Shape) -> dict[int, Verdict]:
    """The messages of a context in which it stands, and how."""
    form, known = _form(_flat(sentence)), _known(shape)
    if form.flat not in known:
        judged = ((index, form.in_message(message)) for index, message in enumerate(shape.messages) if form.sought)
        known[form.flat] = {index: verdict for index, verdict in judged if verdict != "gone"}
    return known[form.flat]


@per_shape
def _known(shape: Shape) -> dict[str, dict[int, Verdict]]:
    return {}


@remembered(256)
def judge_beside(sentence: str, text: str) -> Verdict:
    """How it stands in what is sent beside the messages with every call, which is read once."""
    return judge(sentence, text)


def judge_context(sentence: str, shape: Shape, beside: str = "") -> Verdict:
    """How it stands in the messages of a context, which are read once, or `beside` them: in the system prompt and the
    agent's memories, which are sent with every call."""
    return _best((*_places(sentence, shape).values(), judge_beside(sentence, beside)))


def judge_come(sentence: str, shape: Shape, start: int, stop: int, before: Verdict) -> Verdict:
    """How it stands where it stood so `before` the messages of a context from `start` to `stop` came."""
    came = (verdict for index, verdict in _places(sentence, shape).items() if start <= index < stop)
    return _better(before, _best((before, *came)))


def place(sentence: str, shape: Shape) -> int | None:
    """The message of a context in which it stands best, the earliest of several; None where it stands in none."""
    places = _places(sentence, shape)
    return min(places, key=lambda index: BEST_FIRST.index(places[index]), default=None)


def judge_outcome(sentence: str, shape: Shape, outcome: Outcome, beside: str = "") -> Verdict:
    """How it stands in what a compaction left of a context of this shape, or beside the messages."""
    return judge_left(sentence, shape, staying(outcome), None if unread(outcome) else new_messages(outcome), beside)


def judge_left(
    sentence: str, shape: Shape, stays: Sequence[int], made: Sequence[Message] | None, beside: str = ""
) -> Verdict:
    """The same where those messages of the context are left that `stays` marks, and `made` stand for the others;
    unknown where it stands in none of them and nobody can read what was made, which is None then."""
    there = (verdict for index, verdict in _places(sentence, shape).items() if stays[index])
    kept = _best((*there, judge_beside(sentence, beside)))
    if made is None:
        return "unknown" if kept == "gone" else kept
    return _best((kept, judge_messages(sentence, made)))


class Passed(Struct, frozen=True):
    """How a sentence stood `before` a compaction and `after` it. `at` says which: by the session's own record the epoch
    that it ended, in a replay the call before which it was made."""

    at: int
    before: Verdict
    after: Verdict


class Trail(Struct, frozen=True):
    """A sentence through compactions in a row, and how it stands in the end."""

    sentence: str
    passed: tuple[Passed, ...]
    last: Verdict

    @property
    def lost(self) -> int | None:
        """The compaction that first took it where it had stood; None where none did."""
        return self._first("contradicted", "gone")

    @property
    def stood(self) -> bool:
        """Whether it ever stood."""
        return self.last in HOLDS or any(HOLDS & {one.before, one.after} for one in self.passed)

    @property
    def unread(self) -> int | None:
        """The first after which nobody can read whether it still stands; None where there is none."""
        return self._first("unknown")

    def _first(self, *verdicts: Verdict) -> int | None:
        return next((one.at for one in self.passed if one.before in HOLDS and one.after in verdicts), None)


HOLDS: frozenset[Verdict] = frozenset({"verbatim", "paraphrased"})


def judge_recorded(sentence: str, session: Session) -> Trail:
    """How it came through each compaction that the session records."""
    system = judge_beside(sentence, prompted(session.system, session.memories))
    found: list[Passed] = []
    for epoch in session.epochs[:-1]:
        if epoch.ended_by is not None:
            outcome = recorded_outcome(session, epoch.number)
            before = _best((system, judge_messages(sentence, outcome.source)))
            before = _better(found[-1].after, before) if found else before
            after = _best((system, judge_messages(sentence, outcome.messages)))
            hidden = unread(outcome) or any(map(_is_hidden, outcome.messages))
            found.append(Passed(epoch.number, before, "unknown" if after == "gone" and hidden else after))
    last = found[-1].after if found else "gone"
    last = _better(last, _best((system, judge_messages(sentence, session.context(len(session.epochs))))))
    return Trail(sentence, tuple(found), last)


def _is_hidden(message: Message) -> bool:
    return message.kind == "summary" and not message.text.strip()


def _better(before: Verdict, now: Verdict) -> Verdict:
    """How it stands where more came to what stood before: what could not be read can still not be read."""
    return before if before == "unknown" and now == "gone" else now


class Eye:
    """Follows a sentence through messages that come one after the other, those of `shape`, and are compacted at times;
    system prompt and memories always stand `beside` them.

    They are judged once for whoever follows it through the same shape; only what a compaction made is read anew.
    """

    def __init__(self, sentence: str, shape: Shape, beside: str = "") -> None:
        self.sentence, self.shape = sentence, shape
        self._form, self._places = _form(_flat(sentence)), _places(sentence, shape)
        self._coming = deque(sorted(self._places))
        self._now = judge_beside(sentence, beside)
        self._unread = False
        self._passed: list[Passed] = []

    def come(self, stop: int) -> Verdict:
        """How it stands when the messages before `stop` have come."""
        while self._coming and self._coming[0] < stop:
            self._now = _best((self._now, self._places[self._coming.popleft()]))
        return self._now

    def compacted(self, at: int, stop: int, left: Iterable[Message], beside: str = "", *, unread: bool) -> None:
        """A compaction, numbered `at`, `left` these messages of all before `stop`, and this `beside` them. `unread`:
        nobody can read what it put in the place of others, nor what is later made of that."""
        before = self.come(stop)
        self._unread = self._unread or unread
        now = _best((judge_beside(self.sentence, beside), *map(self._judged, left))) if self._form.sought else "gone"
        self._now = "unknown" if self._unread and now == "gone" else now
        self._passed.append(Passed(at, before, self._now))

    def _judged(self, message: Message) -> Verdict:
        index = self.shape.index_of.get(message.id)
        own = index is not None and self.shape.messages[index] is message
        return self._places.get(index, "gone") if own and index is not None else self._form.in_message(message)

    def trail(self) -> Trail:
        """What was seen, when all messages have come."""
        last = self.come(len(self.shape.messages))
        return Trail(self.sentence, tuple(self._passed), last)


def sentence_to_watch(typed: str, said: Iterable[Message] = ()) -> str:
    """What was typed or chosen, on one line; of a part of what was `said`, where that says the part only to deny it,
    the whole sentence: who types "commit to main" where the rule is "Never commit to main." means the rule, not what it
    forbids. Raises BadInput for what cannot be watched."""
    sentence = _flat(typed)
    if not any(map(str.isalnum, sentence)):
        raise BadInput(f"{typed!r} has no word to watch; give a sentence.")
    if len(sentence) > LONGEST:
        raise BadInput(f"A sentence of {len(sentence)} characters is too long to watch; the maximum is {LONGEST}.")
    return _rule_of(sentence, said)


def _rule_of(sentence: str, said: Iterable[Message]) -> str:
    """The user's words count before everybody's."""
    form, denied = _form(sentence), ""
    for message in sorted(said, key=lambda message: message.role != "user"):
        if denied and message.role != "user":
            break
        for text in filter(form.may_stand, texts_of(searched_message(message))):
            if form.is_quoted(text):
                return sentence
            denied = denied or next(filter(form.stands, map(_flat, sentences(text))), "")
    return denied if denied and len(denied) <= LONGEST else sentence


def _flat(text: str) -> str:
    return " ".join(text.split())


# --- how it is looked for ---------------------------------------------------------------------------------------------


class _Form(Struct, frozen=True):
    """A sentence as it is looked for. A line that tells it has a word which begins like one of `rare`: of each kind of
    word in the sentence, with its weight there, how such words begin."""

    flat: str
    sought: Sought | None
    kinds: tuple[tuple[float, tuple[str, ...]], ...]

    def in_message(self, message: Message) -> Verdict:
        """How it stands in a message, without its secrets where the sentence was taken from such a one."""
        message = searched_message(message) if MASK in self.flat else message
        if any(map(self.is_quoted, texts_of(message))):
            return "verbatim"
        if message.kind == "normal" and (is_agent_message(message) or message.role == "tool"):
            return "gone"
        return self.told(message.said if message.starts_round else message.text)

    def in_text(self, text: str) -> Verdict:
        return "verbatim" if self.is_quoted(text) else self.told(text)

    def is_quoted(self, text: str) -> bool:
        """Whether it stands there as it is and is not denied by what stands before it."""
        if not self.may_stand(text):
            return False
        flat = _flat(text)
        return any(self._holds(flat[max(0, at - BEFORE) : at + len(self.flat)]) for at in self._places(flat))

    def may_stand(self, text: str) -> bool:
        """False where it surely does not."""
        return max(self.flat.split(), key=len) in text

    def stands(self, flat: str) -> bool:
        """Whether its words stand there, denied or not."""
        return any(True for _ in self._places(flat))

    def _holds(self, quotation: str) -> bool:
        assert self.sought is not None
        said = Said([quotation]).judges(self.sought)
        return said.right or said.held == "none"  # what holds nothing is a list of bare words, and says nothing else

    def _places(self, flat: str) -> Iterator[int]:
        """Where it stands by itself: "use pnpm" does not in "reuse pnpm"."""
        at = flat.find(self.flat)
        while at >= 0:
            before, behind = flat[max(0, at - 1) : at], flat[at + len(self.flat) :][:1]
            if not (before.isalnum() and self.flat[0].isalnum()) and not (behind.isalnum() and self.flat[-1].isalnum()):
                yield at
            at = flat.find(self.flat, at + 1)

    def told(self, text: str) -> Verdict:
        """In other words, or in the same ones that are denied."""
        assert self.sought is not None
        said = Said(self._near(text)).judges(self.sought)
        if said.held == "none":
            return "gone"
        return "paraphrased" if said.right else "contradicted"

    def _near(self, text: str) -> Sequence[str]:
        """The lines that may tell it. One that does has so much of its words that it has one of the rarest few."""
        low = _plain(text)
        if not self.kinds or len(low) != len(text):
            return (text,)
        often = sorted(self.kinds, key=lambda kind: sum(map(low.count, kind[1])))
        spared, starts = 0.0, set[int]()
        for weight, beginnings in often:
            for word in beginnings:
                at = low.find(word)
                while at >= 0:
                    starts.add(low.rfind("\n", 0, at) + 1)
                    stop = low.find("\n", at)
                    at = low.find(word, stop) if stop >= 0 else -1
            spared += weight
            if spared > 1 - ENOUGH:
                break
        return [text[at : stop if (stop := text.find("\n", at)) >= 0 else len(text)] for at in sorted(starts)]


BEFORE = 40
"""So many characters before a quotation are looked at for what denies it."""


@remembered(256)
def _form(flat: str) -> _Form:
    # A name stands there or does not; a sentence may be said in other words.
    form = sought("instruction" if " " in flat or not flat.isascii() else "identifier", flat)
    wording = form.wordings[0] if form and form.wordings else None
    if form is None or wording is None:
        return _Form(flat, form, ())
    light = len(wording.order) > 2
    weights = {term: LIGHT if light and term[0] == "=" else 1.0 for term in wording.order}
    whole = sum(weights.values())
    kinds = tuple(
        (weight / whole, beginnings)
        for term, weight in weights.items()
        if (beginnings := _beginnings(term, form.language))
    )
    # With a number, which may be spelled in many ways, every line is looked at.
    return _Form(flat, form, kinds if len(kinds) == len(weights) else ())


def _beginnings(term: str, language: str) -> tuple[str, ...]:
    """How the words begin that are compared as `term`; nothing where that cannot be told."""
    if any(map(str.isdigit, term)):
        return ()
    several = (term, *SYNONYMS[term]) if term in SYNONYMS else (term,)
    stems = (stem(word, language) for word in several if word[0] != "=")
    # A stem may end otherwise than its words: "happi" is that of "happy".
    return tuple(dict.fromkeys(_plain(stem[: max(SURE, len(stem) - 1)]) for stem in stems))


SURE = 3
"""So many letters every word has that is compared by a stem of as many."""


def _plain(text: str) -> str:
    """In lower case and without accents, which a stem has not."""
    low = text.lower()
    return low if low.isascii() else low.translate(_ACCENTS)


_ACCENTS = str.maketrans("àáâãäåçèéêëìíîïñòóôõöùúûüýÿё", "aaaaaaceeeeiiiinooooouuuuyyе")
