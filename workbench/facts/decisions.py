"""Facts about decisions of user and agent: stated choices, and the user's answers to questions, through a tool or in
text. Prefers precision to recall."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.base.text import clip_at_word
from workbench.facts.answers import user_answers
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.requests import typed_requests
from workbench.facts.word_tables import SPACED, UNSPACED, alternatives, pattern
from workbench.facts.wording import LONGEST_SENTENCE, is_agent_message, is_question, message_prose, normalize, sentences
from workbench.session import Message

_CHOICE = (
    r"(?:use|go with|switch to|stick with|keep|drop|skip|reuse|store|put|remove|leave|revert|collapse|converge|omit)"
)
_SPEECH = (
    r"(?:\w{1,12}ly |also |now |still |just |going to |not )*(?:address|adjudicat|admit|answer|ask|brief|deriv|explain|"
    r"flag|hono|land|mention|not[ei]|rais(?:e|ing) (?:it|this|that|an? )|record|report|say|said|stop|surfac|tell|wait|"
    r"writ(?:e|ing) (?:it|that|this))"
)
"""Verbs with which an agent announces its own words; they decide nothing."""
_LOOKUP = r"check|look|read|see|run|try"
"""Verbs with which an agent looks something up; they decide nothing yet."""


def _pattern(needed: str, *patterns: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    return re.compile(needed), tuple(map(re.compile, patterns))


_DECISION = (
    _pattern(
        r"instead|rather than|because|since|so that|for now| over |went with",
        r"\b(?:i|we)(?:'ve| have)? (?:gone|went) with\b",
        rf"^(?:rather than|instead of) .{{3,150}}, (?:i|we)(?:'m| am|'re| are|'ll| will) (?!{_SPEECH}|{_LOOKUP})",
        r"\b(?:i|we) (?:chose|picked|prefer|selected) .{1,150}\b(?:because|over|instead of|rather than|since)\b",
        rf"\b(?:i|we)(?:'ll| will| am going to|'m going to|'re going to|'m still going to) {_CHOICE}\b.{{2,300}}"
        r"\b(?:instead|rather than|because|since|so that|for now)\b",
        rf"\b(?:i|we)(?:'m| am|'re| are|'ll| will) (?!{_SPEECH}).{{3,250}}\b(?:rather than|instead of)\b",
        rf"\b(?:i|we)(?:'ll| will|'m going to| am going to) (?!{_SPEECH}|{_LOOKUP}).{{3,200}}\binstead\W*$",
        rf"^(?:\w{{2,7}},? )?let me (?!{_SPEECH}|{_LOOKUP}).{{3,200}}\b(?:rather than|instead of)\b",
        r"(?:^|\bbut )since .{5,200}, (?:i|we)(?:'m going to|'ll| will| am going to) ",
        r"\b(?:i|we)(?:'ve| have)? (?:dropped|removed|reverted|replaced|kept|moved|switched|skipped|avoided|used|left) "
        r".{2,200}\b(?:because|since|instead of|rather than|so that)\b",
        r"\b(?:doesn't|don't|does not|do not) need (?:an?|the|any)\b.{3,200}\bbecause\b",
        r"(?:^|: )(?:use|keep|prefer|call|put|write|move|try) (?!of\b).{1,120}\b(?:instead of|rather than)\b",
        r"\b(?:let's|let us) try (?:a different|another)\b.{3,200}\b(?:instead|rather)\b",
    ),
    _pattern(
        r"decid|chose|opted|settled|agree|picked|lock|decision",
        r"\b(?:i|we) (?:have |'ve )?(?:decided|chose|opted|settled|agreed|picked) (?:to|on|for|that|not|against|the)\b",
        r"\b(?:i|we)(?:'ve| have) (?:decided|chosen|opted|settled|agreed)\b",
        r"^(?:decision|decided|locked|chosen approach|the decision)\b.{8}",
        r"^agreed (?:to|on|that|upon)\b",
        r"\bi agree with (?:your|this|that|the)\b",
    ),
    _pattern(
        r"let'?s |let us |'d |would |(?:going|go) with|choosing|picking|sticking|switching|simplifying|dropping",
        r"\b(?:i|we)(?:'d| would) (?:go with|only want|remove|drop|leave|omit)\b",
        r"\b(?:let's|lets|let us) (?:go with|use|stick with|stick to|switch to|keep|drop|skip|not|avoid|"
        r"do option|store|put|leave|remove|roll back|revert)\b",
        r"\b(?:i|we)(?:'m| am|'re| are) (?:choosing|picking|sticking with|switching to|going with|simplifying|"
        r"dropping)\b",
        r"\b(?:going with|go with) (?:option|approach|the|plan|an?|\W?\w{1,20}\W? (?:instead|because))",
    ),
    _pattern(
        r"keeping",
        r"\b(?:i|we)(?:'m| am|'re| are) (?:.{3,120}\band )?keeping .{3,160}"
        r"(?:\b(?:in place|as is|unchanged|intact)\b|, not )",
    ),
    _pattern(
        r"back|instead|simpl|original|from scratch",
        r"^(?:\w{2,7},? )?(?:let me|let's|(?:(?:i|we)'ll|(?:i|we) will|(?:(?:i|we) )?(?:need|have) to)) "
        r"(?:just |simply |now )?(?!go back (?:over|through|and|to (?:check|look|read)))"
        r"(?:revert|roll|switch|replace|strip|simplify|convert|rewrite|drop|undo|fall|go|start|move)\b"
        r".{0,200}\b(?:back|instead|simple\w*|original|from scratch)\b",
    ),
    _pattern(
        r"fix|solution|approach|option|choice|way|theirs|ours|'s (?:version|side)|supersedes|no need",
        r"^the (?:fix|approach|solution)(?: is)?: .{16}",
        r"^(?:let me |i'll |we )?(?:take|keep|use) (?:theirs|ours|the [\w-]{1,30}'s (?:version|side))\b",
        r"\b(?:that|this) supersedes\b",
        r"\b(?:better|best|right|cleanest|simplest|chosen|correct) "
        r"(?:approach|fix|option|solution|choice|way) (?:is|here is) to\b",
        r"\bno need (?:for|to)\b.{3}",
    ),
)
"""Groups of patterns of a decision, each with a pattern of words that every match contains. A search for these words
first saves two thirds of the time."""
_USERS_DECISION = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:no|nah|nope)[,.]? (?:remove|keep|leave|use|let's|lets|we (?:want|should|need)|i want|put|make|"
        r"drop|revert|skip)\b",
        r"^(?:ok,? |yes,? |you |we |i )?(?:can |just )?(?:leave|keep|drop|skip|remove) (?:it|this|that|them|those)\b",
        r"^(?!(?:i|we|it|the|this) )[\w./, ()?-]{2,160} (?:->|→|=>) [\w./-]+(?: \([^)]{1,40}\))?$",
        r"^i think (?!we should (?:look|check)).{1,80}\b(?:is|are) (?:too|to) much\b",
        r"^(?:ok|okay|alright)[,.]? (?:do nothing|option \w|"
        r"(?:let's|lets) (?:do|go|have|use|keep|try|implement|build|make|add|take|move|split|remove|write))\b",
        r"^(?:yes|yeah|yep)[,.]? (?:please )?(?:add|make|use|keep|remove|write|put|create|include|drop|split|move)\b",
        r"^(?:yes|yeah|yep|na)[,.]? let's (?!see|check|look|talk|discuss|think)\w",
        r"^(?:\w{2,4},? )?let's do (?:that|this|it)\W*$",
        r"^(?:i'd|i would) (?:only )?(?:want|prefer|go with|rather(?! not know))\b",
        r"^(?:\w{2,5},? )?(?:but )?make it .{2,80}, not\b",
        r"^(?:fine|ok|okay|alright),? but (?:we|let's|please) (?:skip|drop|keep|leave|use|do|remove)\b",
        r"^(?:\w{2,6},? |i think |then )?(?:let's|lets|let us) (?:have|give|roll|make|split|leave|move|stay|wait|"
        r"ignore|do \w+ (?:only|as|in|first|instead)|just)\b",
        r"^(?:we'll|we will|i'll|i will) (?:use|go with|take|stick with|keep|stay with)\b",
    )
)
"""Patterns of a user's decision: rejecting, accepting or settling an open choice."""
_QUESTION_TAIL = re.compile(
    r",? (?:and )?(?:can|could|would|will|should|do|does|is|are|right|no|yeah|ok|okay)\b[^,]{0,200}\?$", re.IGNORECASE
)
_OTHER_LANGUAGES = re.compile(alternatives("decided", "decides"))
"""Patterns of a decision in the other languages."""
_OTHER_LANGUAGES_ASCII = re.compile(alternatives("decided", "needs", SPACED))
"""Words that every ASCII match of `_OTHER_LANGUAGES` contains."""


def _either(name: str) -> str:
    """Return a pattern of an entry in all languages; in languages with spaces a match ends at a word boundary."""
    return rf"(?:{alternatives('decided', name, SPACED)})\b|{alternatives('decided', name, UNSPACED)}"


_YES, _NO = _either("yes"), _either("no")
_PICKED_ITEM = (
    rf"(?:(?:{alternatives('decided', 'pick')}) ?)?"
    r"(?:#?\d{1,2}|[a-d]\b|both|all|neither|the (?:first|second|third|last|former|latter))"
)
_PICK = re.compile(rf"\W*(?:(?:{_YES}|{_NO})\W+)?{_PICKED_ITEM}(?![\w.])(?! \w+\.)", re.IGNORECASE)
_REPLY = re.compile(rf"\W*(?:{_YES}|{_NO})|{_PICK.pattern}", re.IGNORECASE)
_OFFER = re.compile(
    rf"\b{_either('offer')}|\b(?:ok|okay|approve|agree|sounds? good|good to go)\b[^?]{{0,40}}\?", re.IGNORECASE
)
_NUMBERS = re.compile(r"(?<![\w.#])(\d{1,2})(?![\w.])")
_ITEM = re.compile(
    r"^\s{0,6}(?:[-*] )?\**#?(\d{1,2})[.):]\**\s+(\S.{2,300})$|(?<![\w.])#(\d{1,2}) \(([^)\n]{3,120})\)", re.M
)
_WORD = re.compile(r"[#\w][\w-]{2,}")
_COMMON = {"the", "and", "you", "for", "want", "with", "this", "that", "would", "like", "should", "into", "from",
           "have", "any", "next", "now", "yet", "are", "not", "can"}  # fmt: skip

QUESTION_CHARS = 500
"""Length of the end of an agent's text that is searched for its question, in characters."""

REPLY_CHARS = 160
"""Maximum length of a sentence that only answers, in characters."""

ECHO_CHARS = 80
"""Maximum length of a reply that answers an offer by repeating one of its words, in characters."""


def decision_facts(messages: Sequence[Message]) -> Iterator[Fact]:
    """Yield decisions: answers that the user gave through tools, then answers and decisions in the user's text, then
    decisions in the agent's text. The detail of an answer is its question. `by` is `user` or `agent`."""
    for answer in user_answers(messages):
        if answer.settles:
            yield Fact("decision", answer.text, answer.message, answer.index, answer.question, by="user")
    for index, words in typed_requests(messages):
        own = [*_short_sentences(without_paste(words))]
        before = _words_before(messages, index) if own and messages[index].starts_round else ""
        replied = _answered_question(words, own[0], before) if before else ""
        if replied:
            yield Fact("decision", own[0], messages[index].id, index, replied, by="user")
        for sentence in own[1:] if replied else own:
            if is_users_decision(sentence):
                yield Fact("decision", sentence, messages[index].id, index, by="user")
    for index, message in enumerate(messages):
        if is_agent_message(message):
            for sentence in _short_sentences(message_prose(message)):
                if is_decision(sentence):
                    yield Fact("decision", sentence, message.id, index, by="agent")


def _words_before(messages: Sequence[Message], index: int) -> str:
    """Return the agent's last text before message `index`, or "" if the user wrote in between."""
    for before in range(index - 1, -1, -1):
        message = messages[before]
        if message.starts_round or message.kind == "summary":
            return ""
        if is_agent_message(message) and (words := message_prose(message)):
            return words
    return ""


def _answered_question(words: str, first: str, before: str) -> str:
    """Return the agent's question that the `first` sentence of a message answers, with the list items that the answer
    picks; "" if it answers none."""
    if len(first) > REPLY_CHARS or is_question(first):
        return ""
    asking = [sentence for sentence in sentences(before[-QUESTION_CHARS:]) if is_question(sentence)]
    question = next((one for one in reversed(asking) if _OFFER.search(one)), asking[-1] if asking else "")
    replies, picks = _REPLY.match(first) is not None, _PICK.match(first) is not None
    if replies and len(first) <= ECHO_CHARS and (picked := _picked_items(first, before)):
        return f"{question} → {picked}" if question else picked
    offered = _OFFER.search(question) is not None
    return question if picks or (offered and (replies or _repeats_offer(words, question))) else ""


def _repeats_offer(words: str, question: str) -> bool:
    """Return whether a short text repeats a word of an offer ("Shall I fix the test?", "fix it")."""
    if len(words) > ECHO_CHARS or "?" in words:
        return False
    own, offered = ({word.lower() for word in _WORD.findall(text)} for text in (words, question))
    return bool((own & offered) - _COMMON)


def _picked_items(first: str, before: str) -> str:
    """Return the items of the agent's list that a reply names by number."""
    if not (numbers := _NUMBERS.findall(first)):
        return ""
    items = {found[1] or found[3]: found[2] or found[4] for found in _ITEM.finditer(before)}
    return "; ".join(f"{number}. {clip_at_word(items[number], 120)}" for number in numbers if number in items)


def _short_sentences(words: str) -> Iterator[str]:
    return (sentence for sentence in sentences(words) if len(sentence) <= LONGEST_SENTENCE)


def is_decision(sentence: str) -> bool:
    if is_question(sentence):
        return False
    low = normalize(sentence)
    if any(needed.search(low) and any(pattern.search(low) for pattern in patterns) for needed, patterns in _DECISION):
        return True
    return (not low.isascii() or _OTHER_LANGUAGES_ASCII.search(low) is not None) and _OTHER_LANGUAGES.search(
        low
    ) is not None


def is_users_decision(sentence: str) -> bool:
    """Return whether a user's sentence states a decision. A question may begin with one ("let's store it in the file,
    can you show me how?")."""
    stated = _QUESTION_TAIL.sub("", sentence) if is_question(sentence) else sentence
    if is_decision(stated):
        return True
    low = normalize(stated)
    if is_question(stated):
        return False
    return pattern("decided", "plans").search(low) is not None or any(one.search(low) for one in _USERS_DECISION)
