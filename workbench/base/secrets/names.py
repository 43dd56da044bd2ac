"""Secrets that are known by the name they are given: `DB_PASSWORD=…`, `"api_key": "…"`, `my password is …`.

Beside the name counts how the value stands there. A person chooses a password, so that a value that is given as one is
taken for it, unless it is a placeholder, a sentence, or code that only speaks of it (`password = read_password()`).
Keys and tokens are drawn by chance: theirs have digits and letters in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from workbench.base.secrets.spans import SHORTEST, Span, places_of

Kind = Literal["chosen", "pass", "key", "any key", "header", "signature", "words"]


class Name(NamedTuple):
    """A name as it stands there, and what stands before it."""

    kind: Kind
    itself: str
    before: str


_CHOSEN = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "senha",
    "wachtwoord",
    "lösenord",
    "hasło",
    "heslo",
    "parola",
    "şifre",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "암호",
    "mot de passe",
    "identified by",
)
_SHORT = ("pass", "pwd", "pw", "psk")
_DRAWN = ("token", "authorization", "authentication", "auth", "credential", "key", "signature", "sig")
_WORDY = ("phrase", "mnemonic")
_CORES = (*_CHOSEN, *_SHORT, *_DRAWN, *_WORDY)
"""What a name of a secret has in it, as small letters."""

_KEY_OF = re.compile(
    r"(?:api|access|secret|private|account|encryption|encrypt|auth|authentication|app|application|service|signing|sign"
    r"|master|shared|sharedaccess|subscription|license|consumer|storage|admin|deploy|bot|webhook|client|server|session"
    r"|jwt|cipher|aes|hmac|user|project|openai|anthropic|azure|[a-z0-9](?P<any>_))[_ -]?\Z"
)
"""What stands before `key` where it is one that opens something; any word in a name like `DD_KEY`."""

_NO_SECRET = re.compile(r"(?:public|cache|foreign|primary|sort|partition|index|host|hash|group|row|dict)[_-]?\Z")
_MORE = re.compile(
    r"(?:[_ -]?(?:access[_ -]?)?(?:key|token))?"
    r"(?:[_-](?:base|prod|production|dev|test|live|stage|staging|value|\d{1,2}))?(?![\w-])"
)
"""What may follow in the name: `SECRET_ACCESS_KEY`, `SECRET_KEY_BASE`. A longer one, `password_hash`, is another."""

_IS = re.compile(
    r"""(?P<close>\\{0,3}["'`]?[\])]?)
    (?: (?P<type>[ ]?:[ ]?[A-Za-z_][\w.\[\]|]{0,30}[ ]=[ ]) | [ \t]{0,3}(?P<sign>=>|:=|=|:|：)(?!=)[ \t]{0,3}
      | (?P<comma>,[ ]?)(?=["']) | (?P<tag>>) | (?P<value>[ ]{1,3}value[ ]?=[ ]?)
      | (?P<is>[ ](?:is|ist|lautet|est|es|was)[ ]) | (?P<blank>[ \t]{1,3}) )
    (?P<quote>\\{0,3}["'`])? (?P<scheme>(?i:bearer|basic|token|apikey|api-key|digest|negotiate)[ ]{1,3})?
    (?P<coded>base64:)?""",
    re.VERBOSE,
)
_BARE = re.compile(r"(?:[^\s\"'`,;)}\]\\&<|]|&(?!\w{1,40}=)){1,400}")
_WORDS = re.compile(r"[a-z]{3,10}(?: [a-z]{3,10}){11,23}")
LONGEST = 400
"""Characters of the longest value that is given a name."""

_PLACEHOLDER = re.compile(
    r"[<$%*•.…\[{]|[Xx]{3}|your?[-_ ]|(?:my|the|some|a)[-_ ]?(?:secret|password|passwd|api|token|key)|change|replace"
    r"|insert|enter|placeholder|example|dummy|redacted|masked|removed|hidden|fixme|todo|none\Z|null\Z|nil\Z|true\Z|false\Z"
    r"|undefined|required|optional|string\Z|bool|int\Z|number\Z|text\Z|any\Z|env\b|!|@|\\[ntu\"'$]|(?:\w+[-_])?here\Z|-+\Z",
    re.IGNORECASE,
)
_HOLLOW = re.compile(r"\.\.\.|…|\*\*\*|xxxx|your[-_]|[-_]here\b|\$\{|\{\{|EXAMPLE\Z", re.IGNORECASE)
_SPOKEN_OF = re.compile(
    # A reference, a placeholder, an operator; a call or an element; a type or a variable, of words with few digits.
    r"[${<%&*=>!|\[(]|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)*!?[(\[{<]"
    r"|[A-Za-z_-]+\d{0,2}(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d{0,2})*(?:[!?:|=].*)?\Z"
)
_PASS_OF = ("require", "store", "key", "db", "user", "pg", "ssh")
_WORDS_OF = ("seed", "recovery", "secret", "mnemonic")
_IN_A_QUERY = ("?", "&", ", ", "X-Amz-")
_CALLED = re.compile(r"\(\s?[\"'][\w-]*\Z")
_OPTION = re.compile(r"--[a-z-]{0,30}\Z")
BEFORE = 60
"""Characters before a name that are looked at."""

BEGINNING = 120
"""Characters of a value by which it is judged."""

_NAMES = re.compile("pass|secret|token|key|pwd|cred|auth", re.IGNORECASE)
_NAMED = re.compile(r"[A-Za-z_-]+(?:\d{1,2}[A-Za-z_-]+)*\Z")
_CHAIN = re.compile(r"[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*(?:\.[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*)*\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_PIECE = re.compile(r"(?<![A-Za-z0-9%+/=])(?=[A-Za-z%+/=]{0,400}\d)(?=[0-9%+/=]{0,400}[A-Za-z])[A-Za-z0-9%+/=]{8,}")


def spans(text: str) -> Iterator[Span]:
    """Where values of names lie that are secrets."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small one is two
        lowered = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    for core in _CORES:
        done = 0
        for at in places_of(core, lowered):
            more = _MORE.match(lowered, at + len(core)) if at >= done else None
            given = more and _IS.match(text, more.end())
            if more and given and (kind := _kind(core, text, lowered, at)):
                name = Name(kind, text[at : more.end()], text[max(0, at - BEFORE) : at])
                if span := _value(name, given):
                    done = span[1]
                    yield span


def names_something(name: str) -> bool:
    """Whether the name of a value may be one of a secret."""
    lowered = name.lower()
    return any(core in lowered for core in _CORES)


def _kind(core: str, text: str, lowered: str, at: int) -> Kind | None:
    """What kind of name the word at `at` is, None where it is none."""
    before = text[at - 1 : at]
    begins = not before.isalpha() or (before.islower() and text[at].isupper())
    if core in _CHOSEN:
        return "chosen"
    if core in _SHORT:
        if before in ("_", "-") or (begins and before.isalpha()) or lowered[max(0, at - 7) : at].endswith(_PASS_OF):
            return "chosen"
        return "pass" if begins else None
    if core in _WORDY:
        of_words = core == "mnemonic" or lowered[max(0, at - 10) : at].rstrip(" _-").endswith(_WORDS_OF)
        return "words" if of_words else None
    if core in ("signature", "sig"):
        return "signature" if begins else None
    if core != "key":
        if lowered.endswith("publickey", 0, at):
            return None
        return "header" if core.startswith("auth") else "key"
    of = _KEY_OF.search(lowered, max(0, at - 20), at)
    if of is None or _NO_SECRET.search(lowered, max(0, at - 20), at):
        return None
    return "any key" if of["any"] else "key"


def _value(name: Name, given: re.Match[str]) -> Span | None:
    """Where the value of a name lies, None where it has none that is a secret."""
    text, at, quote = given.string, given.end(), given["quote"]
    if quote and (close := text.find(quote, at, at + LONGEST)) > 0 and "\n" not in text[at:close]:
        value = text[at:close]
    else:
        bare = (_WORDS if name.kind == "words" else _BARE).match(text, at)
        if bare is None:
            return None
        value, quote = bare[0], None
    return (at, at + len(value)) if _is_secret(value, name, given, quoted=bool(quote)) else None


def _is_secret(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    if len(value) < SHORTEST or (_HOLLOW.search(value, 0, BEGINNING) and not _is_cut(value)):
        return False
    if _PLACEHOLDER.match(value) and not is_drawn(value, 12):
        return False
    if given["comma"] and not (given["close"].strip(")]") and _CALLED.search(name.before)):
        return False
    if name.kind == "words":
        return len(value.split()) in (12, 15, 18, 21, 24)
    if name.kind == "signature":
        return given["sign"] == "=" and not quoted and name.before.endswith(_IN_A_QUERY) and is_drawn(value, 20)
    if name.kind == "pass":
        return bool(given["sign"]) and not name.itself.isupper() and is_drawn(value, 8)
    if given["blank"]:
        return _is_told(value, name, quoted=quoted)
    if given["is"]:
        return is_drawn(value, 8) or (name.kind == "chosen" and _is_mixed(value))
    if name.kind == "chosen":
        return _is_chosen(value, name, given, quoted=quoted)
    if given["scheme"]:
        return not value.isalpha() or bool(re.search("[a-z][A-Z]", value))
    if _is_path(value) or (not quoted and _SPOKEN_OF.match(value)):
        return False
    if name.kind == "key" and quoted and value.isdigit():
        return len(value) >= 10
    return is_drawn(value, 8 if name.kind == "key" else 16)


def _is_cut(value: str) -> bool:
    """Whether it is more than a placeholder: what an abridged text left of a longer one."""
    return "…" in value and any(is_drawn(piece, 8) for piece in value[:BEGINNING].split("…"))


def _is_chosen(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """Whether a value is what a person chose as a password."""
    if given["tag"]:
        return not value.isalpha()
    if quoted:
        return not _is_sentence(value, name) or _is_phrase(value, name, given)
    if _is_path(value):
        return False
    if name.itself.isupper() and given[0] == "=":  # a shell's or an .env file's: whatever is no reference is a value
        return value[0] != "("
    if given["sign"] in (":", "：") and _is_mixed(value) and value.isalnum() and not _NAMES.search(value):
        return True
    return not (_SPOKEN_OF.match(value) or (_CHAIN.match(value) and _NAMES.search(value) and not value.isalnum()))


def _is_told(value: str, name: Name, *, quoted: bool) -> bool:
    """Whether what only a blank parts from the name is its value: an option's, a setting's, one that is spoken of."""
    if value[0] == "-":
        return False
    if is_drawn(value, 8):
        return True
    option = _OPTION.search(name.before)
    spoken = not quoted or _NAMES.search(value) or not any(map(str.isdigit, value))
    return name.kind == "chosen" and _is_mixed(value) and bool(option or not spoken)


def is_drawn(value: str, least: int) -> bool:
    """Whether a piece of it, without hyphens and dots, has digits and letters as only chance puts them."""
    if len(value) < least:
        return False
    return bool(_UUID.match(value) or _PIECE.search(value, 0, BEGINNING))


def _is_mixed(value: str) -> bool:
    bare = value.rstrip(".,:;!?")
    return not bare.isalpha() and any(map(str.isalpha, bare))


def _is_path(value: str) -> bool:
    return bool(re.match(r"[/~]|\.\.?/|[A-Z]:\\", value)) and not is_drawn(value.lstrip("/"), 30)


def _is_phrase(value: str, name: Name, given: re.Match[str]) -> bool:
    """Whether a shell or an .env file gives a few words as a password: what is told to people begins with a capital, or
    speaks of it."""
    of_a_shell = name.itself.isupper() and given["sign"] == "=" and " " not in given[0]
    return of_a_shell and value.islower() and not _NAMES.search(value)


def _is_sentence(value: str, name: Name) -> bool:
    """Whether a quoted text speaks of a password instead of being one."""
    words = value.split()
    if len(words) > 1:
        return "phrase" not in name.itself.lower() and not any(_is_mixed(word.strip(".,:;!?()'")) for word in words)
    return bool(_NAMED.match(value) and _NAMES.search(value))
