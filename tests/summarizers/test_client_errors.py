"""Errors by status, type and words, whatever client and server they come from."""

from __future__ import annotations

import email.utils
import socket
import time
from typing import Any

import pytest

from workbench.summarizers.client_errors import Server, classify_error, retry_after


class Refused(Exception):
    """The shape of the client's status errors."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        super().__init__(str(body))
        self.status_code, self.body = status, body
        self.response = type("Response", (), {"headers": headers})()


class APIConnectionError(Exception):
    """The shape of the client's connection errors: what went wrong stands in their cause."""

    def __init__(self, cause: Exception) -> None:
        super().__init__("Connection error.")
        self.__cause__ = cause


class UnsupportedProtocol(Exception):
    """The name that the client's transport gives it."""


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
        (Refused(400, said("groq does not support parameters: ['reasoning_effort']")), "adapt"),
        (Refused(400, said("messages: roles must alternate")), "none"),
        (Refused(307, "", location="http://elsewhere.example/v1/messages"), "none"),
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
        (APIConnectionError(ConnectionRefusedError(111, "Connection refused")), "none"),
        (APIConnectionError(socket.gaierror(socket.EAI_NONAME, "Name or service not known")), "none"),
        (APIConnectionError(socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")), "retry"),
        (APIConnectionError(UnsupportedProtocol("Request URL is missing an 'http://'")), "none"),
        (KeyError("bug"), "none"),
    ],
)
def test_what_to_do_about_an_error(error: Exception, remedy: str) -> None:
    trouble = classify_error(error)
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
    assert classify_error(Refused(400, said(message))).room == (None if room is None else pytest.approx(room))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            APIConnectionError(ConnectionRefusedError(111, "Connection refused")),
            "http://box:1 cannot be reached (Connection refused); check ANTHROPIC_BASE_URL, the network and its proxy",
        ),
        (
            APIConnectionError(ConnectionResetError(104, "Connection reset by peer")),
            "the connection to http://box:1 failed (Connection reset by peer)",
        ),
        (
            Refused(407, ""),
            "http://box:1 cannot be reached (407 Proxy Authentication Required); check ANTHROPIC_BASE_URL, the network "
            "and its proxy",
        ),
        (
            Refused(307, "", location="http://user:secret7@elsewhere.example:80/v1/messages"),
            "http://box:1 sends calls on to elsewhere.example:80 (307); nothing was sent there. "
            "To send the session there, name it in ANTHROPIC_BASE_URL",
        ),
    ],
)
def test_a_server_that_is_not_there_is_named_with_the_cause(error: Exception, words: str) -> None:
    assert classify_error(error, Server("http://box:1")).sentence == words


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://box/v1", "ANTHROPIC_BASE_URL ends with /v1, which the client adds itself"),
        ("http://box/v12", "choose another model"),
    ],
)
def test_an_address_that_ends_like_the_clients_own_path_is_named(address: str, words: str) -> None:
    assert classify_error(Refused(404, said("Not Found")), Server(address)).sentence.endswith(f"; {words}")


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
    sentence = classify_error(error, Server("here", ("hunter2hunter2",))).sentence
    assert "hunter2" not in sentence
    assert "abcdefgh" not in sentence


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("x", "the proxy wants [masked], not prox_x or SOCKS"),
        ("abcdefg", "the proxy wants [masked], not proxabcdefg"),
        ("abcdefgh", "the proxy wants [masked], not prox[masked]"),
        ("a.b(c)+d", "the proxy wants [masked], not prox[masked]"),
    ],
)
def test_a_key_that_is_any_word_is_blacked_out_as_a_word(key: str, told: str) -> None:
    words = f"the proxy wants {key}, not prox{key}" if key != "x" else "the proxy wants x, not prox_x or SOCKS"
    trouble = classify_error(Refused(418, said(words)), Server(secrets=(key,)))
    assert told in trouble.sentence
