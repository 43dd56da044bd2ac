"""OpenAI Agents: what goes to the model is filtered; the run's own history stays whole."""

from __future__ import annotations

import openai
from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner, function_tool
from agents.run import CallModelData, ModelInputData

import workbench
from interop.loops import PARTS, PROMPT, read_part


def loop(url: str, budget: int) -> str:
    def shorter(data: CallModelData[None]) -> ModelInputData:
        items = workbench.compact(data.model_data.input, budget_tokens=budget).messages
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="dummy", max_retries=0)
    model = OpenAIResponsesModel(model="gpt-4o", openai_client=client)
    tools = [function_tool(read_part)]
    agent = Agent(name="reader", instructions="You read.", model=model, tools=tools, model_settings=ModelSettings())
    settings = RunConfig(call_model_input_filter=shorter, tracing_disabled=True)
    return str(Runner.run_sync(agent, PROMPT, max_turns=2 * PARTS, run_config=settings).final_output)
