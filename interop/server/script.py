"""What the server answers, as the person's prompt says it: words in double brackets.

    [[call NAME {"json": "arguments"}]]   a tool call; several in one turn are made in parallel
    [[think WORDS]]                       reasoning before the answer
    [[say WORDS]]                         the answer's text; without it the answer is counted: "Answer 3."
    [[then]]                              the next turn of the same prompt, after the results
    [[tokens 170000]]                     what the answer says that its prompt took
    [[too long 6]]                        the request is refused while it holds more than so many earlier answers

A turn that a prompt says nothing of, and every one after its last, is a counted answer. Nothing is remembered between
requests: how many turns a prompt had already is seen in the request.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"[[call {self.name} {json.dumps(self.arguments, ensure_ascii=False)}]]"


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model says once. `tokens` of the prompt: 0 for as many as its size tells. `most`: of earlier answers,
    where a request with more of them is refused as too long."""

    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    tokens: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks: what the person typed last, the model's turns since it and before it, and
    whether there are tools to call."""

    prompt: str
    since: int
    before: int
    tools: bool


def typed(content: Any) -> str:
    """The person's words of a message, whose content is one text or parts: its last text that is not all in tags, as
    tools put theirs in."""
    texts = [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]
    own = (_TAGGED.sub("", text).lstrip() for text in reversed(texts))
    return next((text for text in own if text and not text.startswith("<")), "")


_TAGGED = re.compile(r"\A(?:\s*<([\w-]+)>.*?</\1>)+", re.DOTALL)

_OPENING = re.compile(r"\[\[(call|think|say|tokens|too long|then)\b ?")


_SUMMARY = re.compile(r"summar|snapshot|compact", re.IGNORECASE)
"""What a prompt that asks for a summary has somewhere."""


def turn_for(asked: Asked, summary: str) -> Turn:
    """The turn that a request is answered with, `summary` where it asks for one.

    A request without tools may hold a whole conversation as one text: nothing in it steers the answer.
    """
    counted = f"Answer {asked.before + asked.since + 1}."
    steered = asked.tools and _OPENING.search(asked.prompt)
    if not steered:
        return Turn(summary if _SUMMARY.search(asked.prompt) else counted)
    turns = _turns(asked.prompt)
    turn = turns[asked.since] if asked.since < len(turns) else Turn("")
    return turn if turn.text or turn.calls else replace(turn, text=counted)


def _turns(prompt: str) -> list[Turn]:
    turns, at = [Turn("")], 0
    while found := _OPENING.search(prompt, at):
        at, turn = found.end(), turns[-1]
        if found[1] == "call":
            name, _, rest = prompt[at:].partition(" ")
            arguments, used = json.JSONDecoder().raw_decode(rest)
            at += len(name) + 1 + used
            turns[-1] = replace(turn, calls=(*turn.calls, Call(name, arguments)))
            continue
        end = prompt.find("]]", at)
        said, at = prompt[at:end], end
        match found[1]:
            case "then":
                turns.append(Turn(""))
            case "say":
                turns[-1] = replace(turn, text=said)
            case "think":
                turns[-1] = replace(turn, reasoning=said)
            case "tokens":
                turns[-1] = replace(turn, tokens=int(said))
            case _:
                turns[-1] = replace(turn, most=int(said))
    return turns
