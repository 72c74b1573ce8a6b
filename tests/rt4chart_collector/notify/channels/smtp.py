"""A real SMTP server for the tests: it keeps the mails that come, or refuses them."""

from __future__ import annotations

import socketserver
from email import message_from_bytes
from email.message import Message as Mail

from tests.local_server import LocalServer


class SmtpServer(LocalServer):
    """Serves while the block runs; `mails` are those that came, `lines` what was said to it."""

    def __init__(self, *, refuses: bool = False) -> None:
        """Where it `refuses`, no receiver is good."""
        self.mails: list[Mail] = []
        self.lines: list[str] = []
        handler = _handler(self, refuses=refuses)
        super().__init__(socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler))


def _handler(kept: SmtpServer, *, refuses: bool) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 test")
            while line := self.rfile.readline():
                word = line.decode().strip()
                kept.lines.append(word)
                command = word.upper()[:4]
                if command == "RCPT" and refuses:
                    self._say(f"550 not {word}")
                elif command == "DATA":
                    self._data()
                elif command == "QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 ok")

        def _data(self) -> None:
            self._say("354 go on")
            body = b""
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                body += line
            kept.mails.append(message_from_bytes(body))
            self._say("250 kept")

        def _say(self, words: str) -> None:
            self.wfile.write(words.encode() + b"\r\n")

    return Handler
