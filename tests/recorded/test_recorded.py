"""Real instrumentation packages, recorded: from each application comes the exchange it had."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate
from rt4chart_collector.ingest.otlp.decode_json import decode_json
from tests.recorded.expected import RECORDED, Expected, table, version
from tests.recorded.header import NAMES, header

SPANS = Path(__file__).parent / "spans"
FILES = sorted(SPANS.glob("*.json"))
LARGEST = 60_000
PAGE = Path(__file__).parents[2] / "docs/instrument/application.md"


def parts(path: Path) -> tuple[str, str]:
    """The application and its variant of a file's name."""
    name, variant = path.stem.removesuffix("-sdk1.44").split("-")
    return name, variant


def cases() -> Iterator[object]:
    """Each file with its expectation."""
    for path in FILES:
        name, variant = parts(path)
        yield pytest.param(path, RECORDED[name].variants[variant], id=path.stem)


def spans_of(path: Path) -> list[SpanRecord]:
    """The spans of a file."""
    decoded = decode_json(path.read_bytes())
    assert decoded.rejected == 0
    return list(decoded.spans)


def found_in(path: Path) -> list[Candidate]:
    """The answers of all traces of a file."""
    traces: dict[str, list[SpanRecord]] = defaultdict(list)
    for span in spans_of(path):
        traces[span.trace_id].append(span)
    return [one for spans in traces.values() for one in find_candidates(spans)]


@pytest.mark.parametrize(("path", "expected"), list(cases()))
def test_the_exchange_of_a_real_application_comes_out(path: Path, expected: Expected) -> None:
    """Question, passages in their order and with their stages, answer, date, route and model."""
    (found,) = found_in(path)

    exchange = found.exchange
    day = datetime.fromtimestamp(found.start_ns / 1e9, UTC).date().isoformat()
    assert (exchange.question, exchange.answer) == (expected.question, expected.answer)
    assert found.blocked is expected.blocked
    assert tuple(one.text for one in exchange.passages) == expected.texts
    hashes = tuple(f"sha256:{sha256(one.encode()).hexdigest()[:12]}" for one in expected.texts)
    assert tuple(one.id for one in exchange.passages) == (expected.ids or hashes)
    assert exchange.as_of == day
    assert (found.route, found.model) == (expected.route, expected.model)
    staged = [(one.passage, one.stages) for one in found.staged]
    count = len(exchange.passages)
    assert staged[:count] == [(one, expected.stages) for one in exchange.passages]
    assert tuple((one.text, stages) for one, stages in staged[count:]) == expected.beside


@pytest.mark.parametrize(("path", "expected"), list(cases()))
def test_our_line_has_marked_what_was_recorded(path: Path, expected: Expected) -> None:
    """The mark of the application side is on the trace."""
    marks = {(one.sampled, one.sample_rate) for one in found_in(path)}

    assert marks == {(True, 1.0) if expected.is_marked else (None, None)}


def test_every_application_is_recorded() -> None:
    """Each application has a file for each variant expected of it, and no file is left over."""
    expected = {(name, variant) for name, one in RECORDED.items() for variant in one.variants}

    assert tuple(sorted(RECORDED)) == NAMES
    assert {parts(path) for path in FILES} == expected


@pytest.mark.parametrize("name", NAMES)
def test_packages_are_pinned(name: str) -> None:
    """Each requirement has one exact version, those of the table among them."""
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.]+", pin) for pin in header(name).pins)
    assert all(version(name, package) for package in RECORDED[name].packages)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recordings_are_small_and_say_nothing_of_a_machine(path: Path) -> None:
    """No path, host or user of the machine that recorded them is in the files."""
    text = path.read_text()

    keys = re.findall(r'"key":"((?:host|process|os)\.[^"]*)"', text)
    paths = re.findall(r"/(?:home|root|tmp|usr|work|Users)/[\w.-]*", text)
    assert (keys, paths) == ([], [])
    assert len(text) < LARGEST
    assert len(text.splitlines()) == 1
    assert list(json.loads(text)) == ["resourceSpans"]
    assert len(spans_of(path)) > 0


def test_both_versions_of_the_sdk_are_recorded() -> None:
    """What a file's name says of the SDK is what its resource says."""
    told = {path: spans_of(path)[0].resource["telemetry.sdk.version"] for path in FILES}

    wrong = {
        path.stem: version
        for path, version in told.items()
        if not str(version).startswith("1.44." if path.stem.endswith("-sdk1.44") else "1.45.")
    }
    assert wrong == {}
    assert sum(path.stem.endswith("-sdk1.44") for path in FILES) >= 2


def test_the_page_shows_what_was_recorded() -> None:
    """The table of the documentation is the one that the expectations give."""
    assert table() in PAGE.read_text()
