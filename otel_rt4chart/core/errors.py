"""The exceptions of this project.

RT4ChartError
├── SettingsError      a setting or an argument is wrong: change it and start again
├── InputError         a row, a file or a span is malformed: a retry will not help
├── StoreError         the database rejected a request or is unreachable
│   ├── StoreBusyError another process owns the embedded database
│   └── NoStoreError   the database does not exist, and must not be created
├── JudgeError         a judge failed on a whole call
├── TicketError        a ticket system rejected a request or is unreachable
└── NotifyError        a notification could not be delivered

Every message says what was expected, what was received, and what to change.
"""

from __future__ import annotations


class RT4ChartError(Exception):
    """Base class; the message is written for the person at the terminal."""


class SettingsError(RT4ChartError):
    """A setting or an argument is wrong."""


class InputError(RT4ChartError):
    """An input is malformed; a retry will not help."""


class StoreError(RT4ChartError):
    """The database rejected a request or is unreachable."""


class StoreBusyError(StoreError):
    """Another process owns the embedded database."""


class NoStoreError(StoreError):
    """The database does not exist, and must not be created."""


class JudgeError(RT4ChartError):
    """A judge failed on a whole call."""


class TicketError(RT4ChartError):
    """A ticket system rejected a request or is unreachable."""


class NotifyError(RT4ChartError):
    """A notification could not be delivered."""
