"""Google ADK: `adk run` with an agent of the project's, on Gemini."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.homes import Home, Package
from interop.library import SYSTEM_PROMPT, Script, reads
from interop.tool import PLANS, Plan, Tool

_SCRIPT = Script("adk_turns")
_AGENT = '''from pathlib import Path
from google.adk.agents import LlmAgent
from google.adk.apps.app import App, EventsCompactionConfig


def read_file(path: str) -> str:
    """Reads a file."""
    return Path(path).read_text(encoding="utf-8")


root_agent = LlmAgent(name="agent", model="gemini-2.5-flash", instruction="You keep the notes.", tools=[read_file])
'''
_COMPACTED = """
app = App(
    name="shorter",
    root_agent=root_agent,
    events_compaction_config=EventsCompactionConfig(compaction_interval=1, overlap_size=0),
)
"""


def _env(home: Home) -> Mapping[str, str]:
    return {
        "GOOGLE_API_KEY": "dummy",
        "GOOGLE_GENAI_USE_VERTEXAI": "0",
        "GOOGLE_GEMINI_BASE_URL": home.server.url,
    }


def _configure(home: Home) -> None:
    for name, text in (("clerk", _AGENT), ("shorter", _AGENT + _COMPACTED)):
        folder = home.project / name
        folder.mkdir()
        (folder / "__init__.py").write_text("from . import agent\n")
        (folder / "agent.py").write_text(text)


def _make(home: Home, prompts: Sequence[str]) -> Path:
    asked = home.write("asked.json", json.dumps({"state": {}, "queries": prompts}))
    home.run("adk", "run", "--replay", str(asked), "--save_session", "--session_id", "made", "clerk")
    return home.project / "clerk" / "made.session.json"


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("adk", "run", "--resume", str(path), "clerk", stdin=f"{prompt}\nexit\n")


def _compact(home: Home, path: Path) -> Path:
    saved = ("--save_session", "--session_id", "made")
    home.run("adk", "run", "--resume", str(path), *saved, "shorter", stdin="Go on with less.\nexit\n")
    return home.project / "shorter" / "made.session.json"


def _resume(home: Home, file: Path, steps: tuple[str, ...], prompts: Sequence[str]) -> None:
    """The agent of another tool's session is nobody's, so none is in the step, which is a comment; here it is this."""
    opens = steps[-1] if not steps[-1].startswith("#") else f"adk run --resume {file} ./clerk"
    for prompt, these in zip(prompts, ((*steps[:-1], opens), (opens,)), strict=True):
        home.sh(these, {"PROMPT": prompt})


TOOL = Tool(
    id="adk",
    title="Google ADK",
    package=Package("PyPI", "google-adk", "2.13.0"),
    format="adk",
    read=reads,
    make=_make,
    again=_again,
    env=_env,
    configure=_configure,
    compactions={"by invocations": _compact},
    command="adk",
    launcher="""printf '%s\\nexit\\n' "$PROMPT" | "$TOOL" "$@" --save_session --session_id again
mv "$4/again.session.json" "$3\"""",
    resume=_resume,
    each=_SCRIPT.each,
    plans=(*PLANS, Plan("adk", {"keep_messages": 4})),
    allowances=(SYSTEM_PROMPT,),
)
