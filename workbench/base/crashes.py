"""What no one foresaw is told without secrets: a traceback quotes what a session says, and so does a client's log."""

from __future__ import annotations

import sys
import threading
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, Any

from workbench.base.secrets import masked

if TYPE_CHECKING:
    from logging import LogRecord


def mask_tracebacks() -> None:
    """From now on tracebacks, a thread's, too, are masked. For a program, not for a library."""
    sys.excepthook = _print_masked
    threading.excepthook = lambda died: _print_masked(died.exc_type, died.exc_value, died.exc_traceback)


def mask_logs() -> None:
    """From now on what is logged is masked, by whatever it is logged; nothing where nobody has loaded what logs."""
    if logging := sys.modules.get("logging"):
        logging.setLogRecordFactory(_record)


def _print_masked(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if not issubclass(kind, SystemExit):
        sys.stderr.write(masked("".join(traceback.format_exception(kind, error, trace))))


def _record(*args: Any, **named: Any) -> LogRecord:
    from logging import LogRecord

    record = LogRecord(*args, **named)
    try:
        said = record.getMessage()
    except Exception:  # the values do not fit the words: logging itself never stops a program for that
        said = f"{record.msg} {record.args}"
    record.msg, record.args = masked(said), ()
    if record.exc_info and record.exc_info[0]:
        record.exc_text = masked("".join(traceback.format_exception(*record.exc_info)).rstrip())
    return record
