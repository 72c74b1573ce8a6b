"""The URLs of the console, which stay valid so that tickets may link to them."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlencode

NOTHING = "-"


def escaped(name: str) -> str:
    """A name as one path segment of letters, digits, `._-`, and `~` before two hex digits.

    Proxies and browsers rewrite `%2F` and `..`, but not these. An empty name is `-`.
    """
    if set(name) <= {".", NOTHING}:
        return "".join(f"~{ord(character):02X}" for character in name) or NOTHING
    return quote(name, safe="").replace("~", "%7E").replace("%", "~")


def unescaped(segment: str) -> str:
    """The name of a segment that `escaped` made."""
    return "" if segment == NOTHING else unquote(segment.replace("~", "%"))


def route_value(service: str, route: str) -> str:
    """A route as one value of a form or a query: SERVICE/ROUTE, each `escaped`."""
    return f"{escaped(service)}/{escaped(route)}"


def named_route(value: str) -> tuple[str | None, str | None]:
    """The service and the route of a value that `route_value` made; two None for ""."""
    service, _, route = value.partition("/")
    return (unescaped(service), unescaped(route)) if value else (None, None)


def route_url(service: str, route: str) -> str:
    """The page of a route."""
    return f"/routes/{route_value(service, route)}"


def answer_url(trace_id: str, span_id: str, claim: int | None = None) -> str:
    """The page of an answer, at one of its claims if an index is given."""
    anchor = "" if claim is None else f"#claim-{claim}"
    return f"/answers/{quote(trace_id, safe='')}/{quote(span_id, safe='')}{anchor}"


def answers_url(**filters: str) -> str:
    """The list of answers with these filters; empty ones are left out."""
    return with_query("/answers", **filters)


def issue_url(issue_id: int) -> str:
    """The page of an issue; its id is written as 16 hexadecimal digits."""
    return f"/issues/{issue_id:016x}"


def alert_url(alert_id: str) -> str:
    """The page of an alert."""
    return f"/alerts/{quote(alert_id, safe='')}"


def with_query(path: str, **values: str) -> str:
    """A path with a query of the non-empty values."""
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{query}" if query else path
