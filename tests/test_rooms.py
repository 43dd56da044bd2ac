"""Every room but the screen and the command line works without the screen and without a network client."""

import ast
import builtins
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import grimp
import pytest

from tests.paths import ROOT, SAMPLES
from workbench.compaction.strategies import all_strategies, strategy_ids
from workbench.formats.registry import PACKAGES

ROOMS = ("base", "session", "formats", "tokens", "facts", "compaction", "summarizers", "analysis", "hook", "bench")
"""From the lowest up, for what a room loads is told of the first that does."""
HEAVY = ("textual", "anthropic", "openai", "tiktoken")
FORMATS = [f"workbench.formats.{name}" for name in PACKAGES.values()]

_PROBE = """
import importlib, json, pkgutil, sys
rooms, heavy = map(json.loads, sys.argv[1:])
loaded = {}
for name in rooms:
    room = importlib.import_module("workbench." + name)
    for module in pkgutil.walk_packages(getattr(room, "__path__", ()), room.__name__ + "."):
        importlib.import_module(module.name)
    loaded[name] = [one for one in heavy if one in sys.modules and one not in sum(loaded.values(), [])]
print(json.dumps(loaded))
"""
_LIBRARY = """
import sys, workbench
said = [{"role": "user", "content": "Never touch a.py."}, {"role": "assistant", "content": "Yes. " * 90}] * 9
for strategy in sys.argv[1:]:
    assert workbench.compact(said, strategy).report.status
print(sorted({"textual", "anthropic", "numpy", "pygments"} & set(sys.modules)))
"""
_BENCH = """
import sys
from pathlib import Path
import workbench.tui.bench.screen
from workbench.bench import open_bench
from workbench.formats.files import load
from workbench.tokens import Counter
assert open_bench(load(Path(sys.argv[1])), Counter(None)).plan.outcome.status == "compacted"
later = ("facts.", "summarizers.", "analysis.retention", "bench.assessment", "compaction.checks", "report.")
ours = (name.removeprefix("workbench.") for name in sys.modules if name.startswith("workbench."))
print(sorted(name for name in ours if name.startswith(later)))
"""

_HELP = """
import sys
from workbench.cli import commands
commands.main(["--help"], prog_name="cwb", standalone_mode=False)
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("workbench.")}
heavy = {"textual", "anthropic", "openai", "tiktoken", "pydantic", "orjson", "msgspec"} & set(sys.modules)
print(sorted(rooms - {"cli", "base"}), sorted(heavy))
"""
_INSPECT = """
import json, sys
from workbench.cli import commands
commands.main(["inspect", sys.argv[1]], prog_name="cwb", standalone_mode=False)
ours = [name.split(".") for name in sys.modules if name.startswith("workbench.")]
packages = {name.partition(".")[0] for name, module in sys.modules.items()
            if "site-packages" in (getattr(module, "__file__", None) or "")}
print(json.dumps({
    "rooms": sorted({name[1] for name in ours}),
    "compaction": sorted({name[2] for name in ours if name[1] == "compaction" and len(name) > 2}),
    "read": sorted({name[2] for name in ours if name[1] == "formats" and name[3:] == ["read"]}),
    "recognised": sorted({name[2] for name in ours if name[1] == "formats" and len(name) == 4 and name[2] != "kit"}),
    "others": sorted(name for name in packages - {"tiktoken", "splintr"} if not name.startswith("_")),
}))
"""


_WHY = """
import json, sys
from workbench.cli import commands
commands.main(["why", sys.argv[1]], prog_name="cwb", standalone_mode=False)
packages = ("workbench.compaction.strategies.", "workbench.formats.")
print(json.dumps(sorted(name.removeprefix("workbench.") for name in sys.modules
                        if name.startswith(packages[0]) or name.startswith(packages[1]) and name.endswith(".read"))))
"""


def _last_line(*code: str) -> str:
    """What a new interpreter says in the end."""
    run = subprocess.run([sys.executable, "-c", *code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    """Which of the heavy modules each room brought, imported one after the other."""
    found: dict[str, list[str]] = json.loads(_last_line(_PROBE, json.dumps(ROOMS), json.dumps(HEAVY)))
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_without_screen_and_client(room: str, loaded: dict[str, list[str]]) -> None:
    assert loaded[room] == []


def test_the_library_compacts_without_screen_and_client() -> None:
    assert _last_line(_LIBRARY, *(one.id for one in all_strategies())) == "[]"


def test_help_imports_no_room() -> None:
    assert _last_line(_HELP) == "[] []"


def test_inspect_imports_what_it_shows_and_nothing_that_plans() -> None:
    """What a person waits for each time: of all formats only the file's own is imported, and no strategy or policy is
    loaded. The package of models is asked once and not again."""
    assert "genai_prices" in _last_line(_INSPECT, str(SAMPLES / "codex-two-compactions.jsonl"))
    assert json.loads(_last_line(_INSPECT, str(SAMPLES / "codex-two-compactions.jsonl"))) == {
        "rooms": ["analysis", "base", "cli", "compaction", "formats", "repairs", "session", "tokens"],
        "compaction": ["context", "layers", "opening", "outcome", "shape", "stored_history"],
        "read": ["codex"],
        "recognised": ["codex"],
        "others": ["click", "msgspec", "orjson", "platformdirs", "rich", "typing_extensions"],
    }


def test_why_imports_the_strategies_that_it_replays_and_no_others() -> None:
    """The agent's own, here Codex', and those with a remedy."""
    assert json.loads(_last_line(_WHY, str(SAMPLES / "codex-two-compactions.jsonl"))) == [
        "compaction.strategies.clear_tool_results",
        "compaction.strategies.user_messages",
        "formats.codex.read",
    ]


def test_the_bench_is_drawn_before_what_is_said_of_it_is_loaded() -> None:
    """Facts, losses, checks and summarizers take as long to import as all that a first look at a session needs. Its
    plan asks of facts for calls alone."""
    facts = ("calls", "fences", "powershell", "shell", "shell_lines", "text_calls", "tools", "wording")
    summarizers = ("driver", "estimate", "summarizer", "time_limits")
    assert _last_line(_BENCH, str(SAMPLES / "claude-code-overflow.jsonl")) == str(
        [f"facts.{name}" for name in facts] + [f"summarizers.{name}" for name in summarizers]
    )


def test_no_circle_of_imports() -> None:
    """Raises CycleError with the modules of a circle; imports inside functions and for types alone count, too, except
    those of a format's codec: its modules import the format's id from their package."""
    graph = grimp.build_graph("workbench", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    for package in FORMATS:
        imports[package] -= graph.find_descendants(package)
    TopologicalSorter(imports).prepare()


def test_a_format_imports_its_codec_when_it_is_used() -> None:
    """Recognition imports all formats, but no reader, writer or rules."""
    early = []
    for package in FORMATS:
        code = ROOT.joinpath(*package.split("."), "__init__.py").read_text("utf-8")
        modules = [node.module or "" for node in ast.parse(code).body if isinstance(node, ast.ImportFrom)]
        early += [f"{package}: {name}" for name in modules if f"{name}.".startswith(f"{package}.")]
    assert early == []


def test_f17_no_package_uses_a_built_in_that_a_module_of_it_takes_the_name_of() -> None:
    """An imported module is an attribute of its package, and so a global of the package's own code."""
    shadowed = []
    for path in sorted((ROOT / "workbench").rglob("__init__.py")):
        modules = {one.stem for one in path.parent.iterdir() if one.suffix == ".py" or (one / "__init__.py").exists()}
        used = {node.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name)}
        shadowed += [f"{path.parent.name}: {name}" for name in sorted(modules & used & set(dir(builtins)))]
    assert shadowed == []


PARTS = re.compile(r"workbench\.compaction\.(?:strategies\.|layered|progressive|exchange|ledger)")
OF_THE_LIBRARY = {f"workbench.compaction.ledger.{name}" for name in ("entries", "plan", "text")}
"""What the library's report of a compaction is made of, and its summary: a ledger is part of its public face."""


def test_a_strategy_is_named_in_its_own_room_alone() -> None:
    """Neither by its id nor by a module of it: what others need to know of it, they ask it."""
    named, ids = [], strategy_ids()
    quoted = re.compile(PARTS.pattern + "|['\"](?:" + "|".join(map(re.escape, ids)) + ")['\"]")
    for path in sorted((ROOT / "workbench").rglob("*.py")):
        code = path.read_text("utf-8")
        if "compaction" in path.relative_to(ROOT).parts or not quoted.search(code):  # to parse them all takes seconds
            continue
        for node in ast.walk(ast.parse(code)):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.Constant) and node.value in ids:
                named.append(f"{path.name}: {node.value}")
            named += [f"{path.name}: {one}" for one in modules if PARTS.match(one) and one not in OF_THE_LIBRARY]
    assert named == []


_DECODES = re.compile(r"(?<!\w)(?:or)?json\.loads\(")
OF_THE_KIT = {"damaged_json", "document", "jsonl", "outline"}
BOUNDED_OTHERWISE = {
    "analysis/sweep/cells",  # a file of ours
    "finding/following",  # asks whether it is JSON
    "formats/kit/file_ends",  # likewise
    "formats/claude_code/skim",  # looks for a key at the top
    "formats/faults",  # stops where Python's calls end
    "formats/gemini/rules",  # likewise
    "formats/goose/rules",  # likewise
    "formats/look",  # asks for keys at the top
    "formats/masked",  # one text
    "formats/openai_responses/write",  # what it wrote
}


def test_json_of_a_session_is_decoded_by_what_bounds_its_depth() -> None:
    """`json_value` and the kit of formats: a walk through what nests hundreds of levels deep ends in a traceback."""
    decode = {
        str(path.relative_to(ROOT / "workbench").with_suffix(""))
        for room in ("session", "formats", "finding", "facts", "compaction/ledger", "compaction/assembled", "analysis")
        for path in (ROOT / "workbench" / room).rglob("*.py")
        if _DECODES.search(path.read_text("utf-8"))
    }
    assert decode == BOUNDED_OTHERWISE | {f"formats/kit/{name}" for name in OF_THE_KIT}
