"""Real files: each is taken for its format, is sound by that format's rules, and holds this many messages.

That they come back as they were is held for every writer at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats import registry
from workbench.formats.format import HEAD, no_progress

REAL: dict[str, tuple[str, int, tuple[int, ...]]] = {
    "anthropic-api/claude-trace-34-compact-call.json": ("anthropic-messages", 27, (27,)),
    "anthropic-api/claude-trace-60-after-compact.json": ("anthropic-messages", 3, (3,)),
    "anthropic-api/pydantic-compaction-1-request.json": ("anthropic-messages", 1, (1,)),
    "openai-chat/openhands-litellm-log.json": ("openai-chat", 12, (12,)),
    "openai-chat/taubench-airline-entry3-messages.json": ("openai-chat", 62, (62,)),
    "openai-responses/pydantic-compact-stateful-4-request.json": ("openai-responses", 8, (6, 2)),
    "openai-responses/pydantic-responses-compact-endpoint-response.json": ("openai-responses", 3, (3,)),
    "openai-responses/pydantic-tool-search-request.json": ("openai-responses", 10, (10,)),
    "opencode/bestcodes-d2f55b0.json": ("opencode", 71, (71,)),
    "opencode/sbridge-13dddd4-compaction.json": ("opencode", 138, (85, 53)),
    "roo-cline/roo-heavy-uncondensed/api_conversation_history.json": ("roo-cline", 54, (54,)),
    "roo-cline/roo-natural-already-condensed/api_conversation_history.json": ("roo-cline", 30, (1, 30)),
    "adk/customer-service-123.session.json": ("adk", 34, (34,)),
    "adk/text_search_floral_dress.session.json": ("adk", 40, (40,)),
    "mini-swe-agent/github_issue.traj.json": ("mini-swe-agent", 22, (22,)),
    "mini-swe-agent/psf__requests-1142.traj.json": ("mini-swe-agent", 144, (144,)),
    "swe-agent/marshmallow-1867-fc-replace.traj": ("swe-agent", 28, (28,)),
    "openhands/v0-basic_gui_mode.json": ("openhands", 10, (10,)),
    "gemini/agent-sessions-jsonl_v040.jsonl": ("gemini", 4, (4,)),
    "gemini/agentcmd-session-2025-10-27.json": ("gemini", 31, (31,)),
    "gemini/sbridge-2360776.json": ("gemini", 7, (6,)),
    "gemini/sbridge-62e5f7e.json": ("gemini", 20, (20,)),
    "langchain/deepagents-compact_tool_seed.json": ("langchain", 6, (6,)),
    "inspect/browser.json": ("inspect", 10, (10,)),
    "atif/harbor_terminus2_summarization.json": ("atif", 17, (7, 9)),
    "cline-sdk/session.messages.json": ("cline-sdk", 32, (32,)),
    "cline-sdk/basic.compaction.json": ("cline-sdk", 10, (10,)),
    "cline-sdk/agentic.compaction.json": ("cline-sdk", 3, (3,)),
}
"""By file: the format, all messages, and those of each epoch."""
ALSO = {
    "roo-cline/roo-heavy-uncondensed/api_conversation_history.json": ["anthropic-messages"],
    "roo-cline/roo-natural-already-condensed/api_conversation_history.json": ["anthropic-messages"],
    "mini-swe-agent/github_issue.traj.json": ["openai-chat"],
}
"""Formats that would take the file too, were they asked first."""


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_what_it_is(shared: Path, name: str) -> None:
    path, (id, messages, epochs) = shared / "sessions" / name, REAL[name]
    data = path.read_bytes()
    assert [known.id for known in registry.FORMATS if known.recognise(data[:HEAD])] == [id, *ALSO.get(name, [])]
    codec = registry.by_id(id).codec
    assert codec.validate(data) == []
    session = codec.read(path, data, no_progress)
    assert (len(session.messages), tuple(len(epoch.members) for epoch in session.epochs)) == (messages, epochs)
    assert [str(one) for one in session.warnings if "shortened by a history processor" not in str(one)] == []
    if id in ("mini-swe-agent", "swe-agent"):
        assert [message.id for message in session.messages if message.starts_round] == ["m2"]
    if id == "gemini":
        assert [
            message.role for message in session.messages if (message.usage is None) == (message.role == "assistant")
        ] == []
