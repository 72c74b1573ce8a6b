from __future__ import annotations

from collections.abc import Iterator

import pytest

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.llm.endpoint import Endpoint, address_of
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from tests.endpoint_server import EndpointServer, error, text

KEY = "sk-test-0123456789"
PROMPT = Prompt(
    (PromptMessage("system", "Judge."), PromptMessage("user", "A claim.")), "reply", {}, 50, 42
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the developer's environment does not count."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[EndpointServer]:
    """An endpoint that refuses the first request, and quotes the key."""
    with EndpointServer([error(404, f"no model for {KEY}"), text("Yes.")]) as running:
        yield running


@pytest.mark.parametrize("key", ["", " \n"])
def test_without_a_key_or_an_address_the_judge_cannot_start(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the variables and the way without."""
    monkeypatch.setenv("OPENAI_API_KEY", key)

    with pytest.raises(SettingsError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL.*local judge"):
        Endpoint()


def test_an_address_in_the_environment_needs_no_key(
    server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is given as an argument."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    with Endpoint(max_retries=0) as endpoint:
        endpoint.send([PROMPT])

    assert len(server.seen) == 1


def test_a_variable_that_is_set_and_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenTelemetry's rule."""
    monkeypatch.setenv("OPENAI_BASE_URL", "")

    with Endpoint(api_key=KEY) as endpoint:
        assert endpoint.address == "https://api.openai.com/v1"


@pytest.mark.parametrize("is_given", [True, False])
def test_a_key_is_never_shown_wherever_it_comes_from(
    is_given: bool, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Space around it, which no header can carry, is left out."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")

    with Endpoint(max_retries=0, api_key=f" {KEY}\n" if is_given else None) as endpoint:
        first, second = (endpoint.send([PROMPT])[0] for _ in range(2))

    assert isinstance(first, JudgeError)
    assert "no model for ***" in str(first)
    assert not isinstance(second, JudgeError)
    assert {one.headers["authorization"] for one in server.seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("key", ["sk-secret\u2019", "sk secret", "sk-\x00secret"])
def test_a_key_that_no_header_can_carry_is_refused_in_words(key: str) -> None:
    """Before anything is sent, and without showing it."""
    with pytest.raises(SettingsError, match="OPENAI_API_KEY: expected printable ASCII") as raised:
        Endpoint(api_key=key)

    assert "secret" not in str(raised.value)


def test_a_header_that_cannot_be_sent_is_not_quoted(
    server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's words about it would hold what is in it."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret\n")

    with Endpoint(base_url=server.base_url, max_retries=0) as endpoint:
        (told,) = endpoint.send([PROMPT])

    assert "a header is not valid" in str(told)
    assert "secret" not in str(told)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:hunter2@[::1/v1",
        "http://user:hunter2@host:99999/v1",
        "http://user:hunter/2@host:port/v1",
        "localhost:8000/v1",
        "ftp://host/v1",
        "http:///v1",
        "http://host/v\n1",
        "http://my host/v1",
    ],
)
@pytest.mark.parametrize("is_given", [True, False])
def test_an_address_that_is_none_is_refused_in_words(
    url: str, is_given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was expected is told, a password is not."""
    monkeypatch.setenv("OPENAI_BASE_URL", url)

    with pytest.raises(SettingsError, match="OPENAI_BASE_URL: expected an address") as raised:
        Endpoint(base_url=url if is_given else None, api_key="k")

    assert "hunter" not in str(raised.value)


def test_an_address_is_told_without_credentials() -> None:
    """It stands in the cache's keys."""
    assert address_of("http://user:pw@host:81/v1/?key=x") == "http://host:81/v1"


@pytest.mark.parametrize(
    "address",
    [
        "ftp://user:hunter22@host/v1",
        "user:hunter22@host/v1",
        "https//user:hunter22@host/v1",
        "ftp://host/v1?key=hunter22",
        "host?key=hunter22\n&a=b",
    ],
)
def test_an_address_that_cannot_be_used_is_shown_without_its_secrets(address: str) -> None:
    """Whether or not it is one at all."""
    with pytest.raises(SettingsError, match="expected an address such as") as refused:
        Endpoint(base_url=address, api_key=KEY)

    assert "hunter22" not in str(refused.value)
    assert "***" in str(refused.value)
