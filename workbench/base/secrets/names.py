"""Names of secrets: `DB_PASSWORD`, `apiKey`, `mot de passe`.

The kind of a name decides how its value is judged. Users choose passwords, so any value counts unless it is a
placeholder, a sentence or code (`password = read_password()`). Keys and tokens are random: they mix digits and letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from workbench.base.secrets.spans import IndexedText, indexed, lowered, places_of

Kind = Literal["chosen", "pass", "pin", "key", "any key", "vendor key", "bare key", "header", "signature", "words"]


class Name(NamedTuple):
    """A name in a text, up to `BEFORE` characters before it, and its span."""

    kind: Kind
    itself: str
    before: str
    start: int
    end: int


_PASSWORDS = """
password, passwd, pswd, passphrase, passcode, secret, psk, keymaterial, identified by, passwort, kennwort, contraseña,
contrasena, contrasenya, senha, palavra-passe, palavra passe, wachtwoord, lösenord, hasło, haslo, heslo, parola, şifre,
парол, mot de passe, 密码, 密碼, 口令, パスワード, 비밀번호, 암호, adgangskode, passord, salasana, jelszó,
jelszava, mật khẩu, κωδικός, كلمة المرور, كلمة السر, סיסמה, पासवर्ड, รหัสผ่าน, kata sandi, lozinka, geslo, parool,
slaptažodis
"""
_CHOSEN = tuple(word.strip() for word in _PASSWORDS.split(","))
_SHORT = ("pass", "pwd", "pw", "mdp", "clave", "credentials")
_TOKENS = "token, токен, 令牌, 密钥, トークン, authorization, authentication, auth, credential, key, signature, sig"
_DRAWN = (*_TOKENS.split(", "), "salt", "pepper", "seed", "pat", "sonarlogin", "sonar.login")
_OTHER_KEYS = "schlüssel, clé, chave, jeton, klucz, sleutel, ключ, chiave, anahtar, キー, 秘钥, 金鑰, 키"
_KEYS = tuple(_OTHER_KEYS.split(", "))
"""Words for a key in other languages."""
_WORDY = ("phrase", "mnemonic")
_CORES = (*_CHOSEN, *_SHORT, "pin", *_DRAWN, *_KEYS, *_WORDY)
"""Words in lower case. Each name of a secret contains at least one."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_IN_ASCII = {core: re.split("[ .-]", core)[0] for core in _CORES if core.isascii()}
_BEYOND = {core: _BEYOND_ASCII.findall(core)[0] for core in _CORES if not core.isascii()}
"""Part of each word that is searched for first, because it is fast. Each text with the word contains its part."""

_KEY_OF = re.compile(
    r"(?:api|access|secret|private|account|encryption|encrypt|decryption|crypto|auth|authentication|app|application"
    r"|service|signing|sign|master|shared|sharedaccess|subscription|license|consumer|storage|admin|root|deploy|bot"
    r"|webhook|client|server|session|jwt|cipher|aes|hmac|fernet|user|project|openai|anthropic|azure|unseal|preshared"
    r"|routing|write|ingest|integration|symmetric|validation|totp|2fa|mfa|authenticator|(?<![a-z])x-[a-z]{2,12}"
    r"|[a-z0-9](?P<any>_))[_ -]?\Z"
    r"|\b(?:master|api|secret|encryption|signing|license)\.\Z"
)
"""Word before `key` in the name of a secret key. The group `any` matches after any other word, as in `DD_KEY`."""

_NO_SECRET = re.compile(
    r"(?:public|publishable|site|gpg|pgp|cache|idempotency|object|request|foreign|primary|sort|partition|index|host|hash|group|row|dict)[_-]?\Z"
)
_MORE = re.compile(
    r"(?:s(?=[\"']?\s?[:=]\s?[\[({])|et|en|ul|om|em|s[iı](?:nı|ni)?|n[iıa]z?|[mn][iı]z|nya|[anmuyяюієе]|ne|em|om|ем|ом|ата|ь)?"
    r"(?:[_ -]?(?:access[_ -]?)?(?:key|token))?"
    r"(?:(?<=access[_ -]key)[_ -]id|(?<=accesskey)id)?"
    r"(?:[_-](?:base|prod|production|dev|test|live|stage|staging|value|data|plain|plaintext|b64|base64|hex|raw|\d{1,2})"
    r"|[ ]\d{1,2}(?=:)|string(?=\"\s?:))?(?![a-z0-9_à-ÿа-я-])",
    re.IGNORECASE,
)
"""Rest of a name after its word, as in `SECRET_ACCESS_KEY`. Other endings, as in `password_hash`, name no secret."""

_PASS_OF = ("require", "store", "key", "db", "user", "pg", "ssh", "smtp", "ldap", "admin", "root")
_WORDS_OF = ("seed", "recovery", "secret", "mnemonic")
_SEED_OF = ("totp", "otp", "2fa", "mfa", "authenticator")
BEFORE = 100
"""Number of characters before a name that rules may read."""


def named(source: IndexedText) -> Iterator[Name]:
    """Yield the names in a text: all with one word of `_CORES`, in order, then all with the next."""
    words = " ".join(source.words)  # far shorter than the text, and most of `_CORES` are not in it
    yield from _named(
        [core for core, word in _IN_ASCII.items() if word in words], source.text, source.ascii_text.lower()
    )
    if not source.text.isascii():
        beyond = " ".join(_BEYOND_ASCII.findall(source.text)).lower()
        if cores := [core for core, letters in _BEYOND.items() if letters in beyond]:
            yield from _named(cores, source.text, lowered(source.text))


def _named(cores: Iterable[str], text: str, small: str) -> Iterator[Name]:
    for core in cores:
        for at in places_of(core, small):
            more = _MORE.match(text, at + len(core))
            if more and (kind := _kind(core, text, small, at)):
                yield Name(kind, text[at : more.end()], text[max(0, at - BEFORE) : at], at, more.end())


def names_something(name: str) -> bool:
    """True if the value of this name may be a secret."""
    lowered = name.lower()
    return any(core in lowered for core in _CORES)


def kind_of(title: str) -> Kind | None:
    """Return the kind of the name with which a title, such as that of a column, ends; None if it ends with none."""
    return next((name.kind for name in named(indexed(title)) if name.end == len(title)), None)


def _kind(core: str, text: str, lowered: str, at: int) -> Kind | None:
    """Return the kind of the name that contains `core` at `at`, None if it names no secret."""
    before = text[at - 1 : at]
    begins = not before.isalpha() or (before.islower() and text[at].isupper())
    if core in _CHOSEN:
        return "chosen"
    if core in _SHORT:
        if before in ("_", "-") or (begins and before.isalpha()) or lowered[max(0, at - 7) : at].endswith(_PASS_OF):
            return "chosen"
        if before == ";" and core == "pwd":  # in a connection string; elsewhere it is a folder
            return "chosen"
        return "pass" if begins else None
    if core in _WORDY:
        of_words = core == "mnemonic" or lowered[max(0, at - 10) : at].rstrip(" _-").endswith(_WORDS_OF)
        return "words" if of_words else None
    if core == "pin":
        return "pin" if begins else None
    if core in ("signature", "sig"):
        return "signature" if begins else None
    if core in ("salt", "pepper", "pat"):
        return "any key" if begins else None
    if core == "seed":
        return "key" if lowered[max(0, at - 20) : at].rstrip(" _-").endswith(_SEED_OF) else None
    if core in _KEYS:
        return "any key"
    if core != "key":
        if lowered.endswith("publickey", 0, at):
            return None
        return "header" if core.startswith("auth") else "key"
    of = _KEY_OF.search(lowered, max(0, at - 20), at)
    if of is None and not (before.isalnum() or before in ("_", "-", ".")):
        return "bare key"
    if _NO_SECRET.search(lowered, max(0, at - 20), at):
        return None
    if of is None:
        return "vendor key" if before.islower() and begins else None
    return "any key" if of["any"] else "key"
