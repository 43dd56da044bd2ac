"""What the tools sent of sessions that they wrote, and of those that we wrote for them: the context that is shown.

`python -m interop --record` makes the files, and the requests that followed; here no tool is needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench
from interop.__main__ import every_tool
from interop.compare import Allowance, Compared, compare
from interop.homes import PROJECT
from interop.record import FIXTURES
from interop.server import Server
from interop.told import allowed_by
from interop.tool import Plan
from interop.trial import compacted, scene
from interop.units import Unit, of_request, shown
from workbench.formats import export as exporting
from workbench.formats import registry
from workbench.session import Message

RECORDED = sorted(FIXTURES.glob("*/*.sent.json"))
TOOLS = every_tool()


def held(sent: dict[str, Any], context: tuple[Message, ...], allowances: tuple[Allowance, ...]) -> Compared:
    expected = (*shown(context), Unit("user", "text", sent["prompt"]))
    return compare(of_request(sent["protocol"], sent["body"]), expected, allowances)


def session_of(path: Path) -> Path:
    ends = (".sent.json", ".compaction.json")  # what was sent, and what lies beside the session's file
    found = path.parent.glob(f"{path.name.removesuffix('.sent.json')}.*")
    (session,) = (one for one in found if not one.name.endswith(ends))
    return session


def foretold(path: Path) -> Plan | None:
    """The plan by which the workbench tells what was sent, where the tool's own compaction is not in the file."""
    return TOOLS[path.parent.name].foretold if path.name.startswith("its-own-compaction") else None


def test_there_are_recordings() -> None:
    names = {path.parent.name for path in RECORDED}
    agents = {
        "adk",
        "aider",
        "claude-code",
        "cline",
        "codex",
        "copilot",
        "gemini",
        "inspect",
        "opencode",
        "openhands",
        "pi",
        "qwen-code",
    }
    assert names >= agents
    assert names <= TOOLS.keys()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_the_context_shown_is_what_was_sent(path: Path) -> None:
    sent, tool = json.loads(path.read_text(encoding="utf-8")), TOOLS[path.parent.name]
    session = workbench.load(session_of(path))
    plan = foretold(path)
    context = compacted(session, plan, Server().summary).messages if plan else session.context()
    found = held(sent, context, tool.allowances)
    assert found == Compared("", tuple(sent["allowed"]))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_the_rules_do_not_object_to_what_its_tool_opened(path: Path) -> None:
    session = workbench.load(session_of(path))
    validate = registry.by_id(session.format).codec.validate
    assert (validate(session.records.data) if validate else []) == []


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_written_anew_it_is_still_what_was_sent(path: Path, tmp_path: Path) -> None:
    """Every message is rendered from its blocks, none copied from the file."""
    sent = json.loads(path.read_text(encoding="utf-8"))
    session, tool = workbench.load(session_of(path)), TOOLS[path.parent.name]
    if registry.by_id(session.format).codec.write is None:
        pytest.skip(f"{tool.title}'s sessions are only read")
    if foretold(path):
        pytest.skip(f"{tool.title} sent less than its file has")
    anew = tuple(replace(message, source=()) for message in session.context())
    made = exporting.export(session, anew, tool.format)
    written = exporting.save(made, tmp_path).where
    found = held(sent, workbench.load(written).context(), (*allowed_by(made), *tool.allowances))
    assert found.difference == ""


SAID = re.compile(
    r"\[left out.*\]|\S+ \S+|Go on .*|</?[\w-]+( [\w ]+)?>|<total_tokens>.*</total_tokens>|Look once more\..*"
    r"|\.\.\.\[truncated \d+ chars\]\.\.\."
)
"""What a recording may say beside what was invented: filler, two words, prompts of a trial, tags."""


AROUND = re.compile(r"^<user_input mode=\"act\">|</user_input>$")
"""Tags in which what was invented may stand, in a line with it."""


def json_in(text: str) -> Any:
    """What a result may be that is a text."""
    try:
        return json.loads(text) if text.startswith('[{"') else None
    except ValueError:
        return None


def lines_of(value: Any) -> Iterator[str]:
    match value:
        case str() if (inner := json_in(value)) is not None:
            yield from lines_of(inner)
        case str():
            yield from (AROUND.sub("", line.strip()) for line in value.split("\n"))
        case list():
            for one in value:
                yield from lines_of(one)
        case dict():
            for one in value.values():
                yield from lines_of(one)


def documents(text: str) -> list[Any]:
    """The lines of JSON of a session's file, or the texts of one that is a chat in Markdown."""
    try:
        return [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return [re.sub(r"^(#### |> |# aider chat started at .*)", "", text, flags=re.MULTILINE)]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")
def test_a_recording_holds_nothing_but_what_was_invented(path: Path) -> None:
    tool = TOOLS[path.parent.name]
    given = [str(value) for name in PROJECT for value in tool.read(name).arguments.values()]
    scenes = (*scene(tool.read), *PROJECT.values(), Server().summary, *tool.words, *given)
    known = {line.strip() for text in scenes for line in text.split("\n")}
    files = [session_of(path).read_text(encoding="utf-8"), path.read_text(encoding="utf-8")]
    known |= {said.strip() for text in scenes for said in re.findall(r"\[\[(?:say|think) (.*?)\]\]", text)}
    if tool.beside and (beside := tool.beside(session_of(path))).is_file():
        files.append(beside.read_text(encoding="utf-8"))
    values = [*documents(files[0]), json.loads(files[1])["body"], *map(json.loads, files[2:])]
    found = {line for line in lines_of(values) if " " in line and line not in known and not SAID.fullmatch(line)}
    found = {line for line in found if not any(line in text for text in tool.words)}
    assert {line for line in found if not line.startswith('{"')} == set()
    assert not re.search(r"/(tmp|work|root|home/(?!ada))\b", "".join(files))
