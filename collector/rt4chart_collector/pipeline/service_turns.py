"""Which services take turns of their own at the workers; all others share one turn."""

from __future__ import annotations

from collections import OrderedDict

AT_ONCE = 16
MOST = 64
PROVEN_S = 60.0
FORGOTTEN_S = 3600.0
REMEMBERED = 4096
# The turn of all services that have none of their own; no service has this name.
SHARED = "\0shared"


class ServiceTurns:
    """The turns of services by their names, which clients choose and can make up.

    The first names get a turn at once. A later one gets it when it is seen again after a minute, so
    that names that are used once share a turn, whatever their number. A name that was not seen for
    an hour gives its turn to the next one. The time in seconds is an argument.
    """

    def __init__(self) -> None:
        """No service has a turn."""
        # The time of the last trace of each, the name unseen for longest first.
        self._own: OrderedDict[str, float] = OrderedDict()
        # The time of the first trace of names without a turn.
        self._others: OrderedDict[str, float] = OrderedDict()

    def turn_of(self, service: str, now: float) -> str:
        """The turn for a trace of this service that arrives now."""
        if service in self._own or self._earns(service, now):
            self._own[service] = now
            self._own.move_to_end(service)
            return service
        return SHARED

    def _earns(self, service: str, now: float) -> bool:
        if len(self._own) < AT_ONCE:
            return True
        first = self._others.setdefault(service, now)
        self._others.move_to_end(service)
        if len(self._others) > REMEMBERED:
            self._others.popitem(last=False)
        if now - first < PROVEN_S or not self._has_place(now):
            return False
        del self._others[service]
        return True

    def _has_place(self, now: float) -> bool:
        if len(self._own) < MOST:
            return True
        if now - next(iter(self._own.values())) < FORGOTTEN_S:
            return False
        self._own.popitem(last=False)
        return True
