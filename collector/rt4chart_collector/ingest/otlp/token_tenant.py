"""Spans that were sent with the token of a tenant: they are that tenant's, whatever they say."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.core.semconv import TENANT
from otel_rt4chart.core.tenants import tenant_of
from otel_rt4chart.spans.model.record import Attributes
from rt4chart_collector.ingest.otlp.decode import Decoded

OTHER_TENANT = f"{TENANT} of the resource is not the tenant of the token"


def bind_spans(decoded: Decoded, tenant: str) -> tuple[Decoded, int]:
    """The spans of this tenant and of none, which get it; also how many others were rejected."""
    # The spans of a request share their resources.
    bound: dict[int, Attributes] = {}
    for span in decoded.spans:
        if id(span.resource) not in bound and tenant_of(span.resource) in ("", tenant):
            bound[id(span.resource)] = {**span.resource, TENANT: tenant}
    spans = tuple(
        replace(span, resource=bound[id(span.resource)])
        for span in decoded.spans
        if id(span.resource) in bound
    )
    rejected = len(decoded.spans) - len(spans)
    return replace(decoded, spans=spans).with_rejected(rejected, OTHER_TENANT), rejected
