"""openhands-sdk: the folder of a conversation, named by its id, in which the SDK keeps it; or a list of events, which
is given to a new conversation beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

from openhands.sdk import LLM, Agent, Conversation, Event, Tool
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.event import Condensation
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr
from turns import COMPACTS, main


def _turns(server: str, path: Path, prompts: Sequence[str]) -> None:
    llm = LLM(model="openai/gpt-4o", base_url=f"{server}/v1", api_key=SecretStr("dummy"), usage_id="agent")
    other = llm.model_copy(update={"usage_id": "condenser"})
    shorter = LLMSummarizingCondenser(llm=other, max_size=12, keep_first=2) if COMPACTS else None
    tools = [] if path.is_file() else [Tool(name=TerminalTool.name)]  # nothing calls it where a list goes on
    agent = Agent(llm=llm, tools=tools, condenser=shorter)
    id = uuid5(NAMESPACE_URL, str(path)) if path.is_file() else UUID(path.name)
    events = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    is_new = not (path.parent / id.hex).exists()
    conversation = Conversation(
        agent=agent,
        workspace=os.getcwd(),
        persistence_dir=path.parent,
        conversation_id=id,
        visualizer=None,
    )
    own_prompt = is_new and not any(event.get("kind") == "SystemPromptEvent" for event in events)
    if own_prompt:
        conversation._ensure_agent_ready()  # which stands before all
    for event in map(Event.model_validate, events if is_new else ()):
        if own_prompt and isinstance(event, Condensation) and event.summary_offset is not None:
            event = event.model_copy(update={"summary_offset": event.summary_offset + 1})
        conversation.state.append_event(event)
    for prompt in prompts:
        conversation.send_message(prompt)
        conversation.run()
    conversation.close()


if __name__ == "__main__":
    main(_turns)
