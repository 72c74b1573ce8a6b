"""Decides whether a request's token opens a purpose, and limits the guesses of wrong ones."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

from otel_rt4chart.core.errors import RT4ChartError, SettingsError
from rt4chart_collector.core.tokens import (
    Purpose,
    TokenSource,
    is_generated,
    matching_purposes,
    token_digest,
)

# Wrong tokens of one client that are answered as such; further ones are told to wait.
FREE_GUESSES, FREE_GUESSES_PER_S = 20.0, 20 / 60
# Beyond these, tokens of clients without a right one are not compared any more, if they are such
# as can be guessed.
CLIENT_GUESSES, CLIENT_GUESSES_PER_S = 200.0, 5.0
ALL_GUESSES, ALL_GUESSES_PER_S = 2000.0, 50.0
# Clients that are remembered: those that sent a wrong token, and those that sent a right one.
MAX_CLIENTS = 4096
KNOWN_S = 3600.0
RETRY_S = 2


class TokenFault(StrEnum):
    """Why a token does not open; the values of the metric's label `result`."""

    MISSING = "missing"
    WRONG = "wrong"
    OTHER_PURPOSE = "other_purpose"
    THROTTLED = "throttled"
    CLOSED = "closed"


class TokenRefusedError(RT4ChartError):
    """The token does not open; the text is for the operator of the client."""

    def __init__(self, fault: TokenFault, text: str) -> None:
        """`text` says what was expected, what came and what to change."""
        super().__init__(text)
        self.fault = fault

    @property
    def retry_s(self) -> int | None:
        """After how many seconds the same request may be sent again."""
        return RETRY_S if self.fault is TokenFault.THROTTLED else None


class _Budget:
    """Guesses that are left, which come back over time."""

    __slots__ = ("_at", "_left", "_most", "_per_s")

    def __init__(self, most: float, per_s: float, now: float) -> None:
        self._most, self._per_s, self._left, self._at = most, per_s, most, now

    def has_one(self, now: float) -> bool:
        """Whether one is left now."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_s)
        self._at = now
        return self._left >= 1

    def spend(self, now: float) -> bool:
        """Take one; False if none was left."""
        is_left = self.has_one(now)
        self._left = max(0.0, self._left - 1)
        return is_left


class _Client:
    """What one client may still guess: with a plain answer, and at all."""

    __slots__ = ("compared", "free")

    def __init__(self, now: float) -> None:
        self.free = _Budget(FREE_GUESSES, FREE_GUESSES_PER_S, now)
        self.compared = _Budget(CLIENT_GUESSES, CLIENT_GUESSES_PER_S, now)


class GuessThrottle:
    """Limits wrong tokens by client address and in all; its memory is bounded.

    An address from which a right token came within the hour stays open for that purpose, so that
    a stranger behind the same address (NAT) does not lock its neighbours out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nobody has guessed yet."""
        self._clock = clock
        self._all = _Budget(ALL_GUESSES, ALL_GUESSES_PER_S, clock())
        self._clients: OrderedDict[str, _Client] = OrderedDict()
        self._known: OrderedDict[tuple[str, Purpose], float] = OrderedDict()

    def may_try(self, client: str, purpose: Purpose) -> bool:
        """Whether a token of this client is compared at all."""
        now = self._clock()
        if now - self._known.get((client, purpose), now - KNOWN_S) < KNOWN_S:
            return True
        mine = self._clients.get(client)
        return (mine is None or mine.compared.has_one(now)) and self._all.has_one(now)

    def note_right(self, client: str, purpose: Purpose) -> None:
        """Remember that a right token came from there."""
        self._known[client, purpose] = self._clock()
        self._known.move_to_end((client, purpose))
        if len(self._known) > MAX_CLIENTS:
            self._known.popitem(last=False)

    def note_wrong(self, client: str) -> bool:
        """Count a wrong token; False if there were too many from this client."""
        now = self._clock()
        mine = self._clients.setdefault(client, _Client(now))
        self._clients.move_to_end(client)
        if len(self._clients) > MAX_CLIENTS:
            self._clients.popitem(last=False)
        mine.compared.spend(now)
        self._all.spend(now)
        return mine.free.spend(now)


class TokenGuard:
    """The tokens of a process; any thread may ask."""

    def __init__(
        self,
        sources: Iterable[Mapping[Purpose, TokenSource]] = (),
        *,
        closed: Collection[Purpose] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A purpose without a token is open, unless it is one of `closed`.

        Raises SettingsError for a token with two purposes.
        """
        found = {purpose: source for part in sources for purpose, source in part.items()}
        self.sources = {purpose: source for purpose, source in found.items() if source.is_set}
        self._closed = frozenset(closed)
        self._throttle = GuessThrottle(clock)
        self._lock = Lock()
        known = (*self.sources, *(self._closed - self.sources.keys()))
        self._refusals: Counter[tuple[str, ...]] = Counter(
            {(str(purpose), str(fault)): 0 for purpose in known for fault in TokenFault}
        )
        _check_distinct(self.sources)

    def is_set(self, purpose: Purpose) -> bool:
        """True if this purpose needs a token."""
        return purpose in self.sources

    def check_header(self, purpose: Purpose, authorization: str | None, client: str) -> str:
        """As `check`, for the header Authorization."""
        scheme, _, given = (authorization or "").partition(" ")
        return self.check(purpose, given.strip() if scheme.lower() == "bearer" else "", client)

    def check(self, purpose: Purpose, given: str, client: str) -> str:
        """The tenant that the token is bound to; "" for one that is bound to none, or not needed.

        Raises TokenRefusedError unless this token of the client opens this purpose.
        """
        if purpose not in self.sources:
            if purpose in self._closed:
                raise self._refused(purpose, TokenFault.CLOSED)
            return ""
        if not given:
            raise self._refused(purpose, TokenFault.MISSING)
        place = network_of(client)
        # Limits protect tokens that can be guessed. A text that looks generated can only be right
        # where the token is one that nobody guesses: a right one passes whoever guesses beside it.
        with self._lock:
            may_try = is_generated(given) or self._throttle.may_try(place, purpose)
        if not may_try:
            raise self._refused(purpose, TokenFault.THROTTLED)
        found = matching_purposes(token_digest(given), self.sources)
        if found.keys() == {purpose}:
            with self._lock:
                self._throttle.note_right(place, purpose)
            return found[purpose]
        # The token of another purpose is no guess: who holds it learns nothing here.
        if found:
            raise self._refused(purpose, TokenFault.OTHER_PURPOSE)
        with self._lock:
            is_free = self._throttle.note_wrong(place)
        raise self._refused(purpose, TokenFault.WRONG if is_free else TokenFault.THROTTLED)

    def refusals(self) -> dict[tuple[str, ...], float]:
        """Refused requests so far, by purpose and fault."""
        with self._lock:
            return dict(self._refusals)

    def _refused(self, purpose: Purpose, fault: TokenFault) -> TokenRefusedError:
        """The error, counted."""
        with self._lock:
            self._refusals[purpose, fault] += 1
        return TokenRefusedError(fault, _TEXTS[fault].format(variable=purpose.variable))


_TEXTS = {
    TokenFault.MISSING: "expected the header 'Authorization: Bearer TOKEN' with a token of the "
    "service's {variable}, got none",
    TokenFault.WRONG: "expected the header 'Authorization: Bearer TOKEN' with a token of the "
    "service's {variable}, got another",
    TokenFault.OTHER_PURPOSE: "expected the header 'Authorization: Bearer TOKEN' with a token of "
    "the service's {variable}, got one of another purpose",
    TokenFault.THROTTLED: "expected fewer wrong tokens of {variable} from this address: send the "
    f"request again after {RETRY_S} seconds",
    TokenFault.CLOSED: "nobody may do this: set {variable} on the service, and send that token as "
    "'Authorization: Bearer TOKEN'",
}


@lru_cache(maxsize=MAX_CLIENTS)
def network_of(client: str) -> str:
    """The client's IPv4 address or /64 network: a host may have all addresses of a /64."""
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return client[:64]
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((int(address) >> 64 << 64, 64)))
    return str(address)


def _check_distinct(sources: Mapping[Purpose, TokenSource]) -> None:
    for source in sources.values():
        for digest in source.tenants():
            found = sorted(matching_purposes(digest, sources))
            if len(found) > 1:
                names = " and ".join(purpose.variable for purpose in found)
                raise SettingsError(f"{names}: expected different tokens; got the same one twice")
