"""The guard: what each token opens, and how wrong ones are limited."""

from __future__ import annotations

import pytest

from rt4chart_collector.core.token_guard import (
    CLIENT_GUESSES,
    FREE_GUESSES,
    MAX_CLIENTS,
    RETRY_S,
    TokenFault,
    TokenGuard,
    TokenRefusedError,
    network_of,
)
from rt4chart_collector.core.tokens import Purpose, TokenSource
from tests.rt4chart_collector.core.test_tokens import SetClock

HOME, OFFICE = "192.0.2.1", "192.0.2.2"
SOURCES = {purpose: TokenSource(purpose, f"{purpose}-t0ken") for purpose in Purpose}


def answer(
    guard: TokenGuard, given: str, client: str = HOME, purpose: Purpose = Purpose.INGEST
) -> str:
    """ "" for a token that opens, else why it does not."""
    try:
        guard.check(purpose, given, client)
    except TokenRefusedError as refused:
        return str(refused.fault)
    return ""


@pytest.mark.parametrize("purpose", Purpose)
def test_token_opens_its_own_purpose_alone(purpose: Purpose) -> None:
    """That of another is told so, and is no guess."""
    guard = TokenGuard([SOURCES])

    found = {one: answer(guard, f"{one}-t0ken", purpose=purpose) for one in Purpose}

    expected = dict.fromkeys(Purpose, str(TokenFault.OTHER_PURPOSE))
    assert found == {**expected, purpose: ""}
    assert guard.refusals()[purpose, "other_purpose"] == 3


def test_guesses_of_one_client_are_slowed_down_then_not_compared() -> None:
    """The right token passes at once at first, and after a real attack within seconds."""
    clock = SetClock()
    guard = TokenGuard([SOURCES], clock=clock)

    found = [answer(guard, f"guess {number}") for number in range(int(CLIENT_GUESSES) - 1)]
    early = answer(guard, "ingest-t0ken", OFFICE)
    last = answer(guard, "last guess")
    blocked = answer(guard, "ingest-t0ken")
    clock.now += RETRY_S
    later = answer(guard, "ingest-t0ken")

    free = int(FREE_GUESSES)
    assert found == ["wrong"] * free + ["throttled"] * (len(found) - free)
    assert (early, last, blocked, later) == ("", "throttled", "throttled", "")


def test_a_generated_token_passes_at_once_beside_a_guesser() -> None:
    """From its address, while the guessing goes on, however fast; other texts still do not."""
    token = "b6c0f3a91d2e47588f6a0b1c2d3e4f5061728394a5b6c7d8"  # noqa: S105 - of this test
    guard = TokenGuard(
        [{**SOURCES, Purpose.INGEST: TokenSource(Purpose.INGEST, token)}], clock=SetClock()
    )
    for number in range(3000):
        answer(guard, f"guess {number}")
        answer(guard, f"{number:048x}"[::-1])

    assert answer(guard, token) == ""
    assert answer(guard, token[::-1]) == "throttled"
    assert answer(guard, "admin-t0ken", purpose=Purpose.ADMIN) == "throttled"


def test_neighbours_of_a_guesser_stay_in() -> None:
    """From an address with a right token within the hour, right tokens for that pass."""
    clock = SetClock()
    guard = TokenGuard([SOURCES], clock=clock)
    first = answer(guard, "ingest-t0ken")
    for number in range(1000):
        answer(guard, f"guess {number}")

    assert [first, answer(guard, "ingest-t0ken")] == ["", ""]
    # The neighbour's token does not let the guesser try those of other purposes.
    assert answer(guard, "admin-t0ken", purpose=Purpose.ADMIN) == "throttled"


def test_many_clients_share_a_limit_and_known_ones_stay_in() -> None:
    """Memory is bounded; who guesses forgets nobody's right token."""
    clock = SetClock()
    guard = TokenGuard([SOURCES], clock=clock)
    answer(guard, "ingest-t0ken", OFFICE)
    faults = [
        answer(guard, "guess", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
        for number in range(2 * MAX_CLIENTS)
    ]

    assert faults[:10] + faults[-10:] == ["wrong"] * 10 + ["throttled"] * 10
    assert answer(guard, "ingest-t0ken", OFFICE) == ""
    assert answer(guard, "ingest-t0ken", "203.0.113.9") == "throttled"
    clock.now += RETRY_S
    assert answer(guard, "ingest-t0ken", "203.0.113.9") == ""


def test_nothing_and_closed_purposes_are_no_guesses() -> None:
    """Each has its reason; a purpose without a token is open unless it is closed."""
    guard = TokenGuard([{Purpose.INGEST: SOURCES[Purpose.INGEST]}], closed={Purpose.READ})

    assert answer(guard, "") == "missing"
    assert answer(guard, "ingest-t0ken", purpose=Purpose.READ) == "closed"
    assert answer(guard, "", purpose=Purpose.CONSOLE) == ""
    with pytest.raises(TokenRefusedError, match="set RT4CHART_READ_TOKEN on the service"):
        guard.check(Purpose.READ, "", HOME)


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1%eth0", "2001:db8::/64"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_client_is_an_address_or_a_network(client: str, expected: str) -> None:
    """A host of IPv6 has a whole /64 to itself."""
    assert network_of(client) == expected
