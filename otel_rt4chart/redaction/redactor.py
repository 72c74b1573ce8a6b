"""The redactor: removes sensitive text from strings, attributes and exchanges."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from opentelemetry.util.types import AttributeValue

from otel_rt4chart.core import semconv
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import guard
from otel_rt4chart.redaction.content import (
    AttributeRewrites,
    Rewrite,
    rewrite_attributes,
    rewrite_value,
)
from otel_rt4chart.redaction.patterns import BUILT_IN, Pattern, find_matches, patterns_from
from otel_rt4chart.verify.core.model import Exchange

Replacement = Callable[[str, str], str]
HOWS = ("none", "drop", "mask", "hash")
HASH_DIGITS = 8
NUMBER_PATTERNS = ("phone", "card", "iban")


class AttributeMatches(NamedTuple):
    """The patterns to find, and what replaces a match."""

    patterns: tuple[Pattern, ...]
    replacement: Replacement

    def anywhere(self, text: str) -> str:
        """The text without any match."""
        return replace_matches(text, self.patterns, self.replacement)

    def unmistakable(self, text: str) -> str:
        """An id without the matches that are not numbers: an id may look like one by chance."""
        strict = tuple(pattern for pattern in self.patterns if pattern.is_unmistakable)
        return replace_matches(text, strict, self.replacement)


class Redactor:
    """Rewrites texts. Thread-safe.

    `is_on` is False for a redactor that changes nothing, `drops` True for one that removes all
    text. `failures` counts the texts that could not be rewritten and were removed. A removed text
    becomes `__REDACTED__`, because redacted text is not the same as missing text.
    """

    def __init__(
        self,
        rewrite: Rewrite = str,
        matches: AttributeMatches | None = None,
        *,
        is_on: bool = False,
        drops: bool = False,
    ) -> None:
        """`rewrite` may be the application's: exceptions and wrong types are caught.

        It rewrites texts. In other attributes and in ids only `matches` are replaced.
        """
        self.is_on = is_on
        self.drops = drops
        self.failures = 0
        self._rewrite = rewrite
        others = matches or AttributeMatches(BUILT_IN, _mask_replacement)
        self._rewrites = AttributeRewrites(self.text, others.anywhere, others.unmistakable)

    def text(self, text: str) -> str:
        """The redacted text; a placeholder if redaction fails or leaves nothing."""
        if not self.is_on:
            return text
        # Whatever an application's callable raises costs that text, not the batch of spans.
        with guard("redacting a text", is_own_thread=True):
            changed = self._rewrite(text)
            if isinstance(changed, str):
                is_emptied = bool(text.strip()) and not changed.strip()
                return semconv.REDACTED if is_emptied else changed
        self.failures += 1
        return semconv.REDACTED

    def attributes(self, attributes: Mapping[str, AttributeValue]) -> dict[str, Any]:
        """The attributes of a span or an event with redacted texts; JSON stays JSON."""
        return rewrite_attributes(attributes, self._rewrites) if self.is_on else dict(attributes)

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange with redacted texts; ranges of a verdict then fit the shown text."""
        if not self.is_on:
            return exchange
        passages = tuple(
            replace(
                passage,
                id=self._rewrites.identifier(passage.id),
                text=self.text(passage.text),
                metadata=rewrite_value(passage.metadata, self._rewrites.of_text),
            )
            for passage in exchange.passages
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
    """Build a redactor from the settings; SettingsError for an unknown mode or pattern.

    `none` changes nothing. `drop` removes all text. `mask` replaces a match by `[email]`. `hash`
    replaces it by `[email:1f3a9c2e]`, so that equal values stay equal: in all processes with the
    same `salt`, without a salt in this process only. A callable `call` replaces all of this.
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
    replacement = (
        _mask_replacement
        if how == "mask"
        else _hash_replacement(salt.encode() or secrets.token_bytes(32))
    )
    matches = AttributeMatches(patterns, replacement)
    return Redactor(matches.anywhere, matches, is_on=True)


def _mask_replacement(name: str, found: str) -> str:
    return f"[{name}]"


def _hash_replacement(key: bytes) -> Replacement:
    """A keyed hash: without the key, a phone number cannot be found by trying all numbers."""

    def replace_by_hash(name: str, found: str) -> str:
        # A number may be written with or without groups of digits.
        normalized = (
            "".join(filter(str.isalnum, found)) if name in NUMBER_PATTERNS else found.lower()
        )
        digest = hmac.new(key, normalized.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
        return f"[{name}:{digest[:HASH_DIGITS]}]"

    return replace_by_hash


def replace_matches(text: str, patterns: tuple[Pattern, ...], replacement: Replacement) -> str:
    """The text with each match replaced; the rest of it stays as it is written, encoded or not."""
    parts, position = [], 0
    for match in find_matches(text, patterns):
        if match.start >= position:
            parts += [text[position : match.start], replacement(match.name, match.text)]
        position = max(position, match.end)
    return "".join(parts) + text[position:] if parts else text
