"""LangChain with a model of Anthropic's: the messages of an agent's state."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import PLANS, Plan, Tool

_SCRIPT = Script("langchain_turns", "dict.json", {"VENDOR": "anthropic"})

TOOL = Tool(
    id="langchain-anthropic",
    title="LangChain, ChatAnthropic",
    package=Package("PyPI", "langchain", "1.4.7", ("langchain-anthropic==1.7.7",)),
    format="langchain",
    read=reads,
    make=_SCRIPT.make,
    again=_SCRIPT.again,
    env=_SCRIPT.env,
    compactions={"SummarizationMiddleware": _SCRIPT.compact},
    resume=_SCRIPT.resume,
    each=_SCRIPT.each,
    plans=(*PLANS, Plan("langchain", {"keep_messages": 4, "request_char_limit": 0})),
    allowances=(SYSTEM_PROMPT,),
)
