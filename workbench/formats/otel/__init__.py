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

from workbench.formats.format import Codec, Format
from workbench.formats.otel.signature import ID, KEYS, recognise


def _codec() -> Codec:
    from workbench.formats.kit.traced import codec
    from workbench.formats.otel.read import spans

    return codec(ID, spans)


FORMAT = Format(ID, "OpenTelemetry trace", recognise, _codec, keys=KEYS)
