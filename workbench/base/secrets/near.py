"""Random values in the same line as the name of a secret, with any words between.

For vague names this is the only rule: `key` alone, and `key` after a vendor's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.base.secrets.names import BEFORE, Name, names_something
from workbench.base.secrets.spans import Span
from workbench.base.secrets.values import is_algorithm, is_of_code, is_placeholder, is_random, is_uuid

_MOST_BETWEEN = 80
"""Maximum number of characters between a name and its value."""
_LONGEST = 400
_WORD = re.compile(
    r"(?<![^\s\"'`=:(<>\[{,|“„«「：，])[A-Za-z0-9+/_~-]{20,400}={0,2}(?=[\s\"'`)\]},;!?<>|\\&”」。，]|:(?!\w)|\.(?!\w)|…|\Z)"
)
_ENDS = re.compile(r"[\n;]")
_NEXT_LINE = re.compile(
    r"[^\n;]{0,40}\n(?:[ \t>]{0,20}(?:`{3}\w{0,10})?\n){0,2}(?:##\[\w+\])?"
    r"[ \t>=`*\"']{0,20}[\w+/~-]{20,400}={0,2}[`*\"' \t]{0,9}(?:\r?\n|\Z)"
)
"""A line that is only a value, below the line with the name."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LABEL = re.compile(r"(?:[\"']([\w.-]{1,60})[\"']\s?(?::|=>)|(?<![\w.-])([\w.-]{1,60})=)\s?[\"'`(\[]{0,2}\Z")
"""Label right before a value."""
_SAYS_NOTHING = {"value", "data", "content", "text", "default", "result", "output", "stdout", "val", "old", "new"}
"""Labels that fit any value."""
_SAYS_OTHER = """
enc id ids uuid guid kid jti commit commits sha hash hashes digest checksum sum md crc etag build request req trace span
rev revision ref head tree blob parent version fingerprint thumbprint integrity public pub publishable certificate cert
image container tag cache nonce iv address addr tx block signature sig asset chunk file path encrypted ciphertext sealed
example index salt model cursor page bundle
"""
_OTHER = frozenset(_SAYS_OTHER.split())
"""Words before a value that is no secret."""
_OF = re.compile(r"([A-Za-z]{2,20}) (?:of|for) (?:[a-z]{1,10} )?\Z")
_KNOWN = re.compile(
    r"[a-z]{2,12}[_-][0-9a-f]{8,}\Z|sha\d{3}-|pk_|AAAA[BCE]3|MII[A-Z]"
    r"|(?:toolu|call|msg|req|run|evt|cus|price|prod|sub|ch|acct|org|proj|user|sess|session|resp|rs|fc"
    r"|trace|chatcmpl|gen|asst|thread|file|step|item|client|app|arn)[_-]"
)
"""Prefixes of digests, public keys, certificates and ids."""
_HEX = re.compile(r"(?:[0-9a-f]{2}){16,64}\Z|(?:[0-9A-F]{2}){16,64}\Z")
_CAPITALS = re.compile(r"[A-Z2-7]{24,64}\Z|(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}\Z")
"""Seed of a second factor, or a license key in groups."""
_IS_BEFORE = re.compile(r"(?=.{0,20}\s)[^,{}\n]{0,39}[^,{}:=\s]?[\s./_\"'`-]")
"""Text between a value and the name after it."""
_SETS = re.compile(r"[\"']?\s?[:=]")
_FILE = re.compile(r"\.\w{1,5}\b|[/\\]")
"""Text after a name that shows that the name is part of a path."""
_IS_GIVEN = re.compile(r"\A,|[:=\"'`]|->|\b(?:is|was|to)\b")
_IN_TALK = re.compile(
    r"(?<![\w.-])(?:this|that|my|our|your|the|new|following|diese[nmr]?|meine?n?|unsere?n?|den|der|esta|esa|mi|la|nuestra"
    r"|cette|ma|notre|questa|mia|deze|mijn|onze)\s\Z",
    re.IGNORECASE,
)
"""Words directly before `key` when it means a secret. With an adjective between, it may be another kind of key."""
_SECTION = re.compile(
    r"(?:\A|[\s\"'{\[<])(?:api|encrypt|jwt|auth|b2|backblaze|crypto|secret|token|sign|aes|hmac|openai|anthropic|stripe"
    r"|sendgrid|mailgun|algolia|license|credential|vault|session|cookie|webhook|maps|weather|s3|azure)[\w-]{0,20}[\"']?"
    r"\s?[\]:=]\s?\{?\s*(?:[^\n{}\[\]]{1,100}\n\s*|[\"']\w+[\"']\s?:\s?[^{},]{1,60},\s*){0,4}[\"']?\Z",
    re.IGNORECASE,
)
"""Sections of settings whose `key` is a secret."""


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
        if not _FILE.match(text, name.end):
            yield from _after(name, text)


def _after(name: Name, text: str) -> Iterator[Span]:
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
    """Yield random words before a name, as in `use … as the token` and `echo … > token`."""
    if name.kind not in ("chosen", "key", "any key"):
        return
    line = name.before[max(name.before.rfind("\n"), name.before.rfind(";")) + 1 :]
    for found in _WORD.finditer(line, 0 if len(line) < BEFORE else 1):  # the first word of a longer line may be cut
        start, end = found.span()
        between = line[end:]
        is_one = is_random(found[0]) and not _HEX.match(found[0])
        if is_one and _IS_BEFORE.fullmatch(between) and not _is_known(found[0], line[:start]):
            yield name.start - len(line) + start, name.start - len(line) + end


def _is_known(value: str, between: str) -> bool:
    """True if the value itself, or a label closer to it than the name, shows that it is no secret."""
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
            return False
    if _HEX.match(value) or _CAPITALS.match(value):
        is_commit = len(value) == 40 and not _IS_GIVEN.search(between)
        return name.kind != "pass" and len(set(value)) >= 8 and not is_commit
    return is_random(value)
