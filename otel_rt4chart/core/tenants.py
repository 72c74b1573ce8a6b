"""Tenants: the customers whose answers share a database, and how their services are named in it.

A stored answer has its tenant before its service, as one name: `~acme/shop`. The name is the first
key of every table with answers, so that no sum, rate, alert or issue is of two tenants.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from otel_rt4chart.core import semconv

# No "/", which ends a tenant in a stored name.
TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
EXPECTED_TENANT = "1 to 64 letters, digits, '.', '_' and '-', a letter or digit first"
_MARK, _END = "~", "/"
# Begins no name of a tenant.
_DIGEST_MARK, _DIGEST_CHARS = "#", 32
_DIGEST = re.compile(rf"{_DIGEST_MARK}[0-9a-f]{{{_DIGEST_CHARS}}}")


def is_tenant(name: str) -> bool:
    """Whether a token may be bound to a tenant of this name."""
    return TENANT.fullmatch(name) is not None


def tenant_of(resource: Mapping[str, object]) -> str:
    """The tenant that the attributes of a resource name; "" for none.

    A value that is no name of a tenant is a tenant by its hash, so that two such values stay apart;
    no token can be bound to it.
    """
    value = resource.get(semconv.TENANT, "")
    text = value if isinstance(value, str) else str(value)
    if not text or is_tenant(text) or _DIGEST.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return _DIGEST_MARK + digest[:_DIGEST_CHARS]


def service_prefix(tenant: str) -> str:
    """What the stored names of a tenant's services begin with, and those of no other tenant."""
    return f"{_MARK}{tenant}{_END}"


def stored_service(tenant: str, service: str) -> str:
    """The name under which a service of a tenant is stored; without a tenant, its own."""
    return service_prefix(tenant) + service if tenant or service.startswith(_MARK) else service


def split_service(stored: str) -> tuple[str, str]:
    """The tenant and the service of a stored name."""
    tenant, end, service = stored.removeprefix(_MARK).partition(_END)
    return (tenant, service) if stored.startswith(_MARK) and end else ("", stored)


def tenant_of_service(stored: str) -> str:
    """The tenant of a stored name."""
    return split_service(stored)[0]
