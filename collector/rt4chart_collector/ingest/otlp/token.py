"""The check of the bearer token for sending spans and for reading metrics and status."""

from __future__ import annotations

from hmac import compare_digest

from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError


def authenticate(token: str, authorization: str | None) -> None:
    """RefusedError if a token is required and this header does not have it."""
    if not token:
        return
    scheme, _, presented = (authorization or "").partition(" ")
    # A comparison that stops at the first difference would reveal the token byte by byte.
    is_same = compare_digest(presented.strip().encode(), token.encode())
    if scheme.lower() == "bearer" and is_same:
        return
    raise RefusedError(
        Fault.UNAUTHENTICATED,
        "expected the header 'Authorization: Bearer TOKEN' with the service's RT4CHART_TOKEN, "
        f"got {'another' if authorization else 'none'}; "
        "OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20TOKEN' sends it",
    )
