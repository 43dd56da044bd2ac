"""The library inside the loops of other libraries: an agent that reads fourteen long parts with a budget of one.

Each module here is the loop of one library, as its users write it, with `loop(url, budget)`: the agent is asked
`PROMPT`, has one tool, `read_part`, and ends by itself. It runs in the environment of its package, against the server
of `interop.server`, which answers by `SCRIPT`. What was sent is judged by `faults`, which knows nothing of how the
library compacts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from interop.server import Request
from interop.server.script import Call, Turn
from interop.units import Units, of_request

PARTS = 14
PROMPT = "Read every part from 1 to 14 with read_part and tell me when all are read. Never touch weir.cfg."
RULE = "Never touch weir.cfg."
LAST = "All fourteen parts are read."
SCRIPT = (*(Turn("", (Call("read_part", {"number": number}),)) for number in range(1, PARTS + 1)), Turn(LAST))


def read_part(number: int) -> str:
    """Read one part, by its number."""
    lines = (f"part {number}, line {line}: the wheel turns and the stone turns" for line in range(600))
    return "\n".join([f"begin-{number}", *lines, f"end-{number}"])


@dataclass(frozen=True, slots=True)
class Package:
    """What a loop needs beside the workbench, at which versions; and what it is called."""

    title: str
    needs: tuple[str, ...]


LOOPS = {
    "anthropic_sdk": Package("Anthropic SDK", ("anthropic==2.12.0",)),
    "openai_sdk": Package("OpenAI SDK", ("openai==3.54.0",)),
    "openai_agents": Package("OpenAI Agents, call_model_input_filter", ("openai-agents==0.24.0",)),
    "langchain_middleware": Package("LangChain, middleware", ("langchain==1.4.7", "langchain-anthropic==1.7.7")),
    "pydantic_ai_history": Package("pydantic-ai, history processor", ("pydantic-ai-slim[anthropic]==2.62.0",)),
}


def faults(requests: Sequence[Request], said: str) -> Iterator[str]:
    """What went wrong in a loop, one sentence each: nothing where every result was sent once it was there."""
    if said != LAST:
        yield f"it ended with {said[:60]!r}"
    if len(requests) != len(SCRIPT):
        yield f"{len(requests)} requests in place of {len(SCRIPT)}"
    sent = [of_request(request.protocol, request.body) for request in requests]
    for number, units in enumerate(sent):
        results = [unit.text for unit in units if unit.kind == "result"]
        if number and not any(f"begin-{number}\n" in text and f"end-{number}" in text for text in results):
            yield f"part {number} was read and never sent"
        if not any(RULE in unit.text for unit in units if unit.role == "user"):
            yield f"request {number + 1} has lost what the user said"
        yield from (f"request {number + 1}: {why}" for why in _torn(units))
    sizes = [sum(len(unit.text) for unit in units) for units in sent]
    if all(after > before for before, after in pairwise(sizes)):
        yield "nothing was compacted"


def _torn(units: Units) -> Iterator[str]:
    """Calls that have no result, or not right behind the answer they stand in, and results that answer none."""
    open_calls: list[int] = []
    number = 0
    for unit in units:
        if unit.kind == "call":
            number += 1
            open_calls.append(number)
        elif unit.kind == "result":
            if unit.call not in open_calls:
                yield f"a result answers no call before it: {unit}"
            open_calls = [one for one in open_calls if one != unit.call]
        elif open_calls and unit.role != "assistant":
            yield f"{unit} stands between a call and its result"
    if open_calls:
        yield f"{len(open_calls)} calls have no result"
