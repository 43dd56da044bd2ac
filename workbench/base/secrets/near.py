"""Random values that stand in the same line as the name of a secret, whatever is written between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from workbench.base.secrets.names import BEFORE, Name, names_something
from workbench.base.secrets.spans import Span
from workbench.base.secrets.values import is_algorithm, is_drawn, is_of_code, is_placeholder, is_uuid

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
_SAYS_NOTHING = {"value", "data", "content", "text", "default", "result", "output", "stdout", "val", "old", "new"}
"""Labels that any value may have."""
_SAYS_OTHER = """
enc id ids uuid guid kid jti commit commits sha hash hashes digest checksum sum md crc etag build request req trace span
rev revision ref head tree blob parent version fingerprint thumbprint integrity public pub publishable certificate cert
image container tag cache nonce iv address addr tx block signature sig asset chunk file path encrypted ciphertext sealed
example index salt model cursor page bundle
"""
_OTHER = frozenset(_SAYS_OTHER.split())
"""Words that say, right before a value, that it is no secret."""
_OF = re.compile(r"([A-Za-z]{2,20}) (?:of|for) (?:[a-z]{1,10} )?\Z")
_KNOWN = re.compile(
    r"[a-z]{2,12}[_-][0-9a-f]{8,}\Z|sha\d{3}-|pk_|AAAA[BCE]3|MII[A-Z]"
    r"|(?:toolu|call|msg|req|run|evt|cus|price|prod|sub|ch|acct|org|proj|user|sess|session|resp|rs|fc"
    r"|trace|chatcmpl|gen|asst|thread|file|step|item|client|app|arn)[_-]"
)
"""Beginnings of digests, public keys, certificates and ids."""
_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}\Z|(?:[0-9A-F]{2}){16,64}\Z")
_CAPITALS = re.compile(r"[A-Z2-7]{24,64}\Z|(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}\Z")
"""The seed of a second factor, and groups of letters as a license has them."""
_IS_BEFORE = re.compile(r"(?=.{0,20}\s)[^,{}\n]{0,39}[^,{}:=\s]?[\s./_\"'`-]")
"""Between a value and the name behind it."""
_SETS = re.compile(r"[\"']?\s?[:=]")
_IS_GIVEN = re.compile(r"\A,|[:=\"'`]|->|\b(?:is|was|to)\b")
_IS = re.compile(r" ?:?=| (?:is|was)\b")
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
    """Yield the spans of random values near one of `names` in `text`."""
    for name in names:
        if name.kind in ("pin", "signature", "words") or "encryptedData:" in name.before:
            continue
        if name.kind == "header" and text[name.end : name.end + 1] != "=":
            continue
        if (of := _OF.search(name.before)) and of[1].lower() in _OTHER:  # `checksum of the key: …`
            continue
        yield from _before(name)
        if not (name.before.endswith("/") or _FILE.match(text, name.end)):
            yield from _behind(name, text)


def _behind(name: Name, text: str) -> Iterator[Span]:
    end = name.end + _MOST_BETWEEN + _LONGEST
    is_below = name.kind != "vendor key" and _NEXT_LINE.match(text, name.end)
    ends = is_below or _ENDS.search(text, name.end, end)
    last = name.end
    for found in _WORD.finditer(text, name.end, ends.end() if ends else end):
        if found.start() - last > _MOST_BETWEEN:
            break
        between = text[last : found.start()]
        if _is_known(found[0], between) or not _is_random(found[0], name, text, between):
            continue
        yield found.span()
        last = found.end()


def _before(name: Name) -> Iterator[Span]:
    """Yield the random word before a name, as in `use … as the token` and `echo … > token`."""
    if name.kind not in ("chosen", "key", "any key"):
        return
    line = name.before[max(name.before.rfind("\n"), name.before.rfind(";")) + 1 :]
    for found in _WORD.finditer(line, 0 if len(line) < BEFORE else 1):  # of a longer line the first word may be cut
        start, end = found.span()
        between = line[end:]
        if _IS_BEFORE.fullmatch(between) and is_of_chance(found[0]) and not _is_known(found[0], line[:start]):
            yield name.start - len(line) + start, name.start - len(line) + end


def _is_known(value: str, between: str) -> bool:
    """True where the value or a nearer label says that it is something else."""
    label = _LABEL.search(between)
    named = (label[1] or label[2]) if label else ""
    if named and named.lower() not in _SAYS_NOTHING and not names_something(named):
        return True
    if "ENC[" in between or any(word.lower() in _OTHER for word in _WORDS.findall(between)[-3:]):
        return True
    return (
        bool(_KNOWN.match(value)) or is_uuid(value) or is_algorithm(value) or is_of_code(value) or is_placeholder(value)
    )


def _is_random(value: str, name: Name, text: str, between: str) -> bool:
    if name.kind == "bare key":
        is_set = _SETS.match(text, name.end) and _SECTION.search(name.before)
        if not (is_set or name.itself == "KEY" or _IN_TALK.search(name.before)):
            return bool(_IS.match(text, name.end)) and is_of_chance(value) and not _is_known(value, name.before[-30:])
    if _HEX.match(value) or _CAPITALS.match(value):
        is_commit = len(value) == 40 and not _IS_GIVEN.search(between)
        return name.kind != "pass" and len(set(value)) >= 8 and not is_commit
    return is_of_chance(value) or (value.isalnum() and _is_of_chance_in_one_case(value))


def is_of_chance(value: str) -> bool:
    """True for small letters, capitals and digits that change as random ones do."""
    kinds = [_kind(sign) for sign in value.rstrip("=")]
    turns = sum(one != other for one, other in pairwise(kinds))
    return {"a", "A", "0"} <= set(kinds) and turns >= _LEAST_TURNS * (len(kinds) - 1)


def _is_of_chance_in_one_case(value: str) -> bool:
    return len(value) >= 24 and sum(map(str.isdigit, value)) >= 4 and is_drawn(value, 20)


def _kind(sign: str) -> str:
    if sign.isdigit():
        return "0"
    return ("a" if sign.islower() else "A") if sign.isalpha() else "-"
