"""Issues by what a person types: an id, or the beginning of one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.issues.issues import Issue

_SHORTEST = 8
_SHOWN = 5


def shown_id(issue: Issue) -> str:
    """The id as people read and write it: 16 hexadecimal digits."""
    return hex_of(issue.id)


def hex_of(issue_id: int) -> str:
    """The same of a number."""
    return f"{issue_id:016x}"


def find(issues: Sequence[Issue], wanted: str) -> Issue:
    """The issue whose id, or whose alias, begins so; InputError where that is none or several."""
    begins = wanted.lower()
    if re.fullmatch("[0-9a-f]{1,16}", begins):
        found = [
            issue for issue in issues if any(hex_of(one).startswith(begins) for one in issue.ids)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(shown_id(one) for one in found[:_SHOWN])
            more = ", …" if len(found) > _SHOWN else ""
            raise InputError(f"expected the id of one issue, {wanted} begins {names}{more}")
    raise InputError(f"expected the id of an issue (rt4chart issues lists them), got {wanted!r}")


def short_ids(issues: Sequence[Issue]) -> dict[int, str]:
    """The beginning of each id, of a length at which none is another's; eight digits at least."""
    whole = [shown_id(one) for one in issues]
    length = next(
        (n for n in range(_SHORTEST, 16) if len({one[:n] for one in whole}) == len(whole)), 16
    )
    return {one.id: shown_id(one)[:length] for one in issues}
