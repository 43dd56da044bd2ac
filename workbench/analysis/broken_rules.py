"""Rules that a later tool call broke, and whether a compaction had dropped the rule before.

Only what the call itself shows counts (`workbench.facts.prohibitions`): a command line that runs a forbidden command or
passes a forbidden flag, a call of a forbidden tool, a change of a forbidden path, a commit or push to a forbidden
branch. A user's rule holds until it is replaced, a rule of a file until the agent sends a version without it; both end
with words of the user that may permit what they forbid. A command that another line of the file names is permitted.

Not seen: rules with a condition, or in other languages; what a script, a Makefile or a substitution runs; commands in
`if`, after `||`, or outside the project's folder; what the user permitted in the agent's own prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from workbench.analysis.course import course_messages
from workbench.analysis.forbidden_calls import calls_in_project, forbidden_part, words_of
from workbench.analysis.rule_file_states import covers_project, is_sent_unrecorded, project_path
from workbench.analysis.watched_rules import KEPT_STATES, is_hidden, judge_messages, judge_prompt
from workbench.base.figures import grouped
from workbench.base.printable import one_line
from workbench.base.text import counted
from workbench.compaction.context import prompted
from workbench.facts.answers import typed_texts, user_answers
from workbench.facts.pastes import without_paste
from workbench.facts.prohibitions import Prohibition, prohibitions
from workbench.facts.rule_files import RuleFile, files_in_text, rule_files
from workbench.facts.standing import rules_in_text, standing_rules
from workbench.facts.wording import is_agent_message, sentences
from workbench.session import Message, Session


class RuleBreak(Struct, frozen=True):
    """A call that breaks a rule: the id of its message, its epoch, its number in that epoch's context (both from 1),
    and its command line, path or tool. `lost_in` is the epoch whose compaction had removed the rule, None if the rule
    was in the context."""

    message: str
    epoch: int
    number: int
    command: str
    lost_in: int | None = None

    def __str__(self) -> str:
        lost = f", after the compaction of epoch {self.lost_in} had dropped the rule" if self.lost_in else ""
        return f"message {grouped(self.number)} of epoch {self.epoch} (`{self.command}`){lost}"


class BrokenRule(Struct, frozen=True):
    """A rule with the calls that break it, in order. `path` is that of its rule file, None: the user's rule; `message`
    is the id of the message that states it, None: the system prompt."""

    text: str
    path: str | None
    message: str | None
    breaks: tuple[RuleBreak, ...]

    @property
    def calls(self) -> str:
        """The number of calls, and the first of those before which a compaction dropped the rule, else the first."""
        first = next((one for one in self.breaks if one.lost_in), self.breaks[0])
        return f"broken by {counted(len(self.breaks), 'later call')}: {first}"

    def __str__(self) -> str:
        return f"“{one_line(self.text, RULE_CHARS)}” was {self.calls}."


RULE_CHARS = 140
"""Most characters of a rule in a report."""


class _Ban(Struct, frozen=True):
    """A prohibition of a rule. It holds for calls after message `start` (-1: from the beginning) and before `stop`;
    `others` is the rest of its rule file, "" for a user's rule."""

    rule: str
    path: str | None
    start: int
    stop: int
    forbidden: Prohibition
    others: str = ""
    always_sent: bool = False


def broken_rules(session: Session, epoch: int) -> tuple[BrokenRule, ...]:
    """Return the rules that calls of the first `epoch` epochs broke, each with its calls, in the order of the rules."""
    messages = course_messages(session)
    bans = [*_bans_of_files(session, messages), *_bans_of_user(messages)]
    if not bans:
        return ()
    found: dict[str, dict[tuple[int, str], RuleBreak]] = {}
    sources: dict[str, _Ban] = {}
    places = _places(session)
    calls = [one for one in calls_in_project(messages, session.cwd) if places[one.index][2]]
    texts = [*_texts_of_user(messages)]
    for ban in bans:
        permitted = _permitted_at(ban, messages, texts)
        for call in calls:
            number, at, _ = places[call.index]
            if ban.start < call.index < min(ban.stop, permitted) and number <= epoch:
                part = forbidden_part(ban.forbidden, call, session.cwd)
                if part and not _names_command(ban.others, part):
                    lost = _lost_in(ban, session, number, at)
                    one = RuleBreak(messages[call.index].id, number, at + 1, part, lost)
                    found.setdefault(ban.rule, {}).setdefault((call.index, part), one)
                    sources.setdefault(ban.rule, ban)
    return tuple(
        BrokenRule(rule, ban.path, messages[ban.start].id if ban.start >= 0 else None, tuple(_ordered(found[rule])))
        for rule, ban in sources.items()
    )


def broken_after_loss(session: Session) -> Mapping[int, int]:
    """Return the number of rules that a call broke after a compaction had removed them, by the epoch it ended."""
    found = broken_rules(session, len(session.epochs))
    return Counter(epoch for rule in found for epoch in {one.lost_in for one in rule.breaks} if epoch is not None)


def _ordered(breaks: dict[tuple[int, str], RuleBreak]) -> Iterator[RuleBreak]:
    return (breaks[key] for key in sorted(breaks))


def _places(session: Session) -> list[tuple[int, int, bool]]:
    """Return for each message of `course_messages` its epoch, its index in that context, and whether it is no copy."""
    found: dict[int, tuple[int, int, bool]] = {}
    for epoch in session.epochs:
        for at, member in enumerate(epoch.members):
            found.setdefault(member, (epoch.number, at, member not in epoch.copies))
    return [*found.values()]


# --- rules in force ---------------------------------------------------------------------------------------------------


def _bans_of_user(messages: Sequence[Message]) -> Iterator[_Ban]:
    first: dict[str, tuple[int, str]] = {}
    for index, words in typed_texts(messages):
        for text, _ in rules_in_text(words):
            first.setdefault(text.lower(), (index, words))
    for one in standing_rules(messages):
        forbidden = prohibitions(one.fact.text)
        at, words = first[one.fact.text.lower()]
        if forbidden and not _is_limited(one.fact.text, words):
            stop = one.superseded_by.index if one.superseded_by else len(messages)
            yield from (_Ban(one.fact.text, None, at, stop, each) for each in forbidden)


def _bans_of_files(session: Session, messages: Sequence[Message]) -> Iterator[_Ban]:
    """Yield the prohibitions of the files that apply to the whole project. Paths are those of the project's folder."""
    records = [*files_in_text(prompted(session.system, session.memories)), *rule_files(messages)]
    for number, one in enumerate(records):
        path = project_path(one.path, session)
        if not _applies(one, session) or any(_same_rules(one, other) for other in records[:number]):
            continue
        later = (other for other in records[number + 1 :] if other.sent and project_path(other.path, session) == path)
        versions = [other for other in later if other.text != one.text]
        start = -1 if one.index is None else one.index
        for rule in one.rules:
            if (forbidden := prohibitions(rule)) and not _is_limited(rule, one.text):
                stop = next((other.index for other in versions if rule not in other.rules), None) or len(messages)
                sent = one.index is None or is_sent_unrecorded(session, one.path)
                for each in forbidden:
                    if "/" not in path or each.forbids not in ("write", "touch", "delete", "read"):
                        yield _Ban(rule, path, start, stop, each, _without(one.text, rule), sent)


def _same_rules(one: RuleFile, other: RuleFile) -> bool:
    return one.text == other.text and (other.index or 0) <= (one.index or 0)


def _applies(one: RuleFile, session: Session) -> bool:
    """Return whether a file's rules hold in the whole project, and not for a folder or certain paths of it."""
    in_project = covers_project(one.path, session)
    return in_project and not re.search(r"[\\/]rules[\\/]|\.instructions\.md$|\.clinerules[\\/]", one.path)


def _without(text: str, rule: str) -> str:
    found = _place_of(rule, text)
    return text[: found.start()] + text[found.end() :] if found else text


def _place_of(rule: str, text: str) -> re.Match[str] | None:
    return re.search(r"\s+".join(map(re.escape, rule.split())), text)


def _is_limited(rule: str, text: str) -> bool:
    """Return whether the text around a rule may limit it: the rest of its paragraph with the items below, its heading,
    and the line that introduces its list."""
    found = _place_of(rule, text)
    if found is None:
        return False
    after = re.split(r"\n\s*\n|\n(?=[-*#\d])", text[found.end() :], maxsplit=1)[0]
    before = text[: found.start()].split("\n")[:-1]
    heading = next((line for line in reversed(before) if line.startswith("#")), "")
    lead = next((line for line in reversed(before) if line.rstrip("* ").endswith(":") and not line[:1].isspace()), "")
    return _PERMITS.search(after) is not None or _SCOPE.search(f"{heading}\n{lead}") is not None


_PERMITS = re.compile(
    r"\b(?:unless|except(?! by)\w*|only (?:if|when|with|on|for|after)|if (?:i|you|we|the user|asked|needed|absolutely)|"
    r"when (?:i|the user|asked)|allowed|permitted|ask\w*|(?:is|are) (?:fine|okay?))\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\b(?:if|when\w*|while|during|before|after|unless|workers?|sub-?agents?|reviewers?|CI)\b", re.IGNORECASE
)


# --- permissions and compactions --------------------------------------------------------------------------------------


def _texts_of_user(messages: Sequence[Message]) -> Iterator[tuple[int, str, str]]:
    """Yield what the user typed or chose: the index of the message, the text, and the question or the agent's text that
    it follows."""
    agent, at = "", 0
    for index, words in sorted((*typed_texts(messages), *((one.index, one.text) for one in user_answers(messages)))):
        agent = next((one.text for one in reversed(messages[at:index]) if is_agent_message(one) and one.text), agent)
        at = index
        yield index, without_paste(words), agent
    yield from ((one.index, one.question, "") for one in user_answers(messages))


def _permitted_at(ban: _Ban, messages: Sequence[Message], texts: Sequence[tuple[int, str, str]]) -> int:
    """Return the index of the user's first text that may permit what is forbidden, else the number of messages. Such a
    text names it in a sentence that does not forbid it as well, or follows a question of the agent that names it."""
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words_of(ban.forbidden)))})(?![\w-])", re.IGNORECASE)
    for index, words, question in texts:
        if ban.path is None and index < ban.start:
            continue
        named = any(
            names.search(one) and one != ban.rule and ban.forbidden not in prohibitions(one) for one in sentences(words)
        )
        if named or ("?" in question and index > ban.start and names.search(question)):
            return index
    return len(messages)


def _names_command(others: str, part: str) -> bool:
    """Return whether the rest of a rule file names the command that a call runs, which may permit it."""
    words = [word for word in part.split()[:2] if not word.startswith("-")]
    return re.search(rf"(?<![\w-]){re.escape(' '.join(words))}(?![\w-])", others) is not None


def _lost_in(ban: _Ban, session: Session, number: int, at: int) -> int | None:
    """Return the epoch whose compaction removed the rule from the context of a call: message `at` of epoch `number`."""
    seen = session.context(number)[:at]
    prompt = prompted(session.system, session.memories)
    if ban.always_sent or number == 1 or any(map(is_hidden, seen)):
        return None
    if KEPT_STATES & {judge_prompt(ban.rule, prompt), judge_messages(ban.rule, seen)}:
        return None
    before = range(number - 1, 0, -1)
    return next((one for one in before if judge_messages(ban.rule, session.context(one)) in KEPT_STATES), None)
