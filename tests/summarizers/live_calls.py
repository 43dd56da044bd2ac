"""What tests of live calls share: the real clients pointed at a server on loopback, small requests, tiny time-outs."""

from __future__ import annotations

import importlib

import pytest

from tests.facts.talk import agent, user
from tests.summarizers.fake_api import KEY, MODEL, FakeApi
from workbench.compaction.summary_request import Answer, SummaryRequest, TextBody
from workbench.summarizers.call_limits import CallLimits
from workbench.summarizers.connections import Connection, connection_named
from workbench.summarizers.live import live_summarizer
from workbench.summarizers.live_events import LiveEvent

PROMPT = "Summarize the conversation."
HEAD = (user("Please fix the parser in src/parse.py. " * 40), agent("I fixed it. " * 200))
QUICK = CallLimits(first_token_s=30, stall_s=30, tries=3, backoff_s=0.001, longest_backoff_s=0.002)
"""Patient where a test expects an answer, quick where it expects another try."""


def request(text: str = "the history " * 1_000, **settings: object) -> SummaryRequest:
    whole = f"{PROMPT}\n{text}"
    return SummaryRequest(
        "summary", HEAD, PROMPT, TextBody(lambda: whole), chars=len(text), **{"timeout_s": 60.0, **settings}  # type: ignore[arg-type]
    )  # fmt: skip


def client_talks_to(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client finds its server and its key as it does for a user: in the environment."""
    importlib.import_module("anthropic")
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_PROFILE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_KEY", KEY)


def over(protocol: str, api: FakeApi) -> Connection:
    """A connection to the server on loopback by a protocol; Anthropic's is the usual one, led there by its
    environment."""
    if protocol == "messages":
        return connection_named("anthropic")
    importlib.import_module("openai")
    return Connection(name="local", protocol=protocol, base_url=f"{api.url}/v1", key_env="LOCAL_KEY")  # type: ignore[arg-type]


async def ask(
    asked: SummaryRequest, limits: CallLimits = QUICK, connection: Connection | None = None, **wishes: object
) -> tuple[Answer, list[LiveEvent]]:
    events: list[LiveEvent] = []
    summarizer = live_summarizer(MODEL, connection, on_event=events.append, limits=limits, **wishes)  # type: ignore[arg-type]
    return await summarizer(asked), events
