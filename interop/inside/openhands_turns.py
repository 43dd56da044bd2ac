"""openhands-sdk: the folder of a conversation, named by its id, in which the SDK keeps it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr
from turns import COMPACTS, main


def _turns(server: str, folder: Path, prompts: Sequence[str]) -> None:
    llm = LLM(model="openai/gpt-4o", base_url=f"{server}/v1", api_key=SecretStr("dummy"), usage_id="agent")
    other = llm.model_copy(update={"usage_id": "condenser"})
    shorter = LLMSummarizingCondenser(llm=other, max_size=12, keep_first=2) if COMPACTS else None
    agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name)], condenser=shorter)
    conversation = Conversation(
        agent=agent,
        workspace=os.getcwd(),
        persistence_dir=folder.parent,
        conversation_id=UUID(folder.name),
        visualizer=None,
    )
    for prompt in prompts:
        conversation.send_message(prompt)
        conversation.run()
    conversation.close()


if __name__ == "__main__":
    main(_turns)
