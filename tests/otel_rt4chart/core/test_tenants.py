"""The names of tenants' services: each stored name is of one tenant, whatever senders choose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.tenants import (
    is_tenant,
    service_prefix,
    split_service,
    stored_service,
    tenant_of,
)

TENANTS = st.one_of(st.just(""), st.text(), st.sampled_from(["a", "ab", "a.b", "#0", "a/b", "~"]))
SERVICES = st.one_of(st.text(), st.sampled_from(["shop", "~a/shop", "~/x", "~", "/", "a/~b"]))


@given(TENANTS, SERVICES)
def test_a_stored_name_says_its_tenant_and_service(value: str, service: str) -> None:
    """No service's own name makes it another tenant's."""
    tenant = tenant_of({"rt4chart.tenant": value})

    assert split_service(stored_service(tenant, service)) == (tenant, service)


@given(TENANTS, TENANTS, SERVICES)
def test_a_prefix_is_of_one_tenant(one: str, other: str, service: str) -> None:
    """What begins with it is of this tenant, and of no other."""
    first, second = tenant_of({"rt4chart.tenant": one}), tenant_of({"rt4chart.tenant": other})
    begins = stored_service(second, service).startswith(service_prefix(first))

    assert not begins or first == second


def test_without_a_tenant_names_stay() -> None:
    """As they were before there were tenants."""
    assert stored_service(tenant_of({"service.name": "shop"}), "shop") == "shop"
    assert stored_service("acme", "shop") == "~acme/shop"
    assert stored_service("acme", "") == "~acme/"


@pytest.mark.parametrize("value", ["a b", "ä", "a/b", "x" * 65, "-a", "~", ("a",)])
def test_another_text_is_a_tenant_by_its_hash(value: object) -> None:
    """One that no token can be bound to, and that is nobody else's."""
    tenant = tenant_of({"rt4chart.tenant": value})

    assert not is_tenant(tenant)
    assert tenant.startswith("#")
    assert tenant_of({"rt4chart.tenant": tenant}) == tenant
    assert tenant != tenant_of({"rt4chart.tenant": f"{value}."})
    assert tenant_of({"rt4chart.tenant": 7}) == "7"
