"""OpenTelemetry traces: OTLP as JSON (`resourceSpans`, one document or JSON lines), spans printed by the console
exporter of the Python SDK, spans from Phoenix.

The request is in the attributes of a span, in the convention of its library: `gen_ai.input.messages` and
`gen_ai.output.messages` (OpenTelemetry), `gen_ai.prompt.0.role` (OpenLLMetry before 0.50),
`llm.input_messages.0.message.role` (OpenInference), or in events of the span (OpenTelemetry before 1.37).
https://opentelemetry.io/docs/specs/semconv/gen-ai/, https://arize-ai.github.io/openinference/spec/. Checked with
opentelemetry-instrumentation-openai 0.62 and openinference-instrumentation-openai 0.1.66.

No usual place: the collector or backend chooses where a trace is stored.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
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


def _codec() -> Codec:
    from workbench.formats.kit.traces import codec
    from workbench.formats.otel.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "OpenTelemetry trace", recognise, _codec, keys=KEYS)
