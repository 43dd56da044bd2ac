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
from workbench.base.secrets.values import (
    NAMES,
    has_inner_digit,
    is_drawn,
    is_mixed,
    is_name,
    is_path,
    is_phrase,
    is_placeholder,
    is_strong,
    speaks_of_one,
)

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
    "adgangskode",
    "salasana",
    "jelszó",
    "mật khẩu",
    "passord",
    "парола",
    "κωδικός",
    "كلمة المرور",
    "كلمة السر",
    "סיסמה",
    "पासवर्ड",
    "รหัสผ่าน",
    "kata sandi",
    "identified by",
    "psk",
    "keymaterial",
)
_SHORT = ("pass", "pwd", "pw", "mdp", "clave", "credentials")
_DRAWN = (
    "token",
    "токен",
    "令牌",
    "密钥",
    "トークン",
    "authorization",
    "authentication",
    "auth",
    "credential",
    "key",
    "signature",
    "sig",
)
_WORDY = ("phrase", "mnemonic")
_CORES = (*_CHOSEN, *_SHORT, *_DRAWN, *_WORDY)
"""One of these is in each name of a secret, in small letters."""

_KEY_OF = re.compile(
    r"(?:api|access|secret|private|account|encryption|encrypt|auth|authentication|app|application|service|signing|sign"
    r"|master|shared|sharedaccess|subscription|license|consumer|storage|admin|deploy|bot|webhook|client|server|session"
    r"|jwt|cipher|aes|hmac|user|project|openai|anthropic|azure|unseal|preshared|[a-z0-9](?P<any>_))[_ -]?\Z"
    r"|\bmaster\.\Z"
)
"""The word before `key` in the name of a secret one; any word in a name like `DD_KEY`."""

_NO_SECRET = re.compile(
    r"(?:public|publishable|gpg|pgp|cache|foreign|primary|sort|partition|index|host|hash|group|row|dict)[_-]?\Z"
    r"|(?<![a-z_-])signing\Z"  # of Git, which names a key by its id
)
_MORE = re.compile(
    r"(?:et|s[iı]|nya|[яюі])?(?:[_ -]?(?:access[_ -]?)?(?:key|token))?"
    r"(?:[_-](?:base|prod|production|dev|test|live|stage|staging|value|data|\d{1,2})|[ ]\d{1,2}(?=:))?"
    r"(?![a-z0-9_à-ÿа-я-])"
)
"""The end that such a name may have: `SECRET_ACCESS_KEY`, `SECRET_KEY_BASE`. `password_hash` is no secret's name."""

_VALUE = r"""(?:[bBrRuUfFN@]{0,2}(?P<quote>["'`“„«「]))?
    (?P<scheme>(?i:bearer|basic|token|apikey|api-key|digest|negotiate)[ ]{1,3})?(?P<coded>base64:)?"""
_IS = re.compile(
    rf"""(?P<close>["'`*]{{0,2}}[\])]?)
    (?: (?P<type>[ ]?:[ ]?[A-Za-z_][\w.\[\]|]{{0,30}}[ ]=[ ])
      | [ \t]{{0,20}}(?P<sign>=>|:=|=|:|：)(?!=)[*]{{0,2}}[ \t]{{0,20}}
      | (?P<tag>(?:\s{{1,9}}[\w:.-]{{1,40}}\s?=\s?(?:"[^"<>]{{0,200}}"|'[^'<>]{{0,200}}')){{0,6}}[ ]?>\s{{0,40}}
            (?:<!\[CDATA\[|<[Vv]alue>|<string>)?\s{{0,40}} | </key>\s{{0,40}}<string>)
      | (?P<value>(?:\s{{1,9}}[\w:.-]{{1,40}}="[^"<>]{{0,60}}"){{0,4}}[ ]?(?:,\s{{0,40}}|\s{{1,40}})
            ["']?[vV]alue["']?[ ]?[:=][ ]{{0,3}} | [ ]?\{{[^{{}}]{{0,200}}?\bdefault[ ]{{0,20}}=[ ]{{0,3}})
      | [ ]?(?P<comma>,[ ]{{0,2}})(?=["'])
      | (?P<call>\([ ]?|\)?\.(?:fill|type|send_keys|sendKeys|setValue|pressSequentially)\([ ]?)(?=[bN]?["'])
      | (?P<is>[ ](?:is|ist|lautet|est|es|was|é|è|är|jest|er|on|adalah)[ ]?:?[ ] | (?<=hasło)[ ]to[ ]
            | [是为為][：:]?[ ]? | は | [는은][ ] | [ ][—–][ ] | [ ](?i:by)[ ](?=["']))
      | (?P<blank>[ \t]{{1,3}}) )
    {_VALUE}""",
    re.VERBOSE,
)
"""How a value stands behind its name."""

_FAR = re.compile(
    rf"""(?P<close>)(?P<type>)(?P<sign>)(?P<comma>)(?P<tag>)(?P<value>)(?P<call>)(?P<blank>)
    (?P<is>[ ][^\n:=;|<>{{}}]{{1,100}}?
        (?: :\s{{1,6}} | [ ](?:is|ist|lautet|est|es|é|è|är|jest)[ ]?:?[ ] | [ ][—–][ ] ))
    {_VALUE}""",
    re.VERBOSE,
)
"""How it stands behind its name and what is said between: `password for the user ann: …`."""

_CLOSING = {"“": "”", "„": "“", "«": "»", "「": "」"}
_BARE = re.compile(r"(?:[^\s\"'`,;)}\]\\&<|\u3000-\u9fff\uac00-\ud7af”»]|&(?!\w{1,40}=)){1,400}")
_IN_TAGS = re.compile(r"(?:[^<>\n\]]|\](?!\]>)){1,400}")
_OF_A_SHELL = re.compile(r"[^\s\"'`\\]{1,400}?(?=[;,)}\]|&<]*(?:[\s\"'`\\]|\Z)|[;&]\w+=|&&|\|\|)")
_WORDS = re.compile(r"[a-z]{3,10}(?: [a-z]{3,10}){11,23}")
LONGEST = 400
"""Characters of the longest value that is given a name."""

_SPOKEN_OF = re.compile(
    # A reference, a placeholder, an operator; a call or an element; a type or a variable, of words with few digits.
    r"[${<%&*=>!|\[(]|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)*!?[(\[{<]"
    r"|(?:[^\W\d]|-)+\d{0,2}(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d{0,2})*(?:[!?:|=].*)?\Z"
)
_CHAIN = re.compile(r"[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*(?:(?:\.|::|->)[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*)*\Z")
_VARIABLE = re.compile(r"[a-z_]+\d?\Z|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+\Z")
_KEBAB = re.compile(r"[a-z]+(?:-[a-z0-9]+)*\Z")
_GIVEN_TO = re.compile(r"[\w.-]+=(?!=|\Z)")
_PASS_OF = ("require", "store", "key", "db", "user", "pg", "ssh")
_WORDS_OF = ("seed", "recovery", "secret", "mnemonic")
_IN_A_QUERY = ("?", "&", ", ", "X-Amz-")
_CALLED = re.compile(r"\(\s?[\"'][\w\s#.\[=*^$~-]{0,30}\Z|[\"']--?[\w-]{0,30}\Z")
_SETTER = re.compile(r"(?:set|with|hash|check|verify|validate|confirm|encode|encrypt|(?<![a-z_]))_?\Z", re.IGNORECASE)
_ITS_LINE = re.compile(r"(?:\A|\n)[ \t]*[\w.-]*\Z|\bENV [A-Z0-9_]*\Z")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]{0,30}\Z|(?<![\w-])--?\Z")
_SAID_WITH = re.compile(r"\b(?:with|using|and|mit|und|con|y|avec|et|com|e)\s\Z", re.IGNORECASE)
_WITHIN_A_TAG = re.compile(r"[<>][\w:.-]*\Z")
_EXPANDED = re.compile(r"\$\{\w*\Z")
_ARN = re.compile(r"\barn:[\w-]+:[\w-]*:[^\s\"']{0,100}\Z")
BEFORE = 100
"""Characters before a name that are looked at."""


def spans(text: str) -> Iterator[Span]:
    """Yield the spans of secret values that follow their names."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose small one is two
        lowered = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    for core in _CORES:
        done = 0
        for at in places_of(core, lowered):
            more = _MORE.match(lowered, at + len(core)) if at >= done else None
            if more and (kind := _kind(core, text, lowered, at)):
                name = Name(kind, text[at : more.end()], text[max(0, at - BEFORE) : at])
                for way in (_IS, _FAR) if kind == "chosen" else (_IS,):
                    given = way.match(text, more.end())
                    if given and (span := _value(name, given, is_far=way is _FAR)):
                        done = span[1]
                        yield span
                        break


def names_something(name: str) -> bool:
    """True where a value of this name may be a secret."""
    lowered = name.lower()
    return any(core in lowered for core in _CORES)


def _kind(core: str, text: str, lowered: str, at: int) -> Kind | None:
    """Return the kind of name that the word at `at` is, None where it is none."""
    before = text[at - 1 : at]
    begins = not before.isalpha() or (before.islower() and text[at].isupper())
    if core in _CHOSEN:
        return "chosen"
    if core in _SHORT:
        if before in ("_", "-") or (begins and before.isalpha()) or lowered[max(0, at - 7) : at].endswith(_PASS_OF):
            return "chosen"
        if before == ";" and core == "pwd":  # of a connection string, and no folder
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


def _value(name: Name, given: re.Match[str], *, is_far: bool) -> Span | None:
    """Return the span of the name's value, None where the value is no secret."""
    text, at, quote = given.string, given.end(), given["quote"]
    closing = _CLOSING.get(quote, quote)
    if quote and (close := text.find(closing, at, at + LONGEST)) > 0 and "\n" not in text[at:close]:
        value = text[at:close]
    else:
        quote = None
        of_a_shell = name.itself.isupper() and given[0] == "="
        kind = _WORDS if name.kind == "words" else _IN_TAGS if given["tag"] else _OF_A_SHELL if of_a_shell else _BARE
        bare = kind.match(text, at)
        if bare is None:
            return None
        value = bare[0].rstrip()
    if _EXPANDED.search(name.before):  # `${NAME:-default}` may hold one, `${NAME:?message}` does not
        if value[:1] not in ("-", "="):
            return None
        at, value = at + 1, value[1:]
    if is_far:
        is_chosen = is_strong(value) or (quote and is_phrase(value))
        is_secret = not is_placeholder(value) and (is_chosen or is_drawn(value, 20))
    else:
        is_secret = _is_secret(value, name, given, quoted=bool(quote))
    return (at, at + len(value)) if is_secret else None


def _is_secret(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    if len(value) < SHORTEST or is_placeholder(value) or _ARN.search(name.before):
        return False
    if given["comma"] and not (given["close"].strip(")]*") and _CALLED.search(name.before)):
        return False
    if given["tag"] and not (given["close"] or _WITHIN_A_TAG.search(name.before)):
        return False
    if name.kind == "words":
        return len(value.split()) in (12, 15, 18, 21, 24)
    if name.kind == "signature":
        return given["sign"] == "=" and not quoted and name.before.endswith(_IN_A_QUERY) and is_drawn(value, 20)
    if name.kind == "pass":
        is_given = given["sign"] or given["is"] or given["tag"]
        return bool(is_given) and not name.itself.isupper() and (is_drawn(value, 8) or is_strong(value))
    if given["call"]:
        return name.kind == "chosen" and _is_passed(value, name, given)
    if given["blank"]:
        return _follows_a_blank(value, name, given, quoted=quoted)
    if given["is"]:
        chosen = name.kind == "chosen" and (is_mixed(value) if not quoted or " " not in value else is_phrase(value))
        return is_drawn(value, 8) or chosen
    if not quoted and _GIVEN_TO.match(value) and given["scheme"]:
        return False
    if name.kind == "chosen":
        return _is_chosen(value, name, given, quoted=quoted)
    if given["scheme"]:
        is_parameter = value.endswith("=") and given.string[given.end() + len(value) :][:1] in ('"', "'")
        return not is_parameter and (not value.isalpha() or bool(re.search("[a-z][A-Z]", value)))
    if is_path(value) or (not quoted and _SPOKEN_OF.match(value)):
        return False
    if name.kind == "key" and quoted and value.isdigit():
        return len(value) >= 10
    return is_drawn(value, 8 if name.kind == "key" else 16)


def _is_chosen(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True for a password that a user chose."""
    if given["tag"]:
        return is_phrase(value) if " " in value else not value.isalpha() and not is_name(value)
    if quoted:
        return _is_quoted_password(value, name, given)
    if is_path(value):
        return False
    if name.itself.isupper() and given[0] == "=":  # a shell's or an .env file's: whatever is no reference is a value
        return value[0] != "("
    if given["sign"] in (":", "：") and is_mixed(value) and value.isalnum() and not NAMES.search(value):
        return True
    if _is_setting(value, name, given):
        return True
    return not (_SPOKEN_OF.match(value) or (_CHAIN.match(value) and NAMES.search(value) and not value.isalnum()))


def _is_quoted_password(value: str, name: Name, given: re.Match[str]) -> bool:
    if " " not in value:
        return not is_name(value)
    of_a_shell = name.itself.isupper() and given["sign"] == "=" and " " not in given[0]
    is_secret = name.itself.lower().startswith("secret")
    if "phrase" in name.itself.lower() or (of_a_shell and value.islower() and not speaks_of_one(value)):
        return True
    if is_phrase(value) and not is_secret:
        return True
    return any(is_strong(word) for word in value.split())


def _is_setting(value: str, name: Name, given: re.Match[str]) -> bool:
    """True for a bare value as settings files have it, with nothing behind it. A variable is none: it has digits
    only at its end, and no sign."""
    behind = given.string[given.end() + len(value) :][:2]
    if behind[:1] in (",", ")", "]", "}", "|", "\\") or behind in (";", ";\n", "; "):
        return behind[:1] == "," and behind[1:].isalnum() and given[0] == "=" and has_inner_digit(value)
    if _CHAIN.match(value) and NAMES.search(value) and not has_inner_digit(value):
        return False
    if name.itself.lower().startswith("secret") and _KEBAB.match(value):
        return False
    spaced = bool(given["sign"] == "=" and given[0] != "=")
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return not _VARIABLE.match(value) if spaced else not (_VARIABLE.match(value) and "." in value)
    has_sign = any(sign in "-#!@$^&*+:/?~%" for sign in value.rstrip("!?:")) and "::" not in value and "->" not in value
    return has_sign and not value.islower() and not value.isupper()


def _is_passed(value: str, name: Name, given: re.Match[str]) -> bool:
    """True for a password as an argument: `setPassword("…")`, `getByLabel("Password").fill("…")`."""
    if " " in value or is_name(value) or "@" in value.strip("@"):
        return False
    sets = given["call"].startswith("(") and not given["close"] and _SETTER.search(name.before)
    types = "." in given["call"]
    return bool(sets or types) and any(map(str.isdigit, value))


def _follows_a_blank(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True where a word one blank after the name is its value: of an option, a setting, or in a sentence."""
    if value[0] == "-" or _GIVEN_TO.match(value) or re.match(r"\w+://", value):
        return False
    if is_drawn(value, 8):
        return True
    if name.kind != "chosen" or not is_mixed(value):
        return False
    if _OPTION.search(name.before) or (_SAID_WITH.search(name.before) and not value.islower()):
        return True
    if _ITS_LINE.search(name.before) and not value.islower() and not value.isalpha():
        return given.string[given.end() + len(value) :][:2].strip(" ") in ("", "\n")
    return quoted and not NAMES.search(value) and (any(map(str.isdigit, value)) or name.itself.isupper())
