"""Errors by status, type and words, whatever client and server they come from."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest

from workbench.summarizers.anthropic_errors import retry_after, trouble_of


class Refused(Exception):
    """The shape of the client's status errors."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        super().__init__(str(body))
        self.status_code, self.body = status, body
        self.response = type("Response", (), {"headers": headers})()


def said(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (Refused(400, said("prompt is too long: 9 tokens > 8 maximum")), "shrink"),
        (Refused(400, said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")), "shrink"),
        (Refused(413, "<html>too large</html>"), "shrink"),
        (Refused(500, said("the request exceeds the context window", "api_error")), "shrink"),
        (Refused(400, said("temperature: Extra inputs are not permitted")), "adapt"),
        (Refused(400, said("messages: roles must alternate")), "none"),
        (Refused(401, said("invalid x-api-key", "authentication_error")), "none"),
        (Refused(402, said("no credit", "billing_error")), "none"),
        (Refused(404, said("model: x", "not_found_error")), "none"),
        (Refused(429, said("slow", "rate_limit_error")), "retry"),
        (Refused(500), "retry"),
        (Refused(503, "gateway"), "retry"),
        (Refused(529, said("busy", "overloaded_error")), "retry"),
        (Refused(200, said("busy", "overloaded_error")), "retry"),
        (Refused(200, said("odd")), "none"),
        (Refused(500, said("x", "api_error"), **{"x-should-retry": "false"}), "none"),
        (Refused(400, said("x"), **{"x-should-retry": "true"}), "retry"),
        (ConnectionResetError("reset"), "retry"),
        (KeyError("bug"), "none"),
    ],
)
def test_what_to_do_about_an_error(error: Exception, remedy: str) -> None:
    trouble = trouble_of(error)
    assert trouble.remedy == remedy
    assert "\n" not in trouble.sentence
    assert trouble.kind == ("overflow" if remedy == "shrink" else "error")


@pytest.mark.parametrize(
    ("message", "room"),
    [
        ("prompt is too long: 250000 tokens > 200000 maximum", 0.8),
        ("prompt is too long: 250,000 tokens > 200,000 maximum", 0.8),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 180 / 190),
        ("prompt is too long", None),
    ],
)
def test_the_servers_figures_say_how_much_fits(message: str, room: float | None) -> None:
    assert trouble_of(Refused(400, said(message))).room == (None if room is None else pytest.approx(room))


def test_retry_after_in_its_three_forms() -> None:
    assert retry_after({"retry-after": "7"}) == 7
    assert retry_after({"retry-after-ms": "250", "retry-after": "7"}) == 0.25
    assert retry_after({"retry-after": "-3"}) == 0
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    assert retry_after({"retry-after": date}) == pytest.approx(60, abs=2)


def test_secrets_are_blacked_out_wherever_they_stand() -> None:
    error = Refused(401, said("key hunter2hunter2 is bad, Bearer abcdefgh01234567 too"))
    sentence = trouble_of(error, ("hunter2hunter2",)).sentence
    assert "hunter2" not in sentence
    assert "abcdefgh" not in sentence
