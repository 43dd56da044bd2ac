"""Questions made from what a context says: `probes_of`. Code writes them, no model.

Asked is what stands in the session word for word: a term that was left out of a sentence, the file in which something
was written, the user's own words. What the rest of the session really used comes first, then what the user said, then
what is grave to lose; no answer stands in another question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.analysis.head_index import texts_of
from workbench.analysis.needed_items import Item, Mentions, commands, plain_path, words_of
from workbench.analysis.probes.cloze import blanked, is_alone, is_telling, is_telling_term, terms_of
from workbench.analysis.probes.controls import controls
from workbench.analysis.probes.probe import BLANK, KINDS, Probe, ProbeKind, stands_in
from workbench.analysis.retention import superseded_texts
from workbench.base.secrets import MASK
from workbench.base.text import clip
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.shape_facts import facts_of, standing_of
from workbench.facts.answers import typed_texts
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.commands_and_paths import core_command
from workbench.facts.diffstat import text_replacements
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.tasks import tasks_of
from workbench.facts.tools import CHANGES, ToolAction, normal_path
from workbench.facts.wording import is_agent_message, message_prose, sentences
from workbench.session import Message

MOST = 40
"""So many questions are made where no number is asked for; controls come beside them."""

PER_CONTROL = 5
"""For so many questions there is one that no context answers."""

PER_MESSAGE = 3
"""So many questions at most come from one message."""

SHOWN = 500
"""Characters of an answer in prose."""

FEWEST_BESIDE_AN_ERROR = 3
"""The command that failed says which error is meant, so that fewer words do."""

LONGEST_COMMAND = 100

AGENT = "agent"
AGENT_SAID = f"from an {AGENT} message"


@dataclass(frozen=True, slots=True)
class _Found:
    """A question that may be asked, from message `index`; a larger `rank` is asked sooner. `frame`: what is to stand
    nowhere else with another term in the blank."""

    probe: Probe
    index: int
    rank: float
    frame: str = ""


class _Said:
    """A context as questions are made from it."""

    def __init__(self, shape: Shape, folder: str) -> None:
        self.shape, self.folder = shape, folder
        self.messages = shape.masked

    @cached_property
    def flat(self) -> str:
        """All that is said, on one line."""
        return " ".join(" ".join(text.split()) for message in self.messages for text in texts_of(message))

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every file that is spoken of."""
        paths = (fact.text for fact in facts_of(self.shape) if fact.kind == "path")
        return frozenset(plain_path(path, self.folder) for path in paths)

    @cached_property
    def names(self) -> Counter[str]:
        """How many of them have a name."""
        return Counter(path.rpartition("/")[2] for path in self.paths)

    def file(self, path: str) -> tuple[str, tuple[str, ...]]:
        """A path as the answer, and its name alone where no other file has it."""
        plain = plain_path(normal_path(path), self.folder)
        name = plain.rpartition("/")[2]
        several = plain.split("/")
        end = ("/".join(several[-2:]),) if len(several) > 2 else ()
        return plain, (*end, name) if name != plain and self.names[name] <= 1 else end


def probes_of(shape: Shape, folder: str = "", needed: Sequence[Item] = (), most: int = MOST) -> tuple[Probe, ...]:
    """At most `most` questions about a context, as many of each kind as there are, and the controls; `folder` is the
    project's, `needed` what the session used again later. None asks for a secret or tells one. Deterministic; seconds
    for ten megabytes."""
    said = _Said(shape, folder)
    by_kind: dict[ProbeKind, list[_Found]] = {kind: [] for kind in KINDS}
    for found in _found(said):
        if MASK not in f"{found.probe.question} {found.probe.answer}":
            by_kind[found.probe.kind].append(_weighed(found, needed))
    for several in by_kind.values():
        several.sort(key=lambda one: -one.rank)
    chosen = _chosen(said, by_kind, most)
    chosen.sort(key=lambda one: (KINDS.index(one.probe.kind), one.index))
    asked = tuple(one.probe for one in chosen)
    return (*asked, *controls(said.flat, -(-len(asked) // PER_CONTROL)))


def _weighed(found: _Found, needed: Sequence[Item]) -> _Found:
    probe = found.probe
    answers = (probe.answer, *probe.accept)
    if not any(
        any(form in answers or (len(form) >= 6 and stands_in(form, probe.answer)) for form in item.forms)
        or (item.words and item.text in probe.says)
        for item in needed
    ):
        return found
    return replace(found, probe=replace(probe, used=True), rank=found.rank + 4)


def _chosen(said: _Said, by_kind: dict[ProbeKind, list[_Found]], most: int) -> list[_Found]:
    """One of each kind in turn, while there are any."""
    chosen: list[_Found] = []
    waiting = {kind: iter(several) for kind, several in by_kind.items() if several}
    while waiting and len(chosen) < most:
        for kind in list(waiting):
            taken = next((one for one in waiting[kind] if _fits(said, one, chosen)), None)
            if taken is None:
                del waiting[kind]
            elif len(chosen) < most:
                chosen.append(taken)
    return chosen


def _fits(said: _Said, one: _Found, chosen: Sequence[_Found]) -> bool:
    """Whether a question may stand beside those that are chosen already."""
    if sum(other.index == one.index for other in chosen) >= PER_MESSAGE:
        return False
    for other in chosen:
        if other.probe.answer.lower() == one.probe.answer.lower() or other.probe.question == one.probe.question:
            return False
        if not one.probe.prose and stands_in(one.probe.answer, other.probe.question):
            return False
        if not other.probe.prose and stands_in(other.probe.answer, one.probe.question):
            return False
    return not one.frame or is_alone(" ".join(one.frame.split()), one.probe.answer, said.flat)


def _found(said: _Said) -> Iterator[_Found]:
    yield from _of_the_user(said)
    yield from _of_the_agent(said)
    yield from _answers(said)
    yield from _errors(said)
    yield from _written(said)
    yield from _commands(said)
    yield from _where_it_stands(said)


# --- sentences --------------------------------------------------------------------------------------------------------


def _of_the_user(said: _Said) -> Iterator[_Found]:
    gone = superseded_texts(said.shape)
    rules = {one.fact.text.lower() for one in standing_of(said.shape)}
    decided = {fact.text.lower() for fact in facts_of(said.shape) if fact.kind == "decision" and fact.by == "user"}
    for index, words in typed_texts(said.messages):
        for sentence in sentences(without_paste(words)):
            low = sentence.lower()
            if low in gone or not is_telling(sentence, agents=False):
                continue
            if low in rules:
                found = list(_blank(said, "instruction", "from a rule of the user", sentence, index, 6))
                yield from found or _begun(said, sentence, index, rules)
            elif low in decided:
                yield from _blank(said, "decision", "from a decision of the user", sentence, index, 5)
            else:
                yield from _blank(said, "recall", "from a user message", sentence, index, 3)


def _of_the_agent(said: _Said) -> Iterator[_Found]:
    decided = {fact.text.lower() for fact in facts_of(said.shape) if fact.kind == "decision" and fact.by != "user"}
    for index, message in enumerate(said.messages):
        if not is_agent_message(message):
            continue
        for sentence in sentences(message_prose(message)):
            if sentence.lower() in decided and is_telling(sentence, agents=False):
                yield from _blank(said, "decision", "from a decision of the agent", sentence, index, 3)
            elif is_telling(sentence, agents=True):
                yield from _blank(said, "recall", AGENT_SAID, sentence, index, 1)


def _blank(said: _Said, kind: ProbeKind, what: str, sentence: str, index: int, rank: float) -> Iterator[_Found]:
    """One question of a sentence: for the first of its terms that can be left out."""
    for term in terms_of(sentence, agents=AGENT in what):
        frame = blanked(sentence, term)
        if frame is None or (what == AGENT_SAID and not is_telling_term(term)):
            continue
        is_file = _is_file(term)
        accept = said.file(term)[1] if is_file else ()
        kind = "artifact" if kind == "recall" and is_file else kind
        question = f'Fill in the blank ({what}): "{frame}"'
        words = len(words_of(frame.replace(BLANK, " ")))
        yield _Found(
            Probe(kind, question, term, accept, source=said.messages[index].id, says=sentence),
            index,
            rank + min(words, 20) / 20,
            frame,
        )
        return


BEGINNING = 3
"""So many words of a rule say which one is meant, or as many more as it takes to say something."""


def _begun(said: _Said, rule: str, index: int, rules: Collection[str]) -> Iterator[_Found]:
    """A rule without a term to leave out, asked for by its first words: its sense counts."""
    words = rule.split()
    told = (size for size in range(BEGINNING, 2 * BEGINNING) if words_of(" ".join(words[:size])))
    size = next(told, len(words))
    begins, rest = " ".join(words[:size]), " ".join(words[size:])
    if len(words) < 3 * BEGINNING or len(words_of(rest)) < 3:
        return
    if sum(other.startswith(begins.lower()) for other in rules) > 1:
        return
    question = f'The user gave a rule that begins "{begins} …". What is the whole rule?'
    yield _Found(Probe("instruction", question, rule, (), True, said.messages[index].id, rule), index, 5)


def _is_file(term: str) -> bool:
    read = Mentions()
    read.add(term, "")
    return plain_path(term, "") in read.paths and not _PRODUCT.fullmatch(term)


_PRODUCT = re.compile(r"[A-Z][a-z]+\.js")


def _answers(said: _Said) -> Iterator[_Found]:
    """What the user answered where the agent asked."""
    for fact in facts_of(said.shape):
        question = " ".join(fact.detail.split())
        if fact.kind != "decision" or not question or len(question) > 300 or len(words_of(question)) < 2:
            continue
        if _LISTED.match(question):  # an entry of a list that was chosen, and no question
            continue
        answer = " ".join(fact.text.split())
        if len(words_of(answer)) < 1 or len(answer) < 3 or stands_in(answer, question):
            continue
        if _ASSENTS.match(answer) and not any(map(str.isdigit, answer)):
            continue
        asked = f'The agent asked: "{question}" What did the user answer?'
        says = f"{question} {answer}"
        yield _Found(
            Probe("decision", asked, clip(answer, SHOWN), (), len(answer.split()) > 6, fact.message, says),
            fact.index,
            7,
        )


_LISTED = re.compile(r"(?:\d{1,3}[.)]|[-*•])\s")
_ASSENTS = re.compile(
    r"\W*(?:yes|yeah|yep|no|nope|ok|okay|sure|y|n|go ahead|ja|nein|oui|non|sí|да|нет|是|否)\b", re.IGNORECASE
)


def _errors(said: _Said) -> Iterator[_Found]:
    for fact in facts_of(said.shape):
        if fact.kind != "error" or not is_telling(fact.text, agents=False):
            continue
        command = " ".join(fact.detail.split()).strip("`")
        beside = bool(command) and len(command) <= LONGEST_COMMAND
        for term in terms_of(fact.text, agents=True):
            frame = blanked(fact.text, term, FEWEST_BESIDE_AN_ERROR)
            if frame is None or (beside and stands_in(term, command)):
                continue
            of = f" of `{command}`" if beside else ""
            question = f'Fill in the blank (from an error message{of}): "{frame}"'
            yield _Found(Probe("recall", question, term, (), False, fact.message, fact.text), fact.index, 2, frame)
            break


# --- what was done ----------------------------------------------------------------------------------------------------

_DEFINES = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|static|pub|async|abstract)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|trait|enum)\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w{5,60})",
    re.MULTILINE,
)


_NAMES = re.compile(r"\b(?:[a-z]\w*_\w{2,}|[a-z]+[A-Z]\w+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+[A-Z]\w+)\b")


def _written(said: _Said) -> Iterator[_Found]:
    """In which file something was written whose name says nothing of the file's: what is defined there, else a name
    that the agent wrote nowhere else."""
    defined: dict[str, dict[str, int]] = {}
    named: dict[str, dict[str, int]] = {}
    for called in calls_of(said.shape):
        for one in text_replacements(called):
            path = normal_path(one.path)
            new, old = set(_NAMES.findall(one.new)), set(_NAMES.findall(one.old))
            for name in sorted(new):
                named.setdefault(name, {}).setdefault(path, called.index)
            for name in (match["name"] for match in _DEFINES.finditer(one.new)):
                if name not in old:
                    defined.setdefault(name, {}).setdefault(path, called.index)
    seen: set[str] = set()
    for places, did, rank in ((defined, "define", 3.0), (named, "use", 1.2)):
        for name, files in places.items():
            ((path, index), *more) = files.items()
            parts = [part[:5] for part in re.findall(r"[A-Z]?[a-z0-9]{3,}", name.replace("_", " "))]
            if more or path in seen or len(parts) < 2 or any(part.lower() in path.lower() for part in parts):
                continue
            if did == "use" and any(name.lower() in other.lower() for other in said.paths):
                continue
            seen.add(path)
            answer, accept = said.file(path)
            question = f"In which file did the agent define `{name}`?"
            if did == "use":
                question = f"Into which of its edited files did the agent write `{name}`?"
            says = f"`{name}` is in {answer}"
            yield _Found(Probe("artifact", question, answer, accept, False, said.messages[index].id, says), index, rank)


def _commands(said: _Said) -> Iterator[_Found]:
    """Which command did what the agent said it was for."""
    lines: dict[str, dict[str, int]] = {}
    for called in calls_of(said.shape):
        purpose = called.call.input.get("description") if isinstance(called.call.input, dict) else None
        several = commands(said.messages[called.index])
        if isinstance(purpose, str) and not called.refused and len(said.messages[called.index].calls) == 1:
            lines.setdefault(" ".join(purpose.split()), {}).update(dict.fromkeys(several, called.index))
    for purpose, did in lines.items():
        if len(did) != 1 or len(words_of(purpose)) < 3:
            continue
        ((line, index),) = did.items()
        if line.startswith(("git ", "gh ", "Get-")) or len(line.split()) < 3 or len(line) > LONGEST_COMMAND:
            continue
        if len(words_of(line) - words_of(purpose)) < 2:
            continue
        question = f'Which command did the agent run to do this: "{purpose}"'
        says = f"{purpose}: {line}"
        yield _Found(Probe("recall", question, line, (), False, said.messages[index].id, says), index, 1.5)


def _where_it_stands(said: _Said) -> Iterator[_Found]:
    """The last request, the last file changed, the last check and how it ended, the task in hand."""
    messages, calls = said.messages, calls_of(said.shape)
    requests = [fact for fact in facts_of(said.shape) if fact.kind == "request"]
    if requests:
        yield from _request("What did the user say last?", requests[-1], 9)
    if len(requests) > 1 and not any(message.kind == "summary" for message in messages):
        yield from _request("What did the user say first, at the beginning of the session?", requests[0], 8)
    changed = [(called, one) for called in calls if called.ok is not False for one in called.actions if _changes(one)]
    if changed:
        called, action = changed[-1]
        answer, accept = said.file(action.target)
        says = f"the file that was changed last is {answer}"
        question = "Which file did the agent change last?"
        at = _names_it(messages, called, (answer, *accept))
        yield _Found(Probe("continuation", question, answer, accept, False, messages[at].id, says), at, 7)
    if checks := [(called, line) for called in calls if called.result and (line := _check_line(called))]:
        called, line = checks[-1]
        yield from _checked(said, called, line)
    if task := next((one for one in tasks_of(calls) if one.status == "in_progress"), None):
        question = "Which task of its own list is the agent working on?"
        yield _Found(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 8
        )
    for task in [one for one in tasks_of(calls) if one.status == "pending"][:1]:
        question = "Which task on the agent's list is the first one not started?"
        yield _Found(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 6
        )


def _names_it(messages: Sequence[Message], called: ToolCall, forms: Sequence[str]) -> int:
    """The message of a call; where that does not say on which file, its result's, else the last one before that does: a
    tool may edit the file that is open."""
    result = called.index if called.result_index is None else called.result_index
    places = (called.index, result, *reversed(range(called.index)))
    told = (at for at in places for text in texts_of(messages[at]) if any(stands_in(form, text) for form in forms))
    return next(told, called.index)


def _changes(action: ToolAction) -> bool:
    return action.kind in CHANGES and _is_file(normal_path(action.target).rpartition("/")[2])


def _request(question: str, fact: Fact, rank: float) -> Iterator[_Found]:
    text = " ".join(without_paste(fact.text).split())
    if len(words_of(text)) >= 3:
        answer = clip(text, SHOWN)
        yield _Found(Probe("continuation", question, answer, (), True, fact.message, answer), fact.index, rank)


def _check_line(called: ToolCall) -> str:
    """The command line of a test, build or lint."""
    line = next((one.target for one in called.actions if one.kind == "command"), "")
    core = core_command(line) if line and is_check(line) else ""
    return core if "\n" not in line.strip() and 6 <= len(core) <= LONGEST_COMMAND else ""


_PASSED = re.compile(r"\b(\d{1,7})(?: \w+)? (?:passed|passing)\b|\btests?:? +(\d{1,7}) passed\b", re.IGNORECASE)


def _checked(said: _Said, called: ToolCall, line: str) -> Iterator[_Found]:
    source = said.messages[called.index].id
    question = "Which command did the agent run last to test, build or lint?"
    says = f"the check that was run last is {line}"
    yield _Found(Probe("continuation", question, line, (), False, source, says), called.index, 6.5)
    text = called.result.text[-4000:] if called.result else ""
    counts = [match[1] or match[2] for match in _PASSED.finditer(text)]
    if counts and len(set(counts)) == 1 and int(counts[0]) > 2 and called.result_index is not None:
        question = "How many tests passed when the agent ran its tests for the last time?"
        answered = said.messages[called.result_index].id
        says = f"{line}: {counts[0]} passed"
        yield _Found(Probe("continuation", question, counts[0], (), False, answered, says), called.result_index, 6.2)
