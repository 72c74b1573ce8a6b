"""E-mail through apprise, at a real SMTP server; other services at a real HTTP server."""

from __future__ import annotations

import re
import subprocess
import sys
from email.header import decode_header, make_header
from email.message import Message as Mail
from pathlib import Path
from threading import Event

import pytest

from otel_rt4chart.core.errors import NotifyError, SettingsError
from rt4chart_collector.notify.channels.apprise import AppriseChannel, build_apprise_channels
from rt4chart_collector.notify.channels.message import MessageKind
from tests.rt4chart_collector.notify.channels.made import EVIL, told
from tests.rt4chart_collector.notify.channels.smtp import SmtpServer
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer

apprise = pytest.importorskip("apprise", reason="no apprise: pip install 'otel-rt4chart[alerts]'")
# Apprise loads all of its services with the first, one of which asks for a module of old.
pytestmark = pytest.mark.filterwarnings("ignore:.*imghdr.*:DeprecationWarning")
SECRET = "hush-hush-1"  # noqa: S105 - no password


def mail_url(server: SmtpServer) -> str:
    """A mail without TLS and without signing in."""
    return f"mailto://{server.place}?from=rt4chart@example.com&to=oncall@example.com&mode=insecure"


def text_of(mail: Mail) -> str:
    """All of its parts, decoded."""
    parts = [part for part in mail.walk() if not part.is_multipart()]
    return "\n".join(bytes(part.get_payload(decode=True)).decode() for part in parts)


def test_a_mail_arrives() -> None:
    """Its subject is the first line, its text the facts."""
    with SmtpServer() as server:
        (target,) = build_apprise_channels([mail_url(server)])
        assert target.name == "mailto"
        target.send(told())

    (mail,) = server.mails
    assert str(make_header(decode_header(mail["Subject"]))) == (
        "critical: Answers of shop billing got worse"
    )
    assert "oncall@example.com" in mail["To"]
    assert "6.1% (5.5% to 6.7%)" in text_of(mail)


@pytest.mark.parametrize("form", ["text", "html"])
def test_a_mail_has_no_header_or_tag_of_a_strangers(form: str) -> None:
    """A line feed in a title begins no header; where it is HTML a tag is escaped."""
    with SmtpServer() as server:
        build_apprise_channels([f"{mail_url(server)}&format={form}"])[0].send(told(EVIL))

    (mail,) = server.mails
    assert mail["Bcc"] is None
    assert [line[8:] for line in server.lines if line.upper().startswith("RCPT")] == [
        "<oncall@example.com>"
    ]
    pages = [part for part in mail.walk() if part.get_content_type() == "text/html"]
    assert bool(pages) == (form == "html")
    assert all("<script" not in text_of(page) for page in pages)


def test_services_that_never_end_silence_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has one thread of its own, which is waited for no longer than the limit."""
    released = Event()

    def answer(one: Came) -> Reply:
        if one.path == "/works":
            return Reply({})
        released.wait(60)
        return Reply({})

    with ReplyServer(answer) as server:
        urls = [f"json://{server.place}/{number}" for number in range(12)]
        *hanging, working = build_apprise_channels([*urls, f"json://{server.place}/works"])
        monkeypatch.setattr(AppriseChannel, "timeout_s", 0.2)
        errors = []
        for channel in (*hanging, hanging[0]):
            with pytest.raises(NotifyError) as raised:
                channel.send(told())
            errors.append(str(raised.value))
        monkeypatch.undo()
        working.send(told())
        asked = [one.path for one in server.came]
        released.set()

    assert "did not end within 0.2 s" in errors[0]
    assert "has not ended yet" in errors[-1]
    assert sorted(asked) == sorted(["/works", *(f"/{number}" for number in range(12))])


def test_a_mail_that_is_refused_is_told() -> None:
    """What apprise says of it, without a secret of its address."""
    with SmtpServer(refuses=True) as server:
        (target,) = build_apprise_channels([mail_url(server)])
        with pytest.raises(NotifyError, match="mailto: apprise could not send") as raised:
            target.send(told())

    assert "oncall@example.com" not in str(raised.value)


def test_chats_read_no_mention_or_link_of_a_strangers() -> None:
    """By a JSON webhook of apprise's, which stands for them."""
    with ReplyServer(lambda _: Reply(None)) as server:
        (target,) = build_apprise_channels(
            [server.url.replace("http://", "json://") + f"/{SECRET}"]
        )
        target.send(told(EVIL, MessageKind.REMINDED))
        target.send(told(what=MessageKind.RESOLVED))

    evil, over = (one.body for one in server.came)
    assert not set("@<>[]`") & set(evil["title"] + evil["message"])
    assert (evil["type"], over["type"]) == ("failure", "success")


def test_a_refusal_shows_no_secret_of_the_address() -> None:
    """Paths and parameters of it are secrets with many services."""
    with ReplyServer(lambda one: Reply({"error": one.path}, 403)) as server:
        (target,) = build_apprise_channels(
            [server.url.replace("http://", "json://") + f"/{SECRET}"]
        )
        with pytest.raises(NotifyError, match="json: apprise could not send") as raised:
            target.send(told())

    assert SECRET not in str(raised.value)


def test_targets_of_one_scheme_have_names_of_their_own() -> None:
    """So that each is told by itself, and can be routed to."""
    found = build_apprise_channels(
        ["json://localhost/a", "mailto://localhost?to=a@b.example", "json://127.0.0.1"]
    )

    assert [one.name for one in found] == ["json", "mailto", "json-2"]
    assert MessageKind.ACKNOWLEDGED not in found[0].wants


@pytest.mark.parametrize(
    "url",
    [
        "json://hooks.example/x",
        "xml://user:password@localhost.example.com",
        "mailto://user:password@smtp.example.com?from=a@b.example&to=a@b.example",
        "mailtos://user:password@smtp.example.com?from=a@b.example&mode=insecure",
        "rsyslog://logs.example",
    ],
)
def test_an_address_without_tls_must_be_on_this_machine(url: str) -> None:
    """Otherwise passwords and alerts could be read on the network."""
    with pytest.raises(SettingsError, match="number 2 has none") as raised:
        build_apprise_channels(["jsons://hooks.example/x", url])

    assert "example" not in str(raised.value)


def test_tls_that_begins_in_the_connection_is_tls() -> None:
    """STARTTLS on the port of plain mail."""
    url = "mailto://user:password@smtp.example.com?from=a@b.example&mode=starttls"

    assert build_apprise_channels([url])[0].name == "mailto"


@pytest.mark.parametrize("url", ["nothing://x", "mailto://", "\x00://x"])
def test_an_address_that_apprise_does_not_know_is_not_quoted(url: str) -> None:
    """Which of them, and the variable."""
    with pytest.raises(SettingsError, match=r"ALERTS_APPRISE: .* number 2 is") as raised:
        build_apprise_channels(
            ["json://localhost", f"{url}{SECRET}" if url != "mailto://" else url]
        )

    assert SECRET not in str(raised.value)


def test_without_apprise_it_is_said_what_to_install() -> None:
    """Everything else works without it."""
    code = (
        "import sys; sys.modules['apprise'] = None\n"
        "from otel_rt4chart.core.settings import load\n"
        "from rt4chart_collector.core.settings import AlertSettings\n"
        "from rt4chart_collector.notify.registry import build_targets\n"
        "from otel_rt4chart.core.errors import SettingsError\n"
        "build_targets(load(AlertSettings, environ={'RT4CHART_ALERTS_PAGERDUTY': 'k'}))\n"
        "try: build_targets(load(AlertSettings, environ={'RT4CHART_ALERTS_APPRISE': 'json://x'}))\n"
        "except SettingsError as error: print(error)"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "pip install 'otel-rt4chart[alerts]'" in out.stdout


def test_the_mail_of_the_documentation_goes_where_it_says() -> None:
    """Its address is apprise's: sender, recipients, host."""
    text = (Path(__file__).parents[4] / "docs/operate/alerts.md").read_text()
    (url,) = re.findall(r"RT4CHART_ALERTS_APPRISE='(mailtos://[^']*)'", text)
    service = apprise.Apprise()

    assert build_apprise_channels([url])[0].name == "mailtos"
    assert service.add(f"{url},second@example.com")
    (mail,) = service
    assert {address for _, address in mail.targets} == {
        *("oncall@example.com", "second@example.com")
    }
    assert mail.from_addr[1] == "rt4chart@example.com"
    assert mail.smtp_host == "smtp.example.com"
    with pytest.raises(SettingsError, match="mailtos://USER:PASSWORD@HOST"):
        build_apprise_channels(["mailtos://user:password@smtp.example.com?to=oncall"])
