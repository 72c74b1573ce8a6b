"""The JSON Schemas of the replies, in the strict form that structured outputs ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from otel_rt4chart.verify.model import ClaimKind

_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_KIND = {"type": "string", "enum": list(get_args(ClaimKind))}
_LABEL = {"type": "string", "enum": ["entailed", "contradicted", "baseless"]}
_NUMBERS = {"type": "array", "items": _INTEGER}
_SPLIT = {"sentence": _INTEGER, "claim": _TEXT, "type": _KIND, "is_claim": {"type": "boolean"}}
_JUDGED = {"label": _LABEL, "sentences": _NUMBERS, "claimed": _TEXT, "found": _TEXT}


class Schema(NamedTuple):
    """A schema with the name under which an endpoint caches it."""

    name: str
    json: Mapping[str, Any]


def _list(key: str, properties: Mapping[str, Any]) -> Schema:
    item = _object(properties)
    return Schema(f"rt4chart_{key}", _object({key: {"type": "array", "items": item}}))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


CLAIMS = _list("claims", _SPLIT)
WHOLE = _list("claims", {"claim": _TEXT, "type": _KIND})
VERDICTS = _list("verdicts", {"claim": _INTEGER, **_JUDGED})
PICKS = _list("verdicts", {"claim": _INTEGER, "sentences": _NUMBERS})
AUDIT = _list("claims", {**_SPLIT, **_JUDGED})
