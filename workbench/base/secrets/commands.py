"""Secrets in command lines, by the option or the place that a program takes a password at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.secrets.places import NO_PASSWORD
from workbench.base.secrets.spans import Span, places_of
from workbench.base.secrets.values import is_drawn, is_placeholder

_WORD = r"(?:\"([^\"$]{4,80})\"|'([^'\n]{4,80})'|([^\s\"'$<-][^\s\"']{3,}))"
_USER = (
    r"(?:-[a-zA-Z]*u|--(?:proxy-)?user)[ =]?(?:\"[^\s:\"$]{0,80}:([^\"$\n]{3,80})\"|'[^\s:']{0,80}:([^'\n]{3,80})'"
    r"|[^\s:\"'$]{0,80}:([^\s\"'$]{3,}))"
)
_COOKIE = r"(?:-b|--cookie)[ =]?[\"']?[\w.-]{1,60}=([^\s;\"'$]{16,})"
_ATTACHED = r"-p(?!\d{1,5}\s)(?:\"([^\"$]{4,}?)\"|'([^']{4,}?)'|([^\s\"'$-]{4,}))"
_OF_WINDOWS = r"-U[ ][\"']?[^\s%\"']{1,60}%([^\s\"'$]{3,})"
_OF_MINIO = rf"[^\s]{{1,80}}\s[^\s]{{1,200}}\s[^\s]{{1,80}}\s{_WORD}"
_OF_ORACLE = r"[\"']?[\w-]{1,60}/[\"']?([^\s\"'@$/]{4,})"
_PIPED = (
    r"(?:-n\s)?[\"']?(?:[\w.@-]{1,60}:)?([^\s\"'$|]{4,200})[\"']?\s?\|[^\n|]{0,120}?"
    r"(?:sudo\s{1,2}(?:-\w+\s){0,3}-S\b|--password-stdin|--passphrase-fd|--stdin|--with-token|\bchpasswd\b"
    r"|pass(?:in|out)? stdin)"
)
_LOGIN = r"(?:(?<=docker)|(?<=podman)|(?<=registry)|(?<=auth)|(?<=skopeo)|(?<=\baz)|(?<=\boc)) login"
_COMMANDS = {
    hint: (re.compile(rf"{program}(?=\s)"), re.compile(rf"\s(?:{place})"))
    for hint, program, place in (
        ("curl", "curl", f"{_USER}|{_COOKIE}"),
        ("wget", "wget", f"{_USER}|{_COOKIE}"),
        ("mysql", "mysql(?:dump|admin|import|show)?", _ATTACHED),
        ("mariadb", "mariadb(?:-dump|-admin)?", _ATTACHED),
        ("7z", "7za?", _ATTACHED),
        ("unrar", "unrar", _ATTACHED),
        (" login", _LOGIN, rf"-p[ =]?{_WORD}"),
        ("sshpass", "sshpass", rf"-p[ =]?{_WORD}"),
        ("mongo", "mongo(?:sh|dump|restore|import|export)?", rf"-p[ =]?{_WORD}"),
        ("kinit", "kinit", rf"-p[ =]?{_WORD}"),
        ("cqlsh", "cqlsh", rf"-p[ =]?{_WORD}"),
        ("twine", "twine", rf"-p[ =]{_WORD}"),
        ("zip ", "zip", rf"-P[ ]?{_WORD}"),
        ("unzip", "unzip", rf"-P[ ]?{_WORD}"),
        ("sqlcmd", "sqlcmd", rf"-P[ ]?{_WORD}"),
        ("bcp", "bcp", rf"-P[ ]?{_WORD}"),
        ("ipmitool", "ipmitool", rf"-P[ ]?{_WORD}"),
        ("mosquitto_", "mosquitto_(?:pub|sub)", rf"-P[ ]?{_WORD}"),
        ("redis-cli", "redis-cli", rf"-a[ ]{_WORD}"),
        ("ldap", "ldap(?:search|add|modify|passwd|delete|whoami)", rf"-w[ ]{_WORD}"),
        ("smbclient", "smbclient", _OF_WINDOWS),
        ("rpcclient", "rpcclient", _OF_WINDOWS),
        ("net rpc", "net rpc", _OF_WINDOWS),
        ("net use", "net use", rf"/user:[^\s]{{1,80}}[ ]{_WORD}|[ ]?(?![\\]){_WORD}[ ]/user:"),
        ("net user", "net user", rf"[\w.-]{{1,60}}[ ]{_WORD}[ ]/add"),
        ("openssl", "openssl", r"-\w{1,20}[ ][\"']?pass:([^\s\"'$]{3,})"),
        ("ssh-keygen", "ssh-keygen", rf"-[NP][ ]{_WORD}"),
        ("htpasswd", "htpasswd", rf"-[a-zA-Z]*b[a-zA-Z]*\s[^\s]{{1,200}}\s[^\s]{{1,80}}\s{_WORD}"),
        ("ConvertTo-SecureString", "ConvertTo-SecureString", r"(?:-String\s)?[\"']([^\"'$]{4,})[\"']"),
        ("mc alias set", "mc alias set", _OF_MINIO),
        ("mc config host add", "mc config host add", _OF_MINIO),
        ("lftp", "lftp", r"-u[ ][\"']?[^,\s\"']{1,80},([^\s\"'$]{3,})"),
        ("wpa_passphrase", "wpa_passphrase", rf"[^\s]{{1,60}}\s{_WORD}"),
        ("rabbitmqctl", "rabbitmqctl", rf"(?:add_user|change_password)\s[^\s]{{1,60}}\s{_WORD}"),
        ("nmcli", "nmcli", rf"password\s{_WORD}"),
        ("cmdkey", "cmdkey", r"/pass:([^\s\"'$]{3,})"),
        ("xfreerdp", "xfreerdp", r"/p:[\"']?([^\s\"'$]{3,})"),
        ("vault operator unseal", "vault operator unseal", r"([^\s\"'$-][^\s\"']{15,})"),
        ("vault login", "vault login", r"([^\s\"'$-][^\s\"']{15,})"),
        ("gh secret set", "gh secret set", rf"[^\n]{{1,200}}?(?:-b|--body)[ =]{_WORD}"),
        ("keyvault secret set", "keyvault secret set", rf"[^\n]{{0,300}}?--value[ =]{_WORD}"),
        ("ssm put-parameter", "ssm put-parameter", rf"[^\n]{{0,300}}?--value[ =]{_WORD}"),
        ("secretsmanager", "secretsmanager", rf"[^\n]{{0,300}}?--secret-string[ =]{_WORD}"),
        ("sqlplus", "sqlplus", _OF_ORACLE),
        ("expdp", "expdp", _OF_ORACLE),
        ("impdp", "impdp", _OF_ORACLE),
        ("doctl auth", "doctl auth", r"init[ ]-t[ ]([^\s\"'$-]{8,})"),
        ("echo ", "echo", _PIPED),
        ("printf ", "printf", _PIPED),
    )
}
"""By the words to look for: the program's name, and the pattern of its arguments with the password as a group."""

_BEGINS = re.compile(r"(?<![\w.-])")
_LINE = re.compile(r"(?:[^\\\n]|\\[^\n]|\\\n){0,400}")
_PGPASS = re.compile(r":(?<=[\w*]:)(\d{4,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s\"'<>$]{4,100})(?![^\s\"'])")
_PORTS_OF_POSTGRES = ("54", "64", "*")


def spans(text: str) -> Iterator[Span]:
    for hint, (program, place) in _COMMANDS.items():
        done = 0
        for at in places_of(hint, text):
            called = program.match(text, at) if at >= done else None
            if called and (hint[0] == " " or _BEGINS.match(text, at)):
                line = _LINE.match(text, called.end())
                assert line is not None
                done = line.end()
                for found in place.finditer(text, *line.span()):
                    group = found.lastindex or 0
                    if not NO_PASSWORD.match(found[group]) and not is_placeholder(found[group]):
                        yield found.span(group)
    for found in _PGPASS.finditer(text):
        if found[1].startswith(_PORTS_OF_POSTGRES):
            if not NO_PASSWORD.match(found[2]) and not is_placeholder(found[2]):
                yield found.span(2)
        elif is_drawn(found[2], 8):
            yield found.span(2)
