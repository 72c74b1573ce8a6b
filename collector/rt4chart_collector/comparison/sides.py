"""The two versions to compare: as they were asked for, or the newest ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.core.times import iso, utc_time, utc_time_ns
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind, VersionScope
from rt4chart_collector.store.rates.version_rates import VersionTraffic, versions_in

# The version of answers that name none.
NO_VERSION = "(none)"
BETWEEN = ".."
KIND_NAMES = {
    VersionKind.RELEASE: "release",
    VersionKind.PROMPT_VERSION: "prompt version",
    VersionKind.MODEL: "model",
    VersionKind.ENVIRONMENT: "environment",
    VersionKind.VERIFIER: "judge",
    VersionKind.TIME: "span of time",
}
MAX_NAMED = 10
# More versions than this within a time that pages show are hardly made by people.
MANY = 50
A_SPAN = "2026-01-30T12:00Z..2026-01-31T12:00Z"


class NoComparisonError(InputError):
    """Two versions cannot be compared; the text says why, and which versions there are."""


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare: the versions of a kind by name, "" to let them be chosen, in a scope."""

    kind: VersionKind
    a: str
    b: str
    scope: QueryScope


def choose_sides(
    request: ComparisonRequest, versions: Sequence[VersionTraffic]
) -> tuple[VersionScope, VersionScope]:
    """The versions a and b; `versions` are those that there are, the newest first.

    Without names, b is the newest and a the one before it. Raises NoComparisonError.
    """
    if request.kind is VersionKind.TIME:
        return _spans(request)
    names = [one.version for one in versions]
    asked = [_named(name) for name in (request.a, request.b)]
    for name in asked:
        if name is not None and name not in names:
            raise NoComparisonError(
                f"{KIND_NAMES[request.kind].capitalize()} {shown_name(name)} has no verified "
                f"answers here. {known_versions(request.kind, versions)}"
            )
    a, b = _completed(asked[0], asked[1], names)
    if a is None or b is None:
        raise NoComparisonError(
            f"A comparison takes two versions. {known_versions(request.kind, versions)}"
        )
    if a == b:
        raise NoComparisonError(
            f"Both versions are {KIND_NAMES[request.kind]} {shown_name(a)}: choose another one to "
            f"compare it with. {known_versions(request.kind, versions)}"
        )
    return _sides(request, a, b)


def named_sides(request: ComparisonRequest) -> tuple[VersionScope, VersionScope] | None:
    """What `choose_sides` returns where both versions are named, and there are such."""
    a, b = _named(request.a), _named(request.b)
    if request.kind is VersionKind.TIME or a is None or b is None:
        return None
    return _sides(request, a, b)


def find_versions(client: Client, request: ComparisonRequest) -> list[VersionTraffic]:
    """The last versions of the request's kind and those that it names, the newest first."""
    scope = request.scope
    if request.kind is VersionKind.VERIFIER:
        scope = replace(scope, verifier=None)
    asked = [name for name in map(_named, (request.a, request.b)) if name is not None]
    return versions_in(client, request.kind, scope, also=asked)


def known_versions(kind: VersionKind, versions: Sequence[VersionTraffic]) -> str:
    """The versions that there are, as a sentence."""
    if kind is VersionKind.TIME:
        return f"A span of time is written {A_SPAN}."
    if not versions:
        return "There are no verified answers in this time range: choose a longer one."
    named = ", ".join(
        f"{shown_name(one.version)} ({one.answers:,} answer{'' if one.answers == 1 else 's'})"
        for one in versions[:MAX_NAMED]
    )
    number = max(versions[0].number, len(versions))
    more = f" and {number - MAX_NAMED:,} more" if number > MAX_NAMED else ""
    if [one.version for one in versions] == [""]:
        return f"No answer in this time range names its {KIND_NAMES[kind]}."
    if len(versions) == 1:
        return f"In this time range there is only {named}: choose a longer one."
    return f"In this time range there are {named}{more}."


def left_out_words(kind: VersionKind, shown: int, number: int) -> str:
    """Why a list has `shown` of so many versions; "" where it has all."""
    if number <= shown:
        return ""
    name = KIND_NAMES[kind]
    told = f"{shown:,} of {number:,} {name}s."
    if number <= MANY:
        return told
    where = " in service.version" if kind is VersionKind.RELEASE else ""
    return (
        f"{told} So many look as if each name carries an id, such as that of a build or a request: "
        f"name the {name} alone{where}."
    )


def shown_name(version: str) -> str:
    """A version as people read it."""
    return version or NO_VERSION


def side_name(of: VersionScope) -> str:
    """The name of a version; a span of time by its begin and end."""
    if of.kind is VersionKind.TIME:
        return f"{utc_time(of.scope.since_ns)} to {utc_time(of.scope.until_ns)}"
    return shown_name(of.version)


def spoken_names(a: VersionScope, b: VersionScope) -> dict[str, str]:
    """The names of both versions in a sentence; two spans of time are the first and the second."""
    if a.kind is VersionKind.TIME:
        return {"a": "the first span", "b": "the second span"}
    return {"a": side_name(a), "b": side_name(b)}


def span_value(since_ns: int, until_ns: int) -> str:
    """A span of time as the value of `a` or `b`."""
    return f"{iso(since_ns)}{BETWEEN}{iso(until_ns)}"


def _sides(request: ComparisonRequest, a: str, b: str) -> tuple[VersionScope, VersionScope]:
    # A judge is one of the verifiers, so the scope has none.
    scope = request.scope
    if request.kind is VersionKind.VERIFIER:
        scope = replace(scope, verifier=None)
    return VersionScope(scope, request.kind, a), VersionScope(scope, request.kind, b)


def _named(name: str) -> str | None:
    """The version of a value; None if none was named."""
    return "" if name == NO_VERSION else name or None


def _completed(a: str | None, b: str | None, names: Sequence[str]) -> tuple[str | None, str | None]:
    """The versions with those that were not named: the newest, preferably with a name."""
    ordered = sorted(names, key=lambda name: name == "")
    if b is None:
        b = next((name for name in ordered if name != a), None)
    if a is None:
        older = ordered[ordered.index(b) + 1 :] if b in ordered else []
        named_first = sorted((*older, *ordered), key=lambda name: name == "")
        a = next((name for name in named_first if name != b), None)
    return a, b


def _spans(request: ComparisonRequest) -> tuple[VersionScope, VersionScope]:
    scope = request.scope
    first, second = (_span(scope, text) if text else None for text in (request.a, request.b))
    if second is None:
        second = scope.of_time(first.until_ns, scope.until_ns) if first else scope
    if first is None:
        first = second.before
    if first == second:
        raise NoComparisonError("Both spans of time are the same: choose another one.")
    if first.since_ns < second.until_ns and second.since_ns < first.until_ns:
        raise NoComparisonError(
            "The spans of time overlap, so that they have answers in common: choose others."
        )
    return (
        VersionScope(first, request.kind, span_value(first.since_ns, first.until_ns)),
        VersionScope(second, request.kind, span_value(second.since_ns, second.until_ns)),
    )


def _span(scope: QueryScope, text: str) -> QueryScope:
    since, _, until = text.partition(BETWEEN)
    try:
        begin, end = utc_time_ns(since.strip()), utc_time_ns(until.strip())
    except ValueError:
        begin = end = 0
    if not 0 <= begin < end:
        raise NoComparisonError(f"Expected a span of time such as {A_SPAN}, got {text[:80]!r}")
    return scope.of_time(begin, min(end, 2**63 - 1))
