"""Issue ids as people read and type them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.issues.issues import Issue

_MIN_DIGITS = 8
_MAX_LISTED = 5


def hex_id(issue_id: int) -> str:
    """The id as 16 hexadecimal digits."""
    return f"{issue_id:016x}"


def find_issue(issues: Sequence[Issue], prefix: str) -> Issue:
    """The one issue whose id, or whose alias, begins with these digits; else InputError."""
    digits = prefix.lower()
    if re.fullmatch("[0-9a-f]{1,16}", digits):
        found = [
            issue for issue in issues if any(hex_id(id).startswith(digits) for id in issue.ids)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(hex_id(issue.id) for issue in found[:_MAX_LISTED])
            more = ", …" if len(found) > _MAX_LISTED else ""
            raise InputError(
                f"expected the id of one issue, but {prefix} is the beginning of {names}{more}"
            )
    raise InputError(f"expected the id of an issue (rt4chart issues lists them), got {prefix!r}")


def short_ids(issues: Sequence[Issue]) -> dict[int, str]:
    """The first digits of each id: as many as make all of them different, at least eight."""
    ids = [hex_id(issue.id) for issue in issues]
    length = next(
        (n for n in range(_MIN_DIGITS, 16) if len({id[:n] for id in ids}) == len(ids)), 16
    )
    return {issue.id: hex_id(issue.id)[:length] for issue in issues}
