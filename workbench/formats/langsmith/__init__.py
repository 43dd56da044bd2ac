"""LangSmith runs from its API: a run with `child_runs`, a list of runs, or JSON lines.

A run of `run_type` llm holds the request in `inputs.messages` (nested lists of LangChain, or messages of a client that
LangSmith wraps) and the response in `outputs`. Runs of one thread (`thread_id`, `session_id`, `conversation_id` in
their metadata) are one conversation, else those of a trace. https://docs.langchain.com/langsmith/run-data-format

No usual place: runs are fetched from the server.
"""

from __future__ import annotations

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "langsmith"
KEYS = frozenset(["child_runs", "inputs", "outputs", "parent_run_id", "run_type", "trace_id"])


def recognise(look: Look) -> str:
    document = look.document if look.document is not None else look.first
    candidates = [document, *list_of(document), *list_of(dict_of(document).get("runs"))]
    return (
        "runs with run_type and inputs"
        if any({"run_type", "inputs"} <= dict_of(one).keys() for one in candidates)
        else ""
    )


def _codec() -> Codec:
    from workbench.formats.kit.traces import codec
    from workbench.formats.langsmith.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "LangSmith run", recognise, _codec, keys=KEYS)
