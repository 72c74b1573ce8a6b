"""The form of a POST: one encoding, bounded."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

FORM_BYTES = 256 * 1024
FORM_FIELDS = 200
FORM = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Mapping[str, str]:
    """Its fields, of those with one name the last; an empty body is an empty form.

    Raises HTTPException 415 for another encoding than UTF-8 in `FORM`, 413 or 400.
    """
    body = await _body(request)
    if not body:
        return {}
    given = request.headers.get("content-type", "")
    kind, _, charset = given.lower().replace(" ", "").partition(";")
    if kind != FORM or charset not in ("", "charset=utf-8"):
        raise HTTPException(415, f"expected {FORM} in UTF-8, got {given[:80]!r}")
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=FORM_FIELDS
        )
    except ValueError as error:
        raise HTTPException(
            400, f"expected a form of at most {FORM_FIELDS} fields in UTF-8, got another"
        ) from error
    return dict(pairs)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_BYTES:
            raise HTTPException(413, f"expected a form of at most {FORM_BYTES} bytes")
    return bytes(body)
