"""What can go wrong, and for whom.

RT4ChartError
├── SettingsError      a setting or an argument is wrong: change it and start again
├── InputError         a row, a file or a span is not what was expected: it will never work
├── StoreError         the database refused or cannot be reached
│   ├── StoreBusyError another process owns the embedded database
│   └── NoStoreError   the database is not there, and was not to be created
├── JudgeError         a judge could not give a verdict for a whole call
├── TicketError        a ticket system refused, or cannot be reached
└── NotifyError        nobody could be told of an alert: the service refused, or cannot be reached

Every message says what was expected, what came, and what to change.
"""

from __future__ import annotations


class RT4ChartError(Exception):
    """The root of this project's errors: its message is written for the person at the terminal."""


class SettingsError(RT4ChartError):
    """A setting or an argument is wrong."""


class InputError(RT4ChartError):
    """An input is malformed; trying again will not help."""


class StoreError(RT4ChartError):
    """The database refused, or cannot be reached."""


class StoreBusyError(StoreError):
    """Another process owns the embedded database."""


class NoStoreError(StoreError):
    """The database is not there, and was not to be created."""


class JudgeError(RT4ChartError):
    """A judge could not give a verdict for a whole call."""


class TicketError(RT4ChartError):
    """A ticket system refused, or cannot be reached."""


class NotifyError(RT4ChartError):
    """Nobody could be told of an alert."""
