"""Sub-agents of Claude Code, in a session's file and next to it, and summary calls."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import jsonl, small
from workbench.base.errors import BadInput
from workbench.formats.claude_code import FORMAT
from workbench.formats.claude_code.agents import agent_files, agents_inside, compaction_call, compaction_calls
from workbench.formats.claude_code.read import read_part
from workbench.formats.files import load
from workbench.formats.format import no_progress


def side(lines: list[dict[str, Any]], name: str, *, named: bool) -> list[dict[str, Any]]:
    """Return the lines as those of a sub-agent."""
    made = []
    for line in lines:
        if "uuid" in line:
            changes = {"uuid": f"{name}-{line['uuid']}", "isSidechain": True}
            for key in ("parentUuid", "logicalParentUuid"):
                changes |= {key: f"{name}-{line[key]}"} if line.get(key) else {}
            made.append({**line, **changes, **({"agentId": name} if named else {})})
    return made


@pytest.mark.parametrize("named", [True, False])
def test_sub_agents_in_the_file_are_sessions_of_their_own(tmp_path: Path, named: bool) -> None:
    main = small()
    data = jsonl(*main, *side(main, "a1", named=named), *side(main, "b2", named=named))
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    whole = load(path)
    agents = agents_inside(data)
    assert len(agents) == 2
    for id in agents:
        agent = load(path, part=id)
        assert [m.blocks for m in agent.context()] == [m.blocks for m in whole.context()]
    with pytest.raises(BadInput, match="no sub-agent 'c3'"):
        read_part(path, data, "c3", no_progress)


def test_real_sub_agents_and_the_call_that_wrote_the_summary(shared: Path, tmp_path: Path) -> None:
    real = shared / "sessions/claude-code"
    path = tmp_path / "fa812bfe.jsonl"
    shutil.copy(real / "spotter-fa812bfe.jsonl", path)
    shutil.copytree(real / "spotter-fa812bfe.subagents", tmp_path / "fa812bfe" / "subagents")
    (tmp_path / "fa812bfe" / "subagents" / "agent-link.jsonl").symlink_to("/etc/passwd")
    session = load(path)
    agents = agent_files(path)
    assert [agent.id for agent in agents] == ["a93ccab", "aa84377", "acompact-70d8e7"]
    assert [agent.is_summary_call for agent in agents] == [False, False, True]
    assert len(load(path, part="a93ccab").context()) == 37
    boundary = next(message for message in session.messages if message.kind == "boundary")
    assert compaction_calls(session) == {boundary.id: agents[2].file}
    call_session = load(path, part="acompact-70d8e7")
    call = compaction_call(call_session)
    assert call is not None
    assert call.answer is not None
    assert call.prompt.text.startswith("Your task is to create a detailed summary")
    assert "<analysis>" in call.answer.text
    assert call_session.title == "the call for a summary"
    assert compaction_call(session) is None


def test_a_session_without_a_folder_beside_it_has_no_calls(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*small()))
    assert compaction_calls(load(path)) == {}
    assert agent_files(path) == []
    assert json.loads(FORMAT.codec.write(load(path), load(path).context()).data.splitlines()[0])["sessionId"]
