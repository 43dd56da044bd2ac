"""Sessions as frozen values: messages, their blocks, epochs, and the units in which strategies cut: rounds, exchanges
and tool pairs. No module here knows a file format, a token or a strategy."""

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
    Compaction,
    Epoch,
    EpochChoice,
    ExportNote,
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
    "Cause",
    "Compaction",
    "Epoch",
    "EpochChoice",
    "ExportNote",
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
