"""Which services and routes a question is about: None is any of them, "" is a name as others."""

from __future__ import annotations

OF_SCOPE = """({any_service:UInt8} OR ServiceName = {service:String})
      AND ({any_route:UInt8} OR Route = {route:String})"""


def scope(service: str | None, route: str | None) -> dict[str, object]:
    """The parameters of `OF_SCOPE`."""
    return {
        "any_service": int(service is None),
        "service": service or "",
        "any_route": int(route is None),
        "route": route or "",
    }
