"""Secrets that a command prints, and those that it is given through a pipe or by a script that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.secrets.spans import SHORTEST, Read, Span, by_word, hints_in, places_of
from workbench.base.secrets.values import is_drawn, is_mixed, is_name, is_path, is_phrase, is_placeholder, is_strong

_NAME = r"[\w./-]*(?:pass|passwd|password|pwd|secret|token|key|credential|pin)\w*"
_FILE_OF = rf"(?:node-token|id_token|\.?vault[-_]token|\w*initial\w*[Pp]assword|{_NAME})(?:\.txt|\.key)?"
_FILE = rf"(?:\S*/(?:run/)?secrets?/[\w./-]+|\S*(?<![A-Za-z]){_FILE_OF})"
_RANDOM = r"(?:token_(?:hex|urlsafe|bytes)|randomBytes|random_bytes|SecureRandom|urandom|getrandbits)"
_PRINT = {
    "security find-": r"(?:generic|internet)-password\b[^\n]*\s-(?:w|g|\w*w)\b",
    "get secret": r"s?\b[^\n]*(?:jsonpath|template|custom-columns|base64)",
    "view-secret": r"\s",
    "pass show": r"\s",
    "$ pass": r" [\w@.-]+/[\w@./-]+",
    "gopass ": r"(?:show )?[^\n]*",
    "op read": r"\s",
    "op item get": r"[^\n]*--fields?[ =][^\n]*",
    "bw get": r" (?:password|totp|notes)\b",
    "lpass show": r"[^\n]*(?:-p|--password)\b",
    "vault kv get": r"[^\n]*-field[ =]",
    "vault read": r"[^\n]*-field[ =]",
    "vault token create": r"[^\n]*-field[ =]",
    "vault print token": "",
    "aws configure get": r" \S*(?:secret|token|key)",
    "get-secret-value": r"[^\n]*--query[ =]\S*SecretString",
    "ssm get-parameter": r"[^\n]*--with-decryption",
    "ecr get-login-password": "",
    "generate-db-auth-token": "",
    "print-access-token": "",
    "print-identity-token": "",
    "gcloud secrets versions access": "",
    "az account get-access-token": r"[^\n]*(?:tsv|-o)",
    "keyvault secret show": r"[^\n]*(?:tsv|--query)",
    "acr credential show": r"[^\n]*--query",
    "storage account keys list": r"[^\n]*(?:tsv|--query)",
    "auth token": r"s?\b",
    "auth:token": "",
    "tokens create": r"\b",
    "token create": r"\b",
    "token generate": "",
    "create token": r"\b",
    "generate-token": "",
    "join-token": r"[^\n]*-q",
    "oauth-token": "",
    "whoami -t": "",
    "config:get": rf" {_NAME}",
    "config get": rf" {_NAME}",
    "initial-password": "",
    "initialAdminPassword": "",
    "doppler secrets get": r"[^\n]*--plain",
    "infisical secrets get": r"[^\n]*--(?:plain|raw-value)",
    "ansible-vault view": "",
    "ansible-vault decrypt": r"[^\n]*(?:--output[ =]-|/dev/stdout)",
    "terraform output": rf"[^\n]* {_NAME}",
    "tofu output": rf"[^\n]* {_NAME}",
    "pulumi stack output": rf" {_NAME}[^\n]*--show-secrets",
    "openssl rand": r"\b",
    "openssl passwd": "",
    "wg gen": r"(?:key|psk)",
    "pwgen": r"\b",
    "apg": r" -",
    "diceware": r"\b",
    "xkcdpass": r"\b",
    "urandom": r"[^\n]*\|",
    "python": rf"3? -c [^\n]*{_RANDOM}",
    "node -e": rf" [^\n]*{_RANDOM}",
    "node -p": rf" [^\n]*{_RANDOM}",
    "ruby -r": rf"[^\n]*{_RANDOM}",
    "php -r": rf"[^\n]*{_RANDOM}",
    "keygen": r"\s*(?=\n)",
    "phx.gen.secret": "",
    "rails secret": "",
    "rake secret": "",
    "key:generate --show": "",
    "keyring get": r"\s",
    "secret-tool lookup": r"\s",
    "credstash get": r"\s",
    "chamber read": r"[^\n]*-q",
    "conjur variable get": "",
    "rclone reveal": r"\s",
    "gpg -d": r"\b",
    "gpg --decrypt": r"\b",
    "gpg2 -d": r"\b",
    "age -d": r"\b",
    "wp config get": rf" {_NAME}",
    "cat ": rf"{_FILE}\s*(?=\n|\"|'|;|&)",
    "printenv ": rf"{_NAME}\s*(?=\n|\"|')",
    "echo ": rf"[\"']?\$\{{?(?:env:)?{_NAME}\}}?[\"']?\s*(?=\n|'|\")",
    "Get-Content ": rf"{_FILE}\s*(?=\n)",
    "--showsecret": "",
}
"""Commands whose purpose is to print one, by what to look for: the rest of their line."""
_PRINTING = {hint: re.compile(rest.replace("[^\\n]*", "[^\\n]{0,200}"), re.IGNORECASE) for hint, rest in _PRINT.items()}
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
_SAID = re.compile(r"([a-z]{2,12}(?:[ -][a-z]{2,12}){2,9})[ \t]*(?=[\r\n<]|\Z)")
_PROMPT = re.compile(
    r"[ \t]*(?:[$#%❯➜>] ?|[\w[(][\w.@:~/\[\]() -]{0,60}[$#%>] |command: |[^\n]{0,60}\"(?:command|cmd)\": ?\")", re.I
)
_FILE_NAME = re.compile(r"[\w.-]*\.(?:[a-z]{1,5}|[a-z]+\.\w+)\Z")

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


def spans(read: Read) -> Iterator[Span]:
    text, near, words = read
    for hint in hints_in(words, _HINTS):
        for at in places_of(hint, near):
            if (span := _printed(text, at, at + len(hint), _PRINTING[hint])) is not None:
                yield span
    for word in (f"{word} " for word in ("echo", "printf") if word in words):
        for at in places_of(word, near):
            for way in (_PIPED, _TWICE, _ENCODED):
                if found := way.match(text, at + len(word)):
                    group = found.lastindex or 0
                    value = found[group].rpartition(":")[2] if "chpasswd" in found[0] else found[group]
                    if len(value) >= 4 and not is_placeholder(value):
                        yield found.end(group) - len(value), found.end(group)
                    break
    for start in (sign for sign in ("<<<", "<(echo ", "<(printf ") if sign[:2] in near):
        for at in places_of(start, near):
            if _TAKEN.search(text, max(0, at - 160), at) and (found := _HERE.match(text, at + len(start))):
                group = found.lastindex or 0
                if not is_placeholder(found[group]):
                    yield found.span(group)
    for at in places_of("-command", near) if "command" in words else ():
        if found := _OPTION.search(text, max(0, at - 12), at + 220):
            yield found.span(1)


def _printed(text: str, start: int, at: int, rest: re.Pattern[str]) -> Span | None:
    """Return the span of what the command at `start` has printed, where its line ends and one value follows."""
    called = rest.match(text, at)
    line = _LINE.match(text, called.end()) if called else None
    behind = _BETWEEN.match(text, line.end()) if line else None
    if behind is None:
        return None
    begins = text.rfind("\n", max(0, start - 200), start) + 1 or max(0, start - 200)
    is_shown = behind[0].strip() != "" or bool(_PROMPT.match(text, begins, start + 2))
    found = _PRINTED.match(text, behind.end())
    if found is None:
        said = _SAID.match(text, behind.end()) if is_shown else None
        return said.span(1) if said and is_phrase(said[1]) else None
    value = found[1]
    if len(value) < SHORTEST or is_placeholder(value) or is_name(value) or is_path(value) or _FILE_NAME.match(value):
        return None
    is_secret = is_mixed(value) if is_shown else "/" not in value and (is_drawn(value, 16) or is_strong(value))
    return found.span(1) if is_secret and "://" not in value and value[-1] != ":" else None
