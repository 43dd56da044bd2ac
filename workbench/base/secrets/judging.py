"""Decide whether the value of a name is a secret, or code and prose that only mention one."""

from __future__ import annotations

import re

from workbench.base.secrets.names import Name
from workbench.base.secrets.spans import SHORTEST
from workbench.base.secrets.values import (
    NAMES,
    has_inner_digit,
    is_algorithm,
    is_app_password,
    is_drawn,
    is_evident,
    is_joined,
    is_lowered,
    is_mixed,
    is_name,
    is_no_secret,
    is_noisy,
    is_odd,
    is_of_code,
    is_passphrase,
    is_path,
    is_phrase,
    is_placeholder,
    is_random,
    is_strong,
    is_word,
    mentions_secret,
    reads_like_a_sentence,
)

_SPOKEN_OF = re.compile(
    # Reference, placeholder or operator; call or element; type or variable (words with few digits).
    r"[${<%&*=>!|\[(]|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)*!?[(\[{<]"
    r"|(?:[^\W\d]|-)+\d{0,2}(?:(?:\.|::|->|\?\.)[A-Za-z_]+\d{0,2})*(?:[!?:|=].*)?\Z"
)
_TWO_WORDS = re.compile(r"[A-Z][a-zäöüß]{2,}[._][A-Z][a-zäöüß]{2,}\d{1,3}\Z")
"""Two words and a number, `Copper.Wire8`: common as a password, rare as a variable."""
_VARIABLE = re.compile(r"[a-z_]+\d?\Z|[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+\Z")
_NO_ENGLISH = (
    "parola",
    "contrase",
    "senha",
    "has",
    "heslo",
    "jelsz",
    "salasana",
    "wachtwoord",
    "mot de",
    "kenn",
    "şifre",
)
_ARGUMENT = re.compile(
    r"(?:(?<![\w-])(?:-[deFXDouv]|-var"
    r"|--(?:data|form|set|extra)[a-z-]*|--from-literal|--var|--env|--arg|--build-arg|--user-data|--secret|--option)"
    r"[ =]?[\"']?(?:[^\s\"']{0,80}[&,])?"
    r"|(?<![\w-])--"
    r"|(?i:\b(?:host|server|data source|user|username|user id|uid|database)=[^;\"'\n]{1,60};\s?"
    r"(?:[\w ]{1,20}=[^;\"'\n]{0,60};\s?){0,3})"
    r"|\w{2,12}://[^\s\"'?]{1,200}\?(?:[^\s\"']{0,200}&)?"
    r"|(?<![\w.])(?:user|username|host|dbname|port|login)=[^\s\"',;]{1,60} )[\w.-]*\Z"
)
"""Options, queries and connection strings before `password=`."""
_PROPERTY = re.compile(
    r"(?:\A|\n)[ \t+>-]{0,20}(?:(?:spring|ssl|javax|jdbc|db|database|mail|smtp|ldap|quarkus|hibernate|sasl|security"
    r"|server|redis|kafka|rabbitmq|datasource|keystore|truststore|jms|ftp|sftp|proxy|admin|mysql|postgres|sonar|nexus|xpack)"
    r"|[a-z][\w-]*\.[\w-]+)\.[\w.-]*\Z"
)
_LINE_OF_ONE = re.compile(r"(?:\A|\n)[ \t+>*`-]*[\w.]*\Z")
_OF_A_STORE = re.compile(r"(?:store|key|(?<![\w-])--?)\Z")
_COMMANDLET = re.compile(r"(?:Read|Get|New|Convert\w*|Import|Invoke|Select|Out|Unprotect|Join|Import)-[A-Z][A-Za-z]+\Z")
_CALL = re.compile(r"[A-Za-z_][\w.]*\((?:\)|\Z)|&?[A-Za-z]\w*\.[A-Z]\w*\{")
"""A call, or a literal of a Go struct: `&corev1.Secret{`."""
_PUBLIC_ID = re.compile(r"(?:0x)?(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})!?\Z")
"""Id of a signing key of Git."""
_BUILDER = re.compile(r"\.\w*\Z")
_DEFINED = re.compile(r"(?:\A|\n)[ \t]*#define \w*\Z")
_SET_WITH = re.compile(r"(?:\bENV|\bsetx) \w*\Z")
_IS_CODE = re.compile(r"[(){}]|:\Z|\A[\w.-]+=|\A`|\A[a-z_]+(?:\d{1,2}[a-z_]*)*\Z|\A(?:[A-Z]?[a-z]+\d?)+\Z")
_OF_CURL = re.compile(r"setopt\w*\([^()\n]{1,40},\s?CURLOPT_[A-Z0-9_]*\Z")
_GIVEN_TO = re.compile(r"[\w.-]+=(?!=|\Z)")
_IN_A_QUERY = ("?", "&", ", ", "X-Amz-")
_CALLED = re.compile(r"(?<!lookup)(?<!query)\(\s{0,12}[\"'][\w\s#.\[=*^$~-]{0,30}\Z|[\"']--?[\w-]{0,30}\Z")
_SETTER = re.compile(
    r"(?:(?<![A-Za-z])(?:set|with|use)[a-z]{0,20}|hash|check|verify|validate|confirm|encode|encrypt|(?<![a-z_]))_?\Z",
    re.IGNORECASE,
)
_ITS_LINE = re.compile(r"(?:\A|\n)[ \t+>-]*[\w.-]*\Z|\bENV [A-Z0-9_]*\Z")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]{0,30}\Z|(?<![\w-])--?\Z")
_SAID_WITH = re.compile(
    r"\b(?:with|using|and|use|try|mit|und|con|y|usa|avec|et|com|e|use|с|и)\s(?:(?:the|a|das|dem|le|la|a)\s)?(?:\w+\s)?\Z|[,;]\s\Z",
    re.IGNORECASE,
)
_SETS = re.compile(
    r"\b(?:set|chang|reset|updat|rotat|mak|switch|setz|änder|cambi|modifi|mets|mett|zmień|ustaw|wijzig|ändra|sätt|alter"
    r"|define|pon|geänd|gesetz|olarak|wurde|was|is)\w{0,5}\b[^.;\n]{0,60}\Z",
    re.IGNORECASE,
)
_ARN = re.compile(r"\barn:[\w-]+:[\w-]*:[^\s\"']{0,100}\Z")
_NEIGHBOURS = re.compile(
    r"(?<![A-Za-z])(?:\w+[_.-])?(?:user|login|host|ssid|port|database|db|broker|server|url|e?mail|account|endpoint)"
    r"(?:[_-]?(?:name|address|id))?[\"']?[ ]?[:=]",
    re.IGNORECASE,
)
"""Settings that files have next to a password."""
_DOTTED = re.compile(r"[\"'][\w-]+(?:\.[\w-]+)*\.\Z")
_TAG_OF_A_USER = re.compile(r"<(?:[\w-]*:)?(?:user|login|host|url|server|account|id)\w{0,12}>", re.IGNORECASE)
_COMPARES = re.compile(
    r"(?:strn?cmp|strcasecmp|[Ee]quals?|assert_eq!|[Cc]ompare(?:_digest)?|_equals|SafeEqual)\("
    r"(?:\[\]byte\(|Buffer\.from\()?[\w.$>-]{0,40}\Z"
)
_NEXT_TO_USER = re.compile(
    r"(?:user|login|name|account|mail|uid)\w{0,10}[\"'\])]{0,2}\s?(?:===?|\.equals\(|,|eq\b)\s?[\"'][^\"'\n]{1,60}[\"']"
    r"\)?\s?(?:&&|and\b|-a\b)[^\n]{0,60}\Z",
    re.IGNORECASE,
)
"""A comparison of the user name, before the comparison of the password."""
_WORD_AND_NUMBER = re.compile(r"(?=.{8})[A-Za-z]{4,20}\d{1,4}[.,]?\Z")
_USER_BEFORE = re.compile(r"(?:user|login)\w{0,4}\s?:\s?[\"'][^\"'\n]{1,60}[\"'],\s{1,20}\Z", re.IGNORECASE)
_IN_SQL = re.compile(r"\b(?:CREATE|ALTER|GRANT|SET)\b[^;\n]{0,90}\Z|(?<=[\"']) (?:WITH )?\Z", re.IGNORECASE)
_FILE = re.compile(r"/.*\.[a-z]{2,8}\Z")
_KEYWORD = re.compile(r"[\s{(]:[\w-]*\Z")
_VERSION = re.compile(r"v\d{1,4}\.\d{1,4}\.\d")


def is_secret(value: str, name: Name, link: re.Match[str], *, quoted: bool) -> bool:
    """True for a secret right after its name."""
    if name.kind == "pin":
        return _is_pin(value, link)
    if quoted and name.kind in ("key", "any key") and (link["sign"] or link["comma"]) and is_noisy(value):
        return True
    if len(value) < SHORTEST or is_placeholder(value) or _ARN.search(name.before) or "encryptedData:" in name.before:
        return False
    if link["compared"] or (link["comma"] and _COMPARES.search(name.before)):
        return is_compared(value, name)
    if link["comma"] and not (link["close"].strip(")]*") and _CALLED.search(name.before)):
        return bool(_OF_CURL.search(name.before)) and not is_name(value)
    if name.kind == "words":
        return len(value.split()) in (12, 15, 18, 21, 24)
    if name.kind == "signature":
        return link["sign"] == "=" and not quoted and name.before.endswith(_IN_A_QUERY) and is_drawn(value, 20)
    if name.kind == "pass":
        return _is_short_name_secret(value, name, link, quoted=quoted)
    if link["call"]:
        return _is_passed(value, name, link)
    if link["blank"]:
        return _follows_a_blank(value, name, link, quoted=quoted)
    if link["to"]:
        return name.kind == "chosen"
    if link["aside"]:
        return name.kind == "chosen" and is_evident(value) and not _IS_CODE.search(value)
    if link["is"]:
        return is_drawn(value, 8) or (name.kind == "chosen" and _is_spoken_password(value, quoted=quoted))
    if name.kind == "chosen":
        return _is_chosen(value, name, link, quoted=quoted)
    if link["scheme"]:
        is_parameter = value.endswith("=") and _text_after(value, link)[:1] in ('"', "'")
        return not is_parameter and (not value.isalpha() or bool(re.search("[a-z][A-Z]", value)))
    if name.before.lower().endswith(("signing", "signing_", "committer_")) and _PUBLIC_ID.match(value):
        return False
    if is_path(value) or (not quoted and _SPOKEN_OF.match(value)):
        return False
    if name.kind == "key" and quoted and value.isdigit():
        return len(value) >= 10
    if name.kind == "any key" and _FILE.search(value):
        return False
    return is_drawn(value, 8 if name.kind == "key" else 16) and not is_of_code(value)


def is_distant_secret(value: str, name: Name, link: re.Match[str], *, quoted: bool) -> bool:
    """True for a secret with words between it and its name."""
    if name.kind == "pin":
        return name.itself == "PIN" and _is_pin(value, link)
    is_short = name.kind == "pass"
    if is_placeholder(value) or "://" in value or (is_short and (name.itself == "PASS" or "/" in value)):
        return False
    if is_evident(value) or is_drawn(value, 16) or (_WORD_AND_NUMBER.match(value) and not is_algorithm(value)):
        return True
    return is_phrase(value) if quoted else " " in value


def is_compared(value: str, name: Name) -> bool:
    """True for a secret that code compares with a variable of this name."""
    if len(value) < SHORTEST or " " in value or is_no_secret(value):
        return False
    if name.kind not in ("chosen", "pass"):
        return is_random(value)
    if _NEXT_TO_USER.search(name.before):
        return True
    return bool(re.search("[0-9]|[a-z][A-Z]", value)) or is_joined(value)


def is_secret_before_name(value: str) -> bool:
    """True for a secret before its name, as in `use … as the password`."""
    return is_evident(value) and not (is_no_secret(value) or _GIVEN_TO.match(value) or "(" in value)


def is_set_in_prose(value: str, name: Name, link: re.Match[str]) -> bool:
    """True if a sentence sets a password to `value`, as opposed to adding or sending something."""
    if len(value) < SHORTEST or is_no_secret(value):
        return False
    behind = link.string[link.end() + len(value) : link.end() + len(value) + 16]
    sets = _SETS.search(f"{name.before}{link[0]}") or _SETS.match(behind[1:].partition("\n")[0])
    return bool(sets) and is_mixed(value) and not is_lowered(value)


def _text_after(value: str, link: re.Match[str]) -> str:
    """Return the two characters after the value."""
    end = link.end() + len(value)
    return link.string[end : end + 2]


def _is_pin(value: str, link: re.Match[str]) -> bool:
    digits = value.rstrip(".,;")
    behind = _text_after(digits, link)
    return (
        digits.isdecimal() and 4 <= len(digits) <= 12 and not (behind[:1] in ("-", "/", ".") and behind[1:].isdigit())
    )


def _is_short_name_secret(value: str, name: Name, link: re.Match[str], *, quoted: bool) -> bool:
    """True for a password after `pass`, `pw` and other names that also have other meanings."""
    if link["blank"]:
        is_stated = bool(_SAID_WITH.search(name.before) or _ITS_LINE.search(name.before))
        return is_stated and is_evident(value) and "/" not in value and not _IS_CODE.search(value)
    if name.itself in ("PW", "PWD") and link["sign"] == ":" and is_evident(value):
        return True
    if not (link["sign"] or link["is"] or link["tag"] or link["to"]):
        return False
    if is_drawn(value, 8) or is_evident(value):
        return True
    is_of_json = quoted and link["sign"] == ":" and (link["close"] or _USER_BEFORE.search(name.before))
    is_worded = " " not in value or is_phrase(value)
    return bool(is_of_json) and _is_among_settings(value, name, link) and not is_name(value) and is_worded


def _is_spoken_password(value: str, *, quoted: bool) -> bool:
    if quoted and " " in value:
        return is_phrase(value)
    return " " in value or is_mixed(value) or value.rstrip(".,").isdecimal()


def _is_chosen(value: str, name: Name, link: re.Match[str], *, quoted: bool) -> bool:
    """True for a password that a user chose."""
    if link["tag"]:
        if " " in value:
            return is_phrase(value)
        is_setting = _is_next_to_user(name, link) or bool(_DOTTED.search(name.before))
        return not is_name(value) and (not value.isalpha() or (is_word(value) and is_setting))
    if quoted:
        return _is_quoted_password(value, name, link)
    if is_path(value) or _COMMANDLET.match(value) or _CALL.match(value):
        return False
    if " " in value:
        return True
    if name.itself.isupper() and link[0] == "=":  # in a shell or an .env file everything is a value except a reference
        return value[0] != "("
    if link["sign"] in (":", "：") and is_mixed(value) and value.isalnum() and not NAMES.search(value):
        return True
    if _TWO_WORDS.match(value) and not mentions_secret(value) and _text_after(value, link)[:1] not in ("(", "["):
        return True
    if _is_setting(value, name, link) or _is_word_of_a_setting(value, name, link):
        return True
    if _is_of_data(value, name, link) and is_word(value):
        return True
    return not _SPOKEN_OF.match(value)


def _is_quoted_password(value: str, name: Name, link: re.Match[str]) -> bool:
    if " " not in value:
        return not is_name(value)
    of_a_shell = name.itself.isupper() and (link["default"] or (link["sign"] == "=" and " " not in link[0]))
    is_word = name.itself.lower().startswith("secret") and "key" not in name.itself.lower()
    if is_app_password(value) or ("phrase" in name.itself.lower() and not reads_like_a_sentence(value, strictly=False)):
        return True
    if of_a_shell and (is_passphrase(value) or (value.islower() and not mentions_secret(value))):
        return True
    if not is_word and (is_phrase(value) or (link["sign"] and is_passphrase(value) and not value.istitle())):
        return True
    return any(is_strong(word) for word in value.split())


def _is_of_data(value: str, name: Name, link: re.Match[str]) -> bool:
    """True if the value is data and not code: an argument of a command, part of a query, or a line of properties."""
    behind = _text_after(value, link)[:1]
    if behind not in ("", "\n", "\r", " ", "'", '"', "&", ";"):
        return False
    if link[0] == "=" and _ARGUMENT.search(name.before):
        return True
    if behind not in ("", "\n", "\r"):
        return False
    if link["value"]:
        return name.itself.isupper()
    if not link["sign"]:
        return False
    if _PROPERTY.search(name.before):
        return True
    is_yaml = link["sign"] == ":" and link[0] != ":" and bool(_ITS_LINE.search(name.before))
    is_prefixed = re.search(r"[A-Za-z0-9_]\Z", name.before) and not name.itself.lower().startswith("secret")
    if is_yaml and (name.itself.isupper() or is_prefixed):
        return True
    is_line = bool(_LINE_OF_ONE.search(name.before)) or (link[0] == ": " and value[0].isupper())
    return is_line and is_joined(value) and not name.itself.lower().startswith("secret")


def _is_next_to_user(name: Name, link: re.Match[str]) -> bool:
    return bool(_TAG_OF_A_USER.search(name.before) or _TAG_OF_A_USER.search(link.string, link.end(), link.end() + 120))


def _is_setting(value: str, name: Name, link: re.Match[str]) -> bool:
    """True for an unquoted value in a settings file. A variable, as opposed to a value, has no sign, and digits only at
    its end."""
    behind = _text_after(value, link)
    if behind[:1] in (",", ")", "]", "}", "|", "\\") or behind in (";", ";\n", "; "):
        return behind[:1] == "," and behind[1:].isalnum() and link[0] == "=" and has_inner_digit(value)
    spaced = bool(link["sign"] == "=" and link[0] != "=")
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return not _VARIABLE.match(value) if spaced else not (_VARIABLE.match(value) and "." in value)
    has_sign = (
        any(sign in "-#!@$^&*+:/?~%;,=" for sign in value.rstrip("!?:;,")) and "::" not in value and "->" not in value
    )
    return has_sign and not value.islower() and not value.isupper()


def _is_word_of_a_setting(value: str, name: Name, link: re.Match[str]) -> bool:
    """True for a password of letters alone in a settings file, next to a user or a host."""
    if name.itself.lower().startswith("secret") or mentions_secret(value) or not is_word(value):
        return False
    behind = _text_after(value, link)[:1]
    is_spaced = link["sign"] == "=" and link[0] != "="
    if is_spaced or behind not in ("", "\n", "\r") or not _ITS_LINE.search(name.before) or "(" in value:
        return False
    return len(value) >= 8 and value[0].isalpha() and _is_among_settings(value, name, link)


def _is_among_settings(value: str, name: Name, link: re.Match[str]) -> bool:
    end = link.end() + len(value)
    return bool(_NEIGHBOURS.search(name.before) or _NEIGHBOURS.search(link.string, end, end + 100))


def _is_passed(value: str, name: Name, link: re.Match[str]) -> bool:
    """True for a password as an argument: `setPassword("…")`, `getByLabel("Password").fill("…")`."""
    if " " in value or is_name(value) or re.search(r"@[\w-]+\.\w", value):
        return False
    if name.kind != "chosen" and not (name.kind in ("key", "any key") and is_drawn(value, 16)):
        return False
    sets = link["call"].startswith("(") and not link["close"] and _SETTER.search(name.before)
    types = "." in link["call"]
    is_built = link["call"].startswith("(") and (sets or _BUILDER.search(name.before)) and is_joined(value)
    return is_built or (bool(sets or types) and (any(map(str.isdigit, value)) or is_odd(value)))


def _follows_a_blank(value: str, name: Name, link: re.Match[str], *, quoted: bool) -> bool:
    """True for a secret that follows its name after blanks: in an option, a setting or a sentence."""
    if _VERSION.match(value):  # `github.com/acme/auth v0.4.1`
        return False
    if value[0] == "-" or re.match(r"\w+://", value):
        return False
    if _GIVEN_TO.match(value) and not (is_odd(value) and _OF_A_STORE.search(name.before)):
        return False
    its_line = _ITS_LINE.search(name.before)
    ends_it = _text_after(value, link).lstrip(" ")[:1] in ("", "\n", "\r")
    if len(link["blank"]) > 3 and not (its_line and ends_it):
        return False
    is_data = name.kind == "chosen" and quoted and not link["close"]
    if is_data and (_IN_SQL.search(name.before) or _KEYWORD.search(name.before)):
        return is_word(value)
    if (link["close"].startswith(('"', "'")) and quoted) or (value.islower() and "/" in value):
        return False  # `"random_password" "db2"`, `secret "secret/data/db"`
    if is_drawn(value, 8):
        return not value.endswith("(")
    if name.kind == "chosen" and (_SET_WITH.search(name.before) or (quoted and _DEFINED.search(name.before))):
        return is_word(value)
    if name.kind != "chosen" or not is_mixed(value):
        return False
    if _OPTION.search(name.before) or (
        _SAID_WITH.search(name.before) and "(" not in value and (quoted or not value.islower() or is_joined(value))
    ):
        return True
    if its_line and ends_it and not value.islower() and not value.isalpha():
        return True
    if not quoted:
        is_stated = not name.itself.isascii() or name.itself.lower().startswith(_NO_ENGLISH)
        is_full = is_evident(value) and "(" not in value and not NAMES.search(value)
        return is_odd(value) or (
            is_full and (is_stated or (is_strong(value) and not value.isalnum() and not value.islower()))
        )
    behind = _text_after(value, link)[1:]
    is_listed = link["quote"] == "'" and behind in (")", ",", ";") and not name.itself.lower().startswith("secret")
    return not NAMES.search(value) and (any(map(str.isdigit, value)) or name.itself.isupper() or is_listed)
