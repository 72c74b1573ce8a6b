"""The exceptions of this project.

RT4ChartError
├── SettingsError      a setting or an argument is wrong: change it and start again
├── InputError         a row, a file or a span is malformed: a retry will not help
├── StoreError         the database rejected a request or is unreachable
│   ├── StoreBusyError another process owns the embedded database
│   ├── StoreDamagedError a part of a table cannot be read
│   └── NoStoreError   the database does not exist, and must not be created
├── JudgeError         a judge failed on a whole call
├── HubError           a model cannot be had from the model hub, or is not the expected one
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

    def __init__(self, message: str, engine_code: str = "") -> None:
        """`engine_code` is the engine's name of the error, which quotes nothing."""
        super().__init__(message)
        self.engine_code = engine_code


class StoreBusyError(StoreError):
    """Another process owns the embedded database."""


class StoreDamagedError(StoreError):
    """A part of a table cannot be read; `detail` has no text that was stored."""

    def __init__(self, database: str, table: str, part: str, engine_code: str) -> None:
        """Say what is affected and what to do."""
        self.detail = (
            f"part {part} of table {table} is damaged ({engine_code}): whatever needs its rows "
            "fails. `rt4chart repair` lists damaged parts and their rows; restore the database "
            "from a backup (docs/deploy/layouts.md), or give up those rows: stop the service, run "
            "`rt4chart repair --detach`, and start it again"
        )
        super().__init__(f"{database}: {self.detail}", engine_code)


class NoStoreError(StoreError):
    """The database does not exist, and must not be created."""


class JudgeError(RT4ChartError):
    """A judge failed on a whole call."""


class HubError(RT4ChartError):
    """A model cannot be had from the model hub, or is not the expected one."""


class TicketError(RT4ChartError):
    """A ticket system rejected a request or is unreachable."""


class NotifyError(RT4ChartError):
    """A notification could not be delivered."""
