"""Which format a file is taken for, what is imported to tell, and formats that other distributions bring."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.formats.test_conformance import samples
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.finding.discover import discover
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.formats.format import Format
from workbench.formats.glance import SessionGlance
from workbench.formats.look import Look
from workbench.formats.machine import Machine

FAULTY = ("anthropic-cut-pair.json",)
"""Samples that their own API would not take as they are."""
TAKEN_FOR = json.loads((Path(__file__).parent / "recognised.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir() if path.name != "README.md"))
def test_each_sample_is_taken_for_its_format_and_for_its_reason(name: str) -> None:
    """What every format says of a file, in the order in which they are asked; the first takes it."""
    look = Look.of((SAMPLES / name).read_bytes())
    said = [[known.id, reason] for known in registry.formats() if (reason := known.recognise(look))]
    assert said == TAKEN_FOR[name]
    found, why = registry.detect(look)
    assert [found.id, why] == said[0]
    validate = found.codec.validate
    assert (validate is not None and validate((SAMPLES / name).read_bytes()) != []) == (name in FAULTY)


@pytest.mark.parametrize("known", registry.formats(), ids=lambda one: one.id)
def test_what_one_format_has_no_other_takes(known: Format) -> None:
    """So that nothing is misread where a format is asked in another order, or is not there."""
    for look in map(Look.of, samples(known.id)):
        assert [one.id for one in registry.formats() if one.recognise(look)] == [known.id]


_LOADED = """
import sys
from pathlib import Path
from workbench.formats.files import load
load(Path(sys.argv[1]))
parts = (".read", ".write", ".rules")
print(*sorted(name for name in sys.modules if name.startswith("workbench.formats.") and name.endswith(parts)))
"""


def test_only_the_format_that_a_file_has_is_imported() -> None:
    run = [sys.executable, "-c", _LOADED, str(SAMPLES / "codex-two-compactions.jsonl")]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.split() == [
        f"workbench.formats.codex.{part}" for part in ("read", "rules", "write")
    ]


GOOD = """
from workbench.formats.format import Codec, Format
from workbench.formats.machine import Place
from workbench.session import Session, Message, Text, Records

def read(path, data, progress):
    said = Message("1", "user", (Text(data.decode()),))
    return Session("toy", path, (said,), Records(data))

def places(machine):
    yield Place("Toy", "toy", machine.home / ".toy", ("*.toy",))

FORMAT = Format(
    "toy", "Toy", lambda look: "begins with TOY" * look.head.startswith(b"TOY"), lambda: Codec(read), places=places
)
"""
CLUMSY = """
from workbench.formats.format import Codec, Format
from workbench.formats.look import Look
from workbench.formats.machine import Machine

def recognise(look):
    return look.head.index(b"#!clumsy")

def places(machine):
    yield machine.no_such

FORMAT = Format("clumsy", "Clumsy", recognise, lambda: Codec(None), lambda path: path.no_such, places=places)
"""


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed distributions: `toy-tools` with a format that reads only, one whose recogniser raises, and
    two that are broken."""
    for name, module, value in (
        ("toy-tools", GOOD, "toy_tools:FORMAT"),
        ("clumsy-tools", CLUMSY, "clumsy_tools:FORMAT"),
        ("rusty-tools", "import no_such_module", "rusty_tools:FORMAT"),
        ("other-tools", "FORMAT = 'a word'", "other_tools:FORMAT"),
    ):
        about = tmp_path / f"{name.replace('-', '_')}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{name.partition('-')[0]} = {value}\n")
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    for cached in (registry._plugin_ids, registry._loaded_or_error):
        cached.cache_clear()
    yield tmp_path
    for cached in (registry._plugin_ids, registry._loaded_or_error):
        cached.cache_clear()
    for module in ("toy_tools", "clumsy_tools", "rusty_tools", "other_tools"):
        sys.modules.pop(module, None)


def test_a_format_of_another_distribution_is_found_by_name_and_by_content(plugged_in: Path) -> None:
    assert registry.by_id("toy").title == "Toy"
    assert "rusty_tools" not in sys.modules
    path = plugged_in / "a.toy"
    path.write_text("TOY hello")
    session = load(path)
    assert (session.format, session.messages[0].text) == ("toy", "TOY hello")


def test_a_format_that_is_read_only_says_so_when_an_export_is_asked_for(plugged_in: Path) -> None:
    path = plugged_in / "a.toy"
    path.write_text("TOY hello")
    session = load(path)
    with pytest.raises(
        BadInput, match=r"^Toy can be read but not written; choose another format for the export, such as"
    ):
        export(session, session.context())
    assert export(session, session.context(), "openai-chat").problems == ()
    assert "toy" not in [one.id for one in registry.targets()]


RUSTY = "'rusty' of rusty-tools cannot be imported (ModuleNotFoundError: No module named 'no_such_module'); " + (
    "update rusty-tools, or uninstall it."
)
CLUMSILY = "'clumsy' of clumsy-tools cannot recognise its own files ({}); update clumsy-tools, or uninstall it."
OTHER = "'other' of other-tools is a str and no Format; let its entry point name a Format."


def test_one_that_fails_gives_a_sentence_and_stops_nothing(plugged_in: Path) -> None:
    for name, sentence in (("rusty", RUSTY), ("other", OTHER)):
        with pytest.raises(BadInput) as refused:
            registry.by_id(name)
        assert str(refused.value) == sentence
    with pytest.raises(BadInput) as refused:
        registry.detect(Look.of(b"nothing known"))
    clumsily = CLUMSILY.format("ValueError: subsection not found")
    assert str(refused.value).endswith(f"that the agent wrote. {clumsily} {OTHER} {RUSTY}")
    with pytest.raises(BadInput) as refused:
        registry.detect_folder(plugged_in)
    missing = re.escape(CLUMSILY).replace(r"\{\}", r"AttributeError: '\w+' object has no attribute 'no_such'")
    assert re.search(f"open a session file in it\\. {missing} ", str(refused.value))


def test_what_others_recognise_is_read_beside_one_that_fails_at_it(plugged_in: Path) -> None:
    (plugged_in / "a.toy").write_text("TOY hello")
    assert load(plugged_in / "a.toy").format == "toy"
    assert load(SAMPLES / "openai-chat-tools.json").format == "openai-chat"


def test_a_plug_in_is_found_in_its_places_and_one_that_fails_at_them_has_none(plugged_in: Path) -> None:
    machine = Machine("linux", plugged_in, {}, plugged_in)
    assert [place.folder for place in registry.places(machine) if place.format == "toy"] == [plugged_in / ".toy"]
    path = plugged_in / ".toy" / "a.toy"
    path.parent.mkdir()
    path.write_text("TOY hello")
    found = [one for one in discover(registry.places(machine)) if isinstance(one, SessionGlance)]
    assert [(one.path, one.tool, one.format) for one in found] == [(path, "Toy", "toy")]


def test_the_known_names_are_told_with_those_of_plug_ins(plugged_in: Path) -> None:
    with pytest.raises(BadInput, match=r"choose one of claude-code, .*, aider, clumsy, other, rusty, toy\."):
        registry.by_id("x")
