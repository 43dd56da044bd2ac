"""What a session is: messages, their blocks, and the rounds, exchanges and pairs they make.

In: messages, from a format's reader or a program. Out: the session as frozen values, and the units in which it is cut.
It knows no file format, no token and no strategy.
"""

from workbench.session.api_errors import ApiError, Cause
from workbench.session.fingerprint import fingerprint
from workbench.session.images import media_of
from workbench.session.message import (
    Billed,
    Block,
    Kind,
    Media,
    Message,
    Opaque,
    Pixels,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from workbench.session.session import (
    Carried,
    Compaction,
    Epoch,
    EpochChoice,
    LoadWarning,
    Records,
    Session,
    SessionFacts,
    Tool,
    Way,
)
from workbench.session.structure import Pair, Rounds, Span, exchanges_of, leading_system, pairs_of, rounds_of

__all__ = [
    "ApiError",
    "Billed",
    "Block",
    "Carried",
    "Cause",
    "Compaction",
    "Epoch",
    "EpochChoice",
    "Kind",
    "LoadWarning",
    "Media",
    "Message",
    "Opaque",
    "Pair",
    "Pixels",
    "Records",
    "Role",
    "Rounds",
    "Session",
    "SessionFacts",
    "Span",
    "Text",
    "Thinking",
    "Tool",
    "ToolResult",
    "ToolUse",
    "Usage",
    "Way",
    "exchanges_of",
    "fingerprint",
    "leading_system",
    "media_of",
    "pairs_of",
    "rounds_of",
]
