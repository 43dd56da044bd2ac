"""Mask secrets in tracebacks and logs, which quote the text of a session."""

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
    """Mask secrets in all tracebacks from now on, also of threads. For a program, not for a library."""
    sys.excepthook = _print_masked
    threading.excepthook = lambda died: _print_masked(died.exc_type, died.exc_value, died.exc_traceback)


def mask_logs() -> None:
    """Mask secrets in all log records from now on. Does nothing while `logging` is not imported."""
    if logging := sys.modules.get("logging"):
        logging.setLogRecordFactory(_record)


def _print_masked(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if not issubclass(kind, SystemExit):
        sys.stderr.write(masked("".join(traceback.format_exception(kind, error, trace))))


def _record(*args: Any, **named: Any) -> LogRecord:
    from logging import LogRecord

    record = LogRecord(*args, **named)
    try:
        message = record.getMessage()
    except Exception:  # the arguments do not fit the format: logging never stops a program for that
        message = f"{record.msg} {record.args}"
    record.msg, record.args = masked(message), ()
    if record.exc_info and record.exc_info[0]:
        record.exc_text = masked("".join(traceback.format_exception(*record.exc_info)).rstrip())
    return record
