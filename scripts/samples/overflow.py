"""The session that overflows: a shop moves from signed cookies to rotating sessions, until the prompt is too long.

The lesson: three rules stand in the first message (one of them forbids what the last message invites), two instructions
were changed on the way, and two identifiers must survive to the letter. Most of the context is logs, diffs and files
that were read more than once.
"""

from __future__ import annotations

from pathlib import Path

from samples import overflow_auth, overflow_release, overflow_rotation, overflow_services, overflow_web
from samples.claude_code import ClaudeCode
from samples.domains import DOMAINS
from samples.repo import Repo, tree
from samples.shop import files_of

HERE = Path(__file__).parent / "harbour"


def overflowing_session() -> str:
    files = tree(HERE / "before")
    for domain in DOMAINS:
        files |= files_of(domain)
    written = tree(HERE / "written")
    s = ClaudeCode(
        Repo(files),
        cwd="/home/dana/harbour",
        session="7c41f0de-2187-4b42-9a8e-5f0c3d6b1e90",
        branch="harb-2187-rotate-sessions",
        model="claude-sonnet-4-5-20250929",
        version="2.1.36",
        start="2026-01-20T10:12:04",
    )
    overflow_auth.tell(s, written)
    overflow_rotation.tell(s, written)
    overflow_services.tell(s)
    overflow_web.tell(s, written)
    overflow_release.tell(s)
    s.title("Rotating sessions for harbour (HARB-2187)")
    return "\n".join(s.lines) + "\n"
