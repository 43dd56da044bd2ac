"""Calls that agents make in words, and what the message after them answers."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.facts.talk import agent, ran, user
from workbench.facts.all_facts import find_facts
from workbench.facts.text_calls import text_calls
from workbench.session import Message, Text

THOUGHT = "THOUGHT: I change the mast.\n\n```python\nmast = 1\n```\n\n```bash\nsed -i s/1/2/ mast.py && make test\n```"


def found(messages: list[Message], *kinds: str) -> list[tuple[str, str, str, bool | None]]:
    facts = (fact for fact in find_facts(messages) if fact.kind in kinds and fact.detail != "mentioned")
    return [(fact.kind, fact.text, fact.detail, fact.ok) for fact in facts]


@pytest.mark.parametrize(
    ("output", "facts"),
    [
        (
            "<returncode>0</returncode>\n<output>\n3 passed\n</output>",
            [
                ("path", "mast.py", "modified", True),
                ("command", "sed -i s/1/2/ mast.py && make test", "3 passed", True),
            ],
        ),
        (
            "<returncode>2</returncode>\n<output>\nfatal: no mast\n</output>",
            [
                ("path", "mast.py", "modified", None),
                ("command", "sed -i s/1/2/ mast.py && make test", "fatal: no mast", False),
                ("error", "fatal: no mast", "`sed -i s/1/2/ mast.py && make test`", None),
            ],
        ),
        ("Please answer with one fence.", []),
    ],
)
def test_a_command_in_the_last_fence(output: str, facts: list[tuple[str, str, str, bool | None]]) -> None:
    messages = [user("Go on"), agent(THOUGHT), user(output, kind="meta")]
    assert found(messages, "command", "path", "error") == facts


def test_no_fence_is_a_call_where_a_person_answers_or_tools_are_called() -> None:
    assert found([user("Go on"), agent(THOUGHT), user("<returncode>0</returncode>")], "command") == []
    messages = [user("Go on"), agent(THOUGHT), user("<returncode>0</returncode>", kind="meta"), *ran("ls", "a")]
    assert found(messages, "command") == [("command", "ls", "a", True)]


def test_a_tool_in_tags() -> None:
    files = "<file><path>a.py</path></file><file><path>b.py</path></file>"
    read = f"Two files.\n<read_file>\n<args>{files}</args>\n</read_file>"
    run = "I run it.\n<execute_command>\n<command>rm a.py</command>\n</execute_command>"
    other = "<execute_command>\n<command>rm b.py</command>\n</execute_command>"
    messages = [
        user("Go on"),
        agent(read),
        user("[read_file for 'a.py'] Result:\nx", kind="meta"),
        agent(run),
        user("[execute_command for 'rm a.py'] Result:\ndone", kind="meta"),
        agent(other),
        user("[attempt_completion] Result:\nno", kind="meta"),
    ]
    assert found(messages, "path", "command") == [
        ("path", "a.py", "viewed", True),
        ("path", "b.py", "viewed", True),
        ("path", "a.py", "deleted", True),
        ("command", "rm a.py", "done", True),
    ]


DONE = "<returncode>0</returncode>\n  3 passed"


def calls_of(words: str, after: str) -> list[tuple[int, str, object, str, bool]]:
    """Return each call with its result; both have one id."""
    messages = [user("Go on"), agent(words), user(after, kind="meta")]
    several = [*text_calls(messages)]
    assert all(one.id == result.call_id for _, one, result in several)
    return [(index, f"{one.id} {one.name}", one.input, result.text, result.is_error) for index, one, result in several]


def test_a_call_in_a_fence_has_an_id_its_command_and_its_result() -> None:
    assert calls_of("```bash\nls\npwd\n```", DONE) == [(1, "spoken-1 bash", {"command": "ls\npwd"}, "3 passed", False)]
    assert calls_of("```sh\nls\n```", DONE.replace(">0<", ">-1<"))[0][4] is True
    assert calls_of("```python\nls\n```", DONE) == []
    assert calls_of("```bash\nls\n", DONE) == []
    assert calls_of("```bash\nls\n```", f"x{DONE}") == []


def test_a_call_in_tags_has_an_id_its_parameters_and_its_result() -> None:
    words = "<read_file>\n<path>a</path>\n</read_file>"
    assert calls_of(words, "[read_file for 'a'] Result: \n b") == [(1, "spoken-1 read_file", {"path": "a"}, "b", False)]
    assert calls_of(words.replace("</path>", "</path><path>b</path>"), "[read_file] Result:c") == [
        (1, "spoken-1 read_file", {"paths": ["a", "b"]}, "c", False)
    ]
    assert calls_of(words * 2, "[read_file] Result:The tool execution failed")[:1] == [
        (1, "spoken-1 read_file", {"path": "a"}, "The tool execution failed", True)
    ]
    assert len(calls_of(words * 2, "[read_file] Result:")) == 1
    assert calls_of(words, "[write_file] Result:") == []


def test_a_result_is_in_a_message_of_a_tool_or_the_user() -> None:
    words = agent("```bash\nls\n```")
    roles: tuple[Literal["tool", "user", "system", "assistant"], ...] = ("tool", "user", "system", "assistant")
    several = [Message("r1", role, (Text(DONE),), "meta") for role in roles]
    assert [len([*text_calls([words, one])]) for one in several] == [1, 1, 0, 0]
