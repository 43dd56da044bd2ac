"""Generate questions from a context: `probes_of`. By code, without a model.

Answers occur verbatim in the session: a term left out of a sentence, the rest of a sentence, the file that holds a
name, the user's own words. Half of the questions are about what the session used later, from memory or after the agent
looked it up again; then each rule and decision has one. No question gives away another answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from workbench.analysis.head_index import texts_of
from workbench.analysis.mentions import commands, words_of
from workbench.analysis.needed_items import Item
from workbench.analysis.probes.cloze import (
    LONGEST_COMMAND,
    ProbeCandidate,
    ProbedContext,
    is_file,
    is_unique,
    sentence_questions,
)
from workbench.analysis.probes.controls import controls
from workbench.analysis.probes.later import DEFINES, further_questions, is_about, used_questions
from workbench.analysis.probes.probe import KINDS, Probe, ProbeKind, contains_term
from workbench.base.secrets import MASK
from workbench.base.text import clip
from workbench.compaction.shape import Shape
from workbench.compaction.shape_calls import calls_of
from workbench.compaction.shape_facts import facts_of
from workbench.facts.calls import ToolCall, is_check
from workbench.facts.commands_and_paths import core_command
from workbench.facts.diffstat import text_replacements
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.tasks import tasks_of
from workbench.facts.tools import CHANGES, ToolAction, normal_path
from workbench.session import Message

MOST = 40
"""Questions by default; controls are extra."""

FEWEST = 20
"""Questions that a session gets if it has facts for so many, even if fewer than half of them were used later."""

PER_CONTROL = 5
"""Questions per control."""

PER_MESSAGE = 3
"""Most questions from one message, except about rules, decisions and what was used later."""

SHOWN = 500
"""Characters to which a prose answer is cut."""

BINDING: tuple[ProbeKind, ...] = ("instruction", "decision")


def probes_of(shape: Shape, folder: str = "", used: Sequence[Item] = (), most: int = MOST) -> tuple[Probe, ...]:
    """Return at most `most` questions about a context, and the controls. `folder` is the project's, `used` what the
    session used later. Half of the questions are about that: if it gives fewer, there are fewer questions, but not
    fewer than `FEWEST`. No question or answer has a secret. Deterministic; seconds per ten megabytes."""
    source = ProbedContext(shape, folder)
    found = [_marked(one, used) for one in _candidates(source, used)]
    found = [one for one in found if MASK not in f"{one.probe.question} {one.probe.answer}"]
    found.sort(key=lambda one: -one.rank)
    chosen = _choose(source, found, most)
    if len(chosen) < min(most, FEWEST):
        further = [one for one in further_questions(source) if MASK not in f"{one.probe.question} {one.probe.answer}"]
        _take(source, chosen, further, min(most, FEWEST), PER_MESSAGE)
    chosen.sort(key=lambda one: (KINDS.index(one.probe.kind), one.index))
    probes = tuple(one.probe for one in chosen)
    named = any(probe.kind == "artifact" for probe in probes)
    return (*probes, *controls(source.messages, source.flat, -(-len(probes) // PER_CONTROL), named=named))


def _marked(found: ProbeCandidate, used: Sequence[Item]) -> ProbeCandidate:
    """Return a candidate that is marked as used if it asks for a used item."""
    if found.probe.used or not any(is_about(found.probe, item) for item in used):
        return found
    return replace(found, probe=replace(found.probe, used=True))


def _choose(source: ProbedContext, found: Sequence[ProbeCandidate], most: int) -> list[ProbeCandidate]:
    """Return at most `most` fitting candidates of `found`, best first: half about what was used later, then one for
    each rule and decision, then all else."""
    chosen: list[ProbeCandidate] = []
    used = [one for one in found if one.probe.used]
    others = [one for one in found if not one.probe.used]
    _take(source, chosen, used, -(-most // 2))
    size = min(most, max(FEWEST, 2 * len(chosen))) if chosen else most
    _take(source, chosen, [one for one in others if one.probe.kind in BINDING], most)
    _take(source, chosen, [one for one in others if one.probe.kind not in BINDING], size, PER_MESSAGE)
    _take(source, chosen, found, size)
    return chosen


def _take(
    source: ProbedContext,
    chosen: list[ProbeCandidate],
    several: Sequence[ProbeCandidate],
    stop: int,
    per_message: int | None = None,
) -> None:
    """Add fitting candidates to the chosen ones until there are `stop`."""
    for one in _in_turn(several):
        if len(chosen) >= stop:
            return
        if _fits(source, one, chosen, per_message):
            chosen.append(one)


def _in_turn(several: Sequence[ProbeCandidate]) -> Iterator[ProbeCandidate]:
    """Yield candidates from each kind in turn, in the order given."""
    by_kind = [[one for one in several if one.probe.kind == kind] for kind in KINDS]
    for row in zip_longest(*by_kind):
        yield from (one for one in row if one is not None)


def _fits(
    source: ProbedContext, one: ProbeCandidate, chosen: Sequence[ProbeCandidate], per_message: int | None
) -> bool:
    """True if a question and the chosen ones do not share or reveal an answer and ask about different sentences, and if
    the question's blank fits no other answer. `per_message`: most questions about one message."""
    if per_message is not None and sum(other.index == one.index for other in chosen) >= per_message:
        return False
    for other in chosen:
        kinds = (one.probe.kind, other.probe.kind)
        if one.probe.question == other.probe.question or (
            one.probe.says == other.probe.says and "continuation" not in kinds
        ):
            return False
        if _forms(one) & _forms(other):
            return False
        if one.probe.kind == "recall" and one.probe.prose and one.probe.answer in other.probe.answer:
            return False  # a sentence of a request that is asked for as a whole
        if one.probe.prose and other.probe.prose and "continuation" not in kinds and _says_the_same(one, other):
            return False
        if not one.probe.prose and contains_term(one.probe.answer, other.probe.question):
            return False
        if not other.probe.prose and contains_term(other.probe.answer, one.probe.question):
            return False
    return not one.frame or is_unique(" ".join(one.frame.split()), one.probe.answer, source.flat)


ALIKE = 0.7
"""Least share of common words at which two sentences count as the same."""


def _says_the_same(one: ProbeCandidate, other: ProbeCandidate) -> bool:
    words, others = words_of(one.probe.answer), words_of(other.probe.answer)
    return len(words & others) >= ALIKE * min(len(words), len(others))


def _forms(one: ProbeCandidate) -> set[str]:
    return {form.lower() for form in (one.probe.answer, *one.probe.accept)}


def _candidates(source: ProbedContext, used: Sequence[Item]) -> Iterator[ProbeCandidate]:
    yield from used_questions(source, used)
    yield from sentence_questions(source)
    yield from _user_answers(source)
    yield from _edited_files(source)
    yield from _commands(source)
    yield from _continuations(source)


def _user_answers(source: ProbedContext) -> Iterator[ProbeCandidate]:
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
        prompt = f'The agent asked: "{question}" What did the user answer?'
        says = f"{question} {answer}"
        yield ProbeCandidate(
            Probe("decision", prompt, clip(answer, SHOWN), (), len(answer.split()) > 6, fact.message, says),
            fact.index,
            7,
        )


_LISTED = re.compile(r"(?:\d{1,3}[.)]|[-*•])\s")

_ASSENTS = re.compile(
    r"\W*(?:yes|yeah|yep|no|nope|ok|okay|sure|y|n|go ahead|ja|nein|oui|non|sí|да|нет|是|否)\b", re.IGNORECASE
)

# --- actions ----------------------------------------------------------------------------------------------------------

_NAMES = re.compile(r"\b(?:[a-z]\w*_\w{2,}|[a-z]+[A-Z]\w+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+[A-Z]\w+)\b")


def _edited_files(source: ProbedContext) -> Iterator[ProbeCandidate]:
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
            for name in (match["name"] for match in DEFINES.finditer(one.new)):
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
            yield ProbeCandidate(
                Probe("artifact", question, answer, accept, False, source.messages[index].id, says), index, rank
            )


def _commands(source: ProbedContext) -> Iterator[ProbeCandidate]:
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
        yield ProbeCandidate(Probe("recall", question, line, (), False, source.messages[index].id, says), index, 1.5)


def _continuations(source: ProbedContext) -> Iterator[ProbeCandidate]:
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
        yield ProbeCandidate(Probe("continuation", question, answer, accept, False, messages[at].id, says), at, 7)
    if checks := [(called, line) for called in calls if called.result and (line := _check_line(called))]:
        called, line = checks[-1]
        yield from _check_questions(source, called, line)
    if task := next((one for one in tasks_of(calls) if one.status == "in_progress"), None):
        question = "Which task of its own list is the agent working on?"
        yield ProbeCandidate(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 8
        )
    for task in [one for one in tasks_of(calls) if one.status == "pending"][:1]:
        question = "Which task on the agent's list is the first one not started?"
        yield ProbeCandidate(
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
    return action.kind in CHANGES and is_file(normal_path(action.target).rpartition("/")[2])


def _request(question: str, fact: Fact, rank: float) -> Iterator[ProbeCandidate]:
    text = " ".join(without_paste(fact.text).split())
    if len(words_of(text)) >= 3:
        answer = clip(text, SHOWN)
        yield ProbeCandidate(Probe("continuation", question, answer, (), True, fact.message, answer), fact.index, rank)


def _check_line(called: ToolCall) -> str:
    """Return the command line of a test, build or lint; "" for others, and for lines too long, too short or multi-line
    to ask about."""
    line = next((one.target for one in called.actions if one.kind == "command"), "")
    core = core_command(line) if line and is_check(line) else ""
    return core if "\n" not in line.strip() and 6 <= len(core) <= LONGEST_COMMAND else ""


_PASSED = re.compile(r"\b(\d{1,7})(?: \w+)? (?:passed|passing)\b|\btests?:? +(\d{1,7}) passed\b", re.IGNORECASE)


def _check_questions(context: ProbedContext, called: ToolCall, line: str) -> Iterator[ProbeCandidate]:
    source = context.messages[called.index].id
    question = "Which command did the agent run last to test, build or lint?"
    says = f"the check that was run last is {line}"
    yield ProbeCandidate(Probe("continuation", question, line, (), False, source, says), called.index, 6.5)
    text = called.result.text[-4000:] if called.result else ""
    counts = [match[1] or match[2] for match in _PASSED.finditer(text)]
    if counts and len(set(counts)) == 1 and int(counts[0]) > 2 and called.result_index is not None:
        question = "How many tests passed when the agent ran its tests for the last time?"
        answered = context.messages[called.result_index].id
        says = f"{line}: {counts[0]} passed"
        yield ProbeCandidate(
            Probe("continuation", question, counts[0], (), False, answered, says), called.result_index, 6.2
        )
