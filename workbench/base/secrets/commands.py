"""Secrets in command lines, by the option or the place that a program takes a password at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.base.secrets.places import NO_PASSWORD
from workbench.base.secrets.spans import Read, Span, by_word, hints_in, places_of
from workbench.base.secrets.values import is_drawn, is_placeholder

_WORD = r"(?:\"([^\"$]{4,80})\"|'([^'\n]{4,80})'|([^\s\"'$<-][^\s\"']{3,}))"
_USER = (
    r"(?:-[a-zA-Z]*u|--(?:proxy-)?user)[ =]?(?:\"[^\s:\"$]{0,80}:([^\"$\n]{3,80})\"|'[^\s:']{0,80}:([^'\n]{3,80})'"
    r"|[^\s:\"'$]{0,80}:([^\s\"'$]{3,}))"
)
_COOKIE = r"(?:-b|--cookie)[ =]?[\"']?[\w.-]{1,60}=([^\s;\"'$]{16,})"
_ATTACHED = r"-p(?!\d{1,5}\s)(?:\"([^\"$]{4,}?)\"|'([^']{4,}?)'|([^\s\"'$-][^\s\"'$]{3,}))"
_OF_A_STORE = rf"-(?:src|dest|new|old)?(?:store|key)pass(?:wd)?[ ]{_WORD}"
_OF_WINDOWS = r"-U[ ][\"']?[^\s%\"']{1,60}%([^\s\"'$]{3,})"
_OF_MINIO = rf"[^\s]{{1,80}}\s[^\s]{{1,200}}\s[^\s]{{1,80}}\s{_WORD}"
_OF_ORACLE = r"[\"']?[\w-]{1,60}/[\"']?([^\s\"'@$/]{4,})"
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
        ("keytool", "keytool", _OF_A_STORE),
        ("jarsigner", "jarsigner", _OF_A_STORE),
        ("apksigner", "apksigner", r"--(?:ks|key)-pass[ ]pass:([^\s\"'$]{4,})"),
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
        ("ldap", "ldap(?:search|add|modify|passwd|delete|whoami)", rf"-[ws][ ]{_WORD}"),
        ("smbclient", "smbclient", _OF_WINDOWS),
        ("rpcclient", "rpcclient", _OF_WINDOWS),
        ("net rpc", "net rpc", _OF_WINDOWS),
        ("net use", "net use", rf"/user:[^\s]{{1,80}}[ ]{_WORD}|[ ]?(?![\\]){_WORD}[ ]/user:"),
        ("net user", "net user", rf"[\w.-]{{1,60}}[ ](?!/){_WORD}"),
        ("openssl", "openssl", rf"-\w{{1,20}}[ ][\"']?pass:([^\s\"'$]{{3,}})|-[kK][ ]{_WORD}"),
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
        ("add-generic-password", "add-generic-password", rf"-\w*w[ ]{_WORD}"),
        ("plink", "plink", rf"-pw[ ]{_WORD}"),
        ("pscp", "pscp", rf"-pw[ ]{_WORD}"),
        ("isql", "isql", rf"[\w.-]{{1,60}}[ ][\w.-]{{1,60}}[ ]{_WORD}"),
        ("cypher-shell", "cypher-shell", rf"-p[ ]{_WORD}"),
        ("beeline", "beeline", rf"-p[ ]{_WORD}"),
        ("evil-winrm", "evil-winrm", rf"-p[ ]{_WORD}"),
        ("netexec", "netexec", rf"-p[ ]{_WORD}"),
        ("crackmapexec", "crackmapexec", rf"-p[ ]{_WORD}"),
        ("psexec", "psexec", rf"-p[ ]{_WORD}"),
        ("PsExec", r"PsExec(?:64)?(?:\.exe)?", rf"-p[ ]{_WORD}"),
        ("schtasks", "schtasks", rf"/[Rr][Pp][ ]{_WORD}"),
        ("mosquitto_passwd", "mosquitto_passwd", rf"-\w*b\w*[ ][^\s]{{1,200}}[ ][^\s]{{1,80}}[ ]{_WORD}"),
        ("snmp", "snmp(?:walk|get|set|bulkwalk)", rf"-[AX][ ]{_WORD}"),
        ("radtest", "radtest", rf"[^\s]{{1,80}}[ ]{_WORD}"),
        ("swaks", "swaks", rf"-?-ap[ ]{_WORD}"),
        ("http ", "https?", r"(?:-a|--auth)[ =][\"']?[\w.@+-]{1,80}:([^\s\"'$]{4,})"),
        ("etcdctl", "etcdctl", r"--user[ =][\"']?[\w.@+-]{1,80}:([^\s\"'$]{4,})"),
        ("-auth ", "(?:java[^\n]{0,80})?-auth", r"[\w.@+-]{1,80}:([^\s\"'$]{6,})"),
        ("authtoken", "(?:ngrok )?(?:config )?(?:add-)?authtoken", r"([^\s\"'$-][^\s\"']{15,})"),
        ("setapikey", "setapikey", r"([^\s\"'$-][^\s\"']{15,})"),
        ("wandb login", "wandb login", r"([^\s\"'$-][^\s\"']{15,})"),
        ("nuget push", "nuget push", r"[^\n]{0,200}?(?:-k|-ApiKey)[ ]([^\s\"'$-][^\s\"']{15,})"),
        ("http-basic", r"http-basic[\w.-]*", rf"(?:[\w.-]{{1,80}}\.[\w.-]{{1,80}}[ ])?[\w.@+-]{{1,80}}[ ]{_WORD}"),
        ("mysqladmin ", "mysqladmin", rf"[^\n]{{0,120}}?\bpassword[ ]{_WORD}"),
        ("root-password", "root-password", r"password:([^\s\"'$:,]{4,})"),
        ("encrypt_string", "encrypt_string", rf"(?<=encrypt_string\s){_WORD}"),
        ("rclone obscure", "rclone obscure", _WORD),
        ("redis-cli", "redis-cli", rf"-a[ ]{_WORD}|[^\n]{{0,120}}?\bAUTH[ ](?:[\w.-]{{1,40}}[ ](?=\S))?{_WORD}"),
    )
}
"""By the words to look for: the program's name, and the pattern of its arguments with the password as a group."""
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


def spans(read: Read) -> Iterator[Span]:
    text = read.text
    for hint in hints_in(read.words, _HINTS):
        program, place = _COMMANDS[hint]
        done = 0
        for at in places_of(hint, read.near):
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
