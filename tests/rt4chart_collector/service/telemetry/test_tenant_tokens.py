"""What the token of a tenant reads of a service: rates of its own services, and nothing else."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette

from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.token_guard import TokenGuard
from rt4chart_collector.core.tokens import Purpose, TokenSource
from rt4chart_collector.ingest.otlp.refusal import HANDLERS
from rt4chart_collector.service.http_routes import operations_app
from rt4chart_collector.service.monitor import rates_route
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.alerts.sampling_rates import SamplingRateRow
from tests.rt4chart_collector.telemetry.asked import get


def guard(folder: Path) -> TokenGuard:
    """Tokens for reading, of which one is a tenant's."""
    (folder / "tokens").write_text("all\ntenant=acme of-acme\n")
    return TokenGuard([{Purpose.READ: TokenSource(Purpose.READ, file=str(folder / "tokens"))}])


def test_figures_of_all_tenants_are_not_a_tenants(tmp_path: Path) -> None:
    """Metrics and the status name the routes of all."""
    app = operations_app(Status(ServiceMetrics()), guard(tmp_path))

    for path in ("/metrics", "/status"):
        refused = get(app, path, "of-acme")
        assert refused.status_code == 401
        assert "bound to no tenant, got one of the tenant acme" in refused.text
        assert get(app, path, "all").status_code == 200


def test_rates_are_those_of_the_tenants_own_service(tmp_path: Path) -> None:
    """Under the service's own name; a name with another tenant is just another service."""

    def rates(service: str) -> list[SamplingRateRow]:
        return [SamplingRateRow(service, service, 1, 0.5, 2**62, "")]

    route = rates_route(rates, guard(tmp_path), clock=lambda: 1)
    app = Starlette(routes=[route], exception_handlers=dict(HANDLERS))

    def raised(token: str, service: str) -> list[str]:
        return list(get(app, f"/v1/rates?service={service}", token).json()["raised"])

    assert raised("of-acme", "shop") == ["~acme/shop"]
    assert raised("of-acme", "~zeta/shop") == ["~acme/~zeta/shop"]
    assert raised("of-acme", "") == ["~acme/"]
    assert raised("all", "~zeta/shop") == ["~zeta/shop"]
