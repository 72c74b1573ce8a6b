"""The console's addresses: stable, so that they can be kept in a ticket."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlencode

NOTHING = "-"


def escaped(name: str) -> str:
    """A name as one segment of a path: letters, digits, `._-`, and `~` before two hex digits.

    No proxy or browser rewrites such a segment, as they do `%2F` and `..`. An empty name is `-`.
    """
    if set(name) <= {".", NOTHING}:
        return "".join(f"~{ord(one):02X}" for one in name) or NOTHING
    return quote(name, safe="").replace("~", "%7E").replace("%", "~")


def unescaped(segment: str) -> str:
    """The name that `escaped` made a segment of."""
    return "" if segment == NOTHING else unquote(segment.replace("~", "%"))


def route_url(service: str, route: str) -> str:
    """The page of a route."""
    return f"/routes/{escaped(service)}/{escaped(route)}"


def answer_url(trace_id: str, span_id: str, claim: int | None = None) -> str:
    """The page of an answer, at one of its claims where an index is given."""
    anchor = "" if claim is None else f"#claim-{claim}"
    return f"/answers/{quote(trace_id, safe='')}/{quote(span_id, safe='')}{anchor}"


def answers_url(**filters: str) -> str:
    """The list of answers with these filters, the empty ones left out."""
    return with_query("/answers", **filters)


def issue_url(issue_id: int) -> str:
    """The page of an issue, by its id as people write it: 16 hexadecimal digits."""
    return f"/issues/{issue_id:016x}"


def alert_url(alert_id: str) -> str:
    """The page of an alert."""
    return f"/alerts/{quote(alert_id, safe='')}"


def with_query(path: str, **values: str) -> str:
    """A path with a query of the values that are not empty."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{query}" if query else path
