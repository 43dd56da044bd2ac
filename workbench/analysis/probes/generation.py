"""Generate questions from a context: `probes_of`. By code, without a model.

Answers occur verbatim in the session: a term left out of a sentence, the file that holds a name, the user's own words.
Facts that the session used later rank first, then the user's statements, then facts whose loss is grave. No question
gives away another answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from workbench.analysis.head_index import texts_of
from workbench.analysis.needed_items import Item, Mentions, commands, plain_path, words_of
from workbench.analysis.probes.cloze import is_specific_term, is_unique, is_worth_asking, terms_of, with_blank
from workbench.analysis.probes.controls import controls
from workbench.analysis.probes.probe import BLANK, KINDS, Probe, ProbeKind, contains_term
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
"""Questions by default; controls are extra."""

PER_CONTROL = 5
"""Questions per control."""

PER_MESSAGE = 3
"""Most questions from one message."""

SHOWN = 500
"""Characters to which a prose answer is cut."""

FEWEST_BESIDE_AN_ERROR = 3
"""Fewest meaningful words next to a blank in an error; few suffice, because the question names the failed command."""

LONGEST_COMMAND = 100

AGENT = "agent"
AGENT_SAID = f"from an {AGENT} message"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Possible question about message `index`; a larger `rank` is chosen first. `frame`, the sentence with its blank,
    must fit no other answer in the session."""

    probe: Probe
    index: int
    rank: float
    frame: str = ""


class _ProbeSource:
    """Context that questions are generated from."""

    def __init__(self, shape: Shape, folder: str) -> None:
        self.shape, self.folder = shape, folder
        self.messages = shape.masked

    @cached_property
    def flat(self) -> str:
        """All texts on one line."""
        return " ".join(" ".join(text.split()) for message in self.messages for text in texts_of(message))

    @cached_property
    def paths(self) -> frozenset[str]:
        """All files that are mentioned."""
        paths = (fact.text for fact in facts_of(self.shape) if fact.kind == "path")
        return frozenset(plain_path(path, self.folder) for path in paths)

    @cached_property
    def names(self) -> Counter[str]:
        """Number of files by name."""
        return Counter(path.rpartition("/")[2] for path in self.paths)

    def file(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return a path as the answer, and its other accepted forms: the last two parts, and the file name if
        unique."""
        plain = plain_path(normal_path(path), self.folder)
        name = plain.rpartition("/")[2]
        several = plain.split("/")
        end = ("/".join(several[-2:]),) if len(several) > 2 else ()
        return plain, (*end, name) if name != plain and self.names[name] <= 1 else end


def probes_of(shape: Shape, folder: str = "", needed: Sequence[Item] = (), most: int = MOST) -> tuple[Probe, ...]:
    """Return at most `most` questions about a context, evenly by kind, and the controls. `folder` is the project's,
    `needed` what the session used later. No question or answer has a secret. Deterministic; seconds per ten megabytes.
    """
    source = _ProbeSource(shape, folder)
    by_kind: dict[ProbeKind, list[_Candidate]] = {kind: [] for kind in KINDS}
    for found in _candidates(source):
        if MASK not in f"{found.probe.question} {found.probe.answer}":
            by_kind[found.probe.kind].append(_ranked_by_need(found, needed))
    for several in by_kind.values():
        several.sort(key=lambda one: -one.rank)
    chosen = _choose(source, by_kind, most)
    chosen.sort(key=lambda one: (KINDS.index(one.probe.kind), one.index))
    asked = tuple(one.probe for one in chosen)
    return (*asked, *controls(source.flat, -(-len(asked) // PER_CONTROL)))


def _ranked_by_need(found: _Candidate, needed: Sequence[Item]) -> _Candidate:
    probe = found.probe
    answers = (probe.answer, *probe.accept)
    if not any(
        any(form in answers or (len(form) >= 6 and contains_term(form, probe.answer)) for form in item.forms)
        or (item.words and item.text in probe.says)
        for item in needed
    ):
        return found
    return replace(found, probe=replace(probe, used=True), rank=found.rank + 4)


def _choose(source: _ProbeSource, by_kind: dict[ProbeKind, list[_Candidate]], most: int) -> list[_Candidate]:
    """Return at most `most` fitting candidates, chosen from each kind in turn."""
    chosen: list[_Candidate] = []
    waiting = {kind: iter(several) for kind, several in by_kind.items() if several}
    while waiting and len(chosen) < most:
        for kind in list(waiting):
            fitting = next((one for one in waiting[kind] if _fits(source, one, chosen)), None)
            if fitting is None:
                del waiting[kind]
            elif len(chosen) < most:
                chosen.append(fitting)
    return chosen


def _fits(source: _ProbeSource, one: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    """True if a question and the chosen ones do not share or reveal an answer, and its blank fits no other answer."""
    if sum(other.index == one.index for other in chosen) >= PER_MESSAGE:
        return False
    for other in chosen:
        if other.probe.answer.lower() == one.probe.answer.lower() or other.probe.question == one.probe.question:
            return False
        if not one.probe.prose and contains_term(one.probe.answer, other.probe.question):
            return False
        if not other.probe.prose and contains_term(other.probe.answer, one.probe.question):
            return False
    return not one.frame or is_unique(" ".join(one.frame.split()), one.probe.answer, source.flat)


def _candidates(source: _ProbeSource) -> Iterator[_Candidate]:
    yield from _user_sentences(source)
    yield from _agent_sentences(source)
    yield from _user_answers(source)
    yield from _errors(source)
    yield from _edited_files(source)
    yield from _commands(source)
    yield from _continuations(source)


# --- sentences --------------------------------------------------------------------------------------------------------


def _user_sentences(source: _ProbeSource) -> Iterator[_Candidate]:
    superseded = superseded_texts(source.shape)
    rules = {one.fact.text.lower() for one in standing_of(source.shape)}
    decided = {fact.text.lower() for fact in facts_of(source.shape) if fact.kind == "decision" and fact.by == "user"}
    for index, words in typed_texts(source.messages):
        for sentence in sentences(without_paste(words)):
            low = sentence.lower()
            if low in superseded or not is_worth_asking(sentence, agents=False):
                continue
            if low in rules:
                found = list(_blank(source, "instruction", "from a rule of the user", sentence, index, 6))
                yield from found or _rule_by_beginning(source, sentence, index, rules)
            elif low in decided:
                yield from _blank(source, "decision", "from a decision of the user", sentence, index, 5)
            else:
                yield from _blank(source, "recall", "from a user message", sentence, index, 3)


def _agent_sentences(source: _ProbeSource) -> Iterator[_Candidate]:
    decided = {fact.text.lower() for fact in facts_of(source.shape) if fact.kind == "decision" and fact.by != "user"}
    for index, message in enumerate(source.messages):
        if not is_agent_message(message):
            continue
        for sentence in sentences(message_prose(message)):
            if sentence.lower() in decided and is_worth_asking(sentence, agents=False):
                yield from _blank(source, "decision", "from a decision of the agent", sentence, index, 3)
            elif is_worth_asking(sentence, agents=True):
                yield from _blank(source, "recall", AGENT_SAID, sentence, index, 1)


def _blank(
    source: _ProbeSource, kind: ProbeKind, what: str, sentence: str, index: int, rank: float
) -> Iterator[_Candidate]:
    """Yield at most one question: the sentence without the first term that can be left out."""
    for term in terms_of(sentence, agents=AGENT in what):
        frame = with_blank(sentence, term)
        if frame is None or (what == AGENT_SAID and not is_specific_term(term)):
            continue
        is_file = _is_file(term)
        accept = source.file(term)[1] if is_file else ()
        kind = "artifact" if kind == "recall" and is_file else kind
        question = f'Fill in the blank ({what}): "{frame}"'
        words = len(words_of(frame.replace(BLANK, " ")))
        yield _Candidate(
            Probe(kind, question, term, accept, source=source.messages[index].id, says=sentence),
            index,
            rank + min(words, 20) / 20,
            frame,
        )
        return


BEGINNING = 3
"""First words of a rule that the question quotes; more if none of them is meaningful."""


def _rule_by_beginning(source: _ProbeSource, rule: str, index: int, rules: Collection[str]) -> Iterator[_Candidate]:
    """Yield a question that quotes the first words of a rule and asks for all of it; the answer is judged by its
    sense."""
    words = rule.split()
    sizes = (size for size in range(BEGINNING, 2 * BEGINNING) if words_of(" ".join(words[:size])))
    size = next(sizes, len(words))
    begins, rest = " ".join(words[:size]), " ".join(words[size:])
    if len(words) < 3 * BEGINNING or len(words_of(rest)) < 3:
        return
    if sum(other.startswith(begins.lower()) for other in rules) > 1:
        return
    question = f'The user gave a rule that begins "{begins} …". What is the whole rule?'
    yield _Candidate(Probe("instruction", question, rule, (), True, source.messages[index].id, rule), index, 5)


def _is_file(term: str) -> bool:
    read = Mentions()
    read.add(term, "")
    return plain_path(term, "") in read.paths and not _PRODUCT.fullmatch(term)


_PRODUCT = re.compile(r"[A-Z][a-z]+\.js")


def _user_answers(source: _ProbeSource) -> Iterator[_Candidate]:
    """Yield the user's answers to the agent's questions."""
    for fact in facts_of(source.shape):
        question = " ".join(fact.detail.split())
        if fact.kind != "decision" or not question or len(question) > 300 or len(words_of(question)) < 2:
            continue
        if _LISTED.match(question):  # a chosen list entry, not a question
            continue
        answer = " ".join(fact.text.split())
        if len(words_of(answer)) < 1 or len(answer) < 3 or contains_term(answer, question):
            continue
        if _ASSENTS.match(answer) and not any(map(str.isdigit, answer)):
            continue
        asked = f'The agent asked: "{question}" What did the user answer?'
        says = f"{question} {answer}"
        yield _Candidate(
            Probe("decision", asked, clip(answer, SHOWN), (), len(answer.split()) > 6, fact.message, says),
            fact.index,
            7,
        )


_LISTED = re.compile(r"(?:\d{1,3}[.)]|[-*•])\s")
_ASSENTS = re.compile(
    r"\W*(?:yes|yeah|yep|no|nope|ok|okay|sure|y|n|go ahead|ja|nein|oui|non|sí|да|нет|是|否)\b", re.IGNORECASE
)


def _errors(source: _ProbeSource) -> Iterator[_Candidate]:
    for fact in facts_of(source.shape):
        if fact.kind != "error" or not is_worth_asking(fact.text, agents=False):
            continue
        command = " ".join(fact.detail.split()).strip("`")
        names_command = bool(command) and len(command) <= LONGEST_COMMAND
        for term in terms_of(fact.text, agents=True):
            frame = with_blank(fact.text, term, FEWEST_BESIDE_AN_ERROR)
            if frame is None or (names_command and contains_term(term, command)):
                continue
            of = f" of `{command}`" if names_command else ""
            question = f'Fill in the blank (from an error message{of}): "{frame}"'
            yield _Candidate(Probe("recall", question, term, (), False, fact.message, fact.text), fact.index, 2, frame)
            break


# --- actions ----------------------------------------------------------------------------------------------------------

_DEFINES = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|static|pub|async|abstract)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|trait|enum)\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w{5,60})",
    re.MULTILINE,
)


_NAMES = re.compile(r"\b(?:[a-z]\w*_\w{2,}|[a-z]+[A-Z]\w+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+[A-Z]\w+)\b")


def _edited_files(source: _ProbeSource) -> Iterator[_Candidate]:
    """Yield questions for the only edited file that defines a name, or else uses it. The path must not be guessable
    from the name."""
    defined: dict[str, dict[str, int]] = {}
    named: dict[str, dict[str, int]] = {}
    for called in calls_of(source.shape):
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
            if did == "use" and any(name.lower() in other.lower() for other in source.paths):
                continue
            seen.add(path)
            answer, accept = source.file(path)
            question = f"In which file did the agent define `{name}`?"
            if did == "use":
                question = f"Into which of its edited files did the agent write `{name}`?"
            says = f"`{name}` is in {answer}"
            yield _Candidate(
                Probe("artifact", question, answer, accept, False, source.messages[index].id, says), index, rank
            )


def _commands(source: _ProbeSource) -> Iterator[_Candidate]:
    """Yield questions for the command that served a stated purpose."""
    lines: dict[str, dict[str, int]] = {}
    for called in calls_of(source.shape):
        purpose = called.call.input.get("description") if isinstance(called.call.input, dict) else None
        several = commands(source.messages[called.index])
        if isinstance(purpose, str) and not called.refused and len(source.messages[called.index].calls) == 1:
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
        yield _Candidate(Probe("recall", question, line, (), False, source.messages[index].id, says), index, 1.5)


def _continuations(source: _ProbeSource) -> Iterator[_Candidate]:
    """Yield questions on the state of the work: last and first request, last changed file, last check with its result,
    current and next task."""
    messages, calls = source.messages, calls_of(source.shape)
    requests = [fact for fact in facts_of(source.shape) if fact.kind == "request"]
    if requests:
        yield from _request("What did the user say last?", requests[-1], 9)
    if len(requests) > 1 and not any(message.kind == "summary" for message in messages):
        yield from _request("What did the user say first, at the beginning of the session?", requests[0], 8)
    changed = [(called, one) for called in calls if called.ok is not False for one in called.actions if _changes(one)]
    if changed:
        called, action = changed[-1]
        answer, accept = source.file(action.target)
        says = f"the file that was changed last is {answer}"
        question = "Which file did the agent change last?"
        at = _naming_message(messages, called, (answer, *accept))
        yield _Candidate(Probe("continuation", question, answer, accept, False, messages[at].id, says), at, 7)
    if checks := [(called, line) for called in calls if called.result and (line := _check_line(called))]:
        called, line = checks[-1]
        yield from _check_questions(source, called, line)
    if task := next((one for one in tasks_of(calls) if one.status == "in_progress"), None):
        question = "Which task of its own list is the agent working on?"
        yield _Candidate(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 8
        )
    for task in [one for one in tasks_of(calls) if one.status == "pending"][:1]:
        question = "Which task on the agent's list is the first one not started?"
        yield _Candidate(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 6
        )


def _naming_message(messages: Sequence[Message], called: ToolCall, forms: Sequence[str]) -> int:
    """Return the index of the message that names the changed file: the call, its result, or (for tools that edit the
    open file) the newest earlier message with its name."""
    result = called.index if called.result_index is None else called.result_index
    places = (called.index, result, *reversed(range(called.index)))
    naming = (
        at for at in places for text in texts_of(messages[at]) if any(contains_term(form, text) for form in forms)
    )
    return next(naming, called.index)


def _changes(action: ToolAction) -> bool:
    return action.kind in CHANGES and _is_file(normal_path(action.target).rpartition("/")[2])


def _request(question: str, fact: Fact, rank: float) -> Iterator[_Candidate]:
    text = " ".join(without_paste(fact.text).split())
    if len(words_of(text)) >= 3:
        answer = clip(text, SHOWN)
        yield _Candidate(Probe("continuation", question, answer, (), True, fact.message, answer), fact.index, rank)


def _check_line(called: ToolCall) -> str:
    """Return the command line of a test, build or lint; "" for others, and for lines too long, too short or multi-line
    to ask about."""
    line = next((one.target for one in called.actions if one.kind == "command"), "")
    core = core_command(line) if line and is_check(line) else ""
    return core if "\n" not in line.strip() and 6 <= len(core) <= LONGEST_COMMAND else ""


_PASSED = re.compile(r"\b(\d{1,7})(?: \w+)? (?:passed|passing)\b|\btests?:? +(\d{1,7}) passed\b", re.IGNORECASE)


def _check_questions(context: _ProbeSource, called: ToolCall, line: str) -> Iterator[_Candidate]:
    source = context.messages[called.index].id
    question = "Which command did the agent run last to test, build or lint?"
    says = f"the check that was run last is {line}"
    yield _Candidate(Probe("continuation", question, line, (), False, source, says), called.index, 6.5)
    text = called.result.text[-4000:] if called.result else ""
    counts = [match[1] or match[2] for match in _PASSED.finditer(text)]
    if counts and len(set(counts)) == 1 and int(counts[0]) > 2 and called.result_index is not None:
        question = "How many tests passed when the agent ran its tests for the last time?"
        answered = context.messages[called.result_index].id
        says = f"{line}: {counts[0]} passed"
        yield _Candidate(
            Probe("continuation", question, counts[0], (), False, answered, says), called.result_index, 6.2
        )
