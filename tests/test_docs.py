"""What code, presets and docs cite is in the repository."""

from __future__ import annotations

import re

from tests.commands import cwb
from tests.documents.rules import rows
from tests.paths import ROOT, SAMPLES
from workbench.cli.names import COMMANDS
from workbench.cli.open import OVERFLOWING

_CITED = re.compile(r"\b(docs/[\w-]+\.md|00\d-\d{3}|(?<=[Dd]ocument )00\d)\b|§|\bspec/\w+\.md")


def test_only_what_is_here_is_cited() -> None:
    rules = {row.id for row in rows()}
    told = rules | {id[:3] for id in rules}
    files = [path for folder in ("workbench", "docs", "prompts") for path in (ROOT / folder).rglob("*")]
    missing = {
        str(path.relative_to(ROOT)): found[0]
        for path in files
        if path.suffix in (".py", ".toml", ".md")
        for found in _CITED.finditer(path.read_text("utf-8"))
        if not (found[1] and (found[1] in told or (ROOT / found[1]).is_file()))
    }
    assert missing == {}


def test_the_readme_quotes_what_the_commands_say() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```\n\$ cwb (.*)\n((?:.*\n)*?)```", text, re.M)
    assert len(blocks) == 2
    for command, quoted in blocks:
        words = [str(SAMPLES / OVERFLOWING) if word == "session.jsonl" else word for word in command.split()]
        said = " ".join(cwb(*words).output.split())
        lines = re.sub(r"\n {4,}", " ", quoted).splitlines()
        assert [line for line in lines if " ".join(line.split()) not in said] == []


def test_the_readme_is_short_and_names_only_files_that_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.split()) < 700
    places = [place for place in re.findall(r"\]\(([^)#]+)", text) if not (ROOT / place).exists()]
    assert places == []


def test_every_command_has_a_job_and_every_job_tests_that_exist() -> None:
    text = (ROOT / "tests" / "README.md").read_text("utf-8")
    jobs = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| .*\|$", text, re.M)[1:]]
    assert {command for _, commands, *_ in jobs for command in re.findall(r"`(\w+)`", commands)} == {*COMMANDS}
    assert [job for job, _, *cells in jobs if not any(cells)] == []
    for name in re.findall(r"`([\w/-]+\.(?:py|txt)(?:::\w+)?)`", text):
        file, _, test = name.partition("::")
        assert (
            f"def {test}" in (ROOT / "tests" / file).read_text("utf-8") if test else (ROOT / "tests" / file).is_file()
        ), name
