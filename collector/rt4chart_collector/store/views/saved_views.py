"""Views of the console that people saved: names for addresses, of one person or of everybody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import one_line
from rt4chart_collector.store.engine.columns import Actor, IsDeleted, Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import RowTable, StoredAs, batch_token, read

NAME_CHARS, ADDRESS_CHARS, MAX_VIEWS = 80, 3_000, 200
# A path of the console with its query: one slash at its begin, as two name another host.
ADDRESS = re.compile(r"/(?![/\\])[!-\[\]-~]*")


@dataclass(frozen=True, slots=True)
class SavedView:
    """A name for an address, of the person `owner`, or of everybody if that is ""."""

    owner: Annotated[str, StoredAs("Owner", "String")]
    name: Annotated[str, StoredAs("Name", "String")]
    address: Annotated[str, StoredAs("Address", "String")]
    actor: Actor
    version: Version
    is_deleted: IsDeleted = False


VIEWS = RowTable("rt4chart_saved_views", SavedView)
CURRENT_VIEWS = f"""
SELECT {VIEWS.select()} FROM rt4chart_saved_views FINAL
WHERE IsDeleted = 0 AND Owner IN ('', {{owner:String}})
ORDER BY lowerUTF8(Name), Owner LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names


def saved_views(client: Client, owner: str) -> list[SavedView]:
    """The views of a person and those of everybody, by name."""
    return read(client, SavedView, CURRENT_VIEWS, {"owner": owner, "limit": 2 * MAX_VIEWS})


def save_view(client: Client, view: SavedView) -> SavedView:
    """Write a view, which replaces one of the same name and owner; as it is stored.

    Raises InputError for a name or an address that cannot be one, and beyond `MAX_VIEWS`.
    """
    name = one_line(view.name.strip(), NAME_CHARS)
    if not name:
        raise InputError("expected a name for the view, got none")
    is_address = len(view.address) <= ADDRESS_CHARS and ADDRESS.fullmatch(view.address)
    if not is_address:
        raise InputError(f"expected the address of a page, got {view.address[:80]!r}")
    known = [one for one in saved_views(client, view.owner) if one.owner == view.owner]
    if len(known) >= MAX_VIEWS and name not in {one.name for one in known}:
        raise InputError(f"expected at most {MAX_VIEWS} views: remove one first")
    stored = SavedView(view.owner, name, view.address, view.actor, view.version)
    _write(client, stored)
    return stored


def remove_view(client: Client, *, owner: str, name: str, actor: str, version: int) -> None:
    """Remove a view; InputError if there is none of this name and owner."""
    if not any((one.owner, one.name) == (owner, name) for one in saved_views(client, owner)):
        raise InputError(f"expected the name of a saved view, got {name[:80]!r}")
    _write(client, SavedView(owner, name, "/", actor, version, is_deleted=True))


def _write(client: Client, view: SavedView) -> None:
    token = batch_token("view", [(view.owner, view.name, view.version)])
    VIEWS.insert(client, [view], token=token)
