"""A session full of secrets in places where a cut, a list or a blank parts them from what they are told by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.commands import write_lines
from tests.formats.claude_code_build import assistant, boundary, call, result, summary, text, user

SESSION_TOKEN = "FwoGZXIvYXdzEJr9kQ2mVt7LbN4xWc8Ph5Ys3Gd6Ku1Re0TzAaBbCc+/Xq4="
DATABASE = "Tr0ub4dor&3-Wq7Zk9"
DATADOG = "7f3a9c1e5b8d2046af91ce73b50d8e24"
TWILIO = "c4e81b7f0a9d35264b8fe1d70c93a652"
HOOK = "T04KX91QZ/B07MN3RWY/qV8sLp2Dz6Hf0GtJc5YxKb9E"
GITHUB_LIKE = "9b1f6e3d8c0a72545be9d1c47a60f38e2d71b9c5"
XML = "kestrel-Velvet.quarry7.conf"
KEYED = "Umbra-41-Falcon.key"
SPOKEN = "hornbeamQ7otterZ2"
SUMMED = "marlinX9cobaltV4"
PINNED = "juniperK3basaltW8"
TASKED = "sk_live_9Zq3Xv7Lm2Pk8Rw5Td1Yb6Nc"
LONG = "8Jt5Wn2Rk7Xq4Zb9Lv6Mc3Ph1Fg0Dy"

SECRETS = (
    SESSION_TOKEN, DATABASE, DATADOG, TWILIO, HOOK, GITHUB_LIKE, XML, KEYED, SPOKEN, SUMMED, PINNED, TASKED, LONG,
)  # fmt: skip

LEAST = 8
"""So many characters of a secret in a row are a leak."""


def leaked(output: str) -> set[str]:
    """The secrets of which a run of `LEAST` characters stands in an output."""
    return {
        secret
        for secret in SECRETS
        if any(secret[at : at + LEAST] in output for at in range(max(1, len(secret) - LEAST + 1)))
    }


def _spent(context: int) -> dict[str, Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": context, "cache_creation_input_tokens": 0}
    return {"usage": {**usage, "output_tokens": 40}}


ENVIRONMENT = f"""# deploy environment
DD_API_KEY={DATADOG}
TWILIO_AUTH_TOKEN={TWILIO}
LOG_LEVEL=info
"""

SETTINGS = f"""<configuration>
  <server>db.internal</server>
  <user>deploy</user>
  <password>{XML}</password>
</configuration>
"""

ASKED = (
    f"Set up the deploy of the billing service. Always run `export AWS_SESSION_TOKEN={SESSION_TOKEN}` before the "
    f"deploy of the billing service starts.\n\n"
    f"From now on always connect with psycopg2.connect(host='db.internal', user='deploy', password='{DATABASE}') "
    f"and never with the default of the billing service.\n\n"
    f"<Pin>The staging password is {PINNED} until the review of the billing service in May.</Pin>"
)

ROUNDS: tuple[tuple[str, tuple[tuple[str, dict[str, Any], str, bool], ...], str], ...] = (
    (
        ASKED,
        (
            ("Read", {"file_path": "/srv/billing/settings.xml"}, SETTINGS, False),
            ("Write", {"file_path": "/srv/billing/.env", "content": ENVIRONMENT}, "File created", False),
            (
                "Bash",
                {
                    "command": f"export AWS_SESSION_TOKEN={SESSION_TOKEN} && ./deploy.sh --stage billing",
                    "description": "Deploy the billing service to the staging cluster",
                },
                f"deploying billing\nAWS_SESSION_TOKEN={SESSION_TOKEN}",
                False,
            ),
            (
                "TodoWrite",
                {
                    "todos": [
                        {"content": f"Rotate the payment key {TASKED} of the billing service", "status": "in_progress"},
                        {"content": "Write the runbook of the billing service", "status": "pending"},
                    ]
                },
                "Todos have been modified",
                False,
            ),
        ),
        f"I decided to connect with psycopg2.connect(host='db.internal', user='deploy', password='{DATABASE}') instead "
        f"of the default. The root cause of the failed login was that the old password is {SPOKEN} in the vault.",
    ),
    (
        f"The chat hook is https://hooks.slack.com/services/{HOOK} for the billing service. "
        "Post the result of the deploy there.",
        (
            (
                "Bash",
                {
                    "command": "curl -sS -X POST -H 'Content-Type: application/json' -d '{\"text\": \"done\"}' "
                    f"https://hooks.slack.com/services/{HOOK}",
                    "description": "Post the result of the deploy to the chat",
                },
                f"curl: (22) error: 403 for https://hooks.slack.com/services/{HOOK}",
                True,
            ),
            (
                "Bash",
                {"command": f"curl -H 'Authorization: token {GITHUB_LIKE}' https://api.example.org/repos/billing"},
                f"error: 401 Unauthorized, sent Authorization: token {GITHUB_LIKE}",
                True,
            ),
            (
                "vault_put",
                {"path": "billing/prod", "data": {"password": KEYED, "api_key": DATADOG, "api_token": TWILIO}},
                "stored",
                False,
            ),
        ),
        f"The hook answers 403. In the container DD_API_KEY={DATADOG} and TWILIO_AUTH_TOKEN={TWILIO} are set, so that "
        "the metrics of the billing service arrive.",
    ),
    (
        "Now run the tests of the billing service. " + "The log of the last night is below. " * 30
        + f'{{"level": "info", "user": "deploy", "password": "{LONG}", "attempt": 3}} ' + "A line of the log. " * 40,
        (
            (
                "Bash",
                {"command": "pytest -q tests/billing"},
                "F\n" + "E   OperationalError: could not connect to db.internal\n" * 3
                + f"E   psycopg2.connect(host='db.internal', user='deploy', password='{DATABASE}') refused\n"
                + "1 failed, 41 passed",
                True,
            ),
            (
                "Edit",
                {
                    "file_path": "/srv/billing/db.py",
                    "old_string": "connect(default)",
                    "new_string": f"def billing_store():\n    return psycopg2.connect(password='{DATABASE}')",
                },
                "The file has been updated",
                False,
            ),
            ("Bash", {"command": "pytest -q tests/billing"}, "42 passed", False),
        ),
        "All 42 tests pass now, because the connection of the billing service uses the right account.",
    ),
)  # fmt: skip


def lines(compacted: int = 2) -> list[dict[str, Any]]:
    """The session as Claude Code writes it: three rounds, a recorded compaction before the one of that number."""
    made: list[dict[str, Any]] = []
    parent: str | None = None
    context = 30_000
    for number, (asked, deeds, answer) in enumerate(ROUNDS):
        if number == compacted:
            about = summary("s0", "b0")
            about["message"]["content"] = (
                "This session is being continued from a previous conversation.\n\n1. Primary Request: set up the "
                f"deploy.\n2. Errors: the login failed, because the password is {SUMMED} in production."
                f"\n3. Environment: DD_API_KEY={DATADOG} is set.\n4. Pending: run the tests of the billing service."
            )
            made += [boundary("b0", parent), about]
            parent, context = "s0", 20_000
        made.append(user(f"u{number}", parent, asked))
        parent = f"u{number}"
        for step, (name, given, said, failed) in enumerate(deeds):
            context += 9_000
            at, id = f"{number}-{step}", f"toolu_{number}_{step}"
            made.append(assistant(f"c{at}", parent, f"msg_{at}", call(id, name, **given), body=_spent(context)))
            answered = result(f"r{at}", f"c{at}", id, said)
            answered["message"]["content"][0]["is_error"] = failed
            answered["toolUseResult"] = {"stdout": ""}
            made.append(answered)
            parent = f"r{at}"
        context += 9_000
        made.append(assistant(f"a{number}", parent, f"msg_a{number}", text(answer), body=_spent(context)))
        parent = f"a{number}"
    return made


def session(folder: Path, compacted: int = 2) -> Path:
    folder.mkdir(exist_ok=True)
    return write_lines(folder / "secrets.jsonl", lines(compacted))
