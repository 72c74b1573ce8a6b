"""Signatures of webhooks, as standardwebhooks.com says: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"


def key_of(secret: str) -> bytes:
    """The key's bytes; a ValueError where `whsec_` is followed by something else than base64."""
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("expected base64 after whsec_") from error


def signature(key: bytes, name: str, at: str, body: bytes) -> str:
    """Base64 of the HMAC over `id.timestamp.body`."""
    signed = hmac.new(key, f"{name}.{at}.".encode() + body, hashlib.sha256).digest()
    return base64.b64encode(signed).decode()


def signed_headers(key: bytes, name: str, at: str, body: bytes) -> dict[str, str]:
    """The headers of a message; without a key nothing is signed. `at` are seconds of the epoch."""
    headers = {"webhook-id": name, "webhook-timestamp": at}
    return headers | ({"webhook-signature": "v1," + signature(key, name, at, body)} if key else {})
