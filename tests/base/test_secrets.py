"""What is a secret is masked wherever something is shown, and nothing else is."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from textual.worker import Worker, WorkerState

from tests.base.shapes import Shape, leaks, shapes
from tests.commands import cwb
from tests.paths import ROOT, SAMPLES
from tests.products import mostly_full
from workbench.base.crashes import mask_logs
from workbench.base.errors import BadInput
from workbench.base.secrets import MASK, Personal, error_line, masked, masked_value, masking
from workbench.compaction.summary_request import Answer, SummaryFailed, SummaryRequest, TextBody
from workbench.formats.export import export, save
from workbench.formats.masked import load_masked
from workbench.summarizers import run_history
from workbench.summarizers.client_errors import classify_error
from workbench.summarizers.driver import ask
from workbench.summarizers.run_records import RunRecord, call_record
from workbench.tui.background import failure_of
from workbench.tui.plain import plain

LETTERS = "aB3dE6gH" * 5
# A secret stands in ⟨⟩, `@@` for letters drawn by chance; a line without is code or prose that stays as it is.
LINES = r"""
key ⟨sk-ant-api03-@@⟩, ⟨sk-proj-@@⟩, ⟨sk-@@⟩ and ⟨sk-ant-REDACTED⟩
⟨AIza@@⟩ ⟨hf_@@⟩ ⟨gsk_@@⟩ ⟨ya29.@@⟩ ⟨rk_live_@@⟩ ⟨SG.@@.@@⟩ ⟨AKIABBBBBBBBBBBBBBBB⟩ ⟨xoxb-123456789012-abcdefghij⟩
⟨ghp_@@⟩ ⟨github_pat_@@⟩ ⟨glpat-@@⟩ ⟨npm_@@⟩ ⟨pypi-AgEIcHlwaS5vcmc@@⟩
a JWT ⟨eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N⟩ of a session
a key "⟨-----BEGIN RSA PRIVATE KEY-----\n@@@@\n-----END RSA PRIVATE KEY-----⟩"
torn: some words\n…qLM ⟨@@\naB3d\n-----END RSA PRIVATE KEY-----⟩ then
torn: …⟨@@ @@ aB3= -----END PRIVATE KEY-----⟩ and -----END PRIVATE KEY----- alone
torn: ⟨-----BEGIN OPENSSH PRIVATE KEY----- @@ … @@⟩.
cut: CLIENT_SECRET=⟨s8HJ0LBYdYetERyOXO2GogS…EN⟩ = "⟨N5JdFwrp4SNQezpaU1hf⟩"
cut: …-u root ⟨-pN5JdFwrp4S⟩ shop ...EN=⟨N5JdFwrp4S⟩
cut: …one two three four five six seven eight nine ten 11 12 13 ⟨@@⟩ and then @@
cut: CLIENT_SECRET=⟨s8HJ0LBYdYetERy…x⟩, commit=s8HJ0LBYd…x
cut: …EN = "N5JdFwrp4", …ing = the_name_of_something_long, api_key="sk-abc…wxyz"
cut: the key ⟨ghp_aB3dE6gHaB3dE6gH⟩… or ⟨eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM⟩...
cut: or ⟨AKIAQ7B4BB2BBBBB⟩… or ⟨wJalrXUtnFEMI7bPxR⟩…
cut: of commit 0f9a3b2c4d5e6f70...
cut: {"a": "so…", "uuid": "550e8400-e29b-41d4-a716-446655440000", "key": "⟨aB3dE6gHaB3dE6gHxY9z⟩"}
cut: in session 550e8400-e29b-41d4… of yesterday
cut: the key ⟨aB3dE⟩…⟨9xY2_⟩, F906BD9B...DC0642
cut: src/part0_0_of_the_parser.ts… since 2026-11-27T22:42:58.123456… and version-1.2.3-beta.4...
in JSON: {"k": "one\nmysql -u root -p⟨N5JdFwrp4S⟩ shop\tcurl -u admin:⟨hunter2hunter⟩ x"}
a short one ⟨-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----⟩ ends here
https://u:⟨hunter2⟩@h, https://u:⟨p:w⟩@h and POSTGRES://app:⟨x⟩@db/x
Authorization: Bearer ⟨abc.def-ghi⟩; the Bearer ⟨abcdefgh12345678⟩ was refused
curl -H 'Authorization: Basic ⟨dXNlcjpwYXNz⟩'
{"api_key": "⟨abcdef123456⟩", 'x-api-key': '⟨0123456789⟩'} api_key=⟨a1-b2c3d4e5⟩ is wrong
DB_PASSWORD=⟨correcthorse⟩ AWS_SECRET_ACCESS_KEY=⟨wJalrXUtnFEMI/K7MDENG/bPxRfiCYq2w8e4r6⟩
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
DB_PASSWORD="⟨correct horse battery⟩" and export PGPASSWORD='⟨four words in lowercase⟩'
APP_KEY=base64:⟨aB3dE6gHaB3dE6gHaB3dE6gHaB3dE6gH+D//wqW7Pxf=⟩ and key=base64:encoded
LDClient("⟨sdk-b8bec35a-d292-4f4d-a894-ac8d52c5aa5a⟩") mobile ⟨mob-b8bec35a-d292-4f4d-a894-ac8d52c5aa5a⟩
ASK_PASSWORD="Please say it again" NO_PASSWORD="enter your password" WRONG_SECRET = "nobody is known by this"
dbPassword: ⟨hunter2secret⟩ password: ⟨Tr0ub4dor&3⟩ ?client_secret=⟨0123456789abcdef⟩&x=1&access_token=⟨@@⟩
the token is refreshed in session.ts
4 000 tokens: no secret here, max_tokens: 200000, token = 151643, eos_token: "</s>token"
git@github.com:org/repo and ssh://git@host/x and http://localhost:8080/a@b
chars_per_token = "assumed"
password = get_password(user)
password = base64.b16encode(chance[8:])
def connect(password: str | None = None, api_key: Optional[str] = None, secret: bytes = b""): ...
self.password = other.password2
apiKey: process.env.API_KEY,
password: String,
client_secret=client_secret, access_token=access_token,
password=$PASSWORD token=${{ secrets.GITHUB_TOKEN }} api_key=<your key> DB_PASSWORD=$(pass db)
f"postgres://{user}:{password}@{host}", "mysql://$USER:$PASSWORD@db"
if password == other_password or token != expected.token: ...
basic functionality, the bearer of-a-long-hyphenated-word
sk-learn-contrib-project, sk-ecdsa-sha2-nistp256@openssh.com, task-0123456789abcdef0, hf_hub_download_it_all
if "-----BEGIN PRIVATE KEY-----" in text: raise BadInput("a private key")
Your new API key (shown only once): ⟨aB3-dE6gH_aB3dE6gHxY9z⟩ or a token, for build 7: Zz9-dE6gH_aB3dE6gHxY9z
$ kubectl get secret app -o jsonpath='{.data.password}' | base64 -d && echo  ->  ⟨0aB3dE6gHaB3dE6gHxY9z⟩
HMAC_KEY: Final = bytes.fromhex("⟨0f9a3b2c4d5e6f708192a3b4c5d6e7f8⟩")
{\"old\":\"const KEY = '⟨aB3dE6gHaB3dE6gHxY9z⟩'\",\"new\":\"const KEY = env.KEY\"}
{"otp_seed":"⟨ABCDEFGHIJKLMNOPQRSTUVWX⟩"}
cryptsetup luksOpen --key-file <(printf '⟨pfLeSDbKa29⟩') /dev/sdb2 x
net use Z: \\nas01\share ⟨Moor.Desk7⟩ /user:CORP\backup
https://⟨0f9a3b2c4d5e6f708192a3b4c5d6e7f8⟩:@api.example.com/v1 and https://⟨@@⟩:x-oauth-basic@github.com/acme/app.git
"token": "a", "buildHash": "aB3dE6gHaB3dE6gHxY9z", the key of the parser: src/aB3dE6gHaB3dE6gHxY9z.ts
auth.getUser("aB3dE6gHaB3dE6gHxY9z")
the token is checked in CachedTokenRepositoryImpl2Test, commit 0f9a3b2c4d5e6f708192a3b4c5d6e7f809a1b2c3
git diff 94dbe83679de...df9d45cf3539 -- secret_store.py
secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
echo "⟨aB3dE6gHaB3dE6gHxY9z⟩" | sudo tee /etc/app/token
use ⟨aB3dE6gHaB3dE6gHxY9z⟩ as the token; build aB3dE6gHaB3dE6gHxY9w of the token service
{"apikeys":["⟨aB3dE6gHaB3dE6gHxY9z⟩"]} connecting with key=⟨Zz9dE6gHaB3dE6gHxY9w⟩
the license key we bought is ⟨Y3NCO-Z7QMB-73MJ4-Y4KI3⟩
58ccac6 Add api key rotation (0f9a3b2c4d5e6f708192a3b4c5d6e7f809a1b2c3)
etag for token list: "0f9a3b2c4d5e6f708192a3b4c5d6e7f8", cache key: aB3dE6gHaB3dE6gHxY9z
token: RefreshTokenExpiredException2Handler, apiKey: ConfigurationPropertiesV2Binder.class
declare -x GITLAB_TOKEN="⟨glpat-qWIUNcXBWAdBfEAJSenl⟩", glpat-is-the-prefix-of-tokens
commit 0f9a3b2c4d5e6f708192a3b4c5d6e7f809a1b2c3 · 550e8400-e29b-41d4-a716-446655440000 · sha256-47DEQpj8HBSa
""".replace("@@", LETTERS)


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_a_secret_is_masked_and_nothing_beside_it(line: str) -> None:
    once = masked(line.replace("⟨", "").replace("⟩", ""))
    assert once == re.sub("⟨.*?⟩", MASK, line)
    assert masked(once) == once


F7 = r"""
password=⟨springPw88⟩
jdbc:postgresql://db/shop?user=app&password=⟨jdbcPw88⟩&ssl=true
    password: ⟨yamlPw_77⟩
app --password=⟨kiteString6⟩ --port 80
Driver={SQL Server};UID=sa;PWD=⟨odbcPw9⟩;Database=shop
{"user": "ann", "password": "⟨correct horse battery⟩"}
Authorization: Digest username="ann", realm="a", response="⟨0123456789abcdef0123456789abcdef⟩", opaque="x"
curl -b 'sessionid=⟨0123456789abcdefghij⟩' https://shop.example.com
htpasswd -bc .htpasswd ann ⟨Pine44!x⟩
    client-key-data: ⟨LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo0⟩
machine h login ann password ⟨tiny-Boat⟩
NOTION_TOKEN: ⟨ntn_12345678901@@⟩
Das Passwort lautet: ⟨Sommer-Regen7⟩
config/master.key: ⟨0123456789abcdef0123456789abcdef⟩
Unseal Key 1: ⟨aB3dE6gHaB3dE6gHaB3dE6gHaB3dE6gHaB3dE6gHaB4=⟩
ConvertTo-SecureString "⟨Aut0mat!c⟩" -AsPlainText -Force
<password>⟨nexusDeploy3⟩</password>
<AdministratorPassword>\n  <Value>⟨Unattend-77⟩</Value>
<wsse:Password Type="http://example.com/#PasswordText">⟨s0apSuds⟩</wsse:Password>
DB_PASSWORD=${DB_PASSWORD:?missing}, ${DB_PASSWORD:-$PASS_OF_DB}, ${DB_PASSWORD:?the database needs a password}
export DB_PASSWORD=${DB_PASSWORD:-⟨fallb4ckPw⟩}
DB=arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbC12d:password::
STRIPE_KEY=pk_test_@@ pk_live_@@
    def connect(user, password=password2, secret=other.secret_2): ...
        password = value2
    password: Optional[str] = None
    password: String!
"password": "must have a digit and 12 characters"
"password": "Forgot your password?"
cat password > file12345; pwd > tool_output1.txt
""".replace("@@", LETTERS)


@pytest.mark.parametrize("line", F7.strip("\n").split("\n"))
def test_f7_a_secret_is_known_by_its_name_or_place(line: str) -> None:
    line = line.replace("\\n", "\n")
    assert masked(line.replace("⟨", "").replace("⟩", "")) == re.sub("⟨.*?⟩", MASK, line)


PUTTY = f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n⟨{LETTERS}{LETTERS}⟩\nPrivate-MAC: 0"
AFTER_A_LINE = (
    f"⟨ya29.{LETTERS}⟩",
    f"⟨AGE-SECRET-KEY-1{LETTERS.upper()}{LETTERS.upper()}⟩",
    PUTTY,
    "db.example.com:5432:shop:app:⟨Gl4ss-Owl⟩",
    'DB_PASSWORD="⟨four words in lowercase⟩"',
    'os.environ["SECRET"] = "⟨abcdef123456⟩"',
    "<password>⟨nexusDeploy3⟩</password>",
    "docker login -u ann -p ⟨abc123def456⟩",
    "curl https://example.com \\\n  -u ann:⟨hunter2hunter⟩",
)


@pytest.mark.parametrize("marked", AFTER_A_LINE)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("before", ["one\n", "one\r\n", "one\t", 'a "quoted" line\n'])
def test_f6_behind_an_escape_a_secret_is_masked_as_behind_what_it_means(marked: str, depth: int, before: str) -> None:
    text, clean = f"{before}{marked}\nafter", f"{before}{re.sub('⟨.*?⟩', MASK, marked, flags=re.DOTALL)}\nafter"
    text = text.replace("⟨", "").replace("⟩", "")
    for _ in range(depth):
        text, clean = json.dumps({"text": text}), json.dumps({"text": clean})
    assert masked(text) == clean


@pytest.mark.parametrize(
    "text", [r"C:\new\table\readme", "C:\\\\temp\\\\notes", "a\\", "\\", "\\\\", r"\d+\.\n", r"x \u0026 y", ""]
)
def test_f6_without_a_secret_backslashes_stay(text: str) -> None:
    assert masked(f"{text} and nothing else {text}") == f"{text} and nothing else {text}"
    assert masked(f"{text} password=abc123def {text}") == f"{text} password={MASK} {text}"


# --- all that shows something ----------------------------------------------------------------------------------------


def _one_of(beginning: str) -> Shape:
    (found,) = (shape for shape in shapes("secret") if shape.about.startswith(beginning))
    return found


TWENTY = tuple(
    map(
        _one_of,
        (
            "export ANTHROPIC_API_KEY=",
            "OPENAI_API_KEY=⟨sk-proj-",
            "GH_TOKEN=",
            "git clone https://⟨ghp_",
            "curl --header",
            "//registry.example.org/:_authToken=⟨npm_",
            "export AWS_SESSION_TOKEN",
            "DefaultEndpointsProtocol=",
            '"client_secret":"⟨GOCSPX-',
            "SLACK_BOT_TOKEN",
            "curl -X POST https://hooks.slack.com",
            "https://discord.com/api/webhooks",
            "stripe.api_key",
            "DB_PASSWORD=⟨correct",
            "postgres://app:",
            "Authorization: Bearer ⟨",
            "jwt ⟨",
            "curl -u admin:",
            "mysql -u root",
            "my password is ⟨hunter2",
        ),
    )
)
LEAK = " ; ".join(shape.text for shape in TWENTY) + " ; after"
REQUEST = SummaryRequest("test", (), "sum up", TextBody(lambda: f"sum up {LEAK}"))


def _answer() -> Answer:
    async def refuses(request: SummaryRequest) -> Answer:
        raise RuntimeError(LEAK)

    return asyncio.run(ask(refuses, REQUEST))


def _journal() -> str:
    call = call_record(REQUEST, _answer())
    kept = RunRecord(id="20260101-000000-abcdef", began=0, seconds=1, end="failed", strategy="trim", calls=[call])
    assert run_history.save_run(kept) == ""
    return run_history.load_run(kept.id).model_dump_json()


def _worker() -> str:
    worker = SimpleNamespace(name="export", error=RuntimeError(LEAK))
    return failure_of(cast(Worker.StateChanged, SimpleNamespace(worker=worker, state=WorkerState.ERROR)))


def _session(request: str = LEAK) -> Path:
    """A session that says and does it, in words, a call, a result and a system prompt."""
    read = {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": LEAK}}
    calls = [
        {"role": "user", "content": request},
        {"role": "assistant", "content": [read]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": f"{LEAK}\n" * 20}]},
        {"role": "assistant", "content": f"done: {LEAK}"},
    ]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": LEAK, "messages": calls}
    Path("session.json").write_text(json.dumps(body))
    return Path("session.json")


def _report(ending: str) -> str:
    assert cwb("report", _session(), "--compare", "", "-o", f"o.{ending}").exit_code == 0
    return Path(f"o.{ending}").read_text("utf-8").replace("\\", "")


def _export() -> str:
    path = _session()
    session = load_masked(path)
    return save(export(session, session.context()), path.with_name("out.json")).where.read_text("utf-8")


def _told(*words: str) -> str:
    said = cwb(words[0], _session(), *words[1:])
    return said.stdout + said.stderr


def _rules() -> str:
    """Each secret is in a rule of the user, so that the list has all."""
    rules = (f"From now on always run this before the deploy: {shape.text}" for shape in TWENTY)
    listed = cwb("rules", _session("\n\n".join(rules))).stdout
    assert listed.count("From now on always") == len(TWENTY)
    return listed


def _crash() -> str:
    """What is left on the terminal when the program dies, and what a client logs before, of a program of its own."""
    body = (
        "import sys, logging; from workbench.base.crashes import mask_logs, mask_tracebacks\n"
        "mask_tracebacks(); mask_logs(); leak = sys.stdin.read(); logging.warning('sent %s', leak)\n"
        "try: raise RuntimeError(leak)\n"
        "except RuntimeError: logging.exception('failed')\n"
        "raise ValueError(leak)\n"
    )
    return subprocess.run([sys.executable, "-c", body], input=LEAK, capture_output=True, text=True, cwd=ROOT).stderr


def test_of_two_keys_that_are_secrets_none_takes_the_others_place() -> None:
    first, second = f"sk-ant-api03-{LETTERS}", f"sk-ant-api03-x{LETTERS}"
    assert masked_value({first: 1, "a": 2, second: 3}) == {MASK: 1, "a": 2, f"{MASK} 3": 3}


def test_a_log_whose_values_do_not_fit_stops_nothing_and_is_masked() -> None:
    before = logging.getLogRecordFactory()
    try:
        mask_logs()
        record = logging.getLogRecordFactory()("n", logging.INFO, "f", 1, "%d", ("password=abc123def",), None)
    finally:
        logging.setLogRecordFactory(before)
    assert record.getMessage() == "%d ('password=[masked]',)"


SHOWN: dict[str, Callable[[], str]] = {
    "a refusal": lambda: str(BadInput(LEAK)),
    "a failed summary": lambda: str(SummaryFailed("error", LEAK)),
    "a summarizer that raises": lambda: str(_answer()),
    "a server's error": lambda: classify_error(RuntimeError(LEAK)).sentence,
    "the journal": _journal,
    "a worker of the screen": _worker,
    "the command line": lambda: cwb("compact", SAMPLES / "claude-code-overflow.jsonl", "--preset", LEAK[:200]).stderr,
    "a transcript": lambda: _told("inspect", "--verbosity", "default"),
    "JSON": lambda: _told("inspect", "--json", "--full"),
    "what is lost": lambda: _told("retention", "--strategy", "trim", "--json"),
    "what may be pinned": _rules,
    "a text of the screen": lambda: plain(LEAK),
    "a crash and a log": _crash,
    "an export that is to be masked": _export,
    "a report as HTML": lambda: _report("html"),
    "a report as Markdown": lambda: _report("md"),
}


@pytest.mark.parametrize("way", SHOWN)
def test_of_twenty_secrets_none_is_shown_anywhere(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = SHOWN[way]()
    assert len(shown) > 10
    assert [shape.about for shape in TWENTY if any(secret in shown for secret in shape.secrets)] == []
    if way != "what is lost":  # which may have nothing to say of it
        assert MASK in shown


def test_secrets_masked_on_the_way_are_none_by_themselves() -> None:
    """Else the test above would hold for a program that shows nothing."""
    assert [shape.about for shape in TWENTY if not leaks(shape, shape.text)] == []


# --- time and length -------------------------------------------------------------------------------------------------

PIECES = """
kind:_Secret¶ curl_-u_a: Cookie:_a= pw: localhost:5432: mnemonic:_abc_ sk- -eyJ- eyJaaaaaaaaaaaa.
-----BEGIN_PRIVATE_KEY----- -----BEGIN_PRIVATE_KEY-----A a:// aaaaaaaaaaaaaaaaaaaaa://b: bearer_
A-----END_PRIVATE_KEY----- aB3dE6gHaB… aB3dE6gHaB...
Basic_aaaaaaaa password= password_=_ a. token:_ ://u: xoxb- _secret AAAAAAAAAAAAAAA secret=&&&&&a
\\ \\" \\\\n {"kty" "Secret" "Secret","data":{ credentials_a:a a_/_ echo_a| password_for_ <password_a="b"_
login_a_password_
Digest_ ://a:b@ password"_{ ldap_-w_a ,_password=b secret_key: ?key=a \\\\a auth=("a",
|_password_|_a¶ password,a¶ password__a¶ login("a","b", INSERT_INTO_a_(password)_VALUES_('a'),( echo_a_|_passwd_
get_secret_jsonpath_ $_cat_secret¶ Authorization:_a_ codes:_a1b2c3_ password_a_to_ jwt.sign({ key:_a_
"a"_==_password_ new_Client("aB3dE6gHaB3dE6gH123", client("a","aB3dE6gHaB3dE6gH123" the_key_for_a_ token_for_a_a_a_a_a_
密钥用于 users:_{'a':_'aB3-dE6gH', passphrase:_a_b_c_ password.equals( strcmp(password,_" sha512_sha512_
auth=("aesaesaes1aesaes1aesaes1aes!","aesaesaes1aesaes1aesaes1aes!",
token_aesaesaes1aesaes1aesaes1aes token¶¶ token_a_aB3dE6gHaB3dE6gHaB3dE6gH/ \\\\a.\\
"""


@pytest.mark.parametrize("piece", PIECES.split())
def test_hostile_text_is_read_once(piece: str) -> None:
    """Whatever is looked at again from each beginning takes minutes here; `benchmarks.masking` measures the growth."""
    text = piece.replace("_", " ").replace("¶", "\n") * (4_000 // len(piece))
    assert masked(f"{text} sk-ant-{LETTERS}").endswith(MASK)


def test_an_error_is_its_first_line_and_no_secret_is_cut_in_half() -> None:
    assert error_line(f"\n  401 for api_key={LETTERS} here\nsecond") == f"401 for api_key={MASK} here"
    assert error_line("x" * 290 + f" sk-ant-{LETTERS}") == "x" * 290 + f" {MASK}"
    assert error_line("y" * 301) == "y" * 299 + "…"
    assert error_line("y" * 300) == "y" * 300


@pytest.mark.parametrize("part", mostly_full(range(5), in_short=[0]))
def test_the_programs_own_code_holds_no_secret(part: int) -> None:
    files = sorted([*ROOT.glob("workbench/**/*.py"), *ROOT.glob("docs/*.md"), *ROOT.glob("prompts/*")])
    assert [file.name for file in files[part::5] if masked(text := file.read_text("utf-8")) != text] == []


# --- what is no secret, on request ---------------------------------------------------------------------------------

PERSONAL_LINES = r"""
in ⟨home:/home/bob⟩/src and ⟨home:/Users/Ann-Lee⟩/.ssh, ⟨home:C:\Users\bob⟩\x and ⟨home:C:\\Users\\bob⟩\\x
⟨home:/mnt/c/Users/bob⟩/y
~/.claude/projects/⟨home:-Users-bob⟩-src-app and cd "⟨home:/home/bob⟩"
ask ⟨mail:bob.lee+x@mail.example.co.uk⟩ or <⟨mail:ann@example.com⟩>, Co-Authored-By: Bot <noreply@example.com>
git@github.com:org/repo, npm i @scope/pkg@1.2.3, /usr/home, /Users/Shared/x, homepage, user@localhost, a.home/bob
"""


@pytest.mark.parametrize("line", PERSONAL_LINES.strip().splitlines())
@pytest.mark.parametrize("also", [(), ("home",), ("mail",), ("home", "mail")], ids="-".join)
def test_homes_and_mail_addresses_are_masked_for_who_asks(line: str, also: tuple[Personal, ...]) -> None:
    bare = re.sub("⟨(?:home|mail):(.*?)⟩", r"\1", line)
    with masking(*also):
        assert masked(bare) == re.sub("⟨(home|mail):(.*?)⟩", lambda it: f"[{it[1]}]" if it[1] in also else it[2], line)
    assert masked(bare) == bare


def test_a_report_masks_them_for_who_asks_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read = {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "/home/bob/notes.md"}}
    calls = [
        {"role": "user", "content": "write to ann@example.com"},
        {"role": "assistant", "content": [read]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a note\n" * 200}]},
        {"role": "assistant", "content": "done"},
    ]
    Path("s.json").write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": calls}))

    def page(*options: str) -> str:
        assert cwb("report", "s.json", "--compare", "", "--overwrite", "-o", "o.md", *options).exit_code == 0
        return Path("o.md").read_text("utf-8").replace("\\", "")

    def foot(text: str) -> str:
        return text.strip().rpartition("\n")[2].partition(". ")[2]

    first = "Secrets recognized by shape, name or place"
    assert "/home/bob" in (text := page())
    assert "ann@example.com" in text
    assert foot(text) == f"{first} are masked; the names of home folders and mail addresses are not."
    assert "/home/bob" not in (text := page("--mask-home"))
    assert "ann@example.com" in text
    assert foot(text) == f"{first} and the names of home folders are masked; mail addresses are not."
    monkeypatch.setenv("CWB_MASK", "mail, home")
    assert "bob" not in (text := page())
    assert "ann@" not in text
    assert foot(text) == f"{first} and the names of home folders and mail addresses are masked."
    monkeypatch.setenv("CWB_MASK", "phone")
    assert "'phone' cannot be masked; choose from home and mail" in cwb("report", "s.json").stderr
