"""E-mail and every other service that apprise knows, by its addresses (appriseit.com)."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.message import Message
from rt4chart_collector.sending.sender import Sender
from rt4chart_collector.sending.text import line, secrets_in

if TYPE_CHECKING:
    import apprise

_TYPES = {"critical": "failure", "error": "failure", "warning": "warning", "info": "info"}
_MAIL = ("mailto", "mailtos")
# In chats these are mentions, links and code; a mail is plain text, and apprise makes HTML of it.
_HARMLESS = str.maketrans("@<>[]`", "＠‹›［］'")
_TITLE, _BODY = 250, 8_000
_SECONDS = 20
# What it logs quotes addresses; what counts is in its result.
logging.getLogger("apprise").addHandler(logging.NullHandler())
logging.getLogger("apprise").propagate = False


class ByApprise:
    """One address; who is told knows of no threads, so an acknowledgement is not sent."""

    wants = frozenset(What) - {What.ACKNOWLEDGED}

    def __init__(self, service: apprise.Apprise, url: str, name: str) -> None:
        """A service with this one address; `targets_of` makes them."""
        self.name = name
        self._service = service
        self._is_mail = url.partition("://")[0].lower() in _MAIL
        self._sender = Sender(name, secrets_in(url))

    def send(self, message: Message) -> str:
        """Hand it to apprise, which catches whatever its services raise."""
        import apprise

        title, body = line(message.headline, _TITLE), message.body[:_BODY]
        if not self._is_mail:
            title, body = title.translate(_HARMLESS), body.translate(_HARMLESS)
        if message.is_over:
            kind = apprise.NotifyType.SUCCESS
        else:
            kind = apprise.NotifyType(_TYPES.get(message.alert.severity, "info"))
        with self._service.notify(
            body=body,
            title=title,
            notify_type=kind,
            body_format=apprise.NotifyFormat.TEXT,
            timeout=_SECONDS,
        ) as result:
            if not result:
                said = " ".join(one.message for one in result.logs()) or "it does not say why"
                raise self._sender.failure(f"apprise could not send: {said}")
        return ""


def _added(service: apprise.Apprise, url: str) -> bool:
    """False also for a mail to nobody: apprise leaves out recipients without a domain."""
    return service.add(url) and all(getattr(one, "targets", True) for one in service)


def targets_of(urls: Sequence[str]) -> list[ByApprise]:
    """A target for each address, named by its scheme, the second one of the same mailto-2.

    Raises SettingsError where apprise is not installed, or does not know an address.
    """
    try:
        import apprise
    except ImportError:
        raise SettingsError(
            "RT4CHART_ALERTS_APPRISE needs apprise: pip install 'otel-rt4chart[alerts]'"
        ) from None
    found: list[ByApprise] = []
    names: list[str] = []
    for number, url in enumerate(urls, 1):
        scheme = url.partition("://")[0].lower()
        service = apprise.Apprise()
        if not re.fullmatch(r"[a-z0-9]+", scheme) or not _added(service, url):
            raise SettingsError(
                "RT4CHART_ALERTS_APPRISE: expected addresses that apprise knows, with spaces "
                f"between them; number {number} is none (hidden). A mail's are "
                "mailtos://USER:PASSWORD@HOST?from=NAME@DOMAIN&to=NAME@DOMAIN"
            )
        names.append(scheme)
        again = names.count(scheme)
        found.append(ByApprise(service, url, scheme if again == 1 else f"{scheme}-{again}"))
    return found
