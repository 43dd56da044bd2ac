"""What the products' own code keeps of a small session: the vectors of tests/compaction/test_product_vectors.py.

    python scripts/product_vectors.py session                 writes the session
    python scripts/product_vectors.py PRODUCT [NODE_MODULES]  adds what the installed package makes of it

Run it for a product with the interpreter of an environment that has its package (langchain, openhands-sdk, google-adk,
aider-chat; pi: `npm install @mariozechner/pi-coding-agent`). Nothing is asked of a model: what would be sent is taken
down. Messages are told by their numbers from 0.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "product_compactions.json"
Said = dict[str, Any]


def text(number: int, chars: int) -> str:
    """So many characters that tell of which message they are."""
    return (f"m{number}. " * chars)[:chars]


def session() -> list[Said]:
    """Rounds of a request, steps with one call or two, and an answer; sizes go up and down."""
    rows: list[Said] = []
    calls = 0
    for number in range(14):
        rows.append({"role": "user", "chars": 80 + 37 * (number % 5)})
        for step in range(2 + number % 3):
            ids = [f"c{calls + n}" for n in range(2 if step == 1 else 1)]
            calls += len(ids)
            rows.append({"role": "assistant", "chars": 40 * (step % 2), "thinking": 150 * (step % 3), "calls": ids})
            rows += [{"role": "tool", "chars": 300 + 1_700 * ((number + step) % 4), "answers": id} for id in ids]
        rows.append({"role": "assistant", "chars": 400 + 90 * (number % 4)})
    return rows


def talk() -> list[Said]:
    """Requests and answers, as aider has them: about 12 000 tokens."""
    return [{"role": ("user", "assistant")[n % 2], "chars": 300 + 350 * (n % 5)} for n in range(48)]


def shown_in(asked: str) -> list[int]:
    """The messages that a request tells of."""
    return sorted({int(number) for number in re.findall(r"m(\d+)\. ", asked)})


def langchain(rows: list[Said]) -> Said:
    from langchain.agents.middleware.summarization import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    messages: list[Any] = []
    for n, row in enumerate(rows):
        said = text(n, row["chars"])
        if row["role"] == "user":
            messages.append(HumanMessage(said, id=str(n)))
        elif row["role"] == "tool":
            messages.append(ToolMessage(said, tool_call_id=row["answers"], id=str(n)))
        else:
            calls = [{"name": "run", "args": {"command": id}, "id": id} for id in row.get("calls", ())]
            messages.append(AIMessage(said, tool_calls=calls, id=str(n)))
    asked: list[Any] = []
    one = SummarizationMiddleware(model=FakeListChatModel(responses=["S"]), trigger=("messages", 21))
    plain = one._format_summary_prompt
    one._format_summary_prompt = lambda given: asked.extend(given) or plain(given)  # type: ignore[func-returns-value]
    after = one.before_model({"messages": messages}, None)["messages"][1:]  # type: ignore[arg-type,index]
    shown = [int(message.id) for message in asked]
    return {
        "version": f"langchain {version('langchain')}",
        "kept": [int(message.id) for message in after[1:]],
        "shown": shown,
        "made": [[after[0].type, after[0].text]],
    }


def openhands(rows: list[Said]) -> Said:
    from openhands.sdk.context.condenser.llm_summarizing_condenser import default_condenser
    from openhands.sdk.context.view import View
    from openhands.sdk.event import ActionEvent, CondensationRequest, MessageEvent, ObservationEvent, SystemPromptEvent
    from openhands.sdk.event.condenser import Condensation
    from openhands.sdk.llm import LLM, Message, MessageToolCall, TextContent
    from openhands.sdk.tool.builtins.think import ThinkAction, ThinkObservation

    events: list[Any] = [SystemPromptEvent(system_prompt=TextContent(text="system"), tools=[])]
    number_of: dict[str, int] = {}
    made_by: dict[str, Any] = {}
    for n, row in enumerate(rows):
        said = [TextContent(text=text(n, row["chars"]))] if row["chars"] else []
        if row["role"] == "tool":
            observed = ThinkObservation.from_text(text(n, row["chars"]))
            action = made_by[row["answers"]]
            new = [
                ObservationEvent(
                    observation=observed, action_id=action.id, tool_name="think", tool_call_id=row["answers"]
                )
            ]
        elif row.get("calls"):
            new = [
                ActionEvent(
                    thought=said if at == 0 else [],
                    action=ThinkAction(thought=id),
                    tool_name="think",
                    tool_call_id=id,
                    tool_call=MessageToolCall(id=id, name="think", arguments="{}", origin="completion"),
                    llm_response_id=f"r{n}",
                )
                for at, id in enumerate(row["calls"])
            ]
            made_by |= dict(zip(row["calls"], new, strict=True))
        else:
            source = "user" if row["role"] == "user" else "agent"
            new = [MessageEvent(source=source, llm_message=Message(role=row["role"], content=said))]
        number_of |= {event.id: n for event in new}
        events += new

    class Counting:
        """A model that takes so many characters, and counts characters as tokens."""

        def __init__(self, limit: int) -> None:
            self.effective_max_input_tokens = limit

        def get_token_count(self, messages: list[Any], **rest: Any) -> int:
            return sum(len(part.text) for message in messages for part in message.content)

    def condensed(given: list[Any], agent: Any = None) -> Said:
        asked: list[str] = []
        one = default_condenser(LLM(model="gpt-4o", api_key="x", usage_id="x"))

        def generate(
            forgotten_events: Any, summary_offset: int, max_event_str_length: int | None = None
        ) -> Condensation:
            asked.extend(map(str, forgotten_events))
            ids = {event.id for event in forgotten_events}
            return Condensation(
                forgotten_event_ids=ids, summary="S", summary_offset=summary_offset, llm_response_id="x"
            )

        object.__setattr__(one, "_generate_condensation", generate)
        view = View.from_events(given)
        made = one.get_condensation(view, agent_llm=agent)
        left = View.from_events([*given, made]).events
        return {
            "kept": sorted({number_of[event.id] for event in left if event.id in number_of}),
            "shown": shown_in("\n".join(asked)),
            "longest shown": max(map(len, asked)),
            "at": made.summary_offset,
        }

    return {
        "version": f"openhands-sdk {version('openhands-sdk')}",
        **condensed(events),
        "by hand": condensed([*events[:61], CondensationRequest()]),
        "over 20 000 tokens": condensed(events[:61], Counting(20_000)),
        "over 20 000 tokens and 80 events": condensed(events, Counting(20_000)),
    }


def adk(rows: list[Said]) -> Said:
    from google.adk.apps.compaction import _events_to_compact_for_token_threshold
    from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
    from google.adk.events.event import Event
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.genai.types import Content, FunctionCall, FunctionResponse, Part

    events = []
    for n, row in enumerate(rows):
        parts = [Part(text=text(n, row["chars"]))] if row["role"] != "tool" and row["chars"] else []
        calls = [FunctionCall(id=id, name="run", args={"command": id}) for id in row.get("calls", ())]
        parts += [Part(function_call=one) for one in calls]
        if row["role"] == "tool":
            given = {"output": text(n, row["chars"])}
            parts.append(Part(function_response=FunctionResponse(id=row["answers"], name="run", response=given)))
        role, author = ("model", "agent") if row["role"] == "assistant" else ("user", "user")
        content = Content(role=role, parts=parts)
        events.append(Event(author=author, content=content, timestamp=float(n + 1), invocation_id=f"i{n}"))
    asked = []

    class Mute(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            asked.append(request.contents[0].parts[0].text)
            yield LlmResponse(content=Content(role="model", parts=[Part(text="S")]))

    gone = _events_to_compact_for_token_threshold(events=events, event_retention_size=20)
    made = asyncio.run(LlmEventSummarizer(llm=Mute(model="x")).maybe_summarize_events(events=gone))
    summary = made.actions.compaction.compacted_content
    return {
        "version": f"google-adk {version('google-adk')}",
        "kept": list(range(len(gone), len(rows))),
        "shown": shown_in(asked[0]),
        "made": [[summary.role, summary.parts[0].text]],
    }


def aider(rows: list[Said]) -> Said:
    from aider.history import ChatSummary
    from aider.models import Model

    asked: list[str] = []
    model = Model("gpt-4.1")
    model.simple_send_with_retries = lambda given: asked.append(given[1]["content"]) or "S"  # type: ignore[func-returns-value]

    def summarized(given: list[Said]) -> list[Said]:
        return ChatSummary([model], model.max_chat_history_tokens).summarize(given)

    messages = [{"role": row["role"], "content": text(n, row["chars"])} for n, row in enumerate(rows)]
    after = summarized(list(messages))
    few, more = (
        [
            {"role": ("user", "assistant")[n % 2], "content": text(n, 9_000 if n < large else 200)}
            for n in range(large + 2)
        ]
        for large in (4, 6)
    )
    huge = [*messages[:-1], {"role": "user", "content": text(len(rows), 40_000)}]
    alone = summarized(huge)
    return {
        "version": f"aider-chat {version('aider-chat')}, {model.name}, {model.max_chat_history_tokens:g} tokens",
        "kept": [messages.index(message) for message in after if message in messages],
        "shown": shown_in(asked[0]),
        "made": [[one["role"], one["content"]] for one in after if one not in messages],
        "kept of 4 large and 2 small": [few.index(one) for one in summarized(list(few)) if one in few],
        "kept of 6 large and 2 small": [more.index(one) for one in summarized(list(more)) if one in more],
        "where nothing stays": [[one["role"], one["content"]] for one in alone],
    }


PI = """
const [folder, file] = process.argv.slice(1);
const {prepareCompaction, DEFAULT_COMPACTION_SETTINGS} = await import(
  `${folder}/@mariozechner/pi-coding-agent/dist/core/compaction/index.js`);
const {serializeConversation} = await import(
  `${folder}/@mariozechner/pi-coding-agent/dist/core/compaction/utils.js`);
const {readFileSync} = await import("node:fs");
const entries = JSON.parse(readFileSync(file, "utf8"));
const found = prepareCompaction(entries, DEFAULT_COMPACTION_SETTINGS);
const gone = [...found.messagesToSummarize, ...found.turnPrefixMessages];
console.log(JSON.stringify({first: found.firstKeptEntryId, split: found.isSplitTurn,
  asked: serializeConversation(gone), apart: serializeConversation(found.turnPrefixMessages)}));
"""


def pi(rows: list[Said]) -> Said:
    folder = Path(sys.argv[2]).resolve()
    entries = []
    for n, row in enumerate(rows):
        said = [{"type": "text", "text": text(n, row["chars"])}] if row["chars"] else []
        if row["role"] == "tool":
            message: Said = {"role": "toolResult", "toolCallId": row["answers"], "toolName": "run", "content": said}
        elif row["role"] == "user":
            message = {"role": "user", "content": said}
        else:
            thought = [{"type": "thinking", "thinking": text(n, row["thinking"])}] if row.get("thinking") else []
            calls = [
                {"type": "toolCall", "id": id, "name": "run", "arguments": {"command": id}}
                for id in row.get("calls", ())
            ]
            message = {"role": "assistant", "content": [*thought, *said, *calls]}
        entries.append({"type": "message", "id": str(n), "message": message})
    file = FILE.with_suffix(".pi")
    file.write_text(json.dumps(entries))
    try:
        node = ["node", "--input-type=module", "-e", PI, str(folder), str(file)]
        found = json.loads(subprocess.run(node, check=True, capture_output=True, text=True).stdout)
    finally:
        file.unlink()
    package = json.loads((folder / "@mariozechner/pi-coding-agent/package.json").read_text())
    return {
        "version": f"{package['name']} {package['version']}",
        "kept": list(range(int(found["first"]), len(rows))),
        "shown": shown_in(found["asked"]),
        "split turn": found["split"],
        "shown of the split turn": shown_in(found["apart"]),
    }


PRODUCTS = {"langchain": langchain, "openhands": openhands, "adk": adk, "aider": aider, "pi": pi}


def main() -> None:
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    if sys.argv[1] == "session":
        known |= {"session": session(), "talk": talk()}
    else:
        rows = known["talk" if sys.argv[1] == "aider" else "session"]
        known[sys.argv[1]] = PRODUCTS[sys.argv[1]](rows)
    told = json.dumps(known, indent=1)
    FILE.write_text(re.sub(r"\n {3,}|\n {2}(?=\]|\})", "", told) + "\n")


if __name__ == "__main__":
    main()
