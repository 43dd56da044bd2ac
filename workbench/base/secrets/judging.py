"""Judge a value by its name and by how it stands there: a secret, or code and words that only speak of one."""

from __future__ import annotations

import re

from workbench.base.secrets.names import Name
from workbench.base.secrets.spans import SHORTEST
from workbench.base.secrets.values import (
    NAMES,
    has_inner_digit,
    is_app_password,
    is_drawn,
    is_lowered,
    is_mixed,
    is_name,
    is_odd,
    is_passphrase,
    is_path,
    is_phrase,
    is_placeholder,
    is_strong,
    reads_like_a_sentence,
    speaks_of_one,
)

_SPOKEN_OF = re.compile(
    # A reference, a placeholder, an operator; a call or an element; a type or a variable, of words with few digits.
    r"[${<%&*=>!|\[(]|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)*!?[(\[{<]"
    r"|(?:[^\W\d]|-)+\d{0,2}(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d{0,2})*(?:[!?:|=].*)?\Z"
)
_TWO_WORDS = re.compile(r"[A-Z][a-zäöüß]{2,}[._][A-Z][a-zäöüß]{2,}\d{1,3}\Z")
"""Two words and a number, `Copper.Wire8`: variables of that form are rare, passwords are not."""
_CHAIN = re.compile(r"[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*(?:(?:\.|::|->)[A-Za-z_]+(?:\d{1,2}[A-Za-z_]+)*)*\Z")
_VARIABLE = re.compile(r"[a-z_]+\d?\Z|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+\Z")
_KEBAB = re.compile(r"[a-z]+(?:-[a-z0-9]+)*\Z")
_COMMANDLET = re.compile(r"(?:Read|Get|New|Convert\w*|Import|Invoke|Select|Out|Unprotect|Join|Import)-[A-Z][A-Za-z]+\Z")
_CALL = re.compile(r"[A-Za-z_][\w.]*\((?:\)|\Z)")
_PUBLIC_ID = re.compile(r"(?:0x)?(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})!?\Z")
"""The id of the key that Git signs with."""
_GIVEN_TO = re.compile(r"[\w.-]+=(?!=|\Z)")
_IN_A_QUERY = ("?", "&", ", ", "X-Amz-")
_CALLED = re.compile(r"\(\s?[\"'][\w\s#.\[=*^$~-]{0,30}\Z|[\"']--?[\w-]{0,30}\Z")
_SETTER = re.compile(r"(?:set|with|hash|check|verify|validate|confirm|encode|encrypt|(?<![a-z_]))_?\Z", re.IGNORECASE)
_ITS_LINE = re.compile(r"(?:\A|\n)[ \t+>-]*[\w.-]*\Z|\bENV [A-Z0-9_]*\Z")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]{0,30}\Z|(?<![\w-])--?\Z")
_SAID_WITH = re.compile(r"\b(?:with|using|and|mit|und|con|y|avec|et|com|e)\s\Z", re.IGNORECASE)
_SETS = re.compile(
    r"\b(?:set|chang|reset|updat|rotat|mak|switch|setz|änder|cambi|modifi|mets|mett|zmień|ustaw|wijzig|ändra|sätt|alter"
    r"|define|pon|wurde|was|is)\w{0,5}\b[^.;\n]{0,60}\Z",
    re.IGNORECASE,
)
_WITHIN_A_TAG = re.compile(r"[<>][\w:.-]*\Z")
_OF_A_FIELD = re.compile(
    r"[\"'](?:selector|element|label|field|name|locator|target|description|placeholder|xpath|css|id)[\"']\s?:\s?"
    r"[\"'][^\"'\n]{0,60}\Z"
)
_ARN = re.compile(r"\barn:[\w-]+:[\w-]*:[^\s\"']{0,100}\Z")
_BESIDE = re.compile(
    r"(?<![A-Za-z])(?:\w+[_.-])?(?:user|login|host|ssid|port|database|db|broker|server|url|e?mail|account|endpoint)"
    r"(?:[_-]?(?:name|address|id))?[\"']?[ ]?[:=]",
    re.IGNORECASE,
)
"""Settings that stand beside a password."""
_IN_CODE = re.compile(r"[,;({\[|]\s*\n[^\n]*\Z")
_OF_A_SECTION = re.compile(r"\n\[[\w. \"-]+\]\s*\n(?:[^\n\[]{0,80}\n)*[^\n]*\Z")
_TYPE = re.compile(
    r"(?:string|varchar|optional|required|integer|boolean|number|hidden|disabled|enabled|unknown|null)\w*\Z"
)


_SECTION = re.compile(
    r"(?:\A|[\s\"'{\[<])(?:api|encrypt|jwt|auth|b2|backblaze|crypto|secret|token|sign|aes|hmac|openai|anthropic|stripe"
    r"|sendgrid|mailgun|algolia|license|credential|vault|session|cookie|webhook|maps|weather|s3|azure)[\w-]{0,20}[\"']?"
    r"\s?[\]:=]\s?\{?\s*(?:[^\n{}\[\]]{1,100}\n\s*|[\"']\w+[\"']\s?:\s?[^{},]{1,60},\s*){0,4}[\"']?\Z",
    re.IGNORECASE,
)
"""Sections of settings whose `key` is a secret."""


def is_secret(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True for a secret right behind its name."""
    if name.kind == "pin":
        is_given = given["sign"] or given["is"] or given["tag"] or given["value"] or given["typed"]
        return bool(is_given or name.itself == "PIN") and _is_pin(value, given)
    if len(value) < SHORTEST or is_placeholder(value) or _ARN.search(name.before):
        return False
    if given["comma"] and not (given["close"].strip(")]*") and _CALLED.search(name.before)):
        return False
    if given["tag"] and not (given["close"] or _WITHIN_A_TAG.search(name.before)):
        return False
    if given["typed"] and not _OF_A_FIELD.search(name.before):
        return False
    if name.kind == "words":
        return len(value.split()) in (12, 15, 18, 21, 24)
    if name.kind == "bare key":
        is_setting = given["sign"] in (":", "=") and is_drawn(value, 20) and not is_path(value) and ":" not in value
        return is_setting and " " not in value and bool(_SECTION.search(name.before))
    if name.kind == "signature":
        return given["sign"] == "=" and not quoted and name.before.endswith(_IN_A_QUERY) and is_drawn(value, 20)
    if name.kind == "pass":
        return _is_of_a_short_name(value, name, given, quoted=quoted)
    if given["call"]:
        return name.kind == "chosen" and _is_passed(value, name, given)
    if given["blank"]:
        return _follows_a_blank(value, name, given, quoted=quoted)
    if given["to"]:
        return name.kind == "chosen"
    if given["is"]:
        return is_drawn(value, 8) or (name.kind == "chosen" and _is_said(value, quoted=quoted))
    if not quoted and _GIVEN_TO.match(value) and given["scheme"]:
        return False
    if name.kind == "chosen":
        return _is_chosen(value, name, given, quoted=quoted)
    if given["scheme"]:
        is_parameter = value.endswith("=") and _behind(value, given)[:1] in ('"', "'")
        return not is_parameter and (not value.isalpha() or bool(re.search("[a-z][A-Z]", value)))
    if is_path(value) or (not quoted and _SPOKEN_OF.match(value)):
        return False
    if name.before.lower().endswith(("signing", "signing_")) and _PUBLIC_ID.match(value):
        return False
    if name.kind == "key" and quoted and value.isdigit():
        return len(value) >= 10
    return is_drawn(value, 8 if name.kind == "key" else 16)


def is_said_far(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True for a secret with words between its name and it."""
    if name.kind == "pin":
        return name.itself == "PIN" and _is_pin(value, given)
    is_short = name.kind == "pass"
    if is_placeholder(value) or (is_short and (name.itself.isupper() or "/" in value)):
        return False
    if is_strong(value) or is_odd(value) or (is_drawn(value, 20) and not is_short):
        return True
    return not is_short and (is_phrase(value) if quoted else " " in value)


def is_passed_on(value: str, name: Name, given: re.Match[str]) -> bool:
    """True where a password is set to `value`, and not added or sent to something of this name."""
    if len(value) < SHORTEST or is_path(value) or is_placeholder(value) or is_name(value):
        return False
    is_polish = name.itself.lower().startswith("has") and given["to"].strip() == "to"
    sets = is_polish or re.search("set |chang|updat|rotat", given[0]) or _SETS.search(name.before)
    return bool(sets) and (is_strong(value) or is_odd(value) or (is_mixed(value) and not is_lowered(value)))


def _behind(value: str, given: re.Match[str]) -> str:
    """Return the two characters behind the value."""
    end = given.end() + len(value)
    return given.string[end : end + 2]


def _is_pin(value: str, given: re.Match[str]) -> bool:
    digits = value.rstrip(".,;")
    behind = _behind(digits, given)
    return (
        digits.isdecimal() and 4 <= len(digits) <= 12 and not (behind[:1] in ("-", "/", ".") and behind[1:].isdigit())
    )


def _is_of_a_short_name(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True for the password of `pass`, `pw` and the like, which are words for other things as well."""
    if given["blank"]:
        is_word = name.itself.lower() in ("pw", "pwd", "mdp") and any(map(str.isdigit, value)) and is_mixed(value)
        return is_word and bool(_SAID_WITH.search(name.before)) and not is_path(value)
    if name.itself.isupper() or not (given["sign"] or given["is"] or given["tag"] or given["to"]):
        return False
    if is_drawn(value, 8) or is_strong(value) or is_odd(value):
        return True
    is_of_json = quoted and given["close"] and given["sign"] == ":"
    return bool(is_of_json) and _is_among_settings(value, name, given) and not is_name(value) and " " not in value


def _is_said(value: str, *, quoted: bool) -> bool:
    if quoted and " " in value:
        return is_phrase(value)
    return " " in value or is_mixed(value) or value.rstrip(".,").isdecimal()


def _is_chosen(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True for a password that a user chose."""
    if given["tag"]:
        return is_phrase(value) if " " in value else not value.isalpha() and not is_name(value)
    if quoted:
        return _is_quoted_password(value, name, given)
    if is_path(value) or _COMMANDLET.match(value):
        return False
    if " " in value:
        return True
    if name.itself.isupper() and given[0] == "=":  # a shell's or an .env file's: whatever is no reference is a value
        return value[0] != "(" and not _CALL.match(value)
    if given["sign"] in (":", "：") and is_mixed(value) and value.isalnum() and not NAMES.search(value):
        return True
    if _TWO_WORDS.match(value) and not speaks_of_one(value) and _behind(value, given)[:1] not in ("(", "["):
        return True
    if _is_setting(value, name, given) or _is_word_of_a_setting(value, name, given):
        return True
    return not (_SPOKEN_OF.match(value) or (_CHAIN.match(value) and NAMES.search(value) and not value.isalnum()))


def _is_quoted_password(value: str, name: Name, given: re.Match[str]) -> bool:
    if " " not in value:
        return not is_name(value)
    of_a_shell = name.itself.isupper() and given["sign"] == "=" and " " not in given[0]
    is_word = name.itself.lower().startswith("secret")
    if is_app_password(value) or ("phrase" in name.itself.lower() and not reads_like_a_sentence(value, strictly=False)):
        return True
    if of_a_shell and (is_passphrase(value) or (value.islower() and not speaks_of_one(value))):
        return True
    if not is_word and (is_phrase(value) or (given["sign"] and is_passphrase(value) and not value.istitle())):
        return True
    return any(is_strong(word) for word in value.split())


def _is_setting(value: str, name: Name, given: re.Match[str]) -> bool:
    """True for a bare value as settings files have it, with nothing behind it. A variable is none: it has digits
    only at its end, and no sign."""
    behind = _behind(value, given)
    if behind[:1] in (",", ")", "]", "}", "|", "\\") or behind in (";", ";\n", "; "):
        return behind[:1] == "," and behind[1:].isalnum() and given[0] == "=" and has_inner_digit(value)
    if _CHAIN.match(value) and NAMES.search(value) and not has_inner_digit(value):
        return False
    if name.itself.lower().startswith("secret") and _KEBAB.match(value):
        return False
    spaced = bool(given["sign"] == "=" and given[0] != "=")
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return not _VARIABLE.match(value) if spaced else not (_VARIABLE.match(value) and "." in value)
    has_sign = (
        any(sign in "-#!@$^&*+:/?~%;,=" for sign in value.rstrip("!?:;,")) and "::" not in value and "->" not in value
    )
    return has_sign and not value.islower() and not value.isupper()


def _is_word_of_a_setting(value: str, name: Name, given: re.Match[str]) -> bool:
    """True for a password of letters in a file of settings: its line holds nothing else, and a user or a host stands
    beside it."""
    if name.itself.lower().startswith("secret") or speaks_of_one(value) or is_name(value) or _TYPE.match(value):
        return False
    behind = _behind(value, given)[:1]
    is_spaced = given["sign"] == "=" and given[0] != "=" and not _OF_A_SECTION.search(name.before)
    if is_spaced or behind not in ("", "\n", "\r") or not _ITS_LINE.search(name.before) or "(" in value:
        return False
    return len(value) >= 8 and value[0].isalpha() and _is_among_settings(value, name, given)


def _is_among_settings(value: str, name: Name, given: re.Match[str]) -> bool:
    end = given.end() + len(value)
    if "\n" in name.before and not given["close"] and _IN_CODE.search(name.before):
        return False
    return bool(_BESIDE.search(name.before) or _BESIDE.search(given.string, end, end + 100))


def _is_passed(value: str, name: Name, given: re.Match[str]) -> bool:
    """True for a password as an argument: `setPassword("…")`, `getByLabel("Password").fill("…")`."""
    if " " in value or is_name(value) or re.search(r"@[\w-]+\.\w", value):
        return False
    sets = given["call"].startswith("(") and not given["close"] and _SETTER.search(name.before)
    types = "." in given["call"]
    return bool(sets or types) and (any(map(str.isdigit, value)) or is_odd(value))


def _follows_a_blank(value: str, name: Name, given: re.Match[str], *, quoted: bool) -> bool:
    """True where a word one blank after the name is its value: of an option, a setting, or in a sentence."""
    if value[0] == "-" or _GIVEN_TO.match(value) or re.match(r"\w+://", value):
        return False
    its_line = _ITS_LINE.search(name.before)
    ends_it = _behind(value, given).strip(" ") in ("", "\n")
    if len(given["blank"]) > 3 and not (its_line and ends_it):
        return False
    if is_drawn(value, 8):
        return True
    if name.kind != "chosen" or not is_mixed(value):
        return False
    if _OPTION.search(name.before) or (_SAID_WITH.search(name.before) and (quoted or not value.islower())):
        return True
    if its_line and not value.islower() and not value.isalpha():
        return ends_it
    if not quoted:
        return is_odd(value)
    behind = _behind(value, given)[1:]
    is_listed = given["quote"] == "'" and behind in (")", ",", ";") and not name.itself.lower().startswith("secret")
    return not NAMES.search(value) and (any(map(str.isdigit, value)) or name.itself.isupper() or is_listed)
