"""E-mail and every other service that apprise knows, by its addresses (appriseit.com)."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import TYPE_CHECKING, Any

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.core.urls import is_loopback
from rt4chart_collector.notify.channels.http_client import HttpClient, secrets_in_url
from rt4chart_collector.notify.channels.message import ALERT_KINDS, Message, MessageKind
from rt4chart_collector.notify.channels.own_thread import start_in_thread

if TYPE_CHECKING:
    import apprise

_TYPES = {"critical": "failure", "error": "failure", "warning": "warning", "info": "info"}
_MAIL = ("mailto", "mailtos")
# In chats these are mentions, links and code; a mail is plain text, and apprise makes HTML of it.
_HARMLESS = str.maketrans("@<>[]`", "＠‹›［］'")
_TITLE, _BODY = 250, 8_000
# Apprise logs addresses, which are secrets; its result says what went wrong.
logging.getLogger("apprise").addHandler(logging.NullHandler())
logging.getLogger("apprise").propagate = False


class AppriseChannel:
    """One apprise address. It has no threads, so acknowledgements are not sent."""

    wants = ALERT_KINDS - {MessageKind.ACKNOWLEDGED}
    timeout_s = 20.0

    def __init__(self, service: apprise.Apprise, url: str, name: str) -> None:
        """`service` has this one address; `build_apprise_channels` makes it."""
        self.name = name
        self._service = service
        self._last: Future[str] | None = None
        self._is_mail = url.partition("://")[0].lower() in _MAIL
        self._errors = HttpClient(name, secrets_in_url(url))

    def send(self, message: Message) -> str:
        """Hand it to apprise, which catches every error of its services."""
        import apprise

        title, body = one_line(message.headline, _TITLE), message.body[:_BODY]
        if not self._is_mail:
            title, body = title.translate(_HARMLESS), body.translate(_HARMLESS)
        if message.is_over:
            kind = apprise.NotifyType.SUCCESS
        else:
            kind = apprise.NotifyType(_TYPES.get(message.severity, "info"))
        if reason := self._reason_within_time(title, body, kind):
            raise self._errors.failure(f"apprise could not send: {reason}")
        return ""

    def _reason_within_time(self, title: str, body: str, kind: apprise.NotifyType) -> str:
        """Why the message was not sent, empty if it was.

        Apprise's own limit of time abandons a service in a pool of threads that all of a process's
        services share: a few that never end would silence the others. Here, one that does not end
        keeps its own thread, and gets no other one before.
        """
        if self._last is not None and not self._last.done():
            return "the message before has not ended yet"
        work = partial(self._reason, title, body, kind)
        self._last = start_in_thread(work, f"apprise {self.name}")
        if not wait([self._last], self.timeout_s).done:
            return f"it did not end within {self.timeout_s:g} s"
        return self._last.result()

    def _reason(self, title: str, body: str, kind: apprise.NotifyType) -> str:
        import apprise

        with self._service.notify(
            body=body, title=title, notify_type=kind, body_format=apprise.NotifyFormat.TEXT
        ) as result:
            logs = " ".join(entry.message for entry in result.logs())
            return "" if result else logs or "it gives no reason"


def build_apprise_channels(urls: Sequence[str]) -> list[AppriseChannel]:
    """A channel for each address, named by its scheme; the second mailto is mailto-2.

    Raises SettingsError where apprise is not installed or does not know an address, and for one
    that is without TLS and on another machine.
    """
    try:
        import apprise
    except ImportError:
        raise SettingsError(
            "RT4CHART_ALERTS_APPRISE needs apprise: pip install 'otel-rt4chart[alerts]'"
        ) from None
    found: list[AppriseChannel] = []
    schemes: list[str] = []
    for number, url in enumerate(urls, 1):
        scheme = url.partition("://")[0].lower()
        # Without its limit of time it sends in the thread that calls it.
        service = apprise.Apprise(asset=apprise.AppriseAsset(service_timeout=0))
        if not re.fullmatch(r"[a-z0-9]+", scheme) or not _is_added(service, url):
            raise SettingsError(
                "RT4CHART_ALERTS_APPRISE: expected addresses that apprise knows, with spaces "
                f"between them; number {number} is not one (hidden). An e-mail address is "
                "mailtos://USER:PASSWORD@HOST?from=NAME@DOMAIN&to=NAME@DOMAIN"
            )
        if not all(_is_secure(receiver, scheme) for receiver in service):
            raise SettingsError(
                "RT4CHART_ALERTS_APPRISE: expected addresses with TLS, such as jsons:// or "
                f"mailtos://, or on this machine; number {number} has none (hidden)"
            )
        schemes.append(scheme)
        count = schemes.count(scheme)
        found.append(AppriseChannel(service, url, scheme if count == 1 else f"{scheme}-{count}"))
    return found


def _is_secure(receiver: Any, scheme: str) -> bool:  # noqa: ANN401 - apprise declares no such type
    """False where apprise would send to another machine without TLS."""
    plain, host = receiver.protocol or (), getattr(receiver, "host", None)
    is_plain = scheme in ((plain,) if isinstance(plain, str) else plain)
    if scheme in _MAIL:
        is_plain = receiver.secure_mode == "insecure"
    return not (is_plain and host) or is_loopback(host)


def _is_added(service: apprise.Apprise, url: str) -> bool:
    """False also for mail without a recipient: apprise drops recipients without a domain."""
    return service.add(url) and all(getattr(receiver, "targets", True) for receiver in service)
