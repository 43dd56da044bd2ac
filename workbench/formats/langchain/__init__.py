"""LangChain dumps: lists of `dumpd` constructors or of `{type, data}`, bare or at `messages`.

A call that is both in `content`, in the provider's form, and in `tool_calls`, in LangChain's form, is one call.
Summaries of LangChain's own middleware are user messages whose `additional_kwargs` name their source.

No usual place: the program that dumps messages chooses the file.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format, TriggerSetting
from workbench.formats.langchain.signature import ID, KEYS, recognise
from workbench.formats.machine import Program


def _codec() -> Codec:
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_document
    from workbench.formats.langchain import read, rules, write
    from workbench.formats.langchain.signature import FORMS, PLACES

    paths = ((*place, 0, *form, "additional_kwargs") for place in PLACES for form in FORMS)
    return Codec(read.Reader.read, write.write, rules.validate, note=in_document(EXPORT_NOTE, *paths))


def _setting(trigger: int, window: int) -> str:
    return f'give SummarizationMiddleware trigger=("tokens", {trigger})'


FORMAT = Format(
    ID,
    "LangChain messages",
    recognise,
    _codec,
    keys=KEYS,
    preset="langchain",
    trigger_setting=TriggerSetting(_setting, in_tokens=True),
    program=Program("langchain", "", ("agents/middleware/summarization.py",), "DEFAULT_SUMMARY_PROMPT"),
)
