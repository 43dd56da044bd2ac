"""No secret of a session stands in anything that is printed, written or drawn of it.

To add an output, add its command line: `FILE` is the session, `FOLDER` its folder; what a command writes to `OUT`
counts as printed.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.commands import cwb, document
from tests.products import mostly_full
from tests.secret_session import SECRETS, leaked, lines, session
from workbench.base import paths
from workbench.base.secrets import masked_value
from workbench.compaction.preset import preset_names
from workbench.compaction.strategies import OWN

LOOKS = """
inspect FILE
inspect FILE --json
inspect FILE --json --full
inspect FILE --epoch 1 --react
inspect FILE --epoch 1 --layers
inspect FILE --epoch 1 --notes
inspect FILE --epoch 1 --verbosity default
inspect FILE --epoch 1 --verbosity compact
inspect FILE --epoch 1 --verbosity quiet
why FILE
why FILE --json
why FILE --epoch 1 --json --watch 'never with the default'
inspect --health FILE --all
inspect --health FILE --json
rules FILE --epoch 1
rules FILE --epoch 1 --json
rules FILE --epoch 1 --instruction --limit 9000 --pin 1 --pin 2 --pin 3
rules FILE --epoch 1 --instruction --limit 9000 --pin 1 --json
why FILE --rework
why FILE --rework --json
audit --quick FOLDER
audit --quick FOLDER --json
resume FILE
audit FOLDER --list sessions
audit FOLDER --json
audit FOLDER --save OUT.html
audit FOLDER --save OUT.csv
report FILE --epoch 1 -o OUT.html
report FILE --epoch 1 -o OUT.md
report FILE --epoch 1 --preset progressive --compare ledger,trim -o OUT.html
retention FILE --recorded
retention FILE --recorded --json
retention FILE --epoch 1 --preset claude-code --json --watch 'never with the default of the billing service'
retention FILE --epoch 1 --strategy ledger --json
retention FILE --epoch 1 --preset codex --generations 2 --json
retention FILE --ask --epoch 1 --preset ledger --json
retention FILE --ask --epoch 1 --preset claude-code --max 1000 --json
retention FILE --ask --epoch 1 --recorded
retention FILE --ask --epoch 1 --preset claude-code --max 1000 --csv questions
inspect FILE --epoch 1 --csv rounds
audit FOLDER --csv
audit --quick FOLDER --csv
compare FILE --epoch 1 --json --watch 'never with the default of the billing service'
compare FILE --epoch 1 --presets claude-code --diff --json
compare FILE --epoch 1 --presets ledger --diff
compare FILE --over-session --window 30000 --summarizer extractive --json
compare FILE --over-session --window 30000 --strategy ledger --summarizer extractive --json
demo FILE --window 30000 --preset trim --json
demo FILE --window 30000 --preset trim --text
compare FILE --epoch 1 --summarizer extractive --summarizer extractive --strategy exchange-summary --json
compact FILE --epoch 1 --preset claude-code --mask --force -o OUT.jsonl
compact FILE --strategy ledger --set budget_tokens=300 --mask --force -o OUT.jsonl
rescue FILE --mask --json -o OUT.jsonl
rescue FILE --strategy trim -o FOLDER/rescued.jsonl
repair FILE --dry-run
repair FILE -o FOLDER/repaired.jsonl --json
audit FOLDER --list compactions
compare FILE --preset trim --vary target_percent=30,50 --retention --json --watch 'never with the default'
prompts show user-messages.en FILE
prompts render context-reset.en FILE --json
compact FILE --epoch 1 --preset ledger
compact FILE --epoch 1 --preset progressive --auto-pin
compact FILE --epoch 1 --preset copilot --watch 'never with the default of the billing service'
compact FILE --epoch 1 --preset layered
compact FILE --epoch last --strategy trim --drop 3 --shorten 2
"""

BUDGETS = (120, 200, 300, 400, 600, 900, 1_400)
"""Of a ledger in tokens: where a text is cut moves with it."""

REQUESTS = [
    line.format(limit, 20 * limit)
    for limit in range(20, 200, 12)
    for line in (
        "compact FILE --epoch 1 --preset ledger --set budget_tokens=900 --set result_char_limit={0} --json --full",
        "compact FILE --epoch 1 --preset message-window --set text_char_limit={0} --json --full",
        "compact FILE --epoch 1 --preset context-reset --set request_char_limit={1} --json --full",
    )
]
"""Requests that are cut, with the cuts in ever other places."""

LONG_ONES = (2,)
"""Messages that are long enough to be shortened."""

STRATEGIES = [name for name in OWN if name not in preset_names()]

COMPACTIONS = [
    *(f"compact FILE --epoch {epoch} --preset {name} --json --full" for name in preset_names() for epoch in (1, 2)),
    *(f"compact FILE --epoch {epoch} --strategy {name} --json --full" for name in STRATEGIES for epoch in (1, 2)),
    *(f"compact FILE --epoch 1 --strategy ledger --set budget_tokens={most} --json --full" for most in BUDGETS),
    *(f"compact FILE --epoch last --strategy ledger --set budget_tokens={most} --json --full" for most in BUDGETS),
    *(f"compact FILE --epoch last --strategy trim --shorten {at} --json --full" for at in LONG_ONES),
]


def test_the_rules_find_every_secret_where_it_stands_whole() -> None:
    """What this session tests is what is made of a text, not what is found in one."""
    assert leaked(str(lines())) == set(SECRETS)
    assert leaked(str(masked_value(lines()))) == set()


@pytest.mark.parametrize(
    "line",
    [*LOOKS.strip().split("\n"), *mostly_full(COMPACTIONS, COMPACTIONS[::4]), *mostly_full(REQUESTS, REQUESTS[::5])],
)
def test_f02_no_secret_is_in_what_a_command_says_or_writes(line: str, tmp_path: Path, own_home: Path) -> None:
    file = session(tmp_path / "in")
    words = shlex.split(line.replace("FILE", str(file)).replace("FOLDER", str(file.parent)))
    (tmp_path / "out").mkdir()
    done = cwb(*(word.replace("OUT", str(tmp_path / "out" / "written")) for word in words))
    assert done.exit_code in (0, 1), done.output
    written = [one.read_text("utf-8") for one in (tmp_path / "out").iterdir()]
    if "OUT" in line:
        assert any(written)
    said = [done.stdout, done.stderr, *written]
    assert {secret: _around(secret, said) for secret in leaked("\0".join(said))} == {}


def test_f02_no_secret_is_in_the_journal_of_runs(tmp_path: Path, own_home: Path) -> None:
    file = session(tmp_path / "in")
    for number, kind in enumerate(("garbage", "truncated"), 1):
        done = cwb("compact", file, "--epoch", number, "--preset", "kimi-cli", "--summarizer", f"rehearse:{kind}")
        assert done.exit_code in (0, 1, 3, 4), done.output
    runs = [one["id"] for one in document("list", "runs")["runs"]]
    assert len(runs) == 2
    said = [cwb("list", "runs", "show", run, "--request", *more).stdout for run in runs for more in ((), ("--json",))]
    said += [cwb("list", "runs", "diff", *runs).stdout]
    kept = [one.read_bytes() for one in paths.data().rglob("*") if one.is_file()]
    assert any(runs[0].encode() in one for one in kept)
    said += [one.decode("utf-8", "replace") for one in kept]
    assert {secret: _around(secret, said) for secret in leaked("\0".join(said))} == {}


def _around(secret: str, said: list[str]) -> str:
    """Where a secret stands, for the one who reads of it."""
    for text in said:
        for at in range(len(secret) - 7):
            if (place := text.find(secret[at : at + 8])) >= 0:
                return text[max(0, place - 150) : place + 60]
    return ""
