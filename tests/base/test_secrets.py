"""What is a secret is masked wherever something is shown, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.worker import Worker, WorkerState

from tests.commands import cwb
from tests.paths import ROOT, SAMPLES
from workbench.base.errors import BadInput
from workbench.base.secrets import MASK, error_line, masked
from workbench.compaction.strategy import Answer, SummaryFailed, SummaryRequest
from workbench.summarizers import journal
from workbench.summarizers.anthropic_errors import trouble_of
from workbench.summarizers.driver import ask
from workbench.summarizers.runs import Run, call_record
from workbench.tui.failures import failure_of

HEX, LETTERS = "4b1d5f0c9a7e" * 3, "aB3dE6gH" * 5
KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
HIDDEN = {
    # text around the secret → the secret that must not be seen
    "{}": [
        f"sk-ant-api03-{LETTERS}",
        f"sk-proj-{LETTERS}",
        f"sk-{LETTERS}",
        "sk-ant-REDACTED",
        f"AIza{LETTERS[:35]}",
        f"hf_{LETTERS[:34]}",
        f"gsk_{LETTERS}",
        f"ghp_{LETTERS[:36]}",
        f"github_pat_{LETTERS}",
        f"glpat-{LETTERS[:20]}",
        f"npm_{LETTERS[:36]}",
        f"pypi-AgEIcHlwaS5vcmc{LETTERS}",
        "xoxb-123456789012-abcdefghij",
        "AKIA" + "B" * 16,
        f"ya29.{LETTERS}",
        f"rk_live_{LETTERS}",
        f"SG.{LETTERS[:22]}.{LETTERS}",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        f"-----BEGIN RSA PRIVATE KEY-----\\n{KEY_BODY}\\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----",
    ],
    "https://u:{}@h": ["hunter2", "p:w", "x"],
    "POSTGRES://app:{}@db/x": ["s3cr3t"],
    "Authorization: Bearer {}": ["abc.def-ghi", "abcdefgh12345678"],
    "curl -H 'Authorization: Basic {}'": ["dXNlcjpodW50ZXIy", "YWxhZGRpbjpvcGVu"],
    "the Bearer {} was refused": ["abcdefgh12345678"],
    '{{"api_key": "{}"}}': ["abcdef123456"],
    "{{'x-api-key': '{}'}}": ["0123456789"],
    "api_key={} is wrong": ["abcdef123456", "a-b-c-d"],
    "export DB_PASSWORD={}": ["correct-horse", "correcthorse"],
    "dbPassword: {}": ["hunter2secret", "Tr0ub4dor&3"],
    "client_secret={}&x=1": ["0123456789abcdef"],
    "AWS_SECRET_ACCESS_KEY={}": ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
    "?access_token={}": [HEX],
}
SECRETS = [(around, secret) for around, secrets in HIDDEN.items() for secret in secrets]

LEAKS = [one for one in SECRETS if one[1].startswith(("sk-ant-api", "AKIA", "github_pat_", "hf_", "hunter2"))][:5]
"""One of each kind that one of two maskers once let through, and one that none did."""

PLAIN = """\
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
commit 0f9a3b2c4d5e6f708192a3b4c5d6e7f809a1b2c3 · 550e8400-e29b-41d4-a716-446655440000 · sha256-47DEQpj8HBSa
"""


@pytest.mark.parametrize("line", PLAIN.splitlines())
def test_ordinary_code_and_prose_is_left_as_it_is(line: str) -> None:
    assert masked(line) == line


@pytest.mark.parametrize(("around", "secret"), SECRETS)
def test_a_secret_is_replaced_and_nothing_beside_it(around: str, secret: str) -> None:
    once = masked(f"before {around.format(secret)} after")
    assert once == f"before {around.format(MASK)} after"
    assert masked(once) == once


def test_a_torn_private_key_is_masked_to_its_last_piece() -> None:
    assert masked(f"-----BEGIN OPENSSH PRIVATE KEY----- {KEY_BODY} {KEY_BODY} … {KEY_BODY}. Then") == f"{MASK}. Then"


# --- all that shows something ----------------------------------------------------------------------------------------


REQUEST = SummaryRequest("test", (), "sum up", lambda: "sum up")


def _answer(text: str) -> Answer:
    async def refuses(request: SummaryRequest) -> Answer:
        raise RuntimeError(text)

    return asyncio.run(ask(refuses, REQUEST))


def _journal(text: str) -> str:
    call = call_record(REQUEST, _answer(text))
    kept = Run(id="20260101-000000-abcdef", began=0, seconds=1, end="failed", strategy="trim", calls=[call])
    assert journal.keep(kept) == ""
    return journal.load(kept.id).model_dump_json()


def _worker(text: str) -> str:
    worker = SimpleNamespace(name="export", error=RuntimeError(text))
    return failure_of(cast(Worker.StateChanged, SimpleNamespace(worker=worker, state=WorkerState.ERROR)))


def _refused(text: str) -> str:
    run = cwb("compact", SAMPLES / "claude-code-overflow.jsonl", "--preset", text)
    assert run.exit_code == 2
    return run.output


SHOWN: dict[str, Callable[[str], str]] = {
    "a refusal": lambda text: str(BadInput(f"x: {text}")),
    "a failed summary": lambda text: str(SummaryFailed("error", text)),
    "a summarizer that raises": lambda text: str(_answer(text)),
    "a server's error": lambda text: trouble_of(RuntimeError(text)).sentence,
    "the journal": _journal,
    "a worker of the screen": _worker,
    "the command line": _refused,
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize(("around", "secret"), LEAKS)
def test_every_way_to_be_shown_masks(shown: str, around: str, secret: str) -> None:
    said = SHOWN[shown](f"before {around.format(secret)} after")
    assert secret not in said
    assert MASK in said
    assert "after" in said


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_masks_what_the_session_holds(ending: str, tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    for n, (around, secret) in enumerate(LEAKS):
        said = around.format(secret)
        read = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"path": f"/src/{said}"}}
        calls += [
            {"role": "user", "content": f"{n}: go"},
            {"role": "assistant", "content": [read]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{n}", "content": said * 200}]},
            {"role": "assistant", "content": "done"},
        ]
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": calls}))
    run = cwb("report", file, "--compare", "", "-o", tmp_path / f"o.{ending}")
    assert run.exit_code == 0, run.output
    page = (tmp_path / f"o.{ending}").read_text("utf-8").replace("\\", "")
    assert [secret for _, secret in LEAKS if secret in page] == []
    assert page.count(MASK) >= len(LEAKS)


# --- time and length -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "-eyJ-",
        "eyJ" + "a" * 12 + ".",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----A",
        "a://",
        "a" * 21 + "://b:",
        "bearer ",
        "Basic aaaaaaaa",
        "password=",
        "password = ",
        "a.",
        "token: ",
        "://u:",
        "xoxb-",
        "_secret",
        "A" * 30,
        "secret=&&&&&a",
    ],
)
def test_hostile_text_is_read_once(piece: str) -> None:
    """Whatever is looked at again from each beginning takes hours here; the suite's time limit ends it."""
    assert masked(piece * (400_000 // len(piece)) + " sk-ant-" + LETTERS).endswith((f" {MASK}", MASK))


def test_an_error_is_its_first_line_and_no_secret_is_cut_in_half() -> None:
    assert error_line(f"\n  401 for api_key={HEX} here\nsecond") == f"401 for api_key={MASK} here"
    assert error_line("x" * 290 + f" sk-ant-{LETTERS}") == "x" * 290 + f" {MASK}"
    assert error_line("y" * 301) == "y" * 299 + "…"
    assert error_line("y" * 300) == "y" * 300


def test_the_programs_own_code_holds_no_secret() -> None:
    files = [*ROOT.glob("workbench/**/*.py"), *ROOT.glob("docs/*.md"), *ROOT.glob("prompts/*")]
    assert [file.name for file in files if masked(text := file.read_text("utf-8")) != text] == []
