"""The certificate that the servers show: its files, and whether clients will accept its dates."""

from __future__ import annotations

import logging
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX
from rt4chart_collector.core.times import utc_time

# A certificate is renewed weeks before its end; one that ends sooner was probably forgotten.
SOON_S = 14 * 86_400
# Of OpenSSL's results of a verification (man openssl-verification-options).
EXPIRED, NOT_YET_VALID = 10, 9

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tls:
    """The files of a certificate chain and of its private key, in PEM."""

    cert: str
    key: str

    def read(self) -> tuple[bytes, bytes]:
        """The key and the chain, in the order that gRPC expects."""
        return Path(self.key).read_bytes(), Path(self.cert).read_bytes()


def load_tls(cert: str, key: str) -> Tls | None:
    """The TLS files; None if neither is set, SettingsError if they cannot be used."""
    if not (cert or key):
        return None
    try:
        # With an empty password; otherwise OpenSSL asks for one at the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except OSError as error:
        raise SettingsError(
            f"{PREFIX}TLS_CERT and {PREFIX}TLS_KEY: expected a certificate chain and its private "
            f"key without a password, in PEM; got {cert!r} and {key!r}: {error}"
        ) from error
    return Tls(cert, key)


def checked_tls(cert: str, key: str) -> Tls | None:
    """The same, with a line in the log if clients refuse the certificate by its dates."""
    tls = load_tls(cert, key)
    if doubt := date_doubt(tls):
        log.warning("%s", doubt)
    return tls


def date_doubt(tls: Tls | None) -> str:
    """Why clients refuse the certificate by its dates, now or soon; empty for no reason known.

    Found by a handshake in memory with a client that trusts this very certificate.
    """
    if tls is None:
        return ""
    try:
        ends_s = _handshake(tls)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code == EXPIRED:
            return f"the certificate in {tls.cert} has expired: clients that verify it send nothing"
        if error.verify_code == NOT_YET_VALID:
            return f"the certificate in {tls.cert} is not valid yet: its time begins later"
        return ""
    except (ssl.SSLError, ValueError):
        return ""
    if ends_s - time.time() < SOON_S:
        return f"the certificate in {tls.cert} expires at {utc_time(int(ends_s * 1e9))}: renew it"
    return ""


def _handshake(tls: Tls) -> float:
    """The end of the certificate's time, in seconds since the epoch.

    SSLError if the client refuses it, ValueError if the handshake did not end.
    """
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(tls.cert, tls.key, password="")
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asking.check_hostname = False
    asking.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    asking.load_verify_locations(tls.cert)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = asking.wrap_bio(to_client, to_server)
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    # Each waits for the other twice at most.
    for side in (client, server) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    shown = client.getpeercert() or {}
    return float(ssl.cert_time_to_seconds(str(shown.get("notAfter", ""))))
