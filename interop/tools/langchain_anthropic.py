"""LangChain with a model of Anthropic's: the messages of an agent's state."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library
from interop.tool import PLANS, Plan

TOOL = library(
    Script("langchain_turns", "dict.json", {"VENDOR": "anthropic"}),
    id="langchain-anthropic",
    title="LangChain, ChatAnthropic",
    package=Package("PyPI", "langchain", "1.4.7", ("langchain-anthropic==1.7.7",)),
    format="langchain",
    compaction="SummarizationMiddleware",
    plans=(*PLANS, Plan("langchain", {"keep_messages": 4, "request_char_limit": 0})),
)
