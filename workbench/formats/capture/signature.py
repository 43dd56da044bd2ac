"""Recognise captures of API calls."""

from __future__ import annotations

from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "capture"
KEYS = frozenset(["entries", "log", "logged_at", "request", "response"])


def recognise(look: Look) -> str:
    entries = list_of(dict_of(look.first.get("log")).get("entries"))
    if entries and "request" in dict_of(entries[0]):
        return "a HAR log of requests"
    request = dict_of(look.first.get("request"))
    is_exchange = {"url", "body"} <= request.keys() and "response" in look.first
    return "lines of request and response, as claude-trace writes them" if is_exchange else ""
