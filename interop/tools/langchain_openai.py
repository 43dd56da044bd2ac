"""LangChain with a model of OpenAI's: the messages of an agent's state, as `dumpd` writes them."""

from __future__ import annotations

from interop.homes import Package
from interop.library import Script, library
from interop.tool import PLANS, Plan

TOOL = library(
    Script("langchain_turns", "dumpd.json", {"VENDOR": "openai"}),
    id="langchain-openai",
    title="LangChain, ChatOpenAI",
    package=Package("PyPI", "langchain", "1.4.7", ("langchain-openai==1.7.3",)),
    format="langchain",
    compaction="SummarizationMiddleware",
    plans=(*PLANS, Plan("langchain", {"keep_messages": 4, "request_char_limit": 0})),
)
