"""Classify a value by its characters: random, chosen by a user, or a placeholder, a sentence, a name."""

from __future__ import annotations

import re

from workbench.base.secrets.spans import SHORTEST

BEGINNING = 120
"""Number of characters at the beginning of a value in which random parts and placeholders are searched."""

_LONGEST_CHOSEN = 80
"""Length of the longest password that a user chooses."""

_PLACEHOLDER = re.compile(
    r"[<$%*•.…\[{!@]|[Xx]{3}|your?[-_ ]|(?:my|the|some|a)[-_ ]?(?:secret|password|passwd|api|token|key)"
    r"|change(?:[-_ ]?(?:me|it|this)(?!\w{4})|(?-i:(?![a-z\d])))"
    r"|(?:replace|insert|enter|placeholder|example|dummy|redacted|masked|removed|hidden|fixme|todo|required|optional"
    r"|undefined|bool|env)(?-i:(?![a-z\d]))|(?:replace|enter|insert)(?:me|this|your|with)"
    r"|(?:none|null|nil|true|false|string|int|number|text|any|boolean)\Z"
    r"|\\[u$]|(?:\w+[-_])?here\Z|-+\Z",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"ENC[\[(]|\{cipher\}|vault:|op://|arn:|ref\+|projects/[^/]+/(?:secrets|locations)/|pk_(?:test|live)_|\$\{\{|\{\{|\$\(|!\w"
    r"|\$[A-Z_][A-Z0-9_]*\Z|@Microsoft\.|0x[0-9a-fA-F]{40}\Z|k8s:enc:|AQ[IE]CA[HR]|Ag[A-E][A-Za-z0-9+/]{200}"
)
"""Prefixes of encrypted values, of references to a secret store, and of public keys."""
_PATTERN = re.compile(
    r"(?i:abcdefghijklmnopqrstuvwxyz)|\[\^?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|0-9)|\\[sdwSDW][*+?{]|\(\?[:i=!<]|\]\{\d|\[\^[\s\"'\\]"
    r"|\{[A-Za-z_][\w.\[\]'\"-]{2,}\}"
)
"""Parts of regular expressions, templates and alphabets."""
_HOLLOW = re.compile(
    r"\.\.\.|…|\*\*\*|xxxx|your[-_]|[-_]here\b|\$\{|\{\{|EXAMPLE(?:KEY)?\Z|(?-i:EXAMPLE)", re.IGNORECASE
)
NAMES = re.compile(
    "pass|secret|token|key|pwd|cred|auth|kennwort|wachtwoord|lösenord|contrase|senha|hasło|heslo|parola|şifre|парол"
    "|密码|密碼|口令|パスワード|비밀번호|암호",
    re.IGNORECASE,
)
"""Words in the names of variables and fields that hold a secret."""

_SPEAKS = re.compile(rf"(?<![^\W_])(?:{NAMES.pattern})", re.IGNORECASE)
_NAMED = re.compile(r"[\w./:-]*[^\W\d]\Z")
_TERM = re.compile(r"(?:oauth|auth|base|sha|md|utf|x|s|ec|k|i18n|http|v|db|rsa|aes|ed|oidc|totp)\d{1,5}", re.IGNORECASE)
"""Technical terms with digits: `oauth2`, `sha256`."""
_ALGORITHM = re.compile(
    r"(?:(?:sha|md|aes|hmac|pbkdf|[bs]?crypt|argon|blake|rsa|ecdsa|ed|[hrep]s|3?des|chacha|poly|oauth|with|ctr|gcm|cbc"
    r"|id|[bi])(?:[_-]?\d{1,5})?[_-]?)+\Z",
    re.IGNORECASE,
)
"""Names of hashes and ciphers: `sha512`, `pbkdf2_sha256`, `aes-256-gcm`, `PBKDF2WithHmacSHA256`."""


_IN_WORDS = re.compile("[A-Z]?[a-z]{2,}")
_OF_CODE = re.compile(r"[a-z]*(?:[A-Z]{0,2}[A-Z][a-z]{2,}\d{0,2}|V\d){3,12}(?:\.class)?\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_PIECE = re.compile(r"(?<![A-Za-z0-9%+/=])(?=[A-Za-z%+/=]{0,400}\d)(?=[0-9%+/=]{0,400}[A-Za-z])[A-Za-z0-9%+/=]{8,}")
_SAID = re.compile(
    r"\b(?:is|are|was|be|been|has|have|must|should|can|cannot|may|not|no|the|an|your|our|with|without|of|for|from|to|at|in"
    r"|on|as|or|and|too|least|than|please|invalid|wrong|required|missing|characters?|minimum|maximum|does|do|it|this|that"
    r"|ist|muss|darf|nicht|der|die|das|für|mit|und|le|la|les|est|et|un|une|el|los|es|debe|una|no|de|del|é|obrigatóri[ao])\b",
    re.IGNORECASE,
)
"""Words of sentences that a passphrase does not contain, articles and prepositions among them."""
_PHRASE = re.compile(r"[\w'&+#!-]+(?: [\w'&+#!-]+){1,7}\Z")
_SENTENCE = re.compile(
    r"\b(?:is|are|was|be|been|has|have|must|should|can|cannot|may|not|no|your|our|please|invalid|wrong|required|missing"
    r"|optional|characters?|minimum|maximum|least|than|too|does|do|it|this|that|if|when|will|would|enter|type|again|used?"
    r"|using|read|stored|needs?|needed|never|field|value|reset|forgot|forgotten|change|changed|confirm|show|hide|see"
    r"|ist|muss|darf|nicht|bitte|wird|est|obligatoire|debe|ingrese|é|deve|obrigatóri[ao]|wpisz|voer|ange)\b",
    re.IGNORECASE,
)
"""Words of sentences, without articles and prepositions: for places where a passphrase may contain these."""
_WORDS = re.compile(r"[^\s\"'`<>{}()]{1,20}(?: [^\s\"'`<>{}()]{1,20}){1,9}\Z")
_APP = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}\Z")
_ODD = re.compile(
    r"(?=\S*[A-Z])(?=\S*[a-z])(?!\S*(?:&&|\|\||::|==|->|=>|\(|\)|@[\w-]+\.\w))\S*\w[!#$%&*+?^~;|@=,]\w\S*"
)
_JOINED = re.compile(r"[A-Z][a-zäöüß]{2,}[_.-][A-Z][a-zäöüß]{2,}\d{0,4}|[a-z]{3,}(?:-[a-z]{3,}){1,5}(?:-?\d{1,4})?")
_LOWERED = re.compile(r"[a-z]+(?:[-_./][a-z0-9]+)*\Z")


def is_placeholder(value: str) -> bool:
    """True for a placeholder, a pattern or template, an encrypted value, or a reference to a secret store; False for a
    strong password after `!`, `@` or `*`."""
    if (
        value[:1] in ("!", "@", "*")
        and is_strong(value[1:])
        and not value[1:].islower()
        and not value.startswith("@Microsoft")
    ):
        return False
    if (
        _PATTERN.search(value, 0, 4 * BEGINNING)
        or _REFERENCE.match(value)
        or (_HOLLOW.search(value, 0, BEGINNING) and not _is_cut(value))
    ):
        return True
    if len(value) >= 12 and len(set(value)) <= 2:
        return True
    return bool(_PLACEHOLDER.match(value)) and not is_drawn(value, 12)


def _is_cut(value: str) -> bool:
    """True if `…` replaces part of a random value; such a value is no placeholder."""
    return "…" in value and any(is_drawn(piece, 8) for piece in value[:BEGINNING].split("…"))


def is_drawn(value: str, least: int) -> bool:
    """True for a value of at least `least` characters that may be random: a UUID, or a part of 8 characters or more
    between other signs that mixes digits and letters. Names with digits may match; `is_random` is stricter."""
    if len(value) < least:
        return False
    return bool(_UUID.match(value) or _PIECE.search(value, 0, BEGINNING))


def is_uuid(value: str) -> bool:
    return bool(_UUID.match(value))


def is_random(value: str) -> bool:
    """True for a random key or token of 16 characters or more, hyphens not counted; False for names with numbers, such
    as `V1NodeSelector` and `blob_store_v2`."""
    upper, lower, digits = (sum(map(kind, value)) for kind in (str.isupper, str.islower, str.isdigit))
    in_words = sum(map(len, _IN_WORDS.findall(value)))
    is_of_all = min(upper, lower) >= 3 or (digits >= 3 and (value.rstrip("=").isalnum() or (upper and lower)))
    joined = value.replace("-", "")
    return bool(is_drawn(joined, 16) and is_of_all and in_words < 0.75 * len(value)) and not is_algorithm(value)


def is_mixed(value: str) -> bool:
    """True for letters with a digit or a sign."""
    bare = value.rstrip(".,:;!?")
    return not bare.isalpha() and any(map(str.isalpha, bare))


def is_strong(value: str) -> bool:
    """True for 8 to 80 characters with a digit and two of these: small letters, capitals, signs. False for a path and
    an address."""
    if len(value) > _LONGEST_CHOSEN:
        return False
    bare = value.rstrip(".,:;!?)")
    kinds = [any(map(kind, bare)) for kind in (str.islower, str.isupper, str.isdigit)]
    is_of_three = sum(kinds) + (not bare.isalnum()) >= 3
    return len(bare) >= 8 and kinds[2] and is_of_three and not is_path(bare) and "://" not in bare


def is_path(value: str) -> bool:
    """True for a path that begins with `/`, `~`, `./`, `../` or a drive, unless it may be a random value of 30
    characters or more."""
    return bool(re.match(r"[/~]|\.\.?/|[A-Z]:[\\/]", value)) and not is_drawn(value.lstrip("/"), 30)


def is_name(value: str) -> bool:
    """True for the name of a variable that holds a secret: `password`, `api_key_2`; False for `p4ssPhr4se`."""
    return bool(_NAMED.match(value) and NAMES.search(value)) and not has_inner_digit(value)


def is_algorithm(value: str) -> bool:
    return bool(_ALGORITHM.match(value))


def is_no_secret(value: str) -> bool:
    """True for a placeholder, the name of a variable or an algorithm, a path, or an address."""
    is_known = is_placeholder(value) or is_name(value) or is_algorithm(value)
    return is_known or is_path(value) or "://" in value


def is_of_code(value: str) -> bool:
    """True for the name of a class or function of several words."""
    return bool(_OF_CODE.match(value))


def has_inner_digit(value: str) -> bool:
    """True for digits where names have none: between letters, three at the end, or, with both capitals and small
    letters, a number between hyphens."""
    is_numbered = "-" in value and not value.islower() and not value.isupper() and re.search(r"-\d+-", value)
    return bool(is_numbered or re.search(r"[^\W\d_]\d+[^\W\d_]|\d{3}\Z", _TERM.sub("", value)))


def mentions_secret(value: str) -> bool:
    """True if the value contains a word for a secret, such as `password`."""
    return bool(_SPEAKS.search(value))


def is_word(value: str) -> bool:
    """True for a word that counts as a password where no code can be: longer than `SHORTEST`, without a word for a
    secret."""
    return len(value) > SHORTEST and not (mentions_secret(value) or is_name(value))


def is_phrase(value: str) -> bool:
    """True for two to eight words, in lower case or with a digit; False for a sentence."""
    if not _PHRASE.match(value) or mentions_secret(value) or _SAID.search(value):
        return False
    return value.islower() or any(map(str.isdigit, value))


def is_passphrase(value: str) -> bool:
    """True for two to ten words that are no sentence, label or message."""
    if not _WORDS.match(value) or value[-1] in ".?!:…" or reads_like_a_sentence(value, strictly=False):
        return False
    words = value.split(" ")
    if words[0].istitle() and " ".join(words[1:]).replace(" ", "").isalpha() and value[1:].islower():
        return False
    return len(words) >= 4 or not _SAID.search(value)


def reads_like_a_sentence(value: str, *, strictly: bool) -> bool:
    """True for a sentence, and for any value with a word for a secret. `strictly`: the words of `_SAID` mark a
    sentence, articles and prepositions among them, instead of those of `_SENTENCE`."""
    return mentions_secret(value) or bool((_SAID if strictly else _SENTENCE).search(value))


def is_app_password(value: str) -> bool:
    """True for four groups of four small letters, the form of app passwords of mail services."""
    return bool(_APP.match(value)) and not _SENTENCE.search(value)


def is_odd(value: str) -> bool:
    """True for 8 to 80 characters with capitals, small letters and a sign inside, such as `Blue!Sky`; False for paths
    and code."""
    return (
        8 <= len(value) <= _LONGEST_CHOSEN and bool(_ODD.fullmatch(value)) and not is_path(value) and "://" not in value
    )


def is_joined(value: str) -> bool:
    """True for words joined by a sign, such as `Copper-Wire8`."""
    return bool(_JOINED.fullmatch(value)) and not mentions_secret(value)


def is_evident(value: str) -> bool:
    """True for a value that counts as a password even in the middle of a sentence."""
    bare = value.rstrip(".,:;!?)")
    if is_strong(bare) or is_odd(bare) or (is_joined(bare) and (bare[0].isupper() or bare[-1].isdigit())):
        return True
    if not 6 <= len(bare) <= _LONGEST_CHOSEN or is_path(bare) or "://" in bare or NAMES.search(bare):
        return False
    kinds = (str.islower, str.isupper, str.isdigit)
    if all(any(map(kind, bare)) for kind in kinds) and not bare.isalnum():
        return True
    return len(bare) >= 8 and bare.isalnum() and has_inner_digit(bare) and not bare.isdigit()


def is_noisy(value: str) -> bool:
    """True for 32 characters or more with a digit and eight or more different signs, such as the salts of WordPress."""
    if len(value) < 32 or _PATTERN.search(value):
        return False
    return len({sign for sign in value if not sign.isalnum()}) >= 8 and any(map(str.isdigit, value))


def is_lowered(value: str) -> bool:
    """True for lower-case words, files and fields: `read-only`, `user.name`, `values.yaml`."""
    return bool(_LOWERED.match(value))
