"""Validated request parameters; an invalid one is a 400 that says what was expected."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request

from otel_rt4chart.core.text import MAX_NAME_CHARS

TEXT_LENGTH = MAX_NAME_CHARS  # the name of any route can be in an address
ID = re.compile(r"[0-9A-Za-z_.:-]{1,128}")


def bad_request(name: str, expected: str, got: str) -> HTTPException:
    """The error for an invalid value."""
    return HTTPException(400, f"{name}: expected {expected}, got {got[:80]!r}")


def text_param(request: Request, name: str, *, longest: int = TEXT_LENGTH) -> str:
    """A text parameter, "" if it is absent."""
    found = request.query_params.get(name, "").strip()
    if len(found) > longest or "\x00" in found:
        raise bad_request(name, f"at most {longest} characters without NUL", found)
    return found


def integer_param(request: Request, name: str, *, default: int, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    found = request.query_params.get(name, "")
    if not found:
        return default
    if not re.fullmatch(r"[+-]?[0-9]{1,19}", found) or not low <= int(found) <= high:
        raise bad_request(name, f"a whole number from {low} to {high}", found)
    return int(found)


def choice_param(request: Request, name: str, options: Sequence[str], default: str) -> str:
    """One of `options`."""
    found = request.query_params.get(name, "") or default
    if found not in options:
        raise bad_request(
            name, " or ".join(option or "an empty value" for option in options), found
        )
    return found


def is_partial(request: Request) -> bool:
    """True for `?partial=1`: the part alone that a script puts in its place on the page."""
    return choice_param(request, "partial", ("", "1"), "") == "1"


def is_whole(request: Request) -> bool:
    """True for `?part=whole`: one page with the part that it else asks for when it is shown."""
    return choice_param(request, "part", ("", "whole"), "") == "whole"


def id_param(request: Request, name: str) -> str:
    """An id in the path, such as that of a trace, span or alert."""
    found = str(request.path_params.get(name, ""))
    if not ID.fullmatch(found):
        raise bad_request(name, "an id of at most 128 letters, digits and _ . : -", found)
    return found
