"""Values of names, in code, settings and prose: `DB_PASSWORD=…`, `"api_key": "…"`, `my password is …`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench.base.secrets.judging import (
    is_compared,
    is_distant_secret,
    is_secret,
    is_secret_before_name,
    is_set_in_prose,
)
from workbench.base.secrets.names import Name
from workbench.base.secrets.spans import LONGEST, Span
from workbench.base.secrets.values import is_app_password, is_passphrase, reads_like_a_sentence

_VALUE = r"""(?:[bBrRuUfFN@]{0,2}(?P<quote>\"{3}|'{3}|["'`“„«「]))?
    (?P<scheme>(?i:bearer|basic|token|apikey|api-key|digest|negotiate)[ ]{1,3})?(?P<coded>base64:)?"""
_ARE = (
    r"(?:(?:is|are)(?:[ ](?:now|still|currently|just|set[ ]to))?"
    r"|ist|lautet|(?:c['’])?est|es|was|é|è|är|jest|er|on|е|adalah|este|je|ir|là|είναι|है|هي|هو|היא)"
)
_TO = r"(?:to|auf|en|à|a|na|naar|till|til|su|para)"
_FROM = r"(?:from|von|de|da|desde|från|fra|van)"
_FIELD = r"""["']?\w{1,30}["']?\s?:\s?(?:"[^"\n]{0,100}"|[\w.-]{1,30})"""
_IS = re.compile(
    rf"""(?P<close>["'`*]{{0,2}}[\])]?)
    (?: (?P<type>[ ]?:[ ]?(?:&(?:'static[ ])?)?\[?[A-Za-z_][\w.\[\]|]{{0,30}}[ ]=[ ]|[ ]string[ ]=[ ])
      | (?P<compared>[ ]?[!=]==?[ ]?|[ ](?:eq|ne)[ ]
            |(?:\(\)\)?)?\.(?:equals\w{{0,10}}|to(?:Be|Equal|StrictEqual)|isEqualTo|equal|eql?)\([ ]?)(?=["'])
      | (?P<default>[ ]?(?:\|\||\?\?|\?:|(?<=["'\])][ ])or)[ ]?
          | ,[ ]{{0,2}}(?:default|fallback)\w{{0,10}}[ ]?[=:][ ]?
          | \.(?:unwrap_or|getOrElse|orElse|or_else)\w{{0,5}}\([ ]?(?:\|\w{{0,9}}\|[ ]?|\(\)[ ]?[-=]>[ ]?)?
          | (?:[ ]by[ ]lazy)?[ ]?\{{[ ]?)(?=["'])
      | [ \t]{{0,20}}(?P<sign>=>|:=|=|:(?!:)|：|%3[Dd])(?!=)[*]{{0,2}}[ \t]{{0,20}}+
            (?!\{{[^{{}}]{{0,120}}\bvalue\b | \n\s{{1,20}}value:)
      | (?P<tag>(?:\s{{1,9}}[\w:.-]{{1,40}}\s?=\s?(?:"[^"<>]{{0,200}}"|'[^'<>]{{0,200}}')){{0,6}}[ ]?>\s{{0,40}}
            (?:<!\[CDATA\[|<[Vv]alue>|<string>)?\s{{0,40}} | </key>\s{{0,40}}<string>)
      | (?P<value>(?:\s{{1,9}}[\w:.-]{{1,40}}="[^"<>]{{0,60}}"){{0,4}}
                [ ]?(?:,\s{{0,40}}|\s{{1,40}}|</\w{{1,20}}>\s{{0,40}}<|[ ]?:[ ]?\{{?\s{{0,40}})
            (?:{_FIELD},?\s{{1,40}}){{0,3}}
            ["']?(?i:(?:parameter|option|attribute|string|default)?_?value)["']?[ ]?[:=>][ ]{{0,3}}
          | [ ]?\{{[^{{}}]{{0,200}}?\bdefault[ ]{{0,20}}=[ ]{{0,3}})
      | (?P<typed>(?:(?<=["'])|[^"'{{}}\n]{{0,40}}["'])(?:\s?,\s{{0,40}}{_FIELD}){{0,5}}?\s?,\s{{0,40}}
            ["'](?:text|value|content|input|keys|string)["']\s?:\s?)(?=["'])
      | [ ]?(?P<comma>,(?:[ ]{{0,20}}(?:\[\]byte\(|Buffer\.from\(|b(?=["']))?|(?<=["'],)\s{{1,40}}))(?=["'])
      | (?P<call>\([ ]?|["'\])]{{0,3}}(?:,[ ]?\{{[^{{}}\n]{{0,60}}\}}\))?(?:\.\w{{1,20}}\(\)){{0,2}}
            \.(?:fill|type|send_keys|sendKeys|setValue|pressSequentially|val)\([ ]?)(?=[bN]?["'])
      | (?P<is>[ ]{_ARE}[ ]?:?[ ] | (?<=hasło)[ ]to[ ] | [是为為][：:]?[ ]? | [はを][ ：:]?
            | (?:改成|改为|设为|设置为|คือ)[ ]? | [는은][ ] | [ ][—–][ ] | [ ](?i:by)[ ](?=["']))
      | (?P<aside>[ ]\(|,[ ]|[ ](?:→|->)[ ])(?=[^\s)])
      | (?P<to>[ ](?:(?:was|is|has[ ]been|got|wurde|ist)[ ])?(?:now[ ])?(?:(?:re)?set|changed|updated|rotated)?[ ]?
            (?:{_TO}|{_FROM})[ ]:?)
      | (?P<blank>[ \t]{{1,40}}) )
    {_VALUE}""",
    re.VERBOSE,
)
"""Text between a name and its value. The group that matched names the kind of text: an assignment, a call, a verb, …"""

_GROUPS = (
    "close",
    "type",
    "compared",
    "default",
    "aside",
    "sign",
    "comma",
    "tag",
    "value",
    "typed",
    "call",
    "blank",
    "to",
)


def _far(between: str) -> re.Pattern[str]:
    """Return the pattern of a value after `between`, with the groups of `_IS`; unused groups are empty."""
    empty = "".join(f"(?P<{group}>)" for group in _GROUPS if f"<{group}>" not in between)
    return re.compile(f"{empty}{between}{_VALUE}", re.VERBOSE)


_WORDS_BETWEEN = r"(?P<is>[ ][^\n:=;|<>{}]{1,100}?)"
_FAR = _far(rf"{_WORDS_BETWEEN}(?: :\s{{1,6}} | [ ]{_ARE}[ ]?:?[ ] | [ ](?:[—–→]|->)[ ] )")
"""Words between a name and its value: `password for the user ann: …`."""
_FAR_TO = _far(rf"{_WORDS_BETWEEN}(?P<to>[ ](?:{_TO}|{_FROM})[ ])")
"""Words between a name and the new value: `password of ann to …`."""
_OF = r"(?:от|для|к|до|на|за|von|vom|für|du|de|des|del|della|do|da|van|till|til|voor|per|för)"
_FAR_OF = _far(rf"(?P<is>[ ]{_OF}[ ][\w.-]{{1,30}}(?:[ ][\w.-]{{1,30}})?[ ])")
"""Words between a name and its value without a verb, as in Russian or German."""
_WIDE = "\u2e80"
"""First character of the scripts that write words without blanks."""
_FAR_WIDE = _far(r"(?P<is>[^\x00-\x7f：:是为][^\n：:是为=;|<>{}]{0,60}[：:是为][ ]?)")
"""Words between a name and its value in those scripts."""
_COMPARED_BEFORE = re.compile(r"[\"']([^\s\"']{6,60})[\"']\s?[!=]==?\s?[\w.$>\[\"'-]{0,40}\Z")
"""A password before its name: `"…" == password`."""
_AND_TO = re.compile(rf"[\"'`]? {_TO} [\"'`]?([^\s\"'`]{{6,60}})")
"""The new password in `password from … to …`."""
_SAID_BEFORE = re.compile(
    r"(?<![^\s\"'`(])[\"'`]?([^\s\"'`]{6,60}?)[\"'`]?,?"
    r" (?:as|is|are|that's|als|ist|est|como|es|comme|come|è|är|jako|это|как)"
    r"(?: [\w-]{1,12}){0,3} ?\Z"
)
"""A password before its name: `use … as the password`."""

_ALL = (_IS, _FAR, _FAR_TO)
_WAYS = {"chosen": (*_ALL, _FAR_OF), "pass": _ALL, "pin": _ALL}

_CLOSING = {"“": "”", "„": "“", "«": "»", "「": "」"}
_BARE = re.compile(r"(?:[^\s\"'`,;)}\]\\&<|\u3000-\u9fff\uac00-\ud7af”»]++|&(?!\w{1,40}=))++")
_IN_TAGS = re.compile(r"(?:[^<>\n\]]|\](?!\]>)){1,400}")
_TAG_ENDS = re.compile(r"\s{0,40}(?:</|\]\]>)")
_OF_A_SHELL = re.compile(r"[^\s\"'`\\]{1,2000}?(?=[;,)}\]|&<]*(?:[\s\"'`\\]|\Z)|[;&]\w+=|&&|\|\|)")
_BEFORE_IN_A_CONNECTION = re.compile(
    r"\b(?:server|source|host|uid|user|user ?id|database|catalog|account\w*)=[^\"'\n]*;\s?\Z", re.I
)
_OF_A_CONNECTION = re.compile(r"[^\"'\n]{1,200}?(?=;\s?[A-Za-z][\w ]{1,40}=|;?\s?[\"'\n]|;?\Z)")
_WORDS = re.compile(r"[a-z]{3,10}(?: [a-z]{3,10}){11,23}")
_LINE = re.compile(r"[^\n]{1,400}")
_NO_LINE_OF_DATA = re.compile(r"[;,)}\]\"'`\\|]\Z|[\"'`<]|&&|\|\|")
_ITS_LINE = re.compile(r"(?:\A|\n)[ \t>+-]{0,40}(?:(?:export|set|declare -x|setx|ENV) )?[\w.-]*\Z")
_NEXT_TO_A_LINE = re.compile(r"(?:\A|\n)(?:export )?[A-Za-z_][\w.-]*=[^\n]*\n(?:export )?[\w.]*\Z")
_LINE_AFTER = re.compile(r"\s*\n(?:export )?[A-Za-z_][\w.]*=")
_SAID_WORDS = re.compile(r"[a-z]{2,12}(?:[ -][a-z]{2,12}){2,9}(?=[.,;)\n\"'`]|\Z)")
_OF_AN_APP = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?![\w ])")
_EXPANDED = re.compile(r"\$\{(?P<scope>[\w.-]*)\Z")


def spans(text: str, names: Iterable[Name]) -> Iterator[Span]:
    """Yield the spans of secret values that follow their `names` in `text`."""
    done, last = 0, -1
    for name in names:
        if name.start < last:  # names are in order only within one core (`names._CORES`); here the next one begins
            done = 0
        last = name.start
        if name.start < done or name.kind in ("bare key", "vendor key"):  # judged in near.py
            continue
        if before := _secret_before(name):
            yield name.start - len(name.before) + before.start(1), name.start - len(name.before) + before.end(1)
        for way in (*_WAYS.get(name.kind, (_IS,)), *((_FAR_WIDE,) if name.itself[-1] > _WIDE else ())):
            link = way.match(text, name.end)
            if link and (span := _value(name, link, is_far=way is not _IS)):
                done = span[1]
                yield span
                then = _AND_TO.match(text, span[1]) if link["to"] else None
                if then and is_set_in_prose(then[1], name, link):
                    yield then.span(1)
                break


def _secret_before(name: Name) -> re.Match[str] | None:
    """Return the secret before the name as a match in `name.before`, None if there is none."""
    if "==" in name.before[-50:] and (compared := _COMPARED_BEFORE.search(name.before)):
        return compared if is_compared(compared[1], name) else None
    found = _SAID_BEFORE.search(name.before) if name.kind in ("chosen", "pass") else None
    return found if found and is_secret_before_name(found[1]) else None


def _value(name: Name, link: re.Match[str], *, is_far: bool) -> Span | None:
    """Return the span of the name's value, None if it is no secret. `is_far`: words are between the name and the
    value."""
    text, at, quote = link.string, link.end(), link["quote"]
    if quote and (close := _closing(text, at, _CLOSING.get(quote, quote))) > 0:
        value = text[at:close]
    else:
        quote = None
        value = _bare(name, link)
        if not value:
            return None
    expanded = _EXPANDED.search(name.before)  # `${NAME:-default}` may be a secret, `${NAME:?message}` is none
    if expanded and not quote:
        if value[0] in "?+" or not (link["sign"] in (":", ":=") and (expanded["scope"] or name.itself.isupper())):
            return None
        at, value = (at + 1, value[1:]) if value[0] in "-=" else (at, value)
    if link["to"] and not is_set_in_prose(value, name, link):
        return None
    judge = is_distant_secret if is_far else is_secret
    return (at, at + len(value)) if judge(value, name, link, quoted=bool(quote or expanded)) else None


def _closing(text: str, at: int, closing: str) -> int:
    """Return the index of the closing quote, -1 if the line has none. A quote inside a word belongs to the value."""
    first = end = text.find(closing, at, at + LONGEST)
    if end < 0 or "\n" in text[at:end]:
        return -1
    while end > 0 and text[end + 1 : end + 2].isalnum() and " " not in text[at:end]:
        end = text.find(closing, end + 1, at + LONGEST)
    return first if end < 0 or " " in text[at:end] or "\n" in text[at:end] else end


def _bare(name: Name, link: re.Match[str]) -> str:
    """Return the unquoted value, "" for none."""
    text, at = link.string, link.end()
    if name.kind == "words":
        kind = _WORDS
    elif link["tag"]:
        found = _IN_TAGS.match(text, at)
        return found[0].rstrip() if found and _TAG_ENDS.match(text, found.end()) else ""
    elif link["sign"] == "=" == link[0] and _BEFORE_IN_A_CONNECTION.search(name.before):
        kind = _OF_A_CONNECTION
    elif name.kind == "chosen" and (words := _words(name, link)):
        return words
    else:
        kind = _OF_A_SHELL if name.itself.isupper() and link[0] == "=" else _BARE
    found = kind.match(text, at, at + LONGEST)
    return found[0].rstrip() if found else ""


def _words(name: Name, link: re.Match[str]) -> str:
    """Return a value that may contain blanks: an app password, a passphrase or the rest of the line. "" if it is
    none."""
    text, at = link.string, link.end()
    if link["is"] or link["sign"]:
        if (app := _OF_AN_APP.match(text, at)) and is_app_password(app[0]):
            return app[0]
        phrase = _SAID_WORDS.match(text, at) if "phrase" in name.itself.lower() else None
        if phrase and not reads_like_a_sentence(phrase[0], strictly=":" not in link[0] or len(phrase[0].split()) < 4):
            return phrase[0]
    line = _LINE.match(text, at) if link["sign"] in ("=", ":") and _ITS_LINE.search(name.before) else None
    if line is None:
        return ""
    value = line[0].rstrip()
    if _NO_LINE_OF_DATA.search(value):
        return ""
    if " " not in value:
        return value
    is_of_a_file = "." in name.before[name.before.rfind("\n") + 1 :] or bool(
        _NEXT_TO_A_LINE.search(name.before) or _LINE_AFTER.match(text, line.end())
    )
    return value if link[0] == "=" and is_of_a_file and is_passphrase(value) else ""
