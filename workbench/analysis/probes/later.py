"""Questions about what the session used later: files, names of code, commands, numbers, identifiers and sentences.

`workbench.analysis.needed_items` says what was used. A question asks for an item by what the context says about it: a
name that only one file defines, the beginning of a command, or the sentence or line of a tool result around a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.analysis.mentions import commands, plain_path, words_of
from workbench.analysis.needed_items import Item
from workbench.analysis.probes.cloze import (
    FEWEST_BESIDE_AN_ERROR,
    LONGEST,
    LONGEST_COMMAND,
    ProbeCandidate,
    ProbedContext,
    by_beginning,
    is_specific_term,
    is_unique,
    is_worth_asking,
    terms_of,
    with_blank,
)
from workbench.analysis.probes.probe import BLANK, Probe, ProbeKind, contains_term
from workbench.analysis.retention import superseded_texts
from workbench.compaction.shape_calls import calls_of
from workbench.facts.diffstat import text_replacements
from workbench.facts.pastes import without_paste
from workbench.facts.wording import is_agent_message, message_prose, sentences
from workbench.session import Message, ToolResult

DEFINES = re.compile(
    r"^\s*(?:\d+\s?[\t→|:│]\s*)?(?:(?:export|default|public|private|protected|static|pub|async|abstract)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|trait|enum|type)\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w{5,60})",
    re.MULTILINE,
)

_CONSTANT = re.compile(
    r"^(?:[ \t]*\d+[ \t]?[\t→|:│])?(?:export )?(?:const|let|var) (?P<name>[A-Za-z_]\w{5,60})\s*[:=]", re.MULTILINE
)
"""Constants at the beginning of a line, which belong to the file and not to a function."""

_TEST = re.compile(
    r"^[ \t]*(?:\d+[ \t]?[\t→|:│][ \t]*)?(?:it|test|describe)(?:\.\w+)?\( ?(['\"`])(?P<name>[^'\"`\n$\\]{15,100})\1",
    re.MULTILINE,
)
"""Tests that are named by a text."""

RANK = 4.0
"""Rank of the best questions about an item."""


def is_about(probe: Probe, item: Item) -> bool:
    """True if a question asks for the item. Its answer is the item or contains its name; for a name, the question may
    contain it instead; for a sentence, the text that the question is about contains it."""
    answers = (probe.answer, *probe.accept)
    if item.words:
        return item.text in probe.says
    if item.kind == "name" and f"`{item.text}`" in probe.question:
        return True
    return any(form in answers or (len(form) >= 6 and contains_term(form, probe.answer)) for form in item.forms)


def used_questions(source: ProbedContext, used: Sequence[Item]) -> Iterator[ProbeCandidate]:
    """Yield questions about each used item, best first."""
    search = _Search(source)
    for item in used:
        for found in search.questions(item):
            yield replace(found, probe=replace(found.probe, used=True))


def further_questions(source: ProbedContext) -> Iterator[ProbeCandidate]:
    """Yield the same questions about all files and commands, and about the user's sentences, for sessions with few
    better ones."""
    search = _Search(source)
    paths = dict.fromkeys(path for path, _, _ in search.contents)
    items = [Item("path", path, (path,)) for path in paths]
    items += [Item("command", line, (line,)) for line in search.commands if not _MINOR_COMMAND.match(line)]
    for item in items:
        yield from search.questions(item)
    superseded = superseded_texts(source.shape)
    for index, sentence in search.prose:
        if is_agent_message(source.messages[index]) or sentence.lower() in superseded:
            continue
        yield from by_beginning(
            source, "recall", "The user wrote a sentence", "sentence", sentence, index, search.low, RANK
        )


_MINOR_COMMAND = re.compile(
    r"\W|(?:get|test|select|set|write|where|measure|format|remove|new)-|(?:ba|z)?sh -c"
    r"|(?:foreach|if|for|while|switch)\b|.*[{}$]",
    re.IGNORECASE,
)
"""Command lines that are not asked for: they only look, print or tidy up, or are parts of scripts."""


class _Search:
    """Commands, sentences and file contents of a context, read once, to find items in them."""

    def __init__(self, source: ProbedContext) -> None:
        self._source = source
        self.commands = {
            line: index
            for index, message in enumerate(source.messages)
            for line in sorted(commands(message))
            if not _is_sentence(line)
        }
        self.prose = [(index, one) for index, message in enumerate(source.messages) for one in _prose(message)]
        self.low = [" ".join(one.lower().split()) for _, one in self.prose]
        self.contents = list(_contents(source))
        self._names: dict[str, dict[str, int]] = {}
        self._lines: dict[str, set[str]] = {}
        for path, index, text in self.contents:
            for name in _defined(text):
                self._names.setdefault(name, {}).setdefault(path, index)
            for line in (*_prose_lines(text), *_tests(text)):
                self._lines.setdefault(line, set()).add(path)

    def questions(self, item: Item) -> Iterator[ProbeCandidate]:
        match item.kind:
            case "path":
                yield from self._definitions(item)
                yield from self._only_in_file(item, _tests, 'Which file has the test "{}"?', RANK)
                yield from self._only_in_file(item, _prose_lines, 'Which file has the line "{}"?', RANK - 1)
                yield from self._around(item)
            case "command":
                yield from self._command(item)
            case "name":
                yield from self._definition_of(item.text)
                yield from self._around(item)
            case "number" | "id":
                yield from self._around(item)
            case "decision" | "stated":
                yield from self._sentence(item)

    def _definitions(self, item: Item) -> Iterator[ProbeCandidate]:
        """Yield a question for the first name that only this file defines and that its path does not give away."""
        for path, _, text in self.contents:
            for name in _defined(text) if _is_file(path, item) else ():
                if found := [*self._definition_of(name)]:
                    yield from found
                    return

    def _definition_of(self, name: str) -> Iterator[ProbeCandidate]:
        """Yield a question for the only file that defines a name, if its path does not give it away."""
        parts, paths = _name_parts(name), self._names.get(name, {})
        if len(paths) != 1 or len(parts) < 2:
            return
        ((path, index),) = paths.items()
        if not any(part in path.lower() for part in parts):
            yield self._of_file(f"In which file is `{name}` defined?", path, index, f"`{name}` is in {path}", RANK)

    def _only_in_file(
        self, item: Item, lines_of: Callable[[str], Iterable[str]], question: str, rank: float
    ) -> Iterator[ProbeCandidate]:
        """Yield a question for the first line (or test) of the item's file that no other file has and that does not
        contain the file's name."""
        stem = item.text.rpartition("/")[2].rpartition(".")[0].lower()[:5]
        for path, index, text in self.contents:
            for line in lines_of(text) if _is_file(path, item) else ():
                if self._lines[line] == {path} and stem not in line.lower():
                    yield self._of_file(question.format(line), path, index, f"{line} is in {path}", rank)
                    return

    def _of_file(self, question: str, path: str, index: int, says: str, rank: float) -> ProbeCandidate:
        answer, accept = self._source.file(path)
        return _probe(self._source, "artifact", question, answer, accept, index, says, rank)

    def _command(self, item: Item) -> Iterator[ProbeCandidate]:
        """Yield a question for a command by its beginning, or for the one word in which it differs from the others."""
        index, words = self.commands.get(item.text), item.text.split()
        if index is None or len(item.text) > LONGEST_COMMAND or item.text.startswith(("git ", "gh ")):
            return
        for size in range(1, len(words) // 2 + 1):
            begins, rest = " ".join(words[:size]), " ".join(words[size:])
            if sum(line.startswith(begins) for line in self.commands) == 1 and is_specific_term(rest):
                question = f'The agent ran one command that begins "{begins} …". What is the whole command?'
                yield _probe(self._source, "recall", question, item.text, (), index, item.text, RANK)
                return
        for word in sorted((one for one in words[1:] if not one.startswith("-")), key=len, reverse=True):
            frame = item.text.replace(word, BLANK, 1)
            before, _, after = frame.partition(BLANK)
            alike = [line for line in self.commands if line.startswith(before) and line.endswith(after)]
            if item.text.count(word) == 1 and len(word) >= 4 and is_specific_term(word) and alike == [item.text]:
                question = f'Fill in the blank (from a command that the agent ran): "{frame}"'
                answer = word.strip("'\"")
                yield _probe(self._source, "recall", question, answer, (), index, item.text, RANK)
                return

    def _around(self, item: Item) -> Iterator[ProbeCandidate]:
        """Yield a question with a blank for the value or file: from a sentence, else from a line of a tool result."""
        results = ((at, line) for at, message in enumerate(self._source.messages) for line in _result_lines(message))
        for what, said_at in (("", self.prose), ("a tool result", results)):
            for index, sentence in said_at:
                if not any(form in sentence for form in item.forms):
                    continue
                who = what or (
                    "an agent message" if is_agent_message(self._source.messages[index]) else "a user message"
                )
                if found := _blank_for(self._source, item, sentence, index, who):
                    yield found
                    return

    def _sentence(self, item: Item) -> Iterator[ProbeCandidate]:
        """Yield a question about a sentence of the user, or about a decision, by its first words."""
        low = " ".join(item.text.lower().split())
        if low not in self.low:
            return
        index, sentence = self.prose[self.low.index(low)]
        who = "The agent" if is_agent_message(self._source.messages[index]) else "The user"
        kind: ProbeKind = "decision" if item.kind == "decision" else "recall"
        yield from by_beginning(
            self._source, kind, f"{who} wrote a sentence", "sentence", sentence, index, self.low, RANK
        )


def _contents(source: ProbedContext) -> Iterator[tuple[str, int, str]]:
    """Yield (path, index of the message, text) of each file that was read, written, or found by a search."""
    for called in calls_of(source.shape):
        for one in text_replacements(called):
            yield source.file(one.path)[0], called.index, one.new
        viewed = {action.target for action in called.actions if action.kind == "viewed"}
        if called.result and called.result_index is not None and called.ok is not False and len(viewed) == 1:
            yield source.file(viewed.pop())[0], called.result_index, called.result.text
        elif called.result and called.result_index is not None:
            for hit in _HIT.finditer(called.result.text):
                yield source.file(hit["path"])[0], called.result_index, hit["text"]


_HIT = re.compile(r"^(?P<path>[^\s:]{1,200}\.\w{1,8}):\d{1,6}[:-](?P<text>.*)$", re.MULTILINE)
"""Line of a search: file, number of the line, and the line."""


def _defined(text: str) -> Iterator[str]:
    """Yield the names that a text defines, constants last."""
    for form in (DEFINES, _CONSTANT):
        yield from (match["name"] for match in form.finditer(text))


def _tests(text: str) -> Iterator[str]:
    return (match["name"] for match in _TEST.finditer(text))


def _name_parts(name: str) -> tuple[str, ...]:
    return tuple(part[:5].lower() for part in re.findall(r"[A-Z]?[a-z0-9]{3,}", name.replace("_", " ")))


_GUTTER = re.compile(r"^\s*\d+\s?[\t→|:│]")


def _prose_lines(text: str) -> Iterator[str]:
    """Yield lines of prose of a file, without line numbers and signs of headings, lists and comments."""
    for line in text.split("\n"):
        prose = _GUTTER.sub("", line).strip().strip("#*/-> ").strip()
        if 30 <= len(prose) <= 110 and len(words_of(prose)) >= 4 and '"' not in prose and _PROSE_LINE.fullmatch(prose):
            yield prose


_PROSE_LINE = re.compile(r"[^\W\d_][^{}<>=;\\]*[^\W_][.!)]?")


def _is_file(path: str, item: Item) -> bool:
    return path == item.text or path.endswith(f"/{item.text}") or item.text.endswith(f"/{path}")


def _is_sentence(line: str) -> bool:
    """True if a line taken for a command is prose: it has only words, among them one such as "the"."""
    words = line.split()
    return not _SMALL.isdisjoint(words) and not any(set(word) & set("/\\=$<>{}") or word[0] == "-" for word in words)


_SMALL_WORDS = "the a an of with at is are was by to and from or for this that its"
_SMALL = frozenset(_SMALL_WORDS.split())


def _prose(message: Message) -> list[str]:
    text = message_prose(message) if is_agent_message(message) else without_paste(message.user_text)
    return list(sentences(text))


def _result_lines(message: Message) -> list[str]:
    results = (block.text for block in message.blocks if isinstance(block, ToolResult))
    lines = (line for text in results for line in text.split("\n") if len(line) <= LONGEST)
    return [" ".join(_GUTTER.sub("", line).split()) for line in lines]


def _blank_for(source: ProbedContext, item: Item, sentence: str, index: int, who: str) -> ProbeCandidate | None:
    """Return a question that is the sentence with a blank for the item; None if the rest of the sentence gives the item
    away, is not unique or says too little."""
    for term in terms_of(sentence, agents=True) if is_worth_asking(sentence, agents=False) else ():
        named = item.kind == "path" and _is_file(plain_path(term, source.folder), item)
        frame = with_blank(sentence, term, FEWEST_BESIDE_AN_ERROR) if named or term in item.forms else None
        if frame is None or not is_unique(frame, term, source.flat):
            continue
        answer, accept = source.file(item.text) if named else (term, ())
        kind: ProbeKind = "artifact" if named else "recall"
        question = f'Fill in the blank (from {who}): "{frame}"'
        return _probe(source, kind, question, answer, accept, index, sentence, RANK - 2)
    return None


def _probe(
    source: ProbedContext,
    kind: ProbeKind,
    question: str,
    answer: str,
    accept: tuple[str, ...],
    index: int,
    says: str,
    rank: float,
) -> ProbeCandidate:
    return ProbeCandidate(Probe(kind, question, answer, accept, False, source.messages[index].id, says), index, rank)
