"""Servers between the workbench and a model that nobody here wrote: gateways, asked over each protocol they speak.

A gateway runs by itself in an environment of its own, under a home of its own, on a port that is free, and is stopped
when its trials are done. Behind it is the server of `interop.server`, so that what it makes of a request is seen; what
a gateway answers without one (its own mocks of failures) is tried, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from interop.homes import Package
from workbench.summarizers.connections import Protocol

KEY = "gate-key"
"""What opens a gateway, and no one else."""

THROUGH = "through"
"""The model that the server behind the gateway answers for."""


@dataclass(frozen=True, slots=True)
class Case:
    """A model of the gateway's, and how a summary by it ends: the exit code of `cwb compact`, and words of its report.
    `known` is what is wrong with the gateway itself, "" for nothing: then it ends so."""

    model: str
    code: int
    words: str
    known: str = ""


@dataclass(frozen=True, slots=True)
class Gateway:
    """How one is had and run. `settings` are its files, by their names under its home, for a port and the address of
    the server behind; `command` starts it, found in the package's folder of commands; `paths` are where each protocol
    is spoken; `cases` what is tried over each; `ready` is asked until it answers."""

    title: str
    package: Package
    settings: Callable[[int, str], Mapping[str, str]]
    command: Callable[[int, Path], tuple[str, ...]]
    paths: Mapping[Protocol, str]
    cases: Mapping[Protocol, tuple[Case, ...]]
    ready: str


_SUMMARY = Case(THROUGH, 0, "status           compacted")
_MOCKS = (
    Case("mock", 0, "status           compacted"),
    Case("busy", 4, "the rate limit is reached"),
    Case("long", 4, "the prompt is too long for the model"),
    Case("broken", 4, "the server failed"),
)
_NO_MOCK = "its own mock answers do not stream over Responses"


def _litellm(port: int, behind: str) -> Mapping[str, str]:
    def model(name: str, **more: str) -> str:
        return json.dumps(
            {"model_name": name, "litellm_params": {"model": "openai/gpt-4o-mini", "api_key": "dummy", **more}}
        )

    models = [
        model(THROUGH, api_base=f"{behind}/v1"),
        model("mock", mock_response="The port is 8443, and notes.md was read."),
        model("busy", mock_response="litellm.RateLimitError"),
        model("long", mock_response="litellm.ContextWindowExceededError"),
        model("broken", mock_response="litellm.InternalServerError"),
    ]
    lists = "".join(f"  - {one}\n" for one in models)
    tail = f"general_settings: {{master_key: {KEY}}}\nrouter_settings: {{num_retries: 0}}\n"
    return {"litellm.yaml": f"model_list:\n{lists}{tail}litellm_settings: {{num_retries: 0}}\n"}


def _router(port: int, behind: str) -> Mapping[str, str]:
    provider = {
        "name": "here",
        "api_base_url": f"{behind}/v1/chat/completions",
        "api_key": "dummy",
        "models": [THROUGH],
    }
    settings = {
        "PORT": port,
        "APIKEY": KEY,
        "NON_INTERACTIVE_MODE": True,
        "Providers": [provider],
        "Router": {"default": f"here,{THROUGH}"},
    }
    return {".claude-code-router/config.json": json.dumps(settings)}


GATEWAYS = {
    "litellm": Gateway(
        "LiteLLM's proxy",
        Package("PyPI", "litellm[proxy]", "1.106.2"),
        _litellm,
        lambda port, home: (
            "litellm",
            "--config",
            str(home / "litellm.yaml"),
            "--port",
            str(port),
            "--host",
            "127.0.0.1",
        ),
        {"messages": "", "chat": "/v1", "responses": "/v1"},
        {
            "messages": (_SUMMARY, *_MOCKS),
            "chat": (_SUMMARY, *_MOCKS),
            "responses": (_SUMMARY, Case("mock", 4, "the server failed", _NO_MOCK)),
        },
        "/health/liveliness",
    ),
    "claude-code-router": Gateway(
        "claude-code-router",
        Package("npm", "@musistudio/claude-code-router", "2.0.0"),
        _router,
        lambda port, home: ("ccr", "start"),
        {"messages": ""},
        {"messages": (Case(f"here,{THROUGH}", 0, "status           compacted"),)},
        "/",
    ),
}
