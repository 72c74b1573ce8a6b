"""What went wrong at an endpoint, in words for a person and without its secrets."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from otel_rt4chart.errors import JudgeError

_SHOWN = 200
_SHORTEST_SECRET = 5  # what is shorter is no key, and would be found in any text


@dataclass(frozen=True, slots=True)
class Failures:
    """Names the client's errors; `secrets` are blotted out of what the endpoint says."""

    sdk: ModuleType
    timeout_s: float
    secrets: tuple[str, ...]

    def told(self, model: str, error: Exception) -> JudgeError:
        """The error as a judge's."""
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
        said = str(error.__cause__ or error)
        # It may quote a header of ours, escaped in a way that no secret is found in.
        return "a header is not valid" if "header" in said.lower() else self._shown(said)

    def _shown(self, message: str) -> str:
        clean = " ".join(message.split())
        for secret in self.secrets:
            if len(secret) >= _SHORTEST_SECRET:
                clean = clean.replace(secret, "***")
        return clean[:_SHOWN]
