"""Cline and Roo Code tasks: `api_conversation_history.json`, alone or in its task folder.

Roo's newest summary hides the messages before it; an assistant summary, as older versions wrote, keeps the first
message. Messages hidden by a sliding window name its marker message. Cline records hidden messages outside the history:
a folder is read together with `ui_messages.json`, `context_history.json` and the task index, a file alone.

Tasks of the text protocol have calls as XML in the assistant's texts; these are read as text. Cline with native tools
records calls, but their results as texts headed `[tool for '…'] Result:`; these are matched to the calls in order. The
user's words are in the extension's tags; a user message written by the extension alone (results, errors, environment
details) has the kind meta.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.formats.format import Codec, Format, RecordRepair, TriggerSetting
from workbench.formats.kit.blocks import as_text
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place

ID = "roo-cline"
KEYS = frozenset(["content", "role", "ts"])

HISTORY = "api_conversation_history.json"
_KEYS = frozenset(["ts", "modelInfo", "isSummary", "condenseId", "condenseParent", "truncationParent"])

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""Settings folders of VS Code and its derivatives."""

SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")
"""Their folders on the remote side of a connection."""

EXTENSIONS = (
    ("Cline", "saoudrizwan.claude-dev"),
    ("Roo Code", "rooveterinaryinc.roo-cline"),
    ("Kilo Code", "kilocode.kilo-code"),
)


def recognise(look: Look) -> str:
    items = look.document
    if not isinstance(items, list):
        return ""
    messages = [item for item in items if isinstance(item, dict) and item.get("role") in ("user", "assistant")]
    if not messages or len(messages) < len(items):
        return ""
    if any(_KEYS & item.keys() and "content" in item for item in messages):
        return "a bare list of messages with the keys of Cline and Roo"
    if any("<environment_details>" in as_text(item.get("content")) for item in messages[:3]):
        return "a bare list of messages with <environment_details>"
    return ""


def recognise_folder(path: Path) -> str:
    return f"a folder with {HISTORY}" if main_file(path) else ""


def main_file(path: Path) -> Path | None:
    """Return the file with the messages in a task folder, None if it is missing."""
    found = path / HISTORY
    return found if found.is_file() else None


def _codec() -> Codec:
    from workbench.formats.kit.marks import EXPORT_NOTE, in_document
    from workbench.formats.roo_cline import read, rules, write

    return Codec(
        read.read,
        write.write,
        rules.validate,
        read_folder=read.read_folder,
        note=in_document(EXPORT_NOTE, (0,)),
        repair=_repair,
        main_file=main_file,
    )


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.roo_cline import repair

    return RecordRepair(repair.records, listed="")


def _places(machine: Machine) -> Iterator[Place]:
    users = [machine.settings / editor / "User" for editor in EDITORS]
    users += [machine.home / server / "data/User" for server in SERVERS]
    if portable := machine.named("VSCODE_PORTABLE"):
        users.insert(0, portable / "user-data/User")
    for user in users:
        for agent, extension in EXTENSIONS:
            yield Place(agent, ID, user / "globalStorage" / extension / "tasks", (f"*/{HISTORY}",))
    cline = machine.first("CLINE_DIR", otherwise=machine.home / ".cline")
    data = machine.first("CLINE_DATA_DIR", otherwise=cline / "data")
    yield Place("Cline", ID, data / "tasks", (f"*/{HISTORY}",))


def _setting(trigger: int, window: int) -> str:
    return f"set the threshold of condensing to {100 * trigger // window} % in its settings of the context"


FORMAT = Format(
    ID,
    "Cline or Roo task",
    recognise,
    _codec,
    recognise_folder,
    api="anthropic-messages",
    keys=KEYS,
    preset="roo",
    places=_places,
    marks=(HISTORY,),
    trigger_setting=TriggerSetting(_setting, lambda window: window * 9 // 10),
)
