"""Where the tools keep their sessions, by platform and variable."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.formats.machine import Machine
from workbench.formats.registry import formats, places
from workbench.formats.roo_cline import EDITORS

HOME = Path("/home/ada")


def folders(system: str, **variables: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for place in places(Machine(system, HOME, variables, HOME / "project")):
        found.setdefault(place.agent, []).append(place.folder.as_posix())
    return found


def test_every_format_has_a_place_or_a_reason_why_not() -> None:
    machine = Machine("linux", HOME, {}, HOME)
    for known in formats():
        package = sys.modules[known.load.__module__]
        assert ("No usual place: " in (package.__doc__ or "")) is (known.places is None), known.id
        assert {place.format for place in known.places(machine)} == {known.id} if known.places else True


def test_editors_keep_tasks_by_the_platforms_custom() -> None:
    for system, settings in (
        ("linux", "/home/ada/.config"),
        ("darwin", "/home/ada/Library/Application Support"),
        ("win32", "/home/ada/AppData/Roaming"),
    ):
        roo = folders(system)["Roo Code"]
        wanted = [f"{settings}/{name}/User/globalStorage/rooveterinaryinc.roo-cline/tasks" for name in EDITORS]
        assert roo[: len(EDITORS)] == wanted
        assert "/home/ada/.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks" in roo
    assert folders("win32", APPDATA="/d/Roaming")["goose"][0] == "/d/Roaming/Block/goose/data/sessions"
    assert folders("darwin")["goose"][0] == "/home/ada/.local/share/goose/sessions"


def test_each_tools_own_variable_moves_it() -> None:
    moved = {
        "CLAUDE_CONFIG_DIR": ("Claude Code", "/x/projects"),
        "CODEX_HOME": ("Codex", "/x/sessions"),
        "GEMINI_CLI_HOME": ("Gemini CLI", "/x/.gemini/tmp"),
        "COPILOT_HOME": ("Copilot CLI", "/x/session-state"),
        "PI_CODING_AGENT_DIR": ("pi", "/x/sessions"),
        "AUGMENT_CACHE_DIR": ("Augment CLI", "/x/sessions"),
        "XDG_DATA_HOME": ("opencode", "/x/opencode"),
        "GOOSE_PATH_ROOT": ("goose", "/x/data/sessions"),
        "CLINE_DATA_DIR": ("Cline SDK", "/x/sessions"),
        "CLINE_SESSION_DATA_DIR": ("Cline SDK", "/x"),
        "OPENHANDS_PERSISTENCE_DIR": ("OpenHands", "/x/conversations"),
        "OPENHANDS_CONVERSATIONS_DIR": ("OpenHands", "/x"),
        "SWE_AGENT_TRAJECTORY_DIR": ("SWE-agent", "/x"),
        "MSWEA_GLOBAL_CONFIG_DIR": ("mini-swe-agent", "/x"),
        "INSPECT_LOG_DIR": ("Inspect", "/x"),
        "VSCODE_PORTABLE": ("Cline", "/x/user-data/User/globalStorage/saoudrizwan.claude-dev/tasks"),
    }
    for variable, (tool, folder) in moved.items():
        assert folder not in folders("linux")[tool]
        assert folders("linux", **{variable: "/x"})[tool][0] == folder, variable


def test_a_variable_that_names_no_folder_is_as_if_it_were_not_set() -> None:
    for value in ("", "  ", "relative/x", "/x\0y"):
        assert folders("linux", CODEX_HOME=value) == folders("linux")
    assert folders("linux", CODEX_HOME="~/c")["Codex"][0] == "/home/ada/c/sessions"
