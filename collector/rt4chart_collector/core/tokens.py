"""Access tokens by purpose, from a variable or from a file that is read again when it changes."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from hmac import compare_digest
from pathlib import Path
from threading import Lock

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import PREFIX
from otel_rt4chart.core.settings_parsers import bearer_token
from otel_rt4chart.core.tenants import EXPECTED_TENANT, is_tenant

MAX_TOKENS, MAX_FILE_BYTES = 256, 64 * 1024
# A file that is being rewritten may be empty for a moment; a file that stays away opens nothing.
GRACE_S = 60.0
# A file that changed just before it was read may have changed again within one tick of its clock.
UNSETTLED_S = 2.0
EXPECTED_FILE = (
    f"expected 1 to {MAX_TOKENS} tokens of visible ASCII characters, one a line, each alone or "
    "after tenant=NAME and a space"
)

# Before the token that is bound to a tenant: the tenant's name follows.
OF_TENANT = "tenant="

# A token of so many characters may be as hard to guess as one of 128 bits.
GENERATED_LENGTH = 32
HEXADECIMAL = re.compile(rf"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F-]{{{GENERATED_LENGTH},}}")

log = logging.getLogger(__name__)


class Purpose(StrEnum):
    """What a token is for; none opens what is another's."""

    INGEST = "ingest"  # send spans
    READ = "read"  # metrics, status, and rates for applications
    CONSOLE = "console"  # people sign in, and see everything
    ADMIN = "admin"  # change state in the console

    @property
    def variable(self) -> str:
        """The variable that holds the token; with `_FILE` appended, that of its file."""
        return f"{PREFIX}{self.upper()}_TOKEN"


def is_generated(token: str) -> bool:
    """True for a text that looks drawn by chance, of about 120 bits or more: nobody guesses it.

    Hexadecimal digits, as `openssl rand -hex` and UUIDs have, or letters of both cases and digits,
    as base64 has: a phrase of words is neither, however long.
    """
    if HEXADECIMAL.fullmatch(token):
        return len(set(token.lower()) - {"-"}) >= 10
    is_mixed = all(any(test(char) for char in token) for test in (str.isupper, str.islower))
    return (
        len(token) >= GENERATED_LENGTH
        and is_mixed
        and any(map(str.isdigit, token))
        and len(set(token)) >= 16
    )


def token_digest(token: str) -> bytes:
    """What is kept and compared of a token: of one length, whatever the token's."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


class TokenSource:
    """The tokens of one purpose; any thread may ask."""

    def __init__(
        self,
        purpose: Purpose,
        token: str = "",
        file: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`file` has one token a line, all of them valid; SettingsError if it cannot be used."""
        self._variable = f"{purpose.variable}_FILE"
        self._path = Path(file) if file else None
        self._purpose = purpose
        self._tenants: Mapping[bytes, str] = {token_digest(token): ""} if token else {}
        self._clock = clock
        self._lock = Lock()
        self._seen: tuple[int, ...] | None = None
        self._failing_since: float | None = None
        if self._path is not None:
            try:
                self._read(self._path)
            except (OSError, ValueError) as error:
                raise SettingsError(
                    f"{self._variable}: {EXPECTED_FILE}; got {file!r}: {_reason(error)}"
                ) from None

    @property
    def is_set(self) -> bool:
        """True if the purpose needs a token, also while its file is away."""
        return self._path is not None or bool(self._tenants)

    def tenants(self) -> Mapping[bytes, str]:
        """The digests of the tokens that are valid now, each with its tenant; "" is any."""
        if self._path is None:
            return self._tenants
        with self._lock:
            try:
                self._read(self._path)
                self._failing_since = None
            except (OSError, ValueError) as error:
                self._note_failure(_reason(error))
            return self._tenants

    def _read(self, path: Path) -> None:
        """Read the file if it is another one than before, or has changed."""
        # `stat` follows links: Kubernetes exchanges a secret by pointing a link elsewhere.
        status = os.stat(path)
        # Opening a pipe would wait for its writer; it cannot be read again either.
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("no regular file")
        found = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        if found == self._seen:
            return
        tenants = _tenants_in(path)
        if self._purpose is Purpose.ADMIN and any(tenants.values()):
            raise ValueError("the token of a tenant: those who change state see all tenants")
        if tenants != self._tenants and self._seen is not None:
            log.warning("%s: tokens were read again: %d are valid", self._variable, len(tenants))
        self._tenants = tenants
        self._seen = found if time.time() - status.st_mtime > UNSETTLED_S else (0,)

    def _note_failure(self, reason: str) -> None:
        now = self._clock()
        if self._failing_since is None:
            self._failing_since = now
            log.error(
                "%s: %s; got %s; the tokens that were read before open for %.0f more seconds",
                self._variable,
                EXPECTED_FILE,
                reason,
                GRACE_S,
            )
        if now - self._failing_since >= GRACE_S:
            self._tenants = {}
        self._seen = (0,)


def token_sources(section: object) -> dict[Purpose, TokenSource]:
    """The sources whose settings this section declares."""
    return {
        purpose: TokenSource(
            purpose, getattr(section, f"{purpose}_token"), getattr(section, f"{purpose}_token_file")
        )
        for purpose in Purpose
        if hasattr(section, f"{purpose}_token")
    }


def matching_purposes(digest: bytes, sources: Mapping[Purpose, TokenSource]) -> dict[Purpose, str]:
    """The purposes with this token, each with the token's tenant: in constant time."""
    return {
        purpose: tenant
        for purpose, source in sources.items()
        for known, tenant in source.tenants().items()
        if compare_digest(digest, known)
    }


def _tenants_in(path: Path) -> Mapping[bytes, str]:
    """The tenants of the tokens in a file, by the tokens' digests."""
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    lines = list(filter(None, map(str.split, data.decode("ascii").splitlines())))
    if len(data) > MAX_FILE_BYTES or not 1 <= len(lines) <= MAX_TOKENS:
        raise ValueError(f"{len(lines)} tokens in {len(data)} bytes")
    found: dict[bytes, str] = {}
    for number, words in enumerate(lines, 1):
        *before, token = words
        named = before[0] if before else OF_TENANT
        is_line = len(before) < 2 and named.startswith(OF_TENANT)
        # A line without its token is no token either.
        if not is_line or token.startswith(OF_TENANT) or not bearer_token.is_valid(token):
            raise ValueError(f"another text as token {number}")
        tenant = named.removeprefix(OF_TENANT)
        if before and not is_tenant(tenant):
            raise ValueError(f"another name than {EXPECTED_TENANT} as the tenant of token {number}")
        if found.setdefault(token_digest(token), tenant) != tenant:
            raise ValueError(f"token {number} once more, with another tenant")
    return found


def _reason(error: Exception) -> str:
    """Why a file cannot be used, without a word of its content."""
    if isinstance(error, OSError):
        return str(error.strerror)
    return "other characters" if isinstance(error, UnicodeDecodeError) else str(error)
