"""Where a running service lets other processes in: two small files in the database's folder.

`access-token` holds what may read, for people and their tools, and stays. `access-address` holds
the URL and what may write, for this project's own commands, anew at each start. Both are 0600.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TOKEN_FILE = "access-token"  # noqa: S105 - a file's name
ADDRESS_FILE = "access-address"


@dataclass(frozen=True, slots=True)
class Address:
    """A running service's URL, and the token with which this project's commands may write."""

    url: str
    token: str


def read_token(folder: Path, given: str = "") -> str:
    """The token that may read: the one given, else the folder's, made where there is none."""
    if given:
        return given
    file = folder / TOKEN_FILE
    with suppress(FileNotFoundError):
        if kept := file.read_text("utf-8").strip():
            file.chmod(0o600)
            return kept
    made = new_token()
    _write(file, made + "\n")
    return made


def new_token() -> str:
    """A secret of 256 bits."""
    return secrets.token_urlsafe(32)


@contextmanager
def address_left(folder: Path, address: Address) -> Iterator[None]:
    """The address lies in the folder while the block runs."""
    file = folder / ADDRESS_FILE
    _write(file, json.dumps({"url": address.url, "token": address.token}) + "\n")
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def address_in(folder: Path) -> Address | None:
    """The address that a service left there, None where there is none that can be read."""
    try:
        told = json.loads((folder / ADDRESS_FILE).read_text("utf-8"))
        return Address(str(told["url"]), str(told["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, text: str) -> None:
    """Put the text in place whole, readable by its owner alone from the first byte on."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
    draft.replace(file)
