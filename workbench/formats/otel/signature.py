"""Recognise OpenTelemetry traces."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "otel"
KEYS = frozenset(["attributes", "context", "parent_id", "resourceSpans", "scopeSpans", "spanId", "traceId"])
_CONVENTIONS = ("gen_ai", "llm", "openinference", "traceloop")


def recognise(look: Look) -> str:
    document = look.document if look.document is not None else look.first
    if "resourceSpans" in dict_of(document) or "resource_spans" in dict_of(document):
        return "spans under resourceSpans, as in OTLP"
    candidates = list_of(document) or list_of(dict_of(document).get("data")) or list_of(dict_of(document).get("spans"))
    if any(map(_is_span, [*candidates, document])):
        return "spans with attributes of model calls"
    return ""


def _is_span(value: Any) -> bool:
    span = dict_of(value)
    identified = "trace_id" in dict_of(span.get("context")) or "trace_id" in span or "traceId" in span
    return identified and any(str(key).startswith(_CONVENTIONS) for key in dict_of(span.get("attributes")))
