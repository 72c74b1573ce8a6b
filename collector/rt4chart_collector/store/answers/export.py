"""Export of tables to files: one for each table and day, or for less of it if that is too large."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from otel_rt4chart.core.errors import InputError, StoreError
from rt4chart_collector.store.engine.connect import STREAM_ERRORS, Client

# The result, memory or time of the statement exceeded its limit: a shorter period may succeed.
LIMIT_ERROR_CODES = ("Code: 396", "Code: 241", "Code: 159")
STEPS = (
    (timedelta(days=1), "%Y-%m-%d"),
    (timedelta(hours=1), "%Y-%m-%dT%H"),
    (timedelta(minutes=1), "%Y-%m-%dT%H%M"),
)
# A minute that is too large is divided by the ids of its answers' spans.
PARTS, ALL_PARTS = 32, -1
OF_PART = "cityHash64(t.TraceId, t.SpanId) % {parts:UInt8}"
PARQUET, JSONL = "parquet", "jsonl"
FORMATS = {PARQUET: "Parquet", JSONL: "JSONEachRow"}
FORMAT_SETTINGS = {
    PARQUET: {"output_format_parquet_string_as_string": "1"},
    JSONL: {
        "output_format_json_quote_64bit_integers": "1",
        "output_format_json_escape_forward_slashes": "0",
        "date_time_output_format": "iso",
    },
}
CHUNK = 2**20
BY_ROUTE = "({route:String} = '' OR Route = {route:String})"
BY_TRACE = """({route:String} = '' OR TraceId IN (
    SELECT TraceId FROM rt4chart_verifications FINAL WHERE Route = {route:String} AND IsDeleted = 0
))"""
BY_ISSUE = """({route:String} = '' OR IssueId IN (
    SELECT IssueId FROM rt4chart_issues FINAL WHERE Route = {route:String} AND IsDeleted = 0
))"""


@dataclass(frozen=True, slots=True)
class ExportSource:
    """How a table is read: each current row once, enumerations as their names."""

    table: str
    time: str = "Timestamp"
    names: tuple[str, ...] = ()
    final: bool = True
    has_tombstones: bool = True
    where: str = BY_ROUTE
    once: str = ""
    sums: str = ""
    has_parts: bool = False

    def query(self, columns: str = "") -> str:
        """The rows of a part in [from, to), which are microseconds since 1970."""
        named = ", ".join(f"toString({name}) AS {name}" for name in self.names)
        chosen = columns or self.sums or "*"
        if not columns and self.has_tombstones:
            chosen += " EXCEPT (IsDeleted)"
        if not columns and named:
            chosen += f" REPLACE ({named})"
        conditions = [
            f"t.{self.time} >= fromUnixTimestamp64Micro({{from:Int64}})",
            f"t.{self.time} < fromUnixTimestamp64Micro({{to:Int64}})",
            self.where,
            *(["IsDeleted = 0"] if self.has_tombstones else []),
            *(
                [f"({{part:Int16}} = {ALL_PARTS} OR {OF_PART} = {{part:Int16}})"]
                if self.has_parts
                else []
            ),
        ]
        return (
            f"SELECT {chosen} FROM {self.table} AS t{' FINAL' * self.final} "  # noqa: S608 - ours
            f"WHERE {' AND '.join(conditions)}{'' if columns else f' {self.once}'}"
        )


RATES_KEY = "ServiceName, Route, Environment, VerifierId, Minute"
RATE_COLUMNS = (
    *("Answers", "UnfaithfulAnswers", "Claims", "Entailed", "Contradicted", "Baseless"),
    "Misleading",
)
ALL_RATE_COLUMNS = (*RATE_COLUMNS, "Undecided", *(f"W{name}" for name in RATE_COLUMNS), "WChecked")
SOURCES: Mapping[str, ExportSource] = {
    "verifications": ExportSource(
        "rt4chart_verifications", names=("Label", "Checked"), has_parts=True
    ),
    "claims": ExportSource("rt4chart_claims", names=("Label", "LocalLabel"), has_parts=True),
    "trails": ExportSource("rt4chart_trails", names=("Label",), has_parts=True),
    "criteria": ExportSource("rt4chart_criteria", names=("Outcome",), has_parts=True),
    "spans": ExportSource(
        "otel_traces",
        final=False,
        has_tombstones=False,
        where=BY_TRACE,
        once="LIMIT 1 BY TraceId, SpanId",
        has_parts=True,
    ),
    "issues": ExportSource("rt4chart_issues", time="LastSeen", names=("Status",)),
    "issue-assignments": ExportSource("rt4chart_issue_assignments"),
    "issue-events": ExportSource(
        "rt4chart_issue_events", time="At", has_tombstones=False, where=BY_ISSUE
    ),
    "dead-letters": ExportSource("rt4chart_dead_letters", names=("State",)),
    # The parts of a sum are in several rows, and on a cluster on several shards.
    "rates": ExportSource(
        "rt4chart_route_1m",
        time="Minute",
        final=False,
        has_tombstones=False,
        once=f"GROUP BY {RATES_KEY}",
        sums=", ".join([RATES_KEY, *(f"sum(t.{name}) AS {name}" for name in ALL_RATE_COLUMNS)]),
    ),
    "corrected-rates": ExportSource("rt4chart_corrected_rates", time="Day", has_tombstones=False),
}


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: whole days from `since` to `until`, of one route or of all routes."""

    since: datetime
    until: datetime
    route: str
    format: str
    folder: Path
    overwrites: bool = False


def export_table(client: Client, name: str, request: ExportRequest) -> Iterator[Path]:
    """Write one table's rows; yields each file when it is complete.

    An incomplete file has the suffix .part. Raises InputError for a folder that is not empty,
    before the table is read, and StoreError where a minute, or a part of it, exceeds the limits or
    the result broke off.
    """
    source, folder = SOURCES[name], request.folder / name
    if not request.overwrites and folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty: expected a new folder; name another in --out, or replace its "
            "files of the same days with --force"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # A file replaces all of its day: written from a part of the day, it would lose the rest.
    since, until = _midnight(request.since), _midnight(request.until)
    until += timedelta(days=until < request.until)
    request = replace(request, since=since, until=until)
    for start in _periods(client, source, request, request.since, request.until, 0):
        written = []
        for path in _pages(client, source, request, folder, start, 0):
            written.append(path)
            yield path
        # An earlier export may have split this day differently; its files would repeat these rows.
        for old in folder.glob(f"{start.strftime(STEPS[0][1])}*.{request.format}"):
            if old not in written:
                old.unlink()


def _pages(
    client: Client,
    source: ExportSource,
    request: ExportRequest,
    folder: Path,
    start: datetime,
    level: int,
) -> Iterator[Path]:
    """Write the file of a period; if that exceeds the limits, files of less of it."""
    width, pattern = STEPS[level]
    path = folder / f"{start.strftime(pattern)}.{request.format}"
    end = min(start + width, request.until)
    is_last = level + 1 == len(STEPS)
    try:
        _write(client, source, request, path, max(start, request.since), end)
    except StoreError as error:
        is_limit = any(code in str(error) for code in LIMIT_ERROR_CODES)
        if not is_limit or (is_last and not source.has_parts):
            raise
    else:
        yield path
        return
    if is_last:
        yield from _parts(client, source, request, path, max(start, request.since), end)
        return
    for inner in _periods(client, source, request, max(start, request.since), end, level + 1):
        yield from _pages(client, source, request, folder, inner, level + 1)


def _parts(
    client: Client,
    source: ExportSource,
    request: ExportRequest,
    path: Path,
    start: datetime,
    end: datetime,
) -> Iterator[Path]:
    """Write the files of the parts of a minute that have rows; `path` is that of the minute."""
    query = f"SELECT part FROM ({source.query(f'DISTINCT {OF_PART} AS part')}) ORDER BY part"  # noqa: S608 - our own names
    for (part,) in client.query(query, _parameters(request, start, end)).result_rows:
        inner = path.with_stem(f"{path.stem}-{part:02}of{PARTS}")
        _write(client, source, request, inner, start, end, part)
        yield inner


def _periods(
    client: Client,
    source: ExportSource,
    request: ExportRequest,
    start: datetime,
    end: datetime,
    level: int,
) -> list[datetime]:
    """The days, hours or minutes that have rows."""
    seconds = int(STEPS[level][0].total_seconds())
    column = f"DISTINCT intDiv(toUnixTimestamp(t.{source.time}), {seconds}) * {seconds} AS at"
    query = f"SELECT at FROM ({source.query(column)}) ORDER BY at"  # noqa: S608 - our own names
    rows = client.query(query, _parameters(request, start, end)).result_rows
    return [datetime.fromtimestamp(at_s, UTC) for (at_s,) in rows]


def _write(
    client: Client,
    source: ExportSource,
    request: ExportRequest,
    path: Path,
    start: datetime,
    end: datetime,
    part: int = ALL_PARTS,
) -> None:
    incomplete = path.with_name(path.name + ".part")
    parameters = _parameters(request, start, end, part)
    settings = FORMAT_SETTINGS[request.format]
    incomplete.unlink(missing_ok=True)
    try:
        if client.target.path and not client.is_guest:
            # The embedded engine returns a result whole, in memory; INTO OUTFILE writes it in
            # blocks.
            place = str(incomplete).replace("\\", "\\\\").replace("'", "\\'")
            sets = ", ".join(f"{name} = '{value}'" for name, value in settings.items())
            client.command(
                f"{source.query()} INTO OUTFILE '{place}' FORMAT {FORMATS[request.format]} "
                f"SETTINGS {sets}",
                parameters,
            )
        else:
            _fetch(
                client,
                f"{source.query()} FORMAT {FORMATS[request.format]}",
                parameters,
                incomplete,
                settings,
            )
        incomplete.replace(path)
    finally:
        incomplete.unlink(missing_ok=True)


def _fetch(
    client: Client,
    query: str,
    parameters: Mapping[str, object],
    incomplete: Path,
    settings: Mapping[str, str],
) -> None:
    """Stream the result; the server sends nothing before the query has succeeded."""
    waiting = {**settings, "wait_end_of_query": "1"}
    try:
        with (
            client.stream(query, parameters, settings=waiting) as stream,
            incomplete.open("wb") as file,
        ):
            shutil.copyfileobj(stream, file, CHUNK)
    except STREAM_ERRORS as error:
        raise StoreError(
            f"{incomplete}: expected a whole file, the result broke off: {error}"
        ) from error


def _parameters(
    request: ExportRequest, start: datetime, end: datetime, part: int = ALL_PARTS
) -> dict[str, object]:
    times = {"from": _micros(start), "to": _micros(end)}
    return {**times, "route": request.route, "part": part, "parts": PARTS}


def _midnight(time: datetime) -> datetime:
    """The start of the day in UTC."""
    return time.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _micros(time: datetime) -> int:
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)
