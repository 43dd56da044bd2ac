"""pydantic-ai: a history processor, in front of every request."""

from __future__ import annotations

from anthropic import AsyncAnthropic
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

import workbench
from interop.loops import PROMPT, read_part


def loop(url: str, budget: int) -> str:
    async def shorter(messages: list[ModelMessage]) -> list[ModelMessage]:
        if not workbench.should_compact(messages, trigger_tokens=budget):
            return messages
        return (await workbench.acompact(messages, budget_tokens=budget)).messages

    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=url, api_key="dummy", max_retries=0))
    model = AnthropicModel("interop", provider=provider)
    agent = Agent(model, instructions="You read.", tools=[read_part], capabilities=[ProcessHistory(shorter)])
    return agent.run_sync(PROMPT).output
