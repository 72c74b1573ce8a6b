"""The versions that there are, and the rates of one of them by route."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.rates.version_rates import rates_of_versions, versions_in
from tests.rt4chart_collector.comparison.releases import BAD, GOOD, HOUR, NEW, OLD, answered
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER

SCOPE = QueryScope(NOON - 4 * HOUR, NOON + HOUR, VERIFIER)


def test_versions_are_listed_from_the_newest(any_client: Client) -> None:
    """By their first answer; what is outside the scope is not there."""
    insert_verdicts(
        any_client,
        [
            answered(1, OLD, start_ns=NOON - 3 * HOUR),
            answered(2, OLD),
            answered(3, NEW, start_ns=NOON - HOUR),
            answered(4, "", start_ns=NOON - 2 * HOUR),
            answered(5, "1.0", start_ns=NOON - 9 * HOUR),
            answered(6, "9.9", route="other"),
        ],
    )

    found = versions_in(any_client, VersionKind.RELEASE, SCOPE.of_route("shop", "support"))

    assert [(one.version, one.answers) for one in found] == [(NEW, 1), ("", 1), (OLD, 2)]
    assert versions_in(any_client, VersionKind.TIME, SCOPE) == []


def test_the_last_versions_are_listed_with_their_number(any_client: Client) -> None:
    """Those that are asked for are listed too."""
    insert_verdicts(
        any_client,
        [answered(at, f"b{at:03}", start_ns=NOON - HOUR + 300 * SECOND * at) for at in range(9)],
    )

    found = versions_in(any_client, VersionKind.RELEASE, SCOPE, limit=2)
    asked = versions_in(any_client, VersionKind.RELEASE, SCOPE, limit=2, also=["b001", "none"])

    assert [one.version for one in found] == ["b008", "b007"]
    assert {one.number for one in found} == {9}
    assert [one.version for one in asked][-1] == "b001"
    assert len(asked) <= 4


@pytest.mark.parametrize(
    ("kind", "fact"),
    [
        (VersionKind.RELEASE, "release"),
        (VersionKind.PROMPT_VERSION, "prompt_version"),
        (VersionKind.MODEL, "model"),
        (VersionKind.ENVIRONMENT, "environment"),
    ],
)
def test_a_version_has_its_answers_alone(any_client: Client, kind: VersionKind, fact: str) -> None:
    """By route; the empty version is one too."""
    plain = [answered(1, ""), answered(2, "", BAD), answered(3, "", BAD, route="pay")]
    values = ["a", "", "a"]
    insert_verdicts(
        any_client,
        [
            replace(one, candidate=replace(one.candidate, **{fact: value}))  # type: ignore[arg-type]
            for one, value in zip(plain, values, strict=True)
        ],
    )

    def rates(*versions: str) -> list[dict[tuple[str, str], float | None]]:
        a, b = (VersionScope(SCOPE, kind, version) for version in versions)
        both = rates_of_versions(any_client, a, b)
        return [{route: one.rate.value for route, one in found.items()} for found in both]

    of_a = {("shop", "support"): 0.0, ("shop", "pay"): 1.0}
    assert rates("a", "") == [of_a, {("shop", "support"): 1.0}]
    assert rates("b", "a") == [{}, of_a]


def test_a_judge_and_a_time_are_versions_too(any_client: Client) -> None:
    """Of a judge without a verifier in the scope; of a time whatever it is called."""
    other = answered(1, "", BAD)
    insert_verdicts(
        any_client, [answered(1, "", GOOD), replace(other, verifier="local/other"), answered(2, "")]
    )

    def answers(a: VersionScope, b: VersionScope) -> list[int]:
        both = rates_of_versions(any_client, a, b)
        return [sum(one.answers for one in found.values()) for found in both]

    anyone = replace(SCOPE, verifier=None)
    judges = (
        VersionScope(anyone, VersionKind.VERIFIER, name) for name in ("local/other", VERIFIER)
    )
    times = (VersionScope(scope, VersionKind.TIME, "a name") for scope in (SCOPE.before, SCOPE))
    assert answers(*judges) == [1, 2]
    assert answers(*times) == [0, 2]
    assert [one.version for one in versions_in(any_client, VersionKind.VERIFIER, anyone)] == [
        VERIFIER,
        "local/other",
    ]
