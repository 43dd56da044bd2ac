"""By what a piped run of tests says of itself that it went well, for its status is that of the last command."""

from __future__ import annotations

import pytest

from workbench.facts.calls import calls_in
from workbench.session import Message, Text, ToolResult, ToolUse

PASSED = [
    "3 passed in 0.1s", "12 tests passed", "1 spec passing", "4 examples pass", "2 succeeded", "0 failed", "no failed",
    "0 fail", "no failures", "0 failing", "0 errors", "no errors", "0 issues", "no issues", "0 problems",
    "no problems", "0 warnings", "no warnings", "ok", "OK (5 tests)", "PASS", "PASSED", "test result: ok. 3 lines",
    "BUILD SUCCESS", "Build succeeded", "Compiled successfully", "all tests pass", "All checks pass",
    "Success: no issues", "Failed: 0", "No fixes applied",
]  # fmt: skip
SILENT = ["", "token", "a pass over the file", "it succeeded", "no failover", "seen OK", "ok so far", "10 failures"]


def ok_of(said: str) -> bool | None:
    call = ToolUse("c1", "Bash", {"command": "pytest -q 2>&1 | tail -3"})
    answer = Message("a", "assistant", (call,))
    result = Message("r", "tool", (ToolResult("c1", (Text(said),)),))
    return calls_in([answer, result])[0].ok


@pytest.mark.parametrize("said", PASSED)
@pytest.mark.parametrize("before", ["", "collected\n"], ids=["first line", "second line"])
def test_a_run_that_went_well(before: str, said: str) -> None:
    assert ok_of(before + said) is True


@pytest.mark.parametrize("said", SILENT)
def test_a_run_that_does_not_say(said: str) -> None:
    assert ok_of(said) is None
