"""Secrets out of what is shown to others: report, error, journal and screen all ask here.

A key or password is told by its shape or by the name it is given. Where that is in doubt it is taken for one, but not
where code only speaks of it: `password = read_password()`, `apiKey: process.env.API_KEY`, `postgres://{user}:{pw}@db`.
Every pattern passes over a text once, however it is made: no part of a text is looked at from two beginnings.
"""

from __future__ import annotations

import re

from workbench.base.text import clip

MASK = "[masked]"

_KNOWN = re.compile(
    # Providers of models. A bare `sk-` is followed by digits and letters without a hyphen: names are hyphenated, too.
    r"\bsk-(?:ant|proj|or|svcacct|admin|lf|test|live)-[A-Za-z0-9_-]{8,}|\bsk-(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{16,}"
    r"|\bAIza[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}|\b(?:gsk|r8)_[A-Za-z0-9]{30,}|\bxai-[A-Za-z0-9]{30,}"
    # Hosts of code and packages.
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-AgE[A-Za-z0-9_-]{30,}"
    # Chat, clouds, payment, mail.
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bya29\.[A-Za-z0-9_-]{20,}|\bdop_v1_[a-f0-9]{30,}"
    r"|\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    # JSON web tokens, from the beginning of a run only; private keys, whole or torn.
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{5,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?=[^\"']{0,200}?(?:[A-Za-z0-9+/=]{20}|-----END ))"
    r"(?:[A-Za-z0-9+/=\s\\:,…]|-(?!----))*+(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
)

_BEARER = re.compile(
    r"(\b(?i:bearer|basic)\s{1,3})(?=[A-Za-z._~+/-]{0,80}(?:[0-9=]|[a-z][A-Z]))([A-Za-z0-9._~+/=-]{16,})"
)

_IN_ADDRESS = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,100}:)(?![{$<%*\[])([^\s/@]{1,200})(?=@)")

_NAMED = re.compile(
    r"(?P<before>(?:\b|_|(?<=[a-z])(?=[A-Z]))(?P<name>(?i:api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key"
    r"|secret(?:[_-]?(?:access[_-]?)?key)?|password|passwd|passphrase|token|authorization))"
    r"[\"']?(?P<is>\s{0,3}[:=]\s{0,3})(?P<quote>\\?[\"'])?(?P<scheme>(?i:bearer|basic|token)\s{1,3})?)"
    r"(?P<value>(?:[^\s\"'`,;)}\]\\&]|&(?!\w{1,40}=)){6,200})"
)

_SPOKEN_OF = re.compile(
    # A reference, a placeholder, an operator; a call or an element; a type or a variable, of words with few digits.
    r"[${<%&*=>!|\[(]|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)*[(\[{<]"
    r"|[A-Za-z_]+\d{0,2}(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d{0,2})*(?:[!?:|=].*)?\Z"
)


def masked(text: str) -> str:
    """`text` with every secret that can be told by its shape or its name replaced by `MASK`."""
    text = _KNOWN.sub(MASK, text)
    text = _BEARER.sub(rf"\g<1>{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\g<1>{MASK}", text)
    return _NAMED.sub(_without_value, text)


def _without_value(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if found["quote"] or found["scheme"]:
        is_secret = value[0] not in "${<%["
    elif name.isupper() and found["is"] == "=":  # a shell's or an .env file's: whatever is no reference is a value
        is_secret = value[0] not in "${<%[("
    else:
        is_secret = not _SPOKEN_OF.match(value)
    if name.lower() == "token":  # drawn by chance, it has digits and letters; others are counts and words
        is_secret = is_secret and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return found["before"] + MASK if is_secret else found[0]


def error_line(text: str, limit: int = 300) -> str:
    """The first line of an error's text, masked, at most `limit` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clip(masked(line[: 10 * limit]), limit)
