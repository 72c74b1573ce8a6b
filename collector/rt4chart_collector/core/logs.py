"""The service's log: one line a record, as text or JSON, without text of users or clients."""

from __future__ import annotations

import json
import logging
import os
import select
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TextIO

from otel_rt4chart.core.deadline import Deadline
from rt4chart_collector.core.redacted_error import redacted_error

TEXT, JSON = "text", "json"
LEVELS = ("debug", "info", "warning", "error")
OWN_LOGGERS = ("rt4chart", "otel_rt4chart", "rt4chart_collector", "rt4chart_clustering")
# C0, DEL and C1 control a terminal; the others change the order in which text is shown.
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {
    code: f"\\u{code:04x}"
    for code in (0x061C, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
}

# How long a line may wait for its reader. After a drop, lines wait no more until one is written.
WAIT_S = 0.5
LOG_PERIOD_S = 60.0
# Of repeated lines: what tells them apart, and how many are remembered.
BEGIN_CHARACTERS, MAX_LINES = 24, 1_000
DROPPED = "%d lines of the log were dropped: stderr was not read"

log = logging.getLogger(__name__)


class LogThrottle:
    """Limits a line of the log that would be repeated all the time to once a minute."""

    def __init__(self) -> None:
        """The first call is due."""
        self._last_s = -LOG_PERIOD_S

    def is_due(self, now_s: float) -> bool:
        """True at most once a minute."""
        if 0 <= now_s - self._last_s < LOG_PERIOD_S:
            return False
        self._last_s = now_s
        return True


class TextFormatter(logging.Formatter):
    """Time, level, logger and message; control characters, which clients may send, are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; an exception is reduced to its type and frames."""
        error = _error_of(record)
        where = f" ({redacted_error(error)})" if error is not None else ""
        line = f"{record.levelname} {record.name}: {_message(record)}{where}"
        return f"{_time(record)} {line.translate(CONTROL)}"


class JsonFormatter(logging.Formatter):
    """An object of `time`, `level`, `logger`, `message`; errors add `exception` and `where`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, all of it ASCII."""
        fields = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        if (error := _error_of(record)) is not None:
            fields |= {"exception": type(error).__name__, "where": redacted_error(error)}
        # JSON escapes all control characters but DEL.
        return json.dumps(fields).replace("\x7f", "\\u007f")


FORMATTERS = {TEXT: TextFormatter, JSON: JsonFormatter}


def write_unblocked(stream: TextIO, text: str, wait_s: float) -> bool:
    """Write the text, unless nobody reads the stream; False if a part of it was dropped.

    A pipe whose reader has stopped blocks its writers for ever once it is full.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # no file: in memory, or closed
        stream.write(text)
        return True
    ready, deadline = select.poll(), Deadline(wait_s)
    ready.register(number, select.POLLOUT)
    data = text.encode("utf-8", "backslashreplace")
    while data:
        if not ready.poll(deadline.remaining * 1000):
            return False
        try:
            data = data[os.write(number, data[: select.PIPE_BUF]) :]
        except OSError:  # no reader any more, or a full disk; a non-blocking pipe that is full
            return False
    return True


class UnblockedHandler(logging.Handler):
    """Writes each record to a stream, or drops and counts it if the stream takes none."""

    def __init__(self, stream: TextIO) -> None:
        """Nothing is dropped yet."""
        super().__init__()
        self._stream = stream
        self._unreported = 0
        self.dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; the handler's lock is held."""
        try:
            line = f"{self.format(record)}\n"
            if self._unreported:
                self._report()
            if not self._unreported and write_unblocked(self._stream, line, WAIT_S):
                return
            self.dropped += 1
            self._unreported += 1
        except Exception:  # noqa: BLE001 - a record that cannot be formatted: logging's own way
            self.handleError(record)

    def _report(self) -> None:
        """Say how many lines were dropped, as soon as the stream takes a line again."""
        arguments = (self._unreported,)
        record = logging.LogRecord(__name__, logging.WARNING, "", 0, DROPPED, arguments, None)
        if write_unblocked(self._stream, f"{self.format(record)}\n", 0.0):
            self._unreported = 0


def dropped_lines() -> int:
    """How many lines of this process's log were dropped."""
    handlers = logging.getLogger().handlers
    return sum(handler.dropped for handler in handlers if isinstance(handler, UnblockedHandler))


class RepeatedLines(logging.Filter):
    """Lets a line of a library pass once a minute, by its place, its error and how it begins.

    Libraries log every attempt: each request while a database is away, each connection that waits
    while no file descriptor is free, many a second. What that means is in lines of our own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        super().__init__()
        self._clock = clock
        self._throttles: defaultdict[tuple[object, ...], LogThrottle] = defaultdict(LogThrottle)

    def filter(self, record: logging.LogRecord) -> bool:
        """False for a repetition within the minute."""
        if record.name.partition(".")[0] in OWN_LOGGERS:
            return True
        # How it begins: asyncio logs all that it has to say from one place.
        begin = str(record.msg)[:BEGIN_CHARACTERS]
        if len(self._throttles) >= MAX_LINES:
            self._throttles.clear()
        line = (record.name, record.lineno, type(_error_of(record)), begin)
        return self._throttles[line].is_due(self._clock())


def configure_logging(form: str, level: str) -> None:
    """Send all records of this process to stderr in that form.

    `level` applies to our own loggers. Libraries log from warnings on, because below that they log
    whole requests, and a line that they repeat once a minute.
    """
    handler = UnblockedHandler(sys.stderr)
    handler.setFormatter(FORMATTERS[form]())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    handler.addFilter(RepeatedLines())
    root.setLevel(max(logging.WARNING, _number(level)))
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(_number(level))
    logging.captureWarnings(True)
    # A record that cannot be formatted is dropped, not printed with its arguments.
    logging.raiseExceptions = False
    threading.excepthook = _log_death


def announce(form: str, command: str, text: str) -> None:
    """Print a line for the user to stdout, as JSON if the log is JSON; it never blocks."""
    if form == JSON:
        record = logging.LogRecord(f"rt4chart.{command}", logging.INFO, "", 0, text, None, None)
        line = f"{JsonFormatter().format(record)}\n"
    else:
        line = f"rt4chart {command}: {text}\n"
    if not write_unblocked(sys.stdout, line, WAIT_S):
        log.warning("stdout takes nothing; %s: %s", command, text)


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


def _log_death(args: threading.ExceptHookArgs) -> None:
    error = args.exc_value
    if error is not None:
        name = args.thread.name if args.thread else "unknown"
        log.error("thread %s ended: %s", name, redacted_error(error))
