"""The check of a bearer token on the service's HTTP and gRPC interfaces."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import unquote

from starlette.requests import Request

from otel_rt4chart.core.urls import host_of, is_loopback
from rt4chart_collector.core.token_guard import TokenFault, TokenGuard, TokenRefusedError
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.ingest.otlp.refusal import Fault, RefusedError


def authenticate(
    guard: TokenGuard, purpose: Purpose, authorization: str | None, client: str
) -> str:
    """The tenant of the header's token, "" for none.

    RefusedError if the header of this client address does not open the purpose.
    """
    try:
        return guard.check_header(purpose, authorization, client)
    except TokenRefusedError as refused:
        is_throttled = refused.fault is TokenFault.THROTTLED
        fault = Fault.THROTTLED if is_throttled else Fault.UNAUTHENTICATED
        raise RefusedError(fault, str(refused), retry_s=refused.retry_s) from None


def authenticate_operator(guard: TokenGuard, request: Request) -> None:
    """RefusedError if the request does not have a token for reading what is of all tenants."""
    if tenant := authenticate_reader(guard, request):
        raise RefusedError(
            Fault.UNAUTHENTICATED,
            f"expected a token of {Purpose.READ.variable} that is bound to no tenant, got one of "
            f"the tenant {tenant}: this shows the figures of all tenants",
        )


def authenticate_reader(guard: TokenGuard, request: Request) -> str:
    """The tenant of the request's token, "" for none; RefusedError without a token for reading.

    What is shown must be of that tenant alone; see `authenticate_operator`.

    Without such a token, a browser on this machine could be led to read the figures by a foreign
    name that resolves to the loopback address (DNS rebinding): only local names are answered.
    """
    host = request.headers.get("host", "")
    if not guard.is_set(Purpose.READ) and is_loopback(client_of(request)) and _is_foreign(host):
        raise RefusedError(
            Fault.UNAUTHENTICATED,
            f"expected the host localhost or an address, got {host[:80]!r}: set "
            "RT4CHART_READ_TOKEN to be read under other names",
        )
    header = request.headers.get("authorization")
    return authenticate(guard, Purpose.READ, header, client_of(request))


def _is_foreign(header: str) -> bool:
    """True for a name with a dot that is no address, and for what is no host."""
    if not header:
        return False
    host = host_of(header)
    try:
        ip_address(host)
    except ValueError:
        return not host or "." in host
    return False


def client_of(request: Request) -> str:
    """The address that the request came from; headers of proxies are not believed."""
    return request.client.host if request.client else ""


def client_of_peer(peer: str) -> str:
    """The address in gRPC's name of a peer: ipv4:192.0.2.1:4000 or ipv6:%5B::1%5D:4000."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else peer
