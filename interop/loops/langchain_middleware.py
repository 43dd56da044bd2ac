"""LangChain: a middleware of an agent puts the new messages in the place of all that its state holds."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

import workbench
from interop.loops import PARTS, PROMPT, read_part


def loop(url: str, budget: int) -> str:
    @before_model
    def compacted(state: Any, runtime: Any) -> dict[str, Any] | None:
        if not workbench.should_compact(state["messages"], trigger_tokens=budget):
            return None
        done = workbench.compact(state["messages"], budget_tokens=budget)
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *done.messages]}

    model = ChatAnthropic(model="interop", base_url=url, api_key="dummy", max_retries=0)
    agent = create_agent(model, tools=[read_part], system_prompt="You read.", middleware=[compacted])
    asked = {"messages": [{"role": "user", "content": PROMPT}]}
    state = agent.invoke(asked, {"recursion_limit": 10 * PARTS})
    return str(state["messages"][-1].text)
