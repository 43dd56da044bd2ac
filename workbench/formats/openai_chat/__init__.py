"""OpenAI Chat Completions: a request body, a bare list of its messages, or a LiteLLM log of one call (formats.md §2.5).

Call ids may repeat within one list (tau-bench), so pairs are matched in order. A LiteLLM log's `response` is the answer
to the context and no part of it: it stays in the file and in `Session.meta`. A summary is marked by the `name` of its
message, the one field that the API leaves to its caller.
"""

from __future__ import annotations

from workbench.formats.format import Format
from workbench.formats.openai_chat.read import ID, read, recognise, write
from workbench.formats.openai_chat.rules import validate

FORMAT = Format(ID, "OpenAI Chat body", recognise, read, write, validate)
