"""mini-swe-agent: a trajectory. It goes on from none; its messages are given to a new agent of the same kind."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ |= {"MSWEA_SILENT_STARTUP": "1", "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors"}
os.environ |= {"MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1"}

import minisweagent
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import FormatError
from minisweagent.models.litellm_model import LitellmModel
from minisweagent.models.litellm_response_model import LitellmResponseModel
from turns import main


def _turns(server: str, file: Path, prompts: Sequence[str]) -> None:
    kept = json.loads(file.read_text(encoding="utf-8"))["messages"] if file.exists() else []
    is_of_responses = any(message.get("object") == "response" for message in kept)
    agent = _agent(server, is_of_responses if kept else "responses" in file.name)
    agent.messages = [message for message in kept if message.get("role") != "exit"]
    for prompt in prompts:
        if not agent.messages:
            agent.add_messages(agent.model.format_message(role="system", content=agent.config.system_template))
        agent.add_messages(agent.model.format_message(role="user", content=prompt))
        _until_an_answer(agent)
    agent.save(file)


def _until_an_answer(agent: DefaultAgent) -> None:
    """Its loop drops an answer without a call and tells the model off; here it is kept, and ends the turn."""
    while True:
        try:
            agent.step()
        except FormatError as told:
            response: dict[str, Any] = told.messages[0]["extra"]["response"]
            agent.add_messages(response["choices"][0]["message"] if "choices" in response else response)
            return


def _agent(server: str, responses: bool) -> DefaultAgent:
    config = yaml.safe_load((Path(minisweagent.__file__).parent / "config" / "mini.yaml").read_text())
    known = {key: value for key, value in config["model"].items() if key.endswith("_template")}
    kind = LitellmResponseModel if responses else LitellmModel
    model = kind(model_name="openai/gpt-4o", model_kwargs={"api_base": f"{server}/v1", "api_key": "dummy"}, **known)
    about = {key: value for key, value in config["agent"].items() if key not in ("mode", "confirm_exit")}
    return DefaultAgent(model, LocalEnvironment(), **{**about, "step_limit": 0, "cost_limit": 0})


if __name__ == "__main__":
    main(_turns)
