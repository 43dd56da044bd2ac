"""What a stretch of messages says that must not get lost, each fact with the message it stands in.

In: messages. Out: facts, as frozen values. It knows no file format, no token, no strategy and no summary.

What to ask for:

- everything, in order: `find(messages)`; each fact once however often it is stated: `known(find(messages))`, where
  `Known.last` tells how it ended (a command's exit, what was done to a file last) and `Known.mentions` every place;
- standing instructions and `<Pin>` passages with their reasons, repeated ones once, superseded ones marked:
  `standing(messages)`;
- what a person stated, with how specific and rare it is: `stated(messages)`;
- what a person typed and what they pasted: `workbench.facts.pasted.passages(text)`;
- what was requested and whether it was answered: facts of kind `request`, `ok`; the open one is the last;
- decisions with who made them (`by`), errors with how they ended (`state`) and what resolved them (`by`), commands with
  how they ended (`ok`, `detail` is the last line of the output): facts of kinds `decision`, `error`, `command`;
- files and what was done to them: kind `path`, `detail` viewed, created, modified, deleted, reverted or
  mentioned, in a shell, too (`workbench.facts.shell`); line counts:
  `workbench.facts.diffstat`;
- identifiers, numbers, paths, addresses that are used again: `Uses(messages, facts, known(facts)).of(one)` gives the
  messages that state or use one; more than one means again;
- the task list: `workbench.facts.plan.plan_of(calls_in(messages))`.

How well each kind is found is measured on messages labelled by hand (`tests/facts/labelling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.facts.again import Uses
from workbench.facts.calls import Called, calls_and_spoken, calls_in
from workbench.facts.decided import decisions
from workbench.facts.done import commands, paths
from workbench.facts.errors import errors
from workbench.facts.fact import ErrorState, Fact, FactKind
from workbench.facts.known import Known, known
from workbench.facts.named import named
from workbench.facts.said import instructions, requests
from workbench.facts.standing import Standing, standing
from workbench.facts.stated import Stated, stated, statements
from workbench.facts.tools import Action, ActionKind, actions_of
from workbench.session import Message

__all__ = [
    "Action",
    "ActionKind",
    "Called",
    "ErrorState",
    "Fact",
    "FactKind",
    "Known",
    "Standing",
    "Stated",
    "Uses",
    "actions_of",
    "calls_in",
    "find",
    "known",
    "standing",
    "stated",
]


def find(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Every fact of `messages`, in their order; within a message by kind.

    Deterministic. What an agent says in more than 80 Ki characters is searched at its ends only
    (`workbench.facts.wording`); of a person's text what they typed is read, what they pasted is not
    (`workbench.facts.pasted`).
    """
    calls = calls_and_spoken(messages)
    found = [
        *requests(messages),
        *instructions(messages),
        *statements(messages),
        *decisions(messages),
        *paths(messages, calls),
        *commands(messages, calls),
        *errors(messages, calls),
        *named(messages),
    ]
    found.sort(key=lambda fact: fact.index)
    return tuple(found)
