"""The service's log: one line a record, as text or as JSON, without what users or clients wrote."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

from rt4chart_collector.core.redacted_error import shown

TEXT, JSON = "text", "json"
LEVELS = ("debug", "info", "warning", "error")
OURS = ("rt4chart", "otel_rt4chart", "rt4chart_collector", "rt4chart_clustering")
# C0, DEL and C1 steer a terminal; the others make text stand elsewhere than it is.
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    code: f"\\u{code:04x}"
    for code in (0x061C, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
}

log = logging.getLogger(__name__)


class TextFormatter(logging.Formatter):
    """Time, level, logger and message; control characters are escaped, they may be strangers'."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; of an exception its type and its frames."""
        error = _error_of(record)
        where = f" ({shown(error)})" if error is not None else ""
        told = f"{record.levelname} {record.name}: {_message(record)}{where}"
        return f"{_time(record)} {told.translate(CONTROL)}"


class JsonFormatter(logging.Formatter):
    """An object: `time`, `level`, `logger`, `message`; of an error its type and `where`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, all of it ASCII."""
        told = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        if (error := _error_of(record)) is not None:
            told |= {"exception": type(error).__name__, "where": shown(error)}
        # JSON escapes all control characters but DEL.
        return json.dumps(told).replace("\x7f", "\\u007f")


FORMATTERS = {TEXT: TextFormatter, JSON: JsonFormatter}


def set_up(form: str, level: str) -> None:
    """Let everything logged in this process go to stderr in that form.

    `level` is for our own loggers: below warnings, libraries log requests with their content.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(FORMATTERS[form]())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(logging.WARNING, _number(level)))
    for name in OURS:
        logging.getLogger(name).setLevel(_number(level))
    logging.captureWarnings(True)
    # A record that cannot be formatted is dropped, not printed with its arguments.
    logging.raiseExceptions = False
    threading.excepthook = _note_death


def say(form: str, command: str, text: str) -> None:
    """Tell the user something on stdout, in the form of the log where that is JSON."""
    if form == JSON:
        told = logging.LogRecord(f"rt4chart.{command}", logging.INFO, "", 0, text, None, None)
        sys.stdout.write(f"{JsonFormatter().format(told)}\n")
    else:
        sys.stdout.write(f"rt4chart {command}: {text}\n")
    sys.stdout.flush()


def _number(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _message(record: logging.LogRecord) -> str:
    return record.getMessage().strip()


def _time(record: logging.LogRecord) -> str:
    """RFC 3339, in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if isinstance(record.exc_info, Sequence) else None


def _note_death(told: threading.ExceptHookArgs) -> None:
    error = told.exc_value
    if error is not None:
        name = told.thread.name if told.thread else "unknown"
        log.error("thread %s ended: %s", name, shown(error))
