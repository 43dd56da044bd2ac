"""Generate questions from a context: `probes_of`. By code, without a model.

Answers occur verbatim in the session: a term left out of a sentence, the file that holds a name, the user's own words.
Facts that the session used later rank first, then the user's statements, then facts whose loss is grave. No question
gives away another answer.

Control questions, which no context answers, ask about invented things: any answer to one is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.analysis.head_index import texts_of
from workbench.analysis.mentions import commands, words_of
from workbench.analysis.needed_items import Item
from workbench.analysis.probes.cloze import (
    LONGEST_COMMAND,
    Candidate,
    ProbedContext,
    is_file,
    is_unique,
    sentence_questions,
)
from workbench.analysis.probes.probe import BLANK, KINDS, Probe, ProbeKind, contains_term
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

PER_CONTROL = 5
"""Questions per control."""

PER_MESSAGE = 3
"""Most questions from one message."""

SHOWN = 500
"""Characters to which a prose answer is cut."""


def probes_of(shape: Shape, folder: str = "", needed: Sequence[Item] = (), most: int = MOST) -> tuple[Probe, ...]:
    """Return at most `most` questions about a context, evenly by kind, and the controls. `folder` is the project's,
    `needed` what the session used later. No question or answer has a secret. Deterministic; seconds per ten megabytes.
    """
    source = ProbedContext(shape, folder)
    by_kind: dict[ProbeKind, list[Candidate]] = {kind: [] for kind in KINDS}
    for found in _candidates(source):
        if MASK not in f"{found.probe.question} {found.probe.answer}":
            by_kind[found.probe.kind].append(_ranked_by_need(found, needed))
    for several in by_kind.values():
        several.sort(key=lambda one: -one.rank)
    chosen = _choose(source, by_kind, most)
    chosen.sort(key=lambda one: (KINDS.index(one.probe.kind), one.index))
    asked = tuple(one.probe for one in chosen)
    return (*asked, *controls(source.flat, -(-len(asked) // PER_CONTROL)))


def _ranked_by_need(found: Candidate, needed: Sequence[Item]) -> Candidate:
    probe = found.probe
    answers = (probe.answer, *probe.accept)
    if not any(
        any(form in answers or (len(form) >= 6 and contains_term(form, probe.answer)) for form in item.forms)
        or (item.words and item.text in probe.says)
        for item in needed
    ):
        return found
    return replace(found, probe=replace(probe, used=True), rank=found.rank + 4)


def _choose(source: ProbedContext, by_kind: dict[ProbeKind, list[Candidate]], most: int) -> list[Candidate]:
    """Return at most `most` fitting candidates, chosen from each kind in turn."""
    chosen: list[Candidate] = []
    waiting = {kind: iter(several) for kind, several in by_kind.items() if several}
    while waiting and len(chosen) < most:
        for kind in list(waiting):
            fitting = next((one for one in waiting[kind] if _fits(source, one, chosen)), None)
            if fitting is None:
                del waiting[kind]
            elif len(chosen) < most:
                chosen.append(fitting)
    return chosen


def _fits(source: ProbedContext, one: Candidate, chosen: Sequence[Candidate]) -> bool:
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


def _candidates(source: ProbedContext) -> Iterator[Candidate]:
    yield from sentence_questions(source)
    yield from _user_answers(source)
    yield from _edited_files(source)
    yield from _commands(source)
    yield from _continuations(source)


def _user_answers(source: ProbedContext) -> Iterator[Candidate]:
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
        yield Candidate(
            Probe("decision", asked, clip(answer, SHOWN), (), len(answer.split()) > 6, fact.message, says),
            fact.index,
            7,
        )


_LISTED = re.compile(r"(?:\d{1,3}[.)]|[-*•])\s")

_ASSENTS = re.compile(
    r"\W*(?:yes|yeah|yep|no|nope|ok|okay|sure|y|n|go ahead|ja|nein|oui|non|sí|да|нет|是|否)\b", re.IGNORECASE
)

# --- actions ----------------------------------------------------------------------------------------------------------

_DEFINES = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|static|pub|async|abstract)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|trait|enum)\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w{5,60})",
    re.MULTILINE,
)

_NAMES = re.compile(r"\b(?:[a-z]\w*_\w{2,}|[a-z]+[A-Z]\w+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+[A-Z]\w+)\b")


def _edited_files(source: ProbedContext) -> Iterator[Candidate]:
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
            yield Candidate(
                Probe("artifact", question, answer, accept, False, source.messages[index].id, says), index, rank
            )


def _commands(source: ProbedContext) -> Iterator[Candidate]:
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
        yield Candidate(Probe("recall", question, line, (), False, source.messages[index].id, says), index, 1.5)


def _continuations(source: ProbedContext) -> Iterator[Candidate]:
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
        yield Candidate(Probe("continuation", question, answer, accept, False, messages[at].id, says), at, 7)
    if checks := [(called, line) for called in calls if called.result and (line := _check_line(called))]:
        called, line = checks[-1]
        yield from _check_questions(source, called, line)
    if task := next((one for one in tasks_of(calls) if one.status == "in_progress"), None):
        question = "Which task of its own list is the agent working on?"
        yield Candidate(
            Probe("continuation", question, task.text, (), True, messages[task.index].id, task.text), task.index, 8
        )
    for task in [one for one in tasks_of(calls) if one.status == "pending"][:1]:
        question = "Which task on the agent's list is the first one not started?"
        yield Candidate(
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


def _request(question: str, fact: Fact, rank: float) -> Iterator[Candidate]:
    text = " ".join(without_paste(fact.text).split())
    if len(words_of(text)) >= 3:
        answer = clip(text, SHOWN)
        yield Candidate(Probe("continuation", question, answer, (), True, fact.message, answer), fact.index, rank)


def _check_line(called: ToolCall) -> str:
    """Return the command line of a test, build or lint; "" for others, and for lines too long, too short or multi-line
    to ask about."""
    line = next((one.target for one in called.actions if one.kind == "command"), "")
    core = core_command(line) if line and is_check(line) else ""
    return core if "\n" not in line.strip() and 6 <= len(core) <= LONGEST_COMMAND else ""


_PASSED = re.compile(r"\b(\d{1,7})(?: \w+)? (?:passed|passing)\b|\btests?:? +(\d{1,7}) passed\b", re.IGNORECASE)


def _check_questions(context: ProbedContext, called: ToolCall, line: str) -> Iterator[Candidate]:
    source = context.messages[called.index].id
    question = "Which command did the agent run last to test, build or lint?"
    says = f"the check that was run last is {line}"
    yield Candidate(Probe("continuation", question, line, (), False, source, says), called.index, 6.5)
    text = called.result.text[-4000:] if called.result else ""
    counts = [match[1] or match[2] for match in _PASSED.finditer(text)]
    if counts and len(set(counts)) == 1 and int(counts[0]) > 2 and called.result_index is not None:
        question = "How many tests passed when the agent ran its tests for the last time?"
        answered = context.messages[called.result_index].id
        says = f"{line}: {counts[0]} passed"
        yield Candidate(Probe("continuation", question, counts[0], (), False, answered, says), called.result_index, 6.2)


_TEMPLATES = (
    "In which file did the agent define `{symbol}`?",
    'Fill in the blank (from a user message): "Keep the {thing} below ' + BLANK + ' entries."',
    "Which command did the agent run to rebuild the {thing}?",
    'The agent asked: "Where should the {thing} be kept?" What did the user answer?',
    'Fill in the blank (from an error message): "{error}: could not open ' + BLANK + '"',
    "Which file did the agent delete because the {thing} had replaced it?",
    "How many seconds did the user allow for the {thing} to start?",
    'Fill in the blank (from a rule of the user): "Before touching the {thing}, run ' + BLANK + '."',
)

_INVENTED = (
    ("stitch_ferry_ledger", "tide ledger", "FerryLedgerError"),
    ("prune_orchard_index", "orchard index", "OrchardIndexError"),
    ("hydrateBeaconQueue", "beacon queue", "BeaconQueueError"),
    ("reconcile_harbour_map", "harbour map", "HarbourMapError"),
    ("foldLanternCache", "lantern cache", "LanternCacheError"),
    ("audit_meadow_quota", "meadow quota", "MeadowQuotaError"),
    ("mirrorGlacierPool", "glacier pool", "GlacierPoolError"),
    ("throttle_comet_feed", "comet feed", "CometFeedError"),
    ("sweepPaddockTable", "paddock table", "PaddockTableError"),
    ("graft_violet_schema", "violet schema", "VioletSchemaError"),
)
"""Invented names."""

MOST_CONTROLS = len(_TEMPLATES)


def controls(text: str, count: int) -> Iterator[Probe]:
    """Yield `count` questions, at most `MOST_CONTROLS`, about things that `text`, the whole context, does not name."""
    low = text.lower()
    free = [names for names in _INVENTED if not any(name.lower() in low for name in names)]
    for template, (symbol, thing, error) in zip(_TEMPLATES[:count], free, strict=False):
        yield Probe("control", template.format(symbol=symbol, thing=thing, error=error), "")
