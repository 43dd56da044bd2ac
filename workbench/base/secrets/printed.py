"""Secrets that a command prints or reads from a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from workbench.base.secrets.spans import SHORTEST, IndexedText, Span, by_word, hints_in, places_of
from workbench.base.secrets.values import is_drawn, is_mixed, is_no_secret, is_placeholder, is_strong

_NAME = r"[\w./-]*(?:pass|passwd|password|pwd|secret|token|key|credential|pin)\w*"
_FILE_OF = rf"(?:node-token|id_token|\.?vault[-_]token|\w*initial\w*[Pp]assword|{_NAME})(?:\.txt|\.key)?"
_FILE = rf"(?:\S*/(?:run/)?secrets?/[\w./-]+|\S*(?<![A-Za-z]){_FILE_OF})"
_RANDOM = r"(?:token_(?:hex|urlsafe|bytes)|randomBytes|random_bytes|SecureRandom|urandom|getrandbits)"
_PRINT = {
    "": (
        "vault print token, ecr get-login-password, generate-db-auth-token, print-access-token, print-identity-token"
        ", gcloud secrets versions access, auth:token, token generate, generate-token, oauth-token, whoami -t"
        ", initial-password, initialAdminPassword, ansible-vault view, openssl passwd, phx.gen.secret, rails secret"
        ", rake secret, key:generate --show, conjur variable get, --showsecret"
    ),
    r"\s": "view-secret, pass show, op read, keyring get, secret-tool lookup, credstash get, rclone reveal",
    r"\b": (
        "tokens create, token create, create token, openssl rand, pwgen, diceware, xkcdpass"
        ", gpg -d, gpg --decrypt, gpg2 -d, age -d"
    ),
    rf" {_NAME}": "config:get, config get, wp config get",
    rf"[^\n]* {_NAME}": "terraform output, tofu output",
    r"[^\n]*-field[ =]": "vault kv get, vault read, vault token create",
    rf" [^\n]*{_RANDOM}": "node -e, node -p",
    rf"[^\n]*{_RANDOM}": "ruby -r, php -r",
    rf"3? -c [^\n]*{_RANDOM}": "python",
    r"(?:generic|internet)-password\b[^\n]*\s-(?:w|g|\w*w)\b": "security find-",
    r"s?\b[^\n]*(?:jsonpath|template|custom-columns|base64)": "get secret",
    r" [\w@.-]+/[\w@./-]+": "$ pass",
    r"(?:show )?[^\n]*": "gopass ",
    r"[^\n]*--fields?[ =][^\n]*": "op item get",
    r" (?:password|totp|notes)\b": "bw get",
    r"[^\n]*(?:-p|--password)\b": "lpass show",
    r" \S*(?:secret|token|key)": "aws configure get",
    r"[^\n]*--query[ =]\S*SecretString": "get-secret-value",
    r"[^\n]*--with-decryption": "ssm get-parameter",
    r"[^\n]*(?:tsv|-o)": "az account get-access-token",
    r"[^\n]*(?:tsv|--query)": "keyvault secret show, storage account keys list, acr credential show",
    r"s?\b": "auth token",
    r"[^\n]*-q": "join-token, chamber read",
    r"[^\n]*--(?:plain|raw-value)": "doppler secrets get, infisical secrets get",
    r"[^\n]*(?:--output[ =]-|/dev/stdout)": "ansible-vault decrypt",
    rf" {_NAME}[^\n]*--show-secrets": "pulumi stack output",
    r"(?:key|psk)": "wg gen",
    r" -": "apg",
    r"[^\n]*\|": "urandom",
    r"\s*(?=\n)": "keygen",
    rf"{_FILE}\s*(?=\n|\"|'|;|&)": "cat ",
    rf"{_FILE}\s*(?=\n)": "Get-Content ",
    rf"{_NAME}\s*(?=\n|\"|')": "printenv ",
    rf"[\"']?\$\{{?(?:env:)?{_NAME}\}}?[\"']?\s*(?=\n|'|\")": "echo ",
}
"""Commands that print a secret, keyed by the pattern of the rest of their line."""
_PRINTING = {hint: rest for rest, hints in _PRINT.items() for hint in hints.split(", ")}
_HINTS = by_word(_PRINTING, **{"get secret": "secret secrets", "oauth-token": "oauth", "keygen": "keygen genkey"})
_OUTPUT = r"[\"']\s?,\s?[\"'](?:stdout|output|result|content)[\"']\s?:\s?[\"']"
_FILTER = r"(?:base64|jq|head|tail|tr|awk|cut|grep|sed|tee|xargs|openssl|od|xxd|fold|cat|sha\w+|python\w*|node)\b"
_LINE = re.compile(rf"(?:(?!{_OUTPUT})(?:[^\\\n|>]|\\\n?|\|\s?{_FILTER}|2>&1|2>\s?/dev/null)){{0,400}}")
_BETWEEN = re.compile(
    rf"{_OUTPUT}|\n(?:[ \t]*(?:(?:std)?out(?:put)?|result|`{{3}}\w*|<(?:stdout|output|result)>"
    r"|[^\n]{0,80}(?:succeeded|exited|exit code)[^\n]{0,40})?:?[ \t]*\n){0,3}"
    r"[ \t]*(?:(?:std)?out(?:put)?:[ \t]*|<(?:stdout|output|result)>)?"
)
_PRINTED = re.compile(r"([^\s<>\"'`]{4,400})[ \t]*(?=[\r\n<\"'`]|\Z)")
_PROMPT = re.compile(
    r"[ \t]*(?:[$#%❯➜>] ?|[\w[(][\w.@:~/\[\]() -]{0,60}[$#%>] |command: |[^\n]{0,60}\"(?:command|cmd)\": ?\")", re.I
)

_TAKES = (
    r"sudo\s{1,2}(?:-\w+\s){0,3}-S\b|--password-stdin|--passphrase-fd|--stdin\b|--with-token|\bchpasswd\b|(?<!/)\bpasswd\b"
    r"|\bsmbpasswd\b|pass(?:in|out)? stdin|\bsecrets? (?:put|set|create|import|add|versions add)\b|secret-tool store"
    r"|\bpass insert\b|\bvault (?:kv put|write|login)\b[^\n]{0,80}-|--data-file=-|--from-file=[\w.=-]{0,60}/dev/stdin"
    r"|\bcryptsetup\b|\bkinit\b|\bkubeseal\b|encrypt_string|systemd-creds|--key-file[ =]?-"
    r"|\bhtpasswd\b[^\n|]{0,80}-i|-pass stdin"
    r"|\blogin\b[^\n|]{0,80}-stdin"
)
_GIVEN = r"(?:\"([^\"$\n]{4,200})\"|'([^'\n]{4,200})'|([^\s\"'$|<>&;-][^\s\"'$|<>&;]{3,200}))"
_PIPED = re.compile(
    rf"(?:-\w+\s)?(?:[\"']%s(?:\\n|\n)?[\"']\s)?{_GIVEN}\s?\|[^\n|]{{0,120}}?(?:\|[^\n|]{{0,60}})?(?:{_TAKES})"
)
_TWICE = re.compile(r"(?:-e\s)?[\"']([^\"'\n$]{4,80})(?:\\n|\n)\1(?:\\n|\n)?[\"']\s?\|[^\n|]{0,60}\b(?:smb)?passwd\b")
_ENCODED = re.compile(r"(?:-n\s)?[\"']?[\w.@+-]{1,60}:([^\s\"'$|]{4,200})[\"']?\s?\|\s?base64\b")
_HERE = re.compile(rf"\s?{_GIVEN}")
_TAKEN = re.compile(rf"(?:{_TAKES}|-(?:key|pass\w{{0,6}})-file\b)[^\n|;]{{0,120}}\Z")
_OPTION = re.compile(r"-?-pass(?:word|phrase)?-command[ =]\\?[\"']?(?:echo|printf) [\"']?([^\s\"'$]{4,200})")


@cache
def _pattern(hint: str) -> re.Pattern[str]:
    """Return the pattern of the rest of a command's line, compiled for the first text that has the hint."""
    return re.compile(_PRINTING[hint].replace("[^\\n]*", "[^\\n]{0,200}"), re.IGNORECASE)


def spans(source: IndexedText) -> Iterator[Span]:
    text, ascii_text, words = source
    for hint in hints_in(words, _HINTS):
        for at in places_of(hint, ascii_text):
            if (span := _printed(text, at, at + len(hint), _pattern(hint))) is not None:
                yield span
    for word in (f"{word} " for word in ("echo", "printf") if word in words):
        for at in places_of(word, ascii_text):
            for way in (_PIPED, _TWICE, _ENCODED):
                if found := way.match(text, at + len(word)):
                    group = found.lastindex or 0
                    value = found[group].rpartition(":")[2] if "chpasswd" in found[0] else found[group]
                    if len(value) >= 4 and not is_placeholder(value):
                        yield found.end(group) - len(value), found.end(group)
                    break
    for start in (sign for sign in ("<<<", "<(echo ", "<(printf ") if sign[:2] in ascii_text):
        for at in places_of(start, ascii_text):
            if _TAKEN.search(text, max(0, at - 160), at) and (found := _HERE.match(text, at + len(start))):
                group = found.lastindex or 0
                if not is_placeholder(found[group]):
                    yield found.span(group)
    for at in places_of("-command", ascii_text) if "command" in words else ():
        if found := _OPTION.search(text, max(0, at - 12), at + 220):
            yield found.span(1)


def _printed(text: str, start: int, at: int, rest: re.Pattern[str]) -> Span | None:
    """Return the span of the secret that the command at `start` printed; None if the first line of its output is no
    secret."""
    called = rest.match(text, at)
    line = _LINE.match(text, called.end()) if called else None
    behind = _BETWEEN.match(text, line.end()) if line else None
    if behind is None:
        return None
    begins = text.rfind("\n", max(0, start - 200), start) + 1 or max(0, start - 200)
    is_shown = behind[0].strip() != "" or bool(_PROMPT.match(text, begins, start + 2))
    found = _PRINTED.match(text, behind.end())
    if found is None:
        return None
    value = found[1]
    if len(value) < SHORTEST or is_no_secret(value):
        return None
    is_secret = is_mixed(value) if is_shown else "/" not in value and (is_drawn(value, 16) or is_strong(value))
    return found.span(1) if is_secret and value[-1] != ":" else None
