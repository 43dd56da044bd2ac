"""API errors as each agent records them, read with their cause, time and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.formats.files import load
from workbench.formats.kit.api_errors import api_error
from workbench.session import ApiError, Cause

TIME, SECONDS = "2026-09-10T08:00:00.000Z", 1789027200.0
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def errors_of(path: Path, *lines: Any) -> list[tuple[str, Cause, float | None, int | None]]:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return [(one.id, one.cause, one.time, one.line) for one in load(path).facts.api_errors]


def claude(type: str, **more: Any) -> dict[str, Any]:
    about = {"parentUuid": None, "isSidechain": False, "sessionId": "s", "version": "2.1.0", "cwd": "/x"}
    return {**about, "type": type, "timestamp": TIME, **more}


def test_a9_claude_code_answers_with_an_error_and_notes_each_retry(tmp_path: Path) -> None:
    error = {
        "model": "<synthetic>",
        "role": "assistant",
        "content": [{"type": "text", "text": "An image exceeds the dimension limit for many-image requests (2000px)."}],
    }
    found = errors_of(
        tmp_path / "s.jsonl",
        claude("user", uuid="u", message={"role": "user", "content": "look"}),
        claude("system", uuid="r", subtype="api_error", error={"status": 529, "error": OVERLOADED}),
        claude("assistant", uuid="a", message=error, isApiErrorMessage=True, error="invalid_request"),
        claude("assistant", uuid="b", message={**error, "content": []}, isApiErrorMessage=True, apiErrorStatus=429),
    )
    assert found == [
        ("r", Cause.OVERLOADED, SECONDS, 2),
        ("a", Cause.IMAGE_TOO_LARGE, SECONDS, 3),
        ("b", Cause.RATE_LIMIT, SECONDS, 4),
    ]


def test_a9_codex_writes_events(tmp_path: Path) -> None:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": TIME, "type": kind, "payload": payload}

    found = errors_of(
        tmp_path / "rollout-2026-09-10T08-00-00-0199.jsonl",
        line("session_meta", id="0199", cwd="/x", cli_version="0.170.0"),
        line("response_item", type="message", role="user", content=[{"type": "input_text", "text": "go"}]),
        line("event_msg", type="stream_error", message="stream disconnected", codex_error_info="other"),
        line("event_msg", type="error", message="Your input exceeds the context window of this model."),
        line("event_msg", type="error", message="", codex_error_info="usage_limit_exceeded"),
    )
    assert found == [
        ("item-3", Cause.OTHER, SECONDS, 3),
        ("item-4", Cause.CONTEXT_TOO_LONG, SECONDS, 4),
        ("item-5", Cause.RATE_LIMIT, SECONDS, 5),
    ]


def test_a9_pi_stops_an_answer_with_an_error(tmp_path: Path) -> None:
    def line(id: str, parent: str | None, **message: Any) -> dict[str, Any]:
        return {"type": "message", "id": id, "parentId": parent, "timestamp": TIME, "message": message}

    failed = {"role": "assistant", "content": [], "stopReason": "error"}
    found = errors_of(
        tmp_path / "s.jsonl",
        {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/x"},
        line("1", None, role="user", content="go"),
        line("2", "1", **failed, errorMessage="400 No tool call found for function call output with call_id c."),
        line("3", "2", role="assistant", content=[], stopReason="aborted", errorMessage="Request was aborted."),
        line("4", "3", **failed),
    )
    assert found == [("2", Cause.ORPHAN_RESULT, SECONDS, 3), ("4", Cause.OTHER, SECONDS, 5)]


def test_a9_copilot_writes_events_and_tells_its_hooks(tmp_path: Path) -> None:
    def line(id: str, type: str, **data: Any) -> dict[str, Any]:
        return {"type": type, "id": id, "parentId": None, "timestamp": TIME, "data": data}

    told = {"error": {"name": "Error", "message": "client error (SendRequest)"}, "errorContext": "model_call"}
    found = errors_of(
        tmp_path / "events.jsonl",
        line("1", "session.start", sessionId="s", copilotVersion="1.0.74", context={"cwd": "/x"}),
        line("2", "user.message", content="go", transformedContent="go"),
        line("3", "session.error", errorType="rate_limit", message="slow down", statusCode=429),
        line("4", "hook.start", hookType="errorOccurred", input=told),
        line("5", "hook.start", hookType="errorOccurred", input={**told, "errorContext": "tool_execution"}),
    )
    assert found == [("3", Cause.RATE_LIMIT, SECONDS, 3), ("4", Cause.OTHER, SECONDS, 4)]


def test_a9_openhands_writes_events(tmp_path: Path) -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "go"}]}
    events = [
        {"kind": "MessageEvent", "id": "1", "timestamp": TIME, "source": "user", "llm_message": said},
        {"kind": "ConversationErrorEvent", "id": "2", "timestamp": TIME, "source": "environment",
         "code": "LLMContextWindowExceedError", "detail": "the prompt is too long"},
    ]  # fmt: skip
    path = tmp_path / "events.json"
    path.write_text(json.dumps(events), "utf-8")
    assert load(path).facts.api_errors == (
        ApiError("2", "the prompt is too long", SECONDS, kind="LLMContextWindowExceedError"),
    )


def test_a9_goose_tells_of_an_error_in_a_message(tmp_path: Path) -> None:
    def line(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "created": int(SECONDS), "content": [{"type": "text", "text": text}]}

    text = "Ran into this error: Server error: 529 Overloaded.\n\nPlease retry if you think this is a transient error."
    head = {"working_dir": "/x", "description": "d", "message_count": 2}
    (tmp_path / "s.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in (head, line("user", "go"), line("assistant", text))), "utf-8"
    )
    (found,) = load(tmp_path / "s.jsonl").facts.api_errors
    assert (found.text, found.cause, found.time) == ("Server error: 529 Overloaded", Cause.OVERLOADED, SECONDS)


@pytest.mark.parametrize(
    ("said", "text", "status", "kind"),
    [
        ("plain", "plain", None, ""),
        ({"message": "m", "status": 503}, "m", 503, ""),
        ({"status": 0, "error": OVERLOADED}, "Overloaded", None, "overloaded_error"),
        ({"name": "APIError", "data": {"message": "m", "statusCode": 400}}, "m", 400, "APIError"),
        ({"error": json.dumps({"error": {"message": "inside"}})}, "inside", None, ""),
        ({"status": 418}, "without a message", 418, ""),
        ({"type": "x_error"}, "x_error", None, "x_error"),
        ([1, 2], "without a message", None, ""),
        (None, "without a message", None, ""),
    ],
)
def test_an_error_is_read_in_whatever_form(said: Any, text: str, status: int | None, kind: str) -> None:
    assert api_error("1", said, 2.0, 3) == ApiError("1", text, 2.0, 3, status, kind)


@pytest.mark.parametrize(
    ("name", "causes"),
    [
        ("11-huge-output-too-long.jsonl", [Cause.CONTEXT_TOO_LONG] * 2),
        ("12-codex-impossible-usage.jsonl", [Cause.CONTEXT_TOO_LONG]),
        ("22-pi-stale-compaction-mid-pair.jsonl", [Cause.ORPHAN_RESULT]),
        ("23-pi-orphan-result.jsonl", [Cause.ORPHAN_RESULT]),
        ("24-pi-thinking-400.jsonl", [Cause.REASONING_CHANGED] * 5),
        ("27-image-2162px.jsonl", [Cause.IMAGE_TOO_LARGE] * 2),
    ],
)
def test_a9_errors_of_the_cases(shared: Path, name: str, causes: list[Cause]) -> None:
    assert [error.cause for error in load(shared / "cases" / name).facts.api_errors] == causes
