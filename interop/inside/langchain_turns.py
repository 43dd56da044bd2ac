"""langchain: the messages of an agent's state, as `dumpd` and `messages_to_dict` write them and as they are.

$VENDOR chooses the model: ChatAnthropic or ChatOpenAI. What a list is that is new, the file's name says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.load import dumpd, load
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages, messages_from_dict, messages_to_dict
from turns import COMPACTS, main, read_file


def _model(server: str) -> Any:
    if os.environ["VENDOR"] == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model="claude-sonnet-4-5", base_url=server, api_key="dummy", max_retries=0)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="gpt-5", base_url=f"{server}/v1", api_key="dummy", max_retries=0)


def _read(value: list[dict[str, Any]]) -> list[BaseMessage]:
    if all("lc" in message for message in value):
        return [load(message, allowed_objects="messages") for message in value]
    return messages_from_dict(value) if all("data" in message for message in value) else convert_to_messages(value)


def _written(messages: list[BaseMessage], like: str) -> list[Any]:
    if "dumpd" in like:
        return [dumpd(message) for message in messages]
    return [message.model_dump() for message in messages] if "flat" in like else messages_to_dict(messages)


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    messages = _read(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else []
    prompt = None if messages and messages[0].type == "system" else "You keep the notes."
    model = _model(server)
    shorter = [SummarizationMiddleware(model, trigger=("messages", 8), keep=("messages", 4))] if COMPACTS else []
    agent = create_agent(model, tools=[read_file], system_prompt=prompt, middleware=shorter)
    for said in prompts:
        messages = agent.invoke({"messages": [*messages, HumanMessage(said)]})["messages"]
    file.write_text(json.dumps(_written(messages, file.name), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(_turns)
