"""LangChain with a model of OpenAI's: the messages of an agent's state, as `dumpd` writes them."""

from __future__ import annotations

from interop.homes import Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import PLANS, Plan, Tool

_SCRIPT = Script("langchain_turns", "dumpd.json", {"VENDOR": "openai"})

TOOL = Tool(
    id="langchain-openai",
    title="LangChain, ChatOpenAI",
    package=Package("PyPI", "langchain", "1.4.7", ("langchain-openai==1.7.3",)),
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
