"""Folders of Cline's and Roo's tasks: in each editor's settings, and Cline's own."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.machine import Machine, Place
from workbench.formats.roo_cline import HISTORY, ID

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""Settings folders of VS Code and its derivatives."""

SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server")
"""Their folders on the remote side of a connection."""

EXTENSIONS = (
    ("Cline", "saoudrizwan.claude-dev"),
    ("Roo Code", "rooveterinaryinc.roo-cline"),
    ("Kilo Code", "kilocode.kilo-code"),
)


def places(machine: Machine) -> Iterator[Place]:
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
