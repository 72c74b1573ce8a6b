"""The SDK client of an endpoint: address and key, and its errors without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from otel_rt4chart.core.errors import JudgeError, SettingsError

OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"  # a self-hosted server needs no key, but the SDK requires one


def connect(sdk: ModuleType, base_url: str | None, api_key: str | None, **limits: object) -> Any:  # noqa: ANN401 - the client of a package that is loaded late
    """A client; without arguments the SDK reads its own variables, `OPENAI_*`.

    Only addresses other than OpenAI's may do without a key. SettingsError names what is unusable.
    """
    url, key = (base_url or "").strip(), (api_key or "").strip()
    client = _client(sdk, url, key or (_NO_KEY if url else None), limits)
    if not client.api_key.strip():
        client = _client(sdk, url, _NO_KEY, limits)
    if not str(client.base_url).strip("/"):  # a variable that is set and empty
        client = _client(sdk, OPENAI, client.api_key, limits)
    where = _checked(str(client.base_url))
    client.api_key = client.api_key.strip()
    if client.api_key == _NO_KEY and where.hostname == urlsplit(OPENAI).hostname:
        raise SettingsError(
            "the openai judge has no key: set OPENAI_API_KEY, or OPENAI_BASE_URL for an "
            "endpoint that needs none, or use the local judge"
        )
    if not re.fullmatch("[!-~]+", client.api_key):
        raise SettingsError(
            "OPENAI_API_KEY: expected printable ASCII without spaces, got a key with another "
            "character"
        )
    return client


def address_of(base_url: str) -> str:
    """The address without credentials and query; it identifies an endpoint."""
    where = urlsplit(base_url)
    host = where.netloc.rpartition("@")[2]
    return f"{where.scheme}://{host}{where.path.rstrip('/')}"


def secrets_of(base_url: str, api_key: str) -> tuple[str, ...]:
    """The strings that must never be shown: the key, and a password in the address."""
    password = urlsplit(base_url).password or ""
    key = "" if api_key == _NO_KEY else api_key
    return tuple(dict.fromkeys(filter(None, (key, password, unquote(password)))))


def _client(sdk: ModuleType, url: str, key: str | None, limits: dict[str, object]) -> Any:  # noqa: ANN401
    if url:
        _checked(url)
    try:
        return sdk.OpenAI(api_key=key, base_url=url or None, **limits)
    except sdk.OpenAIError:
        if key is not None:
            raise
        return _client(sdk, url, _NO_KEY, limits)
    except Exception as error:  # noqa: BLE001 - the URL parser's errors share no public class
        raise _address_error(url, type(error).__name__) from None


def _checked(url: str) -> SplitResult:
    try:
        where = urlsplit(url)
        host = where.hostname or "%"  # "%" means that the client had to escape the host
        is_usable = where.scheme in ("http", "https") and "%" not in host and where.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isprintable() or " " in url:
        raise _address_error(url)
    return where


def _address_error(url: str, problem: str = "") -> SettingsError:
    shown = re.sub("//.*@", "//***@", url)
    got = repr(shown) if shown else f"one that cannot be used ({problem})"
    return SettingsError(
        f"OPENAI_BASE_URL: expected an address such as http://localhost:8000/v1, got {got}"
    )


_SHOWN = 200
_SHORTEST_SECRET = 5  # a shorter string is no key and would be found in any text


@dataclass(frozen=True, slots=True)
class ErrorMessages:
    """Describes the SDK's errors; `secrets` are masked in the endpoint's own messages."""

    sdk: ModuleType
    timeout_s: float
    secrets: tuple[str, ...]

    def judge_error(self, model: str, error: Exception) -> JudgeError:
        """A JudgeError that describes the error."""
        return JudgeError(f"{model}: {self._words(error)}")

    def _words(self, error: Exception) -> str:
        sdk = self.sdk
        match error:
            case sdk.APITimeoutError():
                return f"no reply within {self.timeout_s:g} s"
            case sdk.AuthenticationError() | sdk.PermissionDeniedError():
                return f"{error.status_code}: the key was refused; check OPENAI_API_KEY"
            case sdk.RateLimitError():
                return "429: too many requests, also after waiting as asked"
            case sdk.APIStatusError():
                return f"{error.status_code}: {self._shown(error.message)}"
            case sdk.APIConnectionError():
                return f"cannot be reached, or broke off: {self._cause(error)}"
            case RecursionError():
                return "the reply is not what the protocol says: it is nested too deeply"
        return f"the reply is not what the protocol says: {self._shown(str(error))}"

    def _cause(self, error: Exception) -> str:
        message = str(error.__cause__ or error)
        # The message may quote our header in an escaped form, in which no secret is recognised.
        return "a header is not valid" if "header" in message.lower() else self._shown(message)

    def _shown(self, message: str) -> str:
        clean = " ".join(message.split())
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                clean = clean.replace(secret, "***")
        return clean[:_SHOWN]
