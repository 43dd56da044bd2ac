"""Secrets in command lines, by the option or position of the password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from workbench.base.secrets.places import NO_PASSWORD
from workbench.base.secrets.spans import IndexedText, Span, by_word, hints_in, places_of
from workbench.base.secrets.values import is_drawn, is_placeholder

_WORD = r"(?:\"([^\"$]{4,80})\"|'([^'\n]{4,80})'|([^\s\"'$<-][^\s\"']{3,}))"
_USER = (
    r"(?:-[a-zA-Z]*u|--(?:proxy-)?user)[ =]?(?:\"[^\s:\"$]{0,80}:([^\"$\n]{3,80})\"|'[^\s:']{0,80}:([^'\n]{3,80})'"
    r"|[^\s:\"'$]{0,80}:([^\s\"'$]{3,}))"
)
_COOKIE = r"(?:-b|--cookie)[ =]?[\"']?[\w.-]{1,60}=([^\s;\"'$]{16,})"
_ATTACHED = r"-p(?!\d{1,5}\s)(?:\"([^\"$]{4,}?)\"|'([^']{4,}?)'|([^\s\"'$-][^\s\"'$]{3,}))"
_OF_A_STORE = rf"-(?:src|dest|new|old)?(?:store|key)pass(?:wd)?[ ]{_WORD}"
_LOGIN = r"(?:(?<=docker)|(?<=podman)|(?<=registry)|(?<=auth)|(?<=skopeo)|(?<=\baz)|(?<=\boc)) login"
_DRAWN = r"([^\s\"'$-][^\s\"']{15,})"
_BY_NAME = (
    ("curl, wget", rf"{_USER}|{_COOKIE}"),
    ("unrar", _ATTACHED),
    ("keytool, jarsigner", _OF_A_STORE),
    (
        "sshpass, kinit, cqlsh, twine, cypher-shell, beeline, evil-winrm, netexec, crackmapexec, psexec",
        rf"-p[ =]?{_WORD}",
    ),
    ("unzip, sqlcmd, bcp, ipmitool", rf"-P[ ]?{_WORD}"),
    ("plink, pscp", rf"-pw[ ]{_WORD}"),
    ("smbclient, rpcclient, net rpc", r"-U[ ][\"']?[^\s%\"']{1,60}%([^\s\"'$]{3,})"),
    ("sqlplus, expdp, impdp", r"[\"']?[\w-]{1,60}/[\"']?([^\s\"'@$/]{4,})"),
    ("mc alias set, mc config host add", rf"[^\s]{{1,80}}\s[^\s]{{1,200}}\s[^\s]{{1,80}}\s{_WORD}"),
    ("vault operator unseal, vault login, setapikey, wandb login", _DRAWN),
    ("keyvault secret set, ssm put-parameter", rf"[^\n]{{0,300}}?--value[ =]{_WORD}"),
    ("apksigner", r"--(?:ks|key)-pass[ ]pass:([^\s\"'$]{4,})"),
    ("net use", rf"/user:[^\s]{{1,80}}[ ]{_WORD}|[ ]?(?![\\]){_WORD}[ ]/user:"),
    ("net user", rf"[\w.-]{{1,60}}[ ](?!/){_WORD}"),
    ("openssl", rf"-\w{{1,20}}[ ][\"']?pass:([^\s\"'$]{{3,}})|-[kK][ ]{_WORD}"),
    ("ssh-keygen", rf"-[NP][ ]{_WORD}"),
    ("htpasswd", rf"-[a-zA-Z]*b[a-zA-Z]*\s[^\s]{{1,200}}\s[^\s]{{1,80}}\s{_WORD}"),
    ("mosquitto_passwd", rf"-\w*b\w*[ ][^\s]{{1,200}}[ ][^\s]{{1,80}}[ ]{_WORD}"),
    ("ConvertTo-SecureString", r"(?:-String\s)?[\"']([^\"'$]{4,})[\"']"),
    ("lftp", r"-u[ ][\"']?[^,\s\"']{1,80},([^\s\"'$]{3,})"),
    ("wpa_passphrase", rf"[^\s]{{1,60}}\s{_WORD}"),
    ("rabbitmqctl", rf"(?:add_user|change_password)\s[^\s]{{1,60}}\s{_WORD}"),
    ("nmcli", rf"password\s{_WORD}"),
    ("cmdkey", r"/pass:([^\s\"'$]{3,})"),
    ("xfreerdp", r"/p:[\"']?([^\s\"'$]{3,})"),
    ("gh secret set", rf"[^\n]{{1,200}}?(?:-b|--body)[ =]{_WORD}"),
    ("secretsmanager", rf"[^\n]{{0,300}}?--secret-string[ =]{_WORD}"),
    ("doctl auth", r"init[ ]-t[ ]([^\s\"'$-]{8,})"),
    ("add-generic-password", rf"-\w*w[ ]{_WORD}"),
    ("isql", rf"[\w.-]{{1,60}}[ ][\w.-]{{1,60}}[ ]{_WORD}"),
    ("schtasks", rf"/[Rr][Pp][ ]{_WORD}"),
    ("radtest", rf"[^\s]{{1,80}}[ ]{_WORD}"),
    ("swaks", rf"-?-ap[ ]{_WORD}"),
    ("etcdctl", r"--user[ =][\"']?[\w.@+-]{1,80}:([^\s\"'$]{4,})"),
    ("nuget push", rf"[^\n]{{0,200}}?(?:-k|-ApiKey)[ ]{_DRAWN}"),
    ("root-password", r"password:([^\s\"'$:,]{4,})"),
    ("encrypt_string", rf"(?<=encrypt_string\s){_WORD}"),
    ("rclone obscure", _WORD),
    ("redis-cli", rf"-a[ ]{_WORD}|[^\n]{{0,120}}?\bAUTH[ ](?:[\w.-]{{1,40}}[ ](?=\S))?{_WORD}"),
)
"""Names of programs, and the pattern of their arguments with the password as a group."""
_BY_HINT = (
    ("mysql", "mysql(?:dump|admin|import|show)?", _ATTACHED),
    ("mariadb", "mariadb(?:-dump|-admin)?", _ATTACHED),
    ("7z", "7za?", _ATTACHED),
    (" login", _LOGIN, rf"-p[ =]?{_WORD}"),
    ("mongo", "mongo(?:sh|dump|restore|import|export)?", rf"-p[ =]?{_WORD}"),
    ("PsExec", r"PsExec(?:64)?(?:\.exe)?", rf"-p[ ]{_WORD}"),
    ("zip ", "zip", rf"-P[ ]?{_WORD}"),
    ("mosquitto_", "mosquitto_(?:pub|sub)", rf"-P[ ]?{_WORD}"),
    ("ldap", "ldap(?:search|add|modify|passwd|delete|whoami)", rf"-[ws][ ]{_WORD}"),
    ("snmp", "snmp(?:walk|get|set|bulkwalk)", rf"-[AX][ ]{_WORD}"),
    ("http ", "https?", r"(?:-a|--auth)[ =][\"']?[\w.@+-]{1,80}:([^\s\"'$]{4,})"),
    ("-auth ", "(?:java[^\n]{0,80})?-auth", r"[\w.@+-]{1,80}:([^\s\"'$]{6,})"),
    ("authtoken", "(?:ngrok )?(?:config )?(?:add-)?authtoken", _DRAWN),
    ("http-basic", r"http-basic[\w.-]*", rf"(?:[\w.-]{{1,80}}\.[\w.-]{{1,80}}[ ])?[\w.@+-]{{1,80}}[ ]{_WORD}"),
    ("mysqladmin ", "mysqladmin", rf"[^\n]{{0,120}}?\bpassword[ ]{_WORD}"),
)
"""Word to search for first, pattern of the program names, and pattern of the arguments."""
_NAMED = [(name, name, place) for names, place in _BY_NAME for name in names.split(", ")]
_COMMANDS = {hint: (program, place) for hint, program, place in (*_NAMED, *_BY_HINT)}
_HINTS = by_word(
    _COMMANDS,
    **{"7z": "z za", "mosquitto_": "mosquitto", "http ": "http https"},
    mysql="mysql mysqldump mysqladmin mysqlimport mysqlshow",
    mongo="mongo mongosh mongodump mongorestore mongoimport mongoexport",
    ldap="ldapsearch ldapadd ldapmodify ldappasswd ldapdelete ldapwhoami",
    snmp="snmpwalk snmpget snmpset snmpbulkwalk",
)

_BEGINS = re.compile(r"(?<![\w.-])")
_LINE = re.compile(r"(?:[^\\\n]|\\[^\n]|\\\n){0,400}")
_PGPASS = re.compile(r":(?<=[\w*]:)(\d{4,5}|\*):[\w*-]{1,60}:[\w*.-]{1,60}:([^\s\"'<>$]{4,100})(?![^\s\"'])")
_PORTS_OF_POSTGRES = ("54", "64", "*")


@cache
def _patterns(hint: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a program's name and its arguments, compiled for the first text that has the hint."""
    program, place = _COMMANDS[hint]
    return re.compile(rf"{program}(?=\s)"), re.compile(rf"\s(?:{place})")


def spans(source: IndexedText) -> Iterator[Span]:
    text = source.text
    for hint in hints_in(source.words, _HINTS):
        program, place = _patterns(hint)
        done = 0
        for at in places_of(hint, source.ascii_text):
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
