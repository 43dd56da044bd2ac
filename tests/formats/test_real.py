"""Real files: each is taken for its format, is sound by that format's rules, and holds this many messages.

That they come back as they were is held for every writer at once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats import registry
from workbench.formats.format import no_progress
from workbench.formats.look import Look

REAL: dict[str, tuple[str, int, tuple[int, ...]]] = {
    "anthropic-api/claude-trace-34-compact-call.json": ("anthropic-messages", 27, (27,)),
    "anthropic-api/claude-trace-60-after-compact.json": ("anthropic-messages", 5, (5,)),
    "anthropic-api/pydantic-compaction-1-request.json": ("anthropic-messages", 1, (1,)),
    "openai-chat/openhands-litellm-log.json": ("openai-chat", 13, (13,)),
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
    "mini-swe-agent/psf__requests-1142.traj.json": ("mini-swe-agent", 144, (143,)),
    "swe-agent/marshmallow-1867-fc-replace.traj": ("swe-agent", 36, (14, 28)),
    "openhands/v0-basic_gui_mode.json": ("openhands", 10, (10,)),
    "gemini/agent-sessions-jsonl_v040.jsonl": ("gemini", 4, (4,)),
    "gemini/agentcmd-session-2025-10-27.json": ("gemini", 43, (31,)),
    "gemini/sbridge-2360776.json": ("gemini", 10, (6,)),
    "gemini/sbridge-62e5f7e.json": ("gemini", 27, (20,)),
    "langchain/deepagents-compact_tool_seed.json": ("langchain", 6, (6,)),
    "inspect/browser.json": ("inspect", 10, (10,)),
    "atif/harbor_terminus2_summarization.json": ("atif", 17, (7, 9)),
    "cline-sdk/session.messages.json": ("cline-sdk", 32, (32,)),
    "cline-sdk/basic.compaction.json": ("cline-sdk", 10, (10,)),
    "cline-sdk/agentic.compaction.json": ("cline-sdk", 3, (3,)),
    "codex/agentcmd-2025-09-25T15.jsonl": ("codex", 71, (71,)),
    "codex/agentv-a60726a-2compacted.jsonl": ("codex", 440, (199, 151, 97)),
    "codex/localpush-2026-02-23.jsonl": ("codex", 188, (188,)),
    "pi/authgo-7407a21.jsonl": ("pi", 394, (393,)),
    "pi/pimono-before-compaction.jsonl": ("pi", 992, (351, 326, 439)),
    "copilot-cli/agentv-6a6787e-short.jsonl": ("copilot", 2, (1,)),
    "copilot-cli/starcar-84e7f6f-compaction.jsonl": ("copilot", 474, (157, 10)),
    "goose/teck968-sample_session.jsonl": ("goose", 4, (4,)),
}
"""By file: the format, all messages, and those of each epoch."""
BILLED: dict[str, tuple[int, ...]] = {
    "opencode/bestcodes-d2f55b0.json": (35, 40084, 13149, 1140864, 0),
    "opencode/sbridge-13dddd4-compaction.json": (68, 396531, 67758, 3325432, 0),
    "openai-chat/openhands-litellm-log.json": (1, 6729, 199, 0, 0),
    "mini-swe-agent/psf__requests-1142.traj.json": (71, 175843, 12553, 1396464, 0),
    "openhands/v0-basic_gui_mode.json": (4, 22, 2024, 11793, 5482),
    "gemini/agent-sessions-jsonl_v040.jsonl": (2, 12422, 228, 11502, 0),
    "gemini/agentcmd-session-2025-10-27.json": (15, 57420, 6456, 45385, 0),
    "gemini/sbridge-2360776.json": (3, 26062, 2916, 36652, 0),
    "gemini/sbridge-62e5f7e.json": (10, 42177, 3467, 206747, 0),
    "langchain/deepagents-compact_tool_seed.json": (3, 15, 1684, 0, 33678),
    "inspect/browser.json": (5, 6147, 281, 9088, 0),
    "atif/harbor_terminus2_summarization.json": (7, 6502, 690, 0, 0),
    "cline-sdk/session.messages.json": (16, 95819, 4395, 534435, 0),
    "codex/agentcmd-2025-09-25T15.jsonl": (35, 64514, 6654, 472320, 0),
    "codex/agentv-a60726a-2compacted.jsonl": (217, 1157353, 73827, 26588032, 0),
    "codex/localpush-2026-02-23.jsonl": (83, 403949, 36950, 6337024, 0),
    "pi/authgo-7407a21.jsonl": (184, 491787, 34299, 14469120, 0),
    "pi/pimono-before-compaction.jsonl": (465, 3656, 187847, 54365641, 1628772),
}
"""Answers with a bill; tokens of input, output, read from the cache and written to it, together. None elsewhere."""
ENDED = {
    "opencode/sbridge-13dddd4-compaction.json": [98608],
    "codex/agentv-a60726a-2compacted.jsonl": [237823, 229684],
    "pi/pimono-before-compaction.jsonl": [175004, 185014],
    "copilot-cli/starcar-84e7f6f-compaction.jsonl": [160095],
}
"""Tokens before each compaction, where the file tells."""
ALSO = {
    "mini-swe-agent/github_issue.traj.json": ["openai-chat"],
}
"""Formats that would take the file too, were they asked first."""


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_what_it_is(shared: Path, name: str) -> None:
    path, (id, messages, epochs) = shared / "sessions" / name, REAL[name]
    data = path.read_bytes()
    look = Look.of(data)
    assert [known.id for known in registry.formats() if known.recognise(look)] == [id, *ALSO.get(name, [])]
    codec = registry.by_id(id).codec
    assert codec.validate(data) == []
    session = codec.read(path, data, no_progress)
    assert (len(session.messages), tuple(len(epoch.members) for epoch in session.epochs)) == (messages, epochs)
    bills = [message.usage for message in session.messages if message.usage is not None]
    told = [(one.input, one.output, one.cache_read, one.cache_write) for one in bills]
    assert (len(bills), *map(sum, zip(*told, strict=True))) == BILLED.get(name, (0,))
    ended = [epoch.ended_by.tokens_before for epoch in session.epochs if epoch.ended_by]
    assert [tokens for tokens in ended if tokens] == ENDED.get(name, [])
    assert [str(one) for one in session.warnings if "a history processor shortens" not in str(one)] == []
    if id in ("mini-swe-agent", "swe-agent"):
        assert [message.id for message in session.messages if message.starts_round] == ["m2"]
    if id == "gemini":
        assert [
            message.id for message in session.context() if (message.usage is None) == (message.role == "assistant")
        ] == []
