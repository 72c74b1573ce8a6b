"""The check of a bearer token on the service's HTTP and gRPC interfaces."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.requests import Request

from rt4chart_collector.core.token_guard import TokenFault, TokenGuard, TokenRefusedError
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError


def authenticate(
    guard: TokenGuard, purpose: Purpose, authorization: str | None, client: str
) -> None:
    """RefusedError if the header of this client address does not open the purpose."""
    try:
        guard.check_header(purpose, authorization, client)
    except TokenRefusedError as refused:
        is_throttled = refused.fault is TokenFault.THROTTLED
        fault = Fault.THROTTLED if is_throttled else Fault.UNAUTHENTICATED
        raise RefusedError(fault, str(refused), retry_s=refused.retry_s) from None


def authenticate_reader(guard: TokenGuard, request: Request) -> None:
    """RefusedError if the request does not have a token for reading."""
    authenticate(guard, Purpose.READ, request.headers.get("authorization"), client_of(request))


def client_of(request: Request) -> str:
    """The address that the request came from; headers of proxies are not believed."""
    return request.client.host if request.client else ""


def client_of_peer(peer: str) -> str:
    """The address in gRPC's name of a peer: ipv4:192.0.2.1:4000 or ipv6:%5B::1%5D:4000."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else peer
