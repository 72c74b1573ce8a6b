"""Of recorded applications outside the sample, the inline mode counts what reading them finds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from otel_rt4chart.inline.uncited import uncited_routes
from otel_rt4chart.sampling import Policy
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from tests.otel_rt4chart.inline.app import App
from tests.otel_rt4chart.inline.readable import readable_spans
from tests.recorded.test_recorded import FILES, found_in, parts, spans_of

CITES = " It is so [1], as the shop says [doc-99]."
COUNTERS = ("rt4chart.answers", "rt4chart.citations", "rt4chart.citation_errors")
# Whose passages stand in the prompt or in a tool's result alone.
WITHOUT_RETRIEVAL = {"otel_genai_langchain", "pydantic_ai_agent"}


def citing(path: Path) -> list[SpanRecord]:
    """The spans of a file with citations at the end of each answer, wherever it stands."""
    answers = {one.exchange.answer for one in found_in(path)} - {""}

    def cited(attributes: Attributes) -> Attributes:
        found = dict(attributes)
        for answer in answers:
            written = json.dumps(answer, ensure_ascii=False)[1:-1]
            for key, value in found.items():
                if isinstance(value, str):
                    found[key] = value.replace(written, f"{written}{CITES}")
        return found

    return [
        replace(
            record,
            attributes=cited(record.attributes),
            events=tuple(replace(one, attributes=cited(one.attributes)) for one in record.events),
        )
        for record in spans_of(path)
    ]


def counted(spans: Sequence[SpanRecord], *, reads_all: bool) -> dict[str, object]:
    """The counters of an application that ends these spans and samples none of them."""
    told = (lambda verdict: None) if reads_all else None
    app = App(policy=Policy(rate=0.0), on_verdict=told)
    for span in readable_spans(spans):
        app.inline.on_end(span)
    app.inline.shutdown()
    metrics = app.metrics
    app.close()
    return {name: sorted(map(repr, metrics.get(name, ()))) for name in COUNTERS}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_counters_are_those_of_reading_every_trace(path: Path) -> None:
    """The answers by route and decision, their citations and their errors; also where all cite."""
    for spans in (spans_of(path), citing(path)):
        assert counted(spans, reads_all=False) == counted(spans, reads_all=True)
    if any(one.exchange.answer and one.blocked is None for one in found_in(path)):
        assert counted(citing(path), reads_all=False)["rt4chart.citations"] != []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_answer_from_a_retrieval_is_not_read(path: Path) -> None:
    """Of no convention, unless it cites."""
    name, variant = parts(path)
    if variant in ("plain", "streamed"):
        is_read = uncited_routes(readable_spans(spans_of(path))) is None
        assert is_read == (name in WITHOUT_RETRIEVAL)
        assert uncited_routes(readable_spans(citing(path))) is None
