"""Langfuse traces from its API or its pages: a trace with observations, several traces, or observations alone, as one
document or JSON lines.

A generation holds request and response in the form of the calling library, its tokens in `usageDetails` (older:
`usage`), its dollars in `costDetails`. A session of several traces is one conversation.
https://langfuse.com/docs/observability/data-model

No usual place: a trace is fetched from the server.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "langfuse"
KEYS = frozenset(["input", "model", "observations", "output", "parentObservationId", "traceId", "type", "usageDetails"])
GENERATION = "GENERATION"


def recognise(look: Look) -> str:
    document = look.document if look.document is not None else look.first
    for value in [document, *list_of(document), *list_of(dict_of(document).get("data"))]:
        if _generations(list_of(dict_of(value).get("observations"))):
            return "a trace with observations of type GENERATION"
        if _generations([value]) and {"traceId", "trace_id"} & dict_of(value).keys():
            return "observations of type GENERATION"
    return ""


def _generations(values: list[Any]) -> bool:
    return any(dict_of(value).get("type") == GENERATION for value in values)


def _codec() -> Codec:
    from workbench.formats.kit.traces import codec
    from workbench.formats.langfuse.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "Langfuse trace", recognise, _codec, keys=KEYS)
