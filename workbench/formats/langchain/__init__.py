"""LangChain dumps: lists of `dumpd` constructors or of `{type, data}`, bare or at `messages` (formats.md §2.13).

A call may stand in `content` as the provider wrote it and in `tool_calls` as LangChain reads it: it is one call. The
summaries of LangChain's own middleware are user messages whose `additional_kwargs` name their source.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.langchain.read import ID, read, recognise, write
from workbench.formats.langchain.rules import validate

FORMAT = Format(ID, "LangChain messages", recognise, read, write, validate)
