"""Secrets in arguments of calls, and passwords next to the name of a user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.secrets.places import NO_PASSWORD
from workbench.base.secrets.spans import SHORTEST, IndexedText, Span, by_word, hints_in, lowered, places_of
from workbench.base.secrets.values import (
    is_app_password,
    is_drawn,
    is_evident,
    is_lowered,
    is_mixed,
    is_no_secret,
    is_odd,
    is_random,
    is_strong,
    is_uuid,
    is_word,
)

_LOGINS = """
ogin .auth redential redentials onnection uthentication uthenticate uthenticationToken PlainAuth ignIn ignUp sign_in
register _pw_set reateUser ddUser create_user create_superuser add_user _bind _bind_s oci_connect FTP Sequelize
"""
"""Functions that take a user and a password among other arguments: the value must look like a password."""
_GENERAL = "connect Connect .bind"
"""Functions that rarely take a password: the value must have a digit or a sign."""
_PAIRS = """
auth= auth·=· auth:· asicAuth asic_auth auth.basic ().basic
BasicAuthentication PlainCredentials AuthTokens.basic
NetworkCredential PasswordCredential PasswordCredentials PasswordAuthentication PasswordAuthenticationToken
BasicCredentials BasicAuthCredentials EmailAndPassword
"""
"""Functions that take a user and a password only: any literal is a password."""
_DATABASES = "PDO mysqli mysqli_connect mysql_connect getConnection pymysql.connect MySQLdb.connect"
_OF_LOGINS = {
    word.replace("·", " "): (place, way)
    for words, place, way in (
        (_LOGINS, 1, "mixed"),
        (_GENERAL, 2, "odd"),
        (_PAIRS, 1, "any"),
        (_DATABASES, 2, "any"),
        ("SMTP.start", 4, "any"),
    )
    for word in words.split()
}
"""End of a function's name: index of the first argument that may be a password, and how the password must look."""
_ARGUMENT = (
    r"(?:[A-Za-z_]\w{0,30}\s?[=:]\s?)?(?:N|b|Some\(\s?)?"
    r"(?:(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')(?:\.\w{1,20}\(\)){0,2}|\{[^{}\n]{0,300}\}"
    r"|[^\s,\"'(){}]{1,80}(?:\([^()\n]{0,80}\))?)"
)
_ARGUMENTS = re.compile(rf"\(\s{{0,20}}{_ARGUMENT}(?:\s?,\s{{0,20}}{_ARGUMENT}){{1,5}}(?=[^\"'\w])")
_LITERAL = re.compile(
    r"(?:\A\(\s*|,\s*)(?:[A-Za-z_]\w*\s?[=:]\s?)?(?:N|b|Some\(\s?)?(?:\"([^\"\n]{4,200})\"|'([^'\n]{4,200})')"
)
_BUILDERS = ("::new", ".new", ".of")
"""Constructor suffixes; the class name precedes them."""
_RANDOM = re.compile(
    r"[(,]\s{0,20}(?:Some\(\s?|b|N)?[\"'](?![0-9a-fA-F]{8}-|0x)([A-Za-z0-9+/_-]{16,100}={0,2})[\"'](?=\s?[,)])"
)
"""A literal argument without blanks that is neither a UUID nor a block chain hash."""
_AN_ID = re.compile(r",\s{0,20}[\"'][A-Za-z0-9+/_-]{16,100}={0,2}[\"']\s?[,)]")
"""A second random argument. If there is one, the first is an account id and no secret."""
_ID_NEARBY = re.compile(r"account|sid\b|(?:app|client|user|key)_?id\b|\buser|login", re.IGNORECASE)
_NEAR_A_CALL = 300
_CALLED = re.compile(r"(\bnew\s{1,4})?[\w.:$>-]{0,60}\w(?:\([\"'][\w@/.-]{1,40}[\"']\))?\Z")
_NAME = re.compile(r"[A-Za-z_]\w*")
_OF_ACCESS = re.compile(r"client|auth(?!or)|log_?in|credential|connection|basic|sign_?in|api(?:_?key)?\Z", re.I)
_MAKES = re.compile(r"(?i:new|create|make|init|connect|log_?in|sign_?in|authenticate|set|with)(?![a-z])")
_SETS_UP = re.compile(r"(?:config(?:ure)?|init(?:ialize)?|setup|start|connect|session|log_?in|sign_?in|auth\w*)", re.I)
_VENDOR = re.compile(
    r"twilio|vonage|nexmo|plivo|mail(?:gun|jet|chimp)|sendgrid|postmark|pusher|algolia|meili|minio|cloudinary|boto|s3\Z"
    r"|stripe|braintree|razorpay|paypal|plaid|auth0|okta|datadog|sentry|mixpanel|amplitude|intercom|zendesk|hubspot"
    r"|contentful|dropbox|shopify|binance|kraken|coinbase|tweepy|twitter|reddit|spotify|trello|jira|cloudflare"
    r"|digitalocean|hetzner|backblaze|onesignal|firebase|supabase|appwrite|mapbox",
    re.I,
)
"""Vendors: a random literal passed to their library is a key."""
_MAIL_FIRST = re.compile(r"\(\s{0,20}[\"'][^@\s\"']+@[\w.-]+[\"']")
_MAIL = re.compile(r"[^@\s]+@[\w-]+(?:\.[\w-]+)+\Z")

_OF_ONE = (
    r"\(\s{0,20}(?:\w{1,20}:\s)?(?:[\w.]{1,40}(?:\(|\.fromhex\(|,\s?|\.of\())?(?:b|N|r)?[\"']([^\"'\n]{6,200})[\"']"
)
_BYTES_OF = r"(?:b|Buffer\.from\(\s?|Encoding\.\w+\.GetBytes\(\s?)?"
_OF_A_PAYLOAD = rf"\(\s{{0,20}}{_ARGUMENT}\s?,\s{{0,20}}{_BYTES_OF}[\"']([^\"'\n]{{6,200}})[\"']"
_KEYED = {
    word: re.compile(place)
    for words, place in (
        ("Fernet AES.new SecretKeySpec Wallet privateKeyToAccount fromSecretKey HMAC256 HMAC512 hmac.new", _OF_ONE),
        ("cookieParser SymmetricKey Cipher SigningKey SecretBox ChaCha20Poly1305 AESGCM from_key Serializer", _OF_ONE),
        ("jwt.sign jwt.verify jwt.encode jwt.decode JWT.sign JWT.verify JWT.encode JWT.decode", _OF_A_PAYLOAD),
        ("createCipheriv createDecipheriv createHmac signWith hash_hmac AES.encrypt AES.decrypt", _OF_A_PAYLOAD),
    )
    for word in words.split()
}
"""End of a function's name: the pattern of its arguments, with the key as a group."""
_HASHED = {
    "hash": is_strong,
    "Hash": is_strong,
    "crypt.hash": is_mixed,
    "argon2.hash": is_mixed,
    "context.hash": is_mixed,
    "hashSync": is_mixed,
    "hashpw": is_mixed,
    "crypt": is_mixed,
    "CRYPT": is_mixed,
    "Hash::make": is_mixed,
    "password_hash": is_mixed,
    "make_password": is_mixed,
    "generate_password_hash": is_mixed,
    "asswordEncoder.encode": is_mixed,
    "MD5": is_strong,
    "SHA1": is_strong,
    "SHA2": is_strong,
}
"""End of a hash function's name: how the password must look."""
_HASHES = re.compile(r"\(\s?b?[\"']([^\"'\n]{6,80})[\"']")
_ANSWER = re.compile(
    r"[^\n]{0,60}(?:\n[^\n]{0,40}){0,2}?\b(?:send|sendline|Send|SendLine|send_keys|write)\b(?: -- |[ (]{1,3})"
    r"[\"']([^\"'\r\n$\\]{4,100})"
)
"""The answer of a script to a password prompt."""
_USER_BEFORE = re.compile(r"\b(?:login|user|account|username)\s{1,4}(?!and\b|or\b)[^\s\"']{1,80}\s{1,8}\Z")
_PASSWORD = re.compile(r"password\s{1,4}[\"']?([^\s\"'<$]{4,200})")
_LOGIN = """
credential credentials creds cred login logins log·in logged·in sign·in account accounts ssh sftp ftp vpn zugangsdaten
anmeldedaten zugang identifiants accès credenciales acceso credenziali accesso credenciais acesso inloggegevens
logowania přihlášení inloggning giriş логин логины вход доступ доступы 登录 账号 ログイン 계정
wifi wi-fi wlan users
"""
_LOGIN_WORDS = tuple(word.replace("·", " ") for word in _LOGIN.split())
"""Words before a pair of user (or network) and password."""
_BY_WORD = by_word(_word for _word in _LOGIN_WORDS if _word.isascii())
_NOT_ASCII = [_word for _word in _LOGIN_WORDS if not _word.isascii()]
_NEAR_A_LOGIN = 160
_PROMPT = re.compile(r"(?:ftp> ?|quote |[>C]: |-+> )?")
_TO_A_SERVER = re.compile(
    r"(?i:user) [^\s\"'$]{1,60}(?: |\r?\n(?:[^\n]{0,80}\n)?(?:ftp> ?|quote |[>C]: |-+> )?PASS )"
    r"([^\s\"'$;|]{6,60})[ \t]*(?:\r?\n|\Z)"
)
_USER_AND = re.compile(
    r"(?<![\w.@+/:-])(?!SHA\d|MD5)[A-Za-z][\w.@+-]{1,59}(?P<sign> / |:| with |[\"']\s?(?::|=>)\s?(?=[\"']))[\"'`]?"
    r"(?P<password>[^\s\"'`/:]{6,60})(?=[\"'`]?(?:[\s),.;}\]]|\Z))"
)
_OF_USERS = re.compile(r"(?i:users)[\"']?\s?(?:=>|[:=])\s?[{(]")
"""The beginning of a mapping of users to passwords."""
_BEFORE_A_PAIR = re.compile(r"(?:\A|\n)[ \t]*(?:[-*•>] )?\Z|[`(\"']\Z|\bs?[: ]{1,2}\Z|\bas \Z")


_BY_END: dict[str, list[str]] = {}
for _word in (*_OF_LOGINS, *_KEYED, *_HASHED):
    _BY_END.setdefault(_word[-3:], []).append(_word)


def spans(source: IndexedText) -> Iterator[Span]:
    text, ascii_text, words = source
    for at in places_of("(", ascii_text):
        end = at - next((len(built) for built in _BUILDERS if ascii_text.endswith(built, 0, at)), 0)
        for name_end in {at, end}:
            for word in _BY_END.get(ascii_text[name_end - 3 : name_end], ()):
                if ascii_text.endswith(word, 0, name_end):
                    yield from _arguments(word, text, at)
    yield from _drawn_arguments(text)
    for at in places_of("assword:", ascii_text):
        if (answer := _ANSWER.match(text, at + 8)) and _is_password(answer[1]):
            yield answer.span(1)
    yield from _secrets_after_user(text, ascii_text, words)


def _arguments(word: str, text: str, at: int) -> Iterator[Span]:
    """Yield the secrets among the arguments at `at` of a function whose name ends with `word`."""
    if word in _KEYED:
        key = _KEYED[word].match(text, at)
        if key is None or is_no_secret(key[1]):
            return
        if is_drawn(key[1], 16) or is_strong(key[1]) or (word[1:].startswith("wt.") and " " not in key[1]):
            yield key.span(1)
    elif word in _HASHED:
        hashed = _HASHES.match(text, at)
        if hashed and _HASHED[word](hashed[1]) and _is_password(hashed[1]):
            yield hashed.span(1)
    elif arguments := _ARGUMENTS.match(text, at):
        yield from _passwords(arguments, *_OF_LOGINS[word])


def _passwords(arguments: re.Match[str], place: int, way: str) -> Iterator[Span]:
    """Yield the literals that look like a password among the arguments of a call, from index `place` on. `way`: how the
    password must look, as in `_OF_LOGINS`."""
    text = arguments[0]
    for found in _LITERAL.finditer(text):
        group = found.lastindex or 0
        value, number = found[group], text.count(",", 0, found.start() + 1)
        is_place = number == place and (way == "any" or (way == "mixed" and bool(_MAIL_FIRST.match(text))))
        is_one = is_app_password(value) or (_is_chosen(value) if is_place else _is_password(value))
        if number < place or not is_one or (way == "odd" and not (any(map(str.isdigit, value)) or is_odd(value))):
            continue
        yield arguments.start() + found.start(group), arguments.start() + found.end(group)


def _drawn_arguments(text: str) -> Iterator[Span]:
    """Yield the random literals in calls that make a client, open a session or log in."""
    for found in _RANDOM.finditer(text):
        value = found[1]
        if found[0][0] == "(" and _AN_ID.match(text, found.end()):
            continue
        if not is_random(value) or (opened := _opening(text, found.start())) < 0:
            continue
        called = _CALLED.search(text, max(0, opened - 100), opened)
        if called is None:
            continue
        *receivers, last = [name for name in _NAME.findall(called[0]) if name not in ("new", "New", "of")] or [""]
        sets_up = receivers[:1] == ["require"] or _SETS_UP.fullmatch(last)
        is_vendors = any(map(_VENDOR.search, (*receivers, last)))
        is_made = sets_up or called[1] or last[:1].isupper() or _MAKES.match(last)
        if (is_made and (is_vendors or _OF_ACCESS.search(last))) or (
            sets_up and _ID_NEARBY.search(text, opened, found.start())
        ):
            yield found.span(1)


def _opening(text: str, at: int) -> int:
    """Return the index of the bracket that opens the argument list around `at`, -1 if it is too far."""
    depth = 0
    for place in range(at, max(-1, at - _NEAR_A_CALL), -1):
        sign = text[place]
        depth += (sign == ")") - (sign == "(")
        if depth < 0:
            return place
    return -1


def _secrets_after_user(text: str, ascii_text: str, words: frozenset[str]) -> Iterator[Span]:
    for at in places_of("password ", ascii_text):  # of `.netrc`
        found = _PASSWORD.match(text, at)
        if found and _is_password(found[1]) and _USER_BEFORE.search(text, max(0, at - 100), at):
            yield found.span(1)
    labels = hints_in(words, _BY_WORD) + ([] if text.isascii() else _NOT_ASCII)
    small = lowered(text) if labels else ""
    for label in labels:
        for at in places_of(label, small):
            yield from _pairs(text, at + len(label))
    for word in ("user ", "USER ") if "user" in words else ():
        for at in places_of(word, ascii_text):
            begins = ascii_text.rfind("\n", max(0, at - 20), at) + 1
            found_so = _TO_A_SERVER.match(text, at)
            if found_so and _PROMPT.fullmatch(ascii_text, begins, at) and _is_password(found_so[1]):
                yield found_so.span(1)


def _pairs(text: str, at: int) -> Iterator[Span]:
    """Yield the passwords of `user / password` pairs after a login word that ends at `at`."""
    before = text[max(0, at - 5) : at + 6]
    users = _OF_USERS.match(before)
    if text[at : at + 1].isalpha() or (before.lower().startswith("users") and not users):
        return
    for found in _USER_AND.finditer(text, at, at + _NEAR_A_LOGIN):
        between = text[at : found.start()]
        value = found["password"].rstrip("),.;")
        if re.search(r"\d\.\d", value) or "\n\n\n" in between or between.count("\n") > 4 or not _is_password(value):
            continue
        if (found["sign"][0] in "\"'") != bool(users) or (users and (value.islower() or "}" in between)):
            continue
        is_next = len(between) <= 40 and "\n" not in between and found["sign"] == " / "
        is_stated = is_evident(value)
        if is_next or (is_stated and _BEFORE_A_PAIR.search(text, max(0, found.start() - 12), found.start())):
            yield found.start("password"), found.start("password") + len(value)


def _is_password(value: str) -> bool:
    is_plain = is_lowered(value) and not any(map(str.isdigit, value))
    return (
        len(value) >= SHORTEST - 2 and is_mixed(value) and not is_plain and " " not in value and _may_be_password(value)
    )


def _is_chosen(value: str) -> bool:
    """True if a value can be a password in an argument that always is one. A plain word can."""
    return is_word(value) and _may_be_password(value)


def _may_be_password(value: str) -> bool:
    return not (is_no_secret(value) or is_uuid(value) or NO_PASSWORD.match(value) or _MAIL.match(value))
