"""Recognise Langfuse traces."""

from __future__ import annotations

from typing import Any

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
