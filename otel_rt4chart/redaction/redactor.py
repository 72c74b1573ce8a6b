"""The redactor: texts in, texts without what must not leave out."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from opentelemetry.util.types import AttributeValue

from otel_rt4chart.core import semconv
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.redaction.content import Rewrite, in_value, rewritten
from otel_rt4chart.redaction.patterns import Pattern, patterns_from
from otel_rt4chart.verify.core.model import Exchange

HOWS = ("none", "drop", "mask", "hash")
DIGITS = 8
NUMBERS = ("phone", "card", "iban")


class Redactor:
    """Rewrites texts; threads may share it.

    `is_on` is False for the one that changes nothing, `drops` True for the one that leaves no
    text at all. `failures` counts the texts that could not be rewritten and were taken out whole.
    What is taken out whole is `__REDACTED__`: text that is hidden is not text that is absent.
    """

    def __init__(self, rewrite: Rewrite = str, *, is_on: bool = False, drops: bool = False) -> None:
        """`rewrite` may be anybody's: what it raises, and what it returns but text, is caught."""
        self.is_on = is_on
        self.drops = drops
        self.failures = 0
        self._rewrite = rewrite

    def text(self, text: str) -> str:
        """The text without what must not leave; a placeholder where that fails, or leaves none."""
        if not self.is_on:
            return text
        with guard("redacting a text"):
            changed = self._rewrite(text)
            if isinstance(changed, str):
                is_emptied = bool(text.strip()) and not changed.strip()
                return semconv.REDACTED if is_emptied else changed
        self.failures += 1
        return semconv.REDACTED

    def attributes(self, attributes: Mapping[str, AttributeValue]) -> dict[str, Any]:
        """A span's or an event's attributes: texts are rewritten, JSON in them stays JSON."""
        return rewritten(attributes, self.text) if self.is_on else dict(attributes)

    def exchange(self, exchange: Exchange) -> Exchange:
        """Question, passages and answer, to be verified as they may be shown."""
        if not self.is_on:
            return exchange
        passages = tuple(
            replace(one, text=self.text(one.text), metadata=in_value(one.metadata, self.text))
            for one in exchange.passages
        )
        question, answer = self.text(exchange.question), self.text(exchange.answer)
        return replace(exchange, question=question, passages=passages, answer=answer)


def build_redactor(
    how: str = "none",
    pattern: str = "",
    call: Callable[[str], str] | None = None,
    *,
    salt: str = "",
) -> Redactor:
    """A redactor as the settings ask; SettingsError for what cannot be meant.

    `none` changes nothing, `drop` leaves no text, `mask` writes `[email]` for what the pattern
    finds, `hash` `[email:1f3a9c2e]`, so that equal values stay equal: in all processes with the
    same `salt`, without one in this process alone. `call` replaces all of that.
    """
    if call is not None:
        return Redactor(call, is_on=True)
    if how not in HOWS and how:
        raise SettingsError(f"RT4CHART_REDACT: expected one of {', '.join(HOWS)}, got {how!r}")
    if how in ("", "none"):
        return Redactor()
    if how == "drop":
        return Redactor(lambda text: "", is_on=True, drops=True)
    patterns = patterns_from(pattern)
    mark = _mask if how == "mask" else _hash(salt.encode() or secrets.token_bytes(32))
    return Redactor(lambda text: _marked(text, patterns, mark), is_on=True)


Mark = Callable[[str, str], str]


def _mask(name: str, found: str) -> str:
    return f"[{name}]"


def _hash(key: bytes) -> Mark:
    """A keyed hash: without the key nobody finds a phone number by trying all of them."""

    def mark(name: str, found: str) -> str:
        # The same number is written in groups or without.
        plain = "".join(filter(str.isalnum, found)) if name in NUMBERS else found.lower()
        digest = hmac.new(key, plain.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return f"[{name}:{digest[:DIGITS]}]"

    return mark


def _marked(text: str, patterns: tuple[Pattern, ...], mark: Mark) -> str:
    for one in patterns:
        parts, at = [], 0
        for start, end in one.places(text):
            parts += [text[at:start], mark(one.name, text[start:end])]
            at = end
        if parts:
            text = "".join(parts) + text[at:]
    return text
