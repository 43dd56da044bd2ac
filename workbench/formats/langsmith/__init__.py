"""LangSmith runs from its API: a run with `child_runs`, a list of runs, or JSON lines.

A run of `run_type` llm holds the request in `inputs.messages` (LangChain's messages, in nested lists, or those of the
wrapped client) and the response in `outputs`. Runs of one thread (`thread_id`, `session_id` or `conversation_id` in
their metadata) are one conversation, otherwise those of one trace. https://docs.langchain.com/langsmith/run-data-format

No usual place: runs are fetched from the server.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.langsmith.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.traced import codec
    from workbench.formats.langsmith.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "LangSmith run", recognise, _codec, keys=KEYS)
