"""Identity of a session across copies and growth of its file, for saved work."""

from __future__ import annotations

import hashlib

from workbench.session.session import Session


def fingerprint(session: Session) -> str:
    """32 hex digits that stay the same while a session grows, "" for one that has neither an id nor a file.

    Made of the format, the session's id (its path where it has none) and its first message.
    """
    name = session.id or (str(session.path.resolve()) if session.path else "")
    if not name:
        return ""
    first = session.messages[0] if session.messages else None
    parts = (session.format, name, first.role if first else "", repr(first.blocks) if first else "")
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
