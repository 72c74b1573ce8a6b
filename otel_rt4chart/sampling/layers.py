"""The layers of verification beyond the judge: the rate of each check, and when a second judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from otel_rt4chart.core.settings_parsers import InvalidPartError, Parser, share
from otel_rt4chart.sampling.policy import position

if TYPE_CHECKING:
    from otel_rt4chart.verify.core.model import CheckPlan

LayerValue: TypeAlias = float | str
CITATIONS = "citations"
CHECKS = (CITATIONS, "cherry_picking", "sycophancy")
SECOND_JUDGE, TRAIL, EARLIER_TURNS = "second_judge", "trail", "earlier_turns"
NAMES = (*CHECKS, TRAIL, EARLIER_TURNS, SECOND_JUDGE)
MAX_TURNS = 20  # of one conversation that are read for an answer
AUTO, BORDERLINE, ALL = "auto", "borderline", "all"
DEFAULTS: Mapping[str, LayerValue] = {
    CITATIONS: 1.0,
    "cherry_picking": AUTO,
    "sycophancy": 1.0,
    TRAIL: AUTO,
    EARLIER_TURNS: 0.0,
    SECOND_JUDGE: BORDERLINE,
}
# The share of answers whose unused passages a remote judge reads: each is a call.
REMOTE_SCAN_RATE = 0.2
EVERY_ROUTE = "*"
# Distinct from the salt of the sample: otherwise the checks would run on the same first answers.
DRAW_SALT = "rt4chart.layers\x1f"
MAX_FILE_CHARACTERS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Layers:
    """What runs on a verified answer beside its judge, by route.

    `by_route` maps a route, or a prefix followed by `*`, to the layers that it sets: a rate from 0
    to 1 for a check and for the trail, `auto` for that of cherry-picking and for the trail, the
    number of earlier turns, and `borderline` or `all` for the second judge. For a layer that a
    route does not set, the next shorter pattern counts, then the default.
    """

    by_route: Mapping[str, Mapping[str, LayerValue]] = field(default_factory=dict)

    def value(self, name: str, route: str) -> LayerValue:
        """The value of a layer for a route, as it is written."""
        for pattern in self._patterns(route):
            if name in self.by_route[pattern]:
                return self.by_route[pattern][name]
        return DEFAULTS[name]

    def rate(self, name: str, route: str, *, scans_remotely: bool) -> float:
        """The rate of a check; `scans_remotely` says whether the scan calls a remote judge."""
        value = self.value(name, route)
        if isinstance(value, str):
            return REMOTE_SCAN_RATE if scans_remotely else 1.0
        return value

    def traces(self, trace_id: str, route: str, *, is_remote: bool) -> bool:
        """True if the failed claims of an answer are traced through the chain that made it.

        With `auto` they are unless that would call a remote judge: each trail is several calls.
        """
        value = self.value(TRAIL, route)
        if isinstance(value, str):
            return not is_remote
        return position(trace_id, DRAW_SALT) < value

    def never_checks_citations(self, trace_id: str) -> bool:
        """True if the citations of no answer of this trace are checked, whatever its route."""
        rates = [value[CITATIONS] for value in self.by_route.values() if CITATIONS in value]
        if CITATIONS not in self.by_route.get(EVERY_ROUTE, {}):
            rates.append(DEFAULTS[CITATIONS])
        highest = max(map(float, rates))
        return highest < 1 and position(trace_id, DRAW_SALT) >= highest

    def earlier_turns(self, route: str) -> int:
        """How many earlier turns of its conversation may support an answer."""
        return int(self.value(EARLIER_TURNS, route))

    def sends_all_claims(self, route: str) -> bool:
        """True if every claim of the route goes to the second judge."""
        return self.value(SECOND_JUDGE, route) == ALL

    def plan(self, trace_id: str, route: str, *, scans_remotely: bool) -> CheckPlan:
        """The checks of an answer, drawn with one number.

        The number depends on the trace id alone: a repeat and another process draw the same.
        """
        return self.plan_at(position(trace_id, DRAW_SALT), route, scans_remotely=scans_remotely)

    def plan_at(self, drawn: float, route: str, *, scans_remotely: bool) -> CheckPlan:
        """The checks whose rate is above the drawn number in [0, 1)."""
        # Imported here: the settings are read by applications that verify nothing themselves.
        from otel_rt4chart.verify.core.model import CheckPlan

        rates = {name: self.rate(name, route, scans_remotely=scans_remotely) for name in CHECKS}
        chosen = {name: rate if drawn < rate else 0.0 for name, rate in rates.items()}
        return CheckPlan(**chosen, is_complete=chosen == rates)

    def __str__(self) -> str:
        """Every layer of all routes, then what single routes set."""
        default = {name: self.value(name, "") for name in NAMES}
        routes = {name: self.by_route[name] for name in self.by_route if name != EVERY_ROUTE}
        entries = [_written(default), *(f"{name}: {_written(routes[name])}" for name in routes)]
        return "; ".join(entries)

    def _patterns(self, route: str) -> Iterator[str]:
        """The patterns that match the route, the nearest first."""
        if route in self.by_route:
            yield route
        prefixes = (name for name in self.by_route if name.endswith("*") and name != route)
        yield from sorted((n for n in prefixes if route.startswith(n[:-1])), key=len, reverse=True)


def _written(layers: Mapping[str, LayerValue]) -> str:
    return ", ".join(
        f"{name}={value if isinstance(value, str) else f'{value:g}'}"
        for name, value in layers.items()
    )


def parse_layers(written: str) -> Layers:
    """Parse `LAYER=VALUE, …; ROUTE: LAYER=VALUE, …`, or the file of that name.

    In a file each line is an entry; one that begins with `#` is a comment. InvalidPartError for
    other texts.
    """
    text = written if "=" in written else _read_file(written)
    by_route: dict[str, dict[str, LayerValue]] = {}
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for entry in filter(None, map(str.strip, ";".join(lines).split(";"))):
        # A route may contain colons, a layer cannot.
        before, colon, layers = entry.rpartition(":")
        route = before.strip() if colon else EVERY_ROUTE
        if not route:
            raise InvalidPartError(entry, "a route before the colon", "write * for all routes")
        found = by_route.setdefault(route, {})
        for part in filter(None, map(str.strip, layers.split(","))):
            name, value = _parse_layer(part)
            if name in found:
                advice = "leave one of them out"
                raise InvalidPartError(part, f"{name} once for the route {route}", advice)
            found[name] = value
    if not any(by_route.values()):
        raise InvalidPartError(written, "at least one LAYER=VALUE", "add one, or unset it")
    return Layers(by_route)


def _parse_layer(part: str) -> tuple[str, LayerValue]:
    name, equals, value = (text.strip() for text in part.partition("="))
    if name == "judge":
        advice = "set RT4CHART_SAMPLE_RATE: the share of answers that the judge verifies"
        raise InvalidPartError(part, f"one of {', '.join(NAMES)}", advice)
    if name not in NAMES or not equals:
        advice = "write one of these names, = and its value"
        raise InvalidPartError(part, f"one of {', '.join(NAMES)}", advice)
    if name == SECOND_JUDGE:
        if value in (BORDERLINE, ALL):
            return name, value
        advice = "RT4CHART_CASCADE_THRESHOLD says what borderline is"
        raise InvalidPartError(part, f"{BORDERLINE} or {ALL}", advice)
    if name == EARLIER_TURNS:
        if value.isdecimal() and len(value) <= 2 and int(value) <= MAX_TURNS:
            return name, float(value)
        advice = "write 3 for the last three turns"
        raise InvalidPartError(part, f"a number from 0 to {MAX_TURNS}", advice)
    if value == AUTO and DEFAULTS[name] == AUTO:
        return name, value
    try:
        return name, share(value)
    except ValueError:
        also = f", or {AUTO}" if DEFAULTS[name] == AUTO else ""
        advice = "write 0.2 for a fifth of the verified answers"
        raise InvalidPartError(part, f"a rate from 0 to 1{also}", advice) from None


def _read_file(name: str) -> str:
    path = Path(name).expanduser()
    expected = "LAYER=VALUE, or the name of a file of such lines"
    try:
        # A pipe or a device could block the reader for ever.
        if not path.is_file():
            raise InvalidPartError(name, expected, "there is no file of that name")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidPartError(name, expected, f"the file cannot be read: {reason}") from None
    if len(text) > MAX_FILE_CHARACTERS:
        raise InvalidPartError(name, "a file of at most 64 KiB", "shorten it")
    return text


layers_parser = Parser(
    "LAYER=RATE, …; ROUTE: LAYER=RATE, … with the layers citations, cherry_picking (a rate or "
    "auto), sycophancy, trail (a rate or auto), earlier_turns (a number) and second_judge "
    "(borderline or all), or a file of such lines",
    parse_layers,
    lambda value: isinstance(value, Layers),
)
