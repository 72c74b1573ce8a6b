"""The history of one route, from which the baseline of its next tick is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.detect.drift.baseline import (
    PATTERN_NS,
    TRAILING_NS,
    WARM_CLAIMS,
    Baseline,
    ModelVersion,
    add_to_hour,
    baseline_from,
)
from rt4chart_collector.detect.drift.hour_sums import Hours, HoursCheck, HourSums
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS, TICK_NS
from rt4chart_collector.store.rates.ticks import Tick

# The sampling rate in force is the smallest rate among this many of the latest answers: a tick with
# few answers may contain only those that a risk rule selected, at rate 1.
SCALE_ANSWERS = 40
# The version of a baseline of all versions together.
ALL: ModelVersion = ("", "")
# Current traffic is measured over the window of the smallest detectable rise, 90 minutes.
TRAFFIC_TICKS = 18


@dataclass(frozen=True, slots=True)
class TickTraffic:
    """A tick's answers with decided claims, the traffic they represent, and the smallest rate."""

    start_ns: int
    answers: int
    traffic: float
    least: float


ReadHours = Callable[[HoursCheck], Mapping[ModelVersion, Hours]]


class EarlierHours:
    """The hours of a history before a time, read when they are needed; forks share them."""

    def __init__(
        self,
        versions: Sequence[ModelVersion],
        check: HoursCheck,
        read: ReadHours,
    ) -> None:
        """`versions` in the order in which the history knows them."""
        self.versions = tuple(versions)
        self.check = check
        self._read = read
        self._found: Mapping[ModelVersion, Hours] | None = None

    def hours(self) -> Mapping[ModelVersion, Hours]:
        """The hours; InputError if they are not those that were kept."""
        if self._found is None:
            found = self._read(self.check)
            first, end = self.check.first, self.check.end
            if check_of(found, first, end) != self.check or found.keys() - set(self.versions):
                raise InputError("expected the hours that were kept of a route, got others")
            self._found = found
        return self._found


def check_of(hours: Mapping[ModelVersion, Hours], first: int, end: int) -> HoursCheck:
    """The check of those of these hours that are in [first, end)."""
    kept = [
        sums.claims.answers
        for known in hours.values()
        for hour, sums in known.items()
        if first <= hour < end
    ]
    return HoursCheck(first, end, len(kept), sum(kept))


@dataclass(frozen=True, slots=True)
class HistoryState:
    """All that a history knows but for the hours before `check.end`, which are stored apart."""

    alarmed: tuple[tuple[int, int], ...]
    last_ns: int
    own: Mapping[ModelVersion, Baseline]
    former: Baseline | None
    tried: Mapping[ModelVersion, int]
    floor_ns: int
    recent: tuple[TickTraffic, ...]
    open_rise_ns: int
    versions: tuple[ModelVersion, ...]
    hours: Mapping[ModelVersion, Hours]
    check: HoursCheck


class BaselineHistory:
    """Sums by hour, baselines by version, times of alarms and recent rates of one route.

    A warm baseline is recomputed on the first tick of each UTC day, except during an alarm; one
    that is not warm yet, every hour. A version without a warm baseline uses the route's last one
    or, if that is older than fourteen days, that of all versions together.
    """

    def __init__(self, verifier: str) -> None:
        """Start with no history."""
        self.verifier = verifier
        self.alarmed: list[tuple[int, int]] = []
        self.last_ns = -1
        self._hours: dict[ModelVersion, dict[int, HourSums]] = {}
        self._own: dict[ModelVersion, Baseline] = {}
        # The last warm baseline, which a new version uses until its own is warm.
        self._former: Baseline | None = None
        self._tried: dict[ModelVersion, int] = {}
        # Hours before this are ignored: a person has accepted a risen rate as the usual one.
        self._floor_ns = 0
        self._recent: tuple[TickTraffic, ...] = ()
        # Of a history that was restored, until they are needed.
        self._earlier: EarlierHours | None = None
        self._check: HoursCheck | None = None
        # The beginning of an open rise of a route without a baseline: no part of one until it ends.
        self.open_rise_ns = 0

    def fork(self) -> BaselineHistory:
        """An independent copy; the objects that both share are never changed."""
        twin = BaselineHistory(self.verifier)
        twin.alarmed = list(self.alarmed)
        twin.last_ns, twin._floor_ns = self.last_ns, self._floor_ns
        twin._hours = {version: dict(hours) for version, hours in self._hours.items()}
        twin._own, twin._tried = dict(self._own), dict(self._tried)
        twin._former, twin._recent = self._former, self._recent
        twin.open_rise_ns = self.open_rise_ns
        twin._earlier, twin._check = self._earlier, self._check
        return twin

    @property
    def hour(self) -> int:
        """The current hour since 1970: those before it do not change any more."""
        return max(self.last_ns, 0) // HOUR_NS

    def state(self) -> HistoryState:
        """What to store: the hours before the current one are to be stored by `hours_since`."""
        end = self.hour
        return HistoryState(
            alarmed=tuple(self.alarmed),
            last_ns=self.last_ns,
            own=self._own,
            former=self._former,
            tried=self._tried,
            floor_ns=self._floor_ns,
            recent=self._recent,
            open_rise_ns=self.open_rise_ns,
            versions=tuple(self._versions()),
            hours={
                version: {hour: sums for hour, sums in hours.items() if hour >= end}
                for version, hours in self._hours.items()
                if any(hour >= end for hour in hours)
            },
            check=self._checked(end),
        )

    @classmethod
    def restored(
        cls,
        verifier: str,
        state: HistoryState,
        read: ReadHours,
    ) -> BaselineHistory:
        """The history of this state; `read` returns the hours that were stored apart."""
        made = cls(verifier)
        made.alarmed, made.last_ns = list(state.alarmed), state.last_ns
        made._own, made._former = dict(state.own), state.former
        made._tried, made._floor_ns = dict(state.tried), state.floor_ns
        made._recent, made.open_rise_ns = state.recent, state.open_rise_ns
        made._hours = {version: dict(hours) for version, hours in state.hours.items()}
        made._earlier = EarlierHours(state.versions, state.check, read)
        return made

    def hours_since(self, hour: int) -> dict[int, dict[ModelVersion, HourSums]]:
        """The hours from this one on that are in memory and before the current one."""
        end = self.hour
        found: dict[int, dict[ModelVersion, HourSums]] = {}
        for version, hours in self._hours.items():
            for one, sums in hours.items():
                if hour <= one < end:
                    found.setdefault(one, {})[version] = sums
        return found

    def _versions(self) -> list[ModelVersion]:
        before = self._earlier.versions if self._earlier else ()
        return list(dict.fromkeys((*before, *self._hours)))

    def _checked(self, end: int) -> HoursCheck:
        """The check of the hours before `end`; it changes when an hour is over, or forgotten."""
        if self._check is None or self._check.end != end:
            before = self._earlier.check if self._earlier else None
            if before is None:
                first = min((min(hours) for hours in self._hours.values() if hours), default=end)
                self._check = check_of(self._hours, min(first, end), end)
            else:
                more = check_of(self._hours, before.end, end)
                number, answers = before.hours + more.hours, before.answers + more.answers
                self._check = HoursCheck(before.first, end, number, answers)
        return self._check

    def _read_earlier(self) -> None:
        """Read the hours that were stored apart, once they are needed."""
        if self._earlier is None:
            return
        own, earlier = self._hours, self._earlier.hours()
        self._hours = {
            version: {**earlier.get(version, {}), **own.get(version, {})}
            for version in self._versions()
        }
        self._earlier = None

    def baseline(
        self, version: ModelVersion, at_ns: int, *, rising_since_ns: int = 0
    ) -> Baseline | None:
        """The version's own baseline if it is warm, else the route's last warm one.

        If the route has no warm baseline, it is the version's own cold one, or None.
        `rising_since_ns` is the start of a rise that is no alarm yet: its hours are left out of a
        new baseline while it is less than a day old.
        """
        own = self._own.get(version)
        period = HOUR_NS if own is None or own.is_cold else DAY_NS
        if self._tried.get(version, -1) // period != at_ns // period:
            self._tried[version] = at_ns
            self._renew(version, at_ns, rising_since_ns)
        found = self.current(version)
        if found is not None and not found.is_cold:
            self._former = found
        return found

    def current(self, version: ModelVersion) -> Baseline | None:
        """The same, without computing a new one."""
        own = self._own.get(version)
        return own if own is not None and not own.is_cold else self._former or own

    def _renew(self, version: ModelVersion, at_ns: int, rising_since_ns: int) -> None:
        self._read_earlier()
        spans = self._excluded(at_ns)
        if rising_since_ns and at_ns - rising_since_ns < DAY_NS:
            spans.append((rising_since_ns, at_ns))
        self._forget_before(at_ns - PATTERN_NS)
        hours = self._hours.get(version, {})
        found = baseline_from(hours, version, self.verifier, now_ns=at_ns, alarmed=spans)
        if found is None:
            self._own.pop(version, None)
        else:
            self._own[version] = found
        if (found is None or found.is_cold) and self._is_stale(at_ns):
            self._former = self._of_all(at_ns, spans, least_claims=WARM_CLAIMS)

    def _is_stale(self, at_ns: int) -> bool:
        former = self._former
        lasts = DAY_NS if former is not None and former.version == ALL else TRAILING_NS
        return former is None or at_ns - former.until_ns >= lasts

    def before_rise(self, at_ns: int) -> Baseline | None:
        """What is known of all versions together before the open rise, however little."""
        return self._of_all(at_ns, self._excluded(at_ns))

    def _excluded(self, at_ns: int) -> list[tuple[int, int]]:
        """The spans of time that are part of no baseline: alarms, and what a person ended."""
        spans = list(self.alarmed)
        if self._floor_ns:
            spans.append((0, self._floor_ns))
        if self.open_rise_ns:
            spans.append((self.open_rise_ns, at_ns))
        return spans

    def _of_all(
        self, at_ns: int, spans: Sequence[tuple[int, int]], least_claims: int = 0
    ) -> Baseline | None:
        """The baseline of all versions together, if it has so many claims."""
        self._read_earlier()
        whole: dict[int, HourSums] = {}
        for hours in self._hours.values():
            for hour, sums in hours.items():
                whole[hour] = whole[hour].plus(sums) if hour in whole else sums
        return baseline_from(
            whole, ALL, self.verifier, now_ns=at_ns, alarmed=spans, least_claims=least_claims
        )

    def _forget_before(self, since_ns: int) -> None:
        self._check = None
        self.alarmed = [span for span in self.alarmed if span[1] > since_ns]
        for version, hours in list(self._hours.items()):
            for hour in [h for h in hours if (h + 1) * HOUR_NS <= since_ns]:
                del hours[hour]
            if not hours:
                for by_version in (self._hours, self._own, self._tried):
                    by_version.pop(version, None)

    def add(self, ticks: Sequence[Tick]) -> None:
        """Add the ticks of one time, after they were compared with the baseline."""
        for tick in ticks:
            add_to_hour(self._hours.setdefault((tick.model, tick.prompt_version), {}), tick)
        at_ns = ticks[0].start_ns
        self.last_ns = at_ns
        oldest = at_ns - TRAFFIC_TICKS * TICK_NS
        self._recent = (
            *(traffic for traffic in self._recent if traffic.start_ns > oldest),
            TickTraffic(at_ns, _answers(ticks), _weight(ticks), _least(ticks)),
        )

    def scale(self, ticks: Sequence[Tick]) -> float:
        """The smallest sampling rate in force in these ticks, estimated with those before them."""
        least, seen = _least(ticks), _answers(ticks)
        for traffic in reversed(self._recent):
            if seen >= SCALE_ANSWERS:
                break
            least, seen = min(least, traffic.least), seen + traffic.answers
        return least

    def per_hour(self, at_ns: int) -> tuple[float, float]:
        """Answers with decided claims an hour in the trailing window: verified, represented."""
        oldest = at_ns - TRAFFIC_TICKS * TICK_NS
        seen = [traffic for traffic in self._recent if traffic.start_ns > oldest]
        hours = TRAFFIC_TICKS * TICK_NS / HOUR_NS
        return sum(traffic.answers for traffic in seen) / hours, sum(
            traffic.traffic for traffic in seen
        ) / hours

    def restart(self, since_ns: int) -> None:
        """Use only the time since then for baselines, and forget the time before."""
        self._floor_ns = since_ns
        self._own.clear()
        self._tried.clear()
        self._former = None
        self.open_rise_ns = 0
        self.alarmed = [(since, until) for since, until in self.alarmed if until <= since_ns]


def _answers(ticks: Sequence[Tick]) -> int:
    return sum(bin_.answers for tick in ticks for bin_ in tick.bins if bin_.decided > 0)


def _least(ticks: Sequence[Tick]) -> float:
    return min(
        (bin_.sample_rate for tick in ticks for bin_ in tick.bins if bin_.sample_rate > 0),
        default=1.0,
    )


def _weight(ticks: Sequence[Tick]) -> float:
    return sum(
        bin_.answers / bin_.sample_rate
        for tick in ticks
        for bin_ in tick.bins
        if bin_.decided > 0 and bin_.sample_rate > 0
    )
