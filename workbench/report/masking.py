"""Secrets out of text that is shown to others: keys and passwords that a session holds are none of a bug report's."""

from __future__ import annotations

import re

MASK = "[masked]"

_KNOWN = re.compile(
    r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bpypi-[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?s:.){0,8000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)"
)
"""Tokens known by their shape: providers of models, code hosts, chat, clouds, payment, packages; JWTs; private keys."""

_NAMED = re.compile(
    r"(?i)((?:\b|_)(?:api[_-]?key|secret(?:[_-]?(?:access[_-]?)?key)?|access[_-]?token|auth[_-]?token|refresh[_-]?token"
    r"|password|passwd|client[_-]?secret)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)([^\s\"'`,;)}\]]{6,200})"
)
_BEARER = re.compile(r"(?i)(\b(?:bearer|basic)\s{1,3})([A-Za-z0-9._~+/=-]{16,})")
_IN_ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:)([^\s:/@]{1,200})(?=@)")


def masked(text: str) -> str:
    """`text` with every secret that can be told by its shape or its name replaced by `MASK`."""
    text = _KNOWN.sub(MASK, text)
    for pattern in (_BEARER, _IN_ADDRESS, _NAMED):
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text
