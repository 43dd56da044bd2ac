"""OpenAI JSONL: fine-tuning examples, and requests and results of batches (Anthropic's batches too).

Every line is a separate conversation: `{messages}`; `{input, preferred_output}` of preference data, read with the
preferred output; `{custom_id, body}` or `{custom_id, params}` of a request; `{custom_id, response}` or `{custom_id,
result}` of a result, which holds only the answer. Read only.

No usual place: the author of the examples or the batch chooses the file.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.chat import dialect
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "openai-jsonl"
KEYS = frozenset(["body", "custom_id", "messages", "method", "params", "preferred_output", "response", "result", "url"])
FEW = 5
"""Lines that are examined."""


def recognise(look: Look) -> str:
    """Return the reason to recognise a file. A single line with only `messages` is a request body of another format."""
    lines = [record.value for record in look.records[:FEW]]
    if lines and all(map(_is_batch, lines)):
        return "lines with a custom_id, as of a batch"
    if len(lines) > 1 and all(map(_is_example, lines)):
        return "lines of messages, a conversation each, as for fine-tuning"
    return ""


def _is_batch(line: Any) -> bool:
    places = ("body", "params", "response", "result")
    return "custom_id" in dict_of(line) and any(isinstance(dict_of(line).get(key), dict) for key in places)


def _is_example(line: Any) -> bool:
    inner = line["input"] if "preferred_output" in dict_of(line) else line
    return dialect(inner)[0] != "" and isinstance(inner, dict)


def _codec() -> Codec:
    from workbench.formats.openai_jsonl.read import Reader

    return Codec(Reader.read, sessions_in=Reader.sessions_in, read_part=Reader.read_part)


FORMAT = Format(ID, "OpenAI JSONL", recognise, _codec, keys=KEYS)
