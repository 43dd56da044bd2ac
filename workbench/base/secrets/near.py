"""Random values that stand in the same line as the name of a secret, whatever is written between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from workbench.base.secrets.names import Name, names_something
from workbench.base.secrets.spans import Span
from workbench.base.secrets.values import is_algorithm, is_drawn, is_placeholder, is_uuid

_MOST_BETWEEN = 80
"""Characters between a name and its value."""
_LONGEST = 400
_WORD = re.compile(
    r"(?<![^\s\"'`=:(<>\[{,|“„«「：，])[A-Za-z0-9+/_~-]{20,400}={0,2}(?=[\s\"'`)\]},;!?<>|\\&”」。，]|:(?!\w)|\.(?!\w)|…|\Z)"
)
_ENDS = re.compile(r"[\n;]")
_NEXT_LINE = re.compile(
    r"[^\n;]{0,40}\n(?:[ \t>]{0,20}(?:`{3}\w{0,10})?\n){0,2}(?:##\[\w+\])?"
    r"[ \t>=`*\"']{0,20}[\w+/~-]{20,400}={0,2}[`*\"' \t]{0,9}(?:\r?\n|\Z)"
)
"""A line with nothing but the value, below that with the name."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LABEL = re.compile(r"(?:[\"']([\w.-]{1,60})[\"']\s?(?::|=>)|(?<![\w.-])([\w.-]{1,60})=)\s?[\"'`(\[]{0,2}\Z")
"""The value's own name, right before it."""
_SAYS_NOTHING = {"value", "data", "content", "text", "default", "result", "output", "stdout", "answer", "final"}
"""Labels that any value may have."""
_SAYS_OTHER = """
enc id ids uuid guid kid jti commit commits sha hash hashes digest checksum sum md crc etag build request req trace span
rev revision ref head tree blob parent version fingerprint thumbprint integrity public pub publishable certificate cert
image container tag cache nonce iv address addr tx block signature sig asset chunk file path encrypted ciphertext sealed
example index salt model cursor page bundle
"""
_OTHER = frozenset(_SAYS_OTHER.split())
"""Words that say, right before a value, that it is no secret."""
_KNOWN = re.compile(
    r"[a-z]{2,12}[_-][0-9a-f]{8,}\Z|sha\d{3}-|pk_|AAAA[BCE]3|MII[A-Z]"
    r"|(?:toolu|call|msg|req|run|evt|cus|price|prod|sub|ch|acct|org|proj|user|sess|session|resp|rs|fc"
    r"|trace|chatcmpl|gen|asst|thread|file|step|item|client|app|arn)[_-]"
)
"""Beginnings of digests, public keys, certificates and ids."""
_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}\Z|(?:[0-9A-F]{2}){16,64}\Z")
_BASE32 = re.compile(r"[A-Z2-7]{24,64}\Z")
_SETS = re.compile(r"[\"']?\s?[:=]")
_FILE = re.compile(r"\.\w{1,5}\b|[/\\]")
_IN_TALK = re.compile(
    r"(?<![\w.-])(?:this|that|my|our|your|the|new|following|diese[nmr]?|meine?n?|unsere?n?|den|der|esta|esa|mi|la|nuestra"
    r"|cette|ma|notre|questa|mia|deze|mijn|onze)\s\Z",
    re.IGNORECASE,
)
"""Before a key of which nothing is said: no adjective, which may say that it is none of a secret's."""
_SECTION = re.compile(
    r"(?:\A|[\s\"'{\[<])(?:api|encrypt|jwt|auth|b2|backblaze|crypto|secret|token|sign|aes|hmac|openai|anthropic|stripe"
    r"|sendgrid|mailgun|algolia|license|credential|vault|session|cookie|webhook|maps|weather|s3|azure)[\w-]{0,20}[\"']?"
    r"\s?[\]:=]\s?\{?\s*(?:[^\n{}\[\]]{1,100}\n\s*|[\"']\w+[\"']\s?:\s?[^{},]{1,60},\s*){0,4}[\"']?\Z",
    re.IGNORECASE,
)
"""Sections of settings whose `key` is a secret."""
_LEAST_TURNS = 0.4
"""Part of its neighbouring characters that are of different kinds: 0.62 in random letters and digits, half of that in
names of several words."""


def spans(text: str, names: Iterable[Name]) -> Iterator[Span]:
    for name in names:
        if not _may_name_one(name, text):
            continue
        end = name.end + _MOST_BETWEEN + _LONGEST
        is_below = name.kind != "vendor key" and _NEXT_LINE.match(text, name.end)
        ends = is_below or _ENDS.search(text, name.end, end)
        for found in _WORD.finditer(text, name.end, ends.end() if ends else end):
            if found.start() - name.end > _MOST_BETWEEN:
                break
            if _is_secret(found[0], name, text[name.end : found.start()]):
                yield found.span()
                break


def _may_name_one(name: Name, text: str) -> bool:
    if name.kind in ("pin", "signature", "words") or _FILE.match(text, name.end):
        return False
    if name.kind == "header" and text[name.end : name.end + 1] == ".":  # `auth.getUser("…")`
        return False
    if "encryptedData:" in name.before or name.before.endswith("/"):
        return False
    if name.kind != "bare key":
        return True
    is_set = bool(_SETS.match(text, name.end) and _SECTION.search(name.before))
    return is_set or name.itself == "KEY" or bool(_IN_TALK.search(name.before))


def _is_secret(value: str, name: Name, between: str) -> bool:
    label = _LABEL.search(between)
    named = (label[1] or label[2]) if label else ""
    if named and named.lower() not in _SAYS_NOTHING and not names_something(named):
        return False
    if "ENC[" in between or any(word.lower() in _OTHER for word in _WORDS.findall(between)[-3:]):
        return False
    if _KNOWN.match(value) or is_uuid(value) or is_algorithm(value) or is_placeholder(value):
        return False
    if _HEX.match(value) or _BASE32.match(value):
        return name.kind not in ("pass", "header") and len(set(value)) >= 8
    return is_of_chance(value) or (value.isalnum() and _is_of_chance_in_one_case(value))


def is_of_chance(value: str) -> bool:
    """True for characters of at least three kinds that change as random ones do."""
    kinds = [_kind(sign) for sign in value.rstrip("=")]
    turns = sum(one != other for one, other in pairwise(kinds))
    return len(set(kinds)) >= 3 and "0" in kinds and turns >= _LEAST_TURNS * (len(kinds) - 1)


def _is_of_chance_in_one_case(value: str) -> bool:
    return len(value) >= 24 and sum(map(str.isdigit, value)) >= 4 and is_drawn(value, 20)


def _kind(sign: str) -> str:
    if sign.isdigit():
        return "0"
    return ("a" if sign.islower() else "A") if sign.isalpha() else "-"
