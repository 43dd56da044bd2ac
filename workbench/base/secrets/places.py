"""Spans of secrets that their place in a text reveals: private keys, cut secrets, addresses, headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from workbench.base.secrets.names import names_something
from workbench.base.secrets.spans import LONGEST, IndexedText, Span, places_of
from workbench.base.secrets.values import BEGINNING, is_drawn, is_mixed

# --- private keys, Kubernetes secrets, JSON web keys

_EDGE = re.compile(r"-----(BEGIN|END) [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY = re.compile("[A-Za-z0-9+/]{4}")
_TORN = re.compile(r"(?=[^\"']{0,200}?[A-Za-z0-9+/=]{20})(?:[A-Za-z0-9+/=\s\\:,…→|>]|-(?!----))*+")
LONGEST_KEY = 20_000
_PIECES = re.compile(r"(?P<blank>\s+)|(?P<line>[A-Za-z0-9+/=]+)|.")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}\s{1,6}([A-Za-z0-9+/=]{20,}(?:\s{1,6}[A-Za-z0-9+/=]{20,}){0,60})")
_OF_KUBERNETES = re.compile(r"[ \t]+[\w.-]+:[ ]+[\"']?([^\s\"'{<$|>!&*-][^\s\"']{5,})")
_DATA = re.compile(r'"(?:data|stringData)"\s{0,3}:\s{0,3}\{([^{}]{1,20000})\}')
_OF_DATA = re.compile(r'"\s{0,3}:\s{0,3}"([^"\s{$<][^"\n]{5,})"')
_JWK = re.compile(r'"(?:d|k|p|q|dp|dq|qi)"\s{0,3}:\s{0,3}"([A-Za-z0-9_-]{16,})')
_LONGEST_JWK = 4_000
_LINES = re.compile(r"[^\n]*(?:\n|\Z)")


def keys(text: str) -> Iterator[Span]:
    """Yield private keys (also with their first or last lines missing) and values of Kubernetes secrets and JSON web
    keys."""
    if "PRIVATE KEY" in text:
        done = 0
        for edge, after in pairwise([*_EDGE.finditer(text), None]):
            assert edge is not None
            if edge[1] == "END":
                if (start := _beginning(text, done, edge.start())) < edge.start():
                    yield start, edge.end()
                done = edge.end()
                continue
            done = edge.end()
            if after is not None and after[1] == "END" and after.start() - edge.end() < LONGEST_KEY:
                if _KEY.search(text, edge.end(), after.start()):
                    yield edge.start(), after.end()
            elif torn := _TORN.match(text, edge.end()):
                yield edge.start(), torn.end()
    if "Private-Lines" in text:
        for found in _PUTTY.finditer(text):
            yield found.span(1)
    done = 0
    for at in places_of("kind: Secret\n", text):
        yield from _kubernetes_secrets(text, at, least=max(done, at - LONGEST_KEY))
        done = at
    done = 0
    for at in places_of('"Secret"', text):
        if at >= done:
            done = at + LONGEST_KEY
            for data in _DATA.finditer(text, max(0, at - LONGEST_KEY), done):
                yield from (found.span(1) for found in _OF_DATA.finditer(text, *data.span(1)))
    done = 0
    for at in places_of('"kty"', text):
        if at >= done:
            done = max(at, text.find("}", at, at + _LONGEST_JWK))
            for found in _JWK.finditer(text, text.rfind("{", max(0, at - _LONGEST_JWK), at) + 1, done):
                yield found.span(1)


def _beginning(text: str, least: int, end: int) -> int:
    """Return the start of the key whose lines end at `end`, `least` or later; `end` if there are none. The key's first
    lines may be missing."""
    start, short = end, 0
    for piece in reversed(list(_PIECES.finditer(text, max(least, end - LONGEST_KEY), end))):
        if piece["line"] and len(piece[0]) >= 16:
            start = piece.start()
        elif piece["line"] and start == end and short < 2:  # a key may end with a short line and a checksum
            short += 1
        elif not piece["blank"]:
            break
    return start


def _kubernetes_secrets(text: str, at: int, least: int) -> Iterator[Span]:
    """Yield the values below `data` and `stringData` in the YAML document that has `kind: Secret` at index `at`. Text
    before index `least` is not read."""
    start = max(text.rfind("\n---", least, at), text.rfind("\napiVersion:", least, at), least)
    is_data = False
    for line in _LINES.finditer(text, text.find("\n", start, at) + 1 or at):
        words = line[0].strip()
        if line.start() > at and (not words or words.startswith(("---", "kind:"))):
            return
        if words and line[0][0].isspace():
            if is_data and (found := _OF_KUBERNETES.match(text, *line.span())):
                yield found.span(1)
        else:
            is_data = words in ("data:", "stringData:")


# --- parts of secrets next to an ellipsis

_BEHIND_A_CUT = re.compile(r"(?:…|\.\.\.)[^\n…]{0,60}")
_WORD = re.compile(r"[A-Za-z0-9+_~-]{10,}")
_OWN_LABEL = re.compile(r"[\"'](\w{1,60})[\"']\s?:\s?[\"']\Z")
"""Complete JSON key right before a word. Its name decides whether the word is a secret."""
_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_~.-"
"""Characters that the part of a secret before an ellipsis can have."""
_END = re.compile(r"(?=[A-Za-z_-]{0,20}[0-9])(?=[0-9_-]{0,20}[A-Za-z])[A-Za-z0-9_-]{5,20}(?![A-Za-z0-9_-])")
"""Part before or after an ellipsis of a random word whose middle was cut out: 5 to 20 characters."""
_SUM = re.compile("[0-9a-f-]{1,18}|[0-9A-F]{1,16}")
"""Short form of a commit, checksum or session id, which is no secret."""
_RANGE = re.compile(r"(?<![\w.-])([0-9a-f]{7,40})\.\.\.[0-9a-f]{7,40}(?![\w-])")
"""Range of two commits, which is no secret."""
_OF_A_SUM = re.compile(r"(?:sha\d{1,3}|md5|integrity|checksum|etag|digest)\W{1,6}[\w+/=-]{0,120}\[?\Z", re.IGNORECASE)


def cut(text: str) -> Iterator[Span]:
    """Yield random words near an ellipsis: after it, because the secret's name may be cut out; right before it, because
    the secret's end may be. Commits and checksums are left out."""
    if "…" in text or "..." in text:
        for behind in _BEHIND_A_CUT.finditer(text):
            if _OF_A_SUM.search(text, max(0, behind.start() - 140), behind.start()):
                continue
            for word in _WORD.finditer(text, behind.start(), behind.end() + LONGEST):
                is_of_a_range = _RANGE.match(text, behind.start() - len(word[0]))
                label = _OWN_LABEL.search(text, behind.start(), word.start())
                is_other = is_of_a_range or (label and not names_something(label[1]))
                if word.start() < behind.end() and is_drawn(word[0], 10) and not is_other:
                    yield word.span()
        for mark in ("…", "..."):
            done = 0
            for at in places_of(mark, text):
                before = text[max(done, at - LONGEST) : at]
                left = before[len(before.rstrip(_SIGNS)) :]
                done = at
                if _SUM.fullmatch(left) or (left and _OF_A_SUM.search(text, max(0, at - 140), at)):
                    continue
                if is_drawn(left[-BEGINNING:], 10):
                    yield at - len(left), at
                elif _END.fullmatch(left) and (other := _END.match(text, at + len(mark))):
                    yield at - len(left), at
                    yield other.span()


# --- addresses and headers

_USER = re.compile(r"://([^\s/?#\"'<>`@:]{0,200})(:?)([^\s/?#\"'<>`]{0,300})@")
_MAIL_AND = re.compile(
    r"://[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}:(?!\d{1,5}/)([^\s\"'<>`/]{3,200})@(?=[\w-]+\.[\w.]+)"
)
"""Password in an address whose user name is a mail address."""
_DATABASE_PASSWORD = re.compile(r"://[\w.-]{0,60}:(?!\d{1,5}/)([^\s\"'<>`]{3,200})@(?=[\w.-]+(?:[:/\s\"']|\Z))")
_DATABASE = re.compile(r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|mssql|rediss?|amqps?|clickhouse)[\w+]{0,12}\Z")
"""Scheme of a database, whose passwords may contain `/`, `?` and `#`; these end a password in other addresses."""
NO_PASSWORD = re.compile(r"[{$<%*\[…]|\.{3}|(?:user|pass(?:word|wd)?|pwd?|secret|token|x{3,})\Z", re.IGNORECASE)
_IN_A_QUERY = re.compile(r"[?&](?:appid|key|code|sid)=([\w.~+/%-]{20,400})")
_OF_GO = re.compile(r"(?<![\w.-])[\w.-]{1,60}:([^\s\"'`:]{3,100})\Z")
_HOOK = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/\d{15,20}/"
    r"|\.webhook\.office\.com/webhookb2/|outlook\.office\.com/webhook/|hooks\.zapier\.com/hooks/catch/"
    r"|maker\.ifttt\.com/trigger/[\w-]{1,60}/(?:json/)?with/key/|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|hook\.\w{2,5}\.make\.com/|events\.pagerduty\.com/integration/|hc-ping\.com/)([\w/@-]{12,})"
)
_HOOK_ANYWHERE = re.compile(
    r"/(?:services/(?=T\w{6,12}/B)|(?:web)?hooks?/)(?!T0+/B0+/)((?:[\w-]{1,40}/){0,3}(?![0-9a-f]{8}-[0-9a-f-]{27})([\w-]{20,}))"
)
"""Webhook at any host, such as a self-hosted chat."""
_SCHEMES = ("bearer", "Bearer", "BEARER", "basic", "Basic", "BASIC")
_BEARER = re.compile(r"[ \t]{1,3}[\"']?(?=[A-Za-z._~+/-]{0,80}(?:[0-9=]|[a-z][A-Z]))([A-Za-z0-9._~+/=-]{16,})")
_COOKIES = re.compile(r"ookie[\"']?\s?[:=]\s?[\"']?([^\n]{1,4000})")
_COOKIE = re.compile(r"(?<![^\s;\"'])[\w.-]{1,60}=([^\s;\"'\\]{16,4000})")
_COOKIE_OF_A_BROWSER = re.compile(
    r"\"name\"\s?:\s?\"[\w.-]{0,40}(?:sess|sid|auth|token|csrf)[\w.-]{0,40}\"\s?,\s{0,40}\"value\"\s?:\s?\"([^\"\n]{16,4000})"
)
_MARKS = {
    "::add-mask::": re.compile(r"([^\s\"'$]{4,200})"),
    "issecret=true]": re.compile(r"([^\s\"'$]{4,200})"),
    "WIFI:": re.compile(r"[^\n]{0,80}?\bP:([^;\s]{4,80})"),
    "random_password": re.compile(r"[^\0]{0,600}?\bresult\"?\s{0,9}[=:]\s{0,3}\"([^\"\n$<(]{6,200})\""),
    "jdbc:oracle:thin:": re.compile(r"[\w-]{1,60}/([^\s@\"'$]{3,80})@"),
}
"""Text before a secret, and the pattern of the secret after it."""
_AUTHORIZATION = re.compile(r"[\"']?\s?[:=,]\s?[\"'`]?[A-Za-z][\w.-]{1,40}[ =]{1,2}([^\s\"'`,;<>{}$]{8,})")
"""Rest of an Authorization header after its name, with any scheme."""
_CODES = re.compile(r"(?:recovery|backup|scratch|rescue|2fa|mfa)[ _-]?\Z", re.IGNORECASE)
_CODE = re.compile(
    r"[\s,;\"'`*:=\[\](){}-]{0,12}(?:\d{1,2}[.)]\s{1,3})?"
    r"((?=[A-Za-z -]{0,20}\d)[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,4})(?![\w-])"
)
_FACTORS = ("2fa", "2FA", "totp", "TOTP", "mfa", "MFA", "uthenticator", "second factor")
_GROUPS = re.compile(r"(?<!\w)(?:[A-Z2-7]{4} ){3,7}[A-Z2-7]{4}(?!\w)|(?<!\w)(?:[a-z2-7]{4} ){3,7}[a-z2-7]{4}(?!\w)")
"""Seed of a second factor, in four to eight groups of four characters."""
_DIGEST = re.compile(r"[^\n]{0,600}?\bresponse=[\"']?([0-9a-fA-F]{32,128})\b")


def addresses(text: str) -> Iterator[Span]:
    """Yield passwords, tokens and keys in URLs and Go data source names, and the secret parts of webhook addresses."""
    if "://" in text and "@" in text:
        for found in _MAIL_AND.finditer(text):
            if not NO_PASSWORD.match(found[1]):
                yield found.span(1)
        for found in _USER.finditer(text):
            place = 3 if found[2] and found[3] not in ("", "x-oauth-basic") else 1
            value = found[place]
            if value and not NO_PASSWORD.match(value) and (place == 3 or is_drawn(value, 20)):
                yield found.span(place)
        for found in _DATABASE_PASSWORD.finditer(text):
            if _DATABASE.search(text, max(0, found.start() - 25), found.start()) and not NO_PASSWORD.match(found[1]):
                yield found.span(1)
    for found in _IN_A_QUERY.finditer(text):
        if is_drawn(found[1], 20):
            yield found.span(1)
    for way in ("@tcp(", "@unix("):
        for at in places_of(way, text):
            if found_before := _OF_GO.search(text, max(0, at - 200), at):
                yield found_before.span(1)
    if any(word in text for word in ("hook", "ifttt", "pagerduty", "hc-ping")):
        for found in _HOOK.finditer(text):
            if any(map(str.isdigit, found[1])) and not found[1].endswith(("XXXX", "xxxx", "0000")):
                yield found.span(1)
    if "hook" in text or "/services/T" in text:
        for found in _HOOK_ANYWHERE.finditer(text):
            if is_drawn(found[2], 20) and not set(found[2]) <= {"0", "X", "x"}:
                yield found.span(1)


def headers(source: IndexedText) -> Iterator[Span]:
    """Yield secrets in authorization headers and cookies, after the marks in `_MARKS`, recovery codes and seeds of
    second factors."""
    text, ascii_text, words = source
    for scheme in (scheme for scheme in _SCHEMES if scheme.lower() in words):
        for at in places_of(scheme, ascii_text):
            if found := _BEARER.match(text, at + len(scheme)):
                yield found.span(1)
    done = 0
    for at in places_of("ookie", ascii_text):
        if at >= done and (line := _COOKIES.match(text, at)):
            done = line.end()
            for found in _COOKIE.finditer(text, *line.span(1)):
                if is_drawn(found[1], 16):
                    yield found.span(1)
    for found in _COOKIE_OF_A_BROWSER.finditer(text):
        if is_drawn(found[1], 16):
            yield found.span(1)
    for word, behind in _MARKS.items():
        for at in places_of(word, ascii_text):
            if mark := behind.match(text, at + len(word)):
                yield mark.span(1)
    for at in places_of("uthorization", ascii_text):
        if (header := _AUTHORIZATION.match(text, at + 12)) and is_drawn(header[1], 16):
            yield header.span(1)
    for word in ("code", "Code", "CODE") if words & {"code", "codes"} else ():
        for at in places_of(word, ascii_text):
            if _CODES.search(text, max(0, at - 12), at):
                yield from _codes(text, at + len(word) + (text[at + len(word) : at + len(word) + 1] in ("s", "S")))
    for word in _FACTORS:
        for at in places_of(word, ascii_text):
            found = _GROUPS.search(text, at, at + 120)
            if found and sum(is_mixed(group) for group in found[0].split()) > 1:
                yield found.span()
    for at in places_of("Digest ", ascii_text) if "digest" in words else ():
        if answer := _DIGEST.match(text, at):
            yield answer.span(1)


def _codes(text: str, at: int) -> Iterator[Span]:
    """Yield the recovery codes of a list that begins at index `at`, at most 24."""
    for _ in range(24):
        code = _CODE.match(text, at)
        if code is None or len(code[1]) < 6:
            return
        yield code.span(1)
        at = code.end()
