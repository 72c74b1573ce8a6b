"""A page in two steps has what one statement over the verdicts in force gives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.filters.filter_language import FilterTerm
from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.lists.answer_filter import AnswerFilter, indexed_parts
from rt4chart_collector.store.lists.answer_list import answer_page
from rt4chart_collector.store.lists.candidates import AnswerCursor, Order
from tests.rt4chart_collector.records import NOON, SECOND

HOUR = 3600 * SECOND
SCOPE = QueryScope(NOON - 200 * HOUR, NOON + HOUR)
COLUMNS = (
    *("Timestamp", "TraceId", "SpanId", "ServiceName", "Route", "VerifierId", "Release"),
    *("Decision", "Label", "SampleRate", "EntailedCount", "ContradictedCount", "BaselessCount"),
    *("MisleadingCount", "Statuses", "Question", "Answer", "Version", "IsDeleted"),
)
# Letters that change their bytes, their number or not at all with their case; signs of LIKE.
SIGNS = "abcABC kKs%_\\.'İıſßΣσςÉéжЖ中文字ー"
ONE_STATEMENT = """
SELECT toUnixTimestamp64Nano(Timestamp) AS start_ns, TraceId, SpanId, VerifierId,
    {failures} AS failures
FROM rt4chart_verifications FINAL WHERE IsDeleted = 0 AND {condition}
ORDER BY {order} start_ns DESC, TraceId, SpanId, VerifierId
"""


@dataclass(frozen=True)
class Written:
    """A version of the verdict on one of a few answers."""

    number: int
    contradicted: int
    misleading: int
    release: str
    question: str
    answer: str
    is_deleted: bool

    def row(self, version: int) -> tuple[object, ...]:
        """Its row; an answer keeps its key, in which its time is."""
        label = "contradicted" if self.contradicted else "entailed"
        at = NOON - self.number**2 * 3 * HOUR
        statuses = {"contradicted": 1.0} if self.contradicted else {}
        return (
            *(at, f"{self.number // 2:032x}", f"{self.number:016x}", "shop"),
            *(("pay", "support")[self.number % 2], ("a/1", "b/1")[self.number % 3 == 0]),
            *(self.release, "verified", label, 1.0, 1, self.contradicted, 0, self.misleading),
            *(statuses, self.question, self.answer, version, int(self.is_deleted)),
        )


TEXTS = st.text(SIGNS, max_size=12)
VERSIONS = st.builds(
    Written,
    st.integers(0, 7),
    st.integers(0, 2),
    st.integers(0, 1),
    st.sampled_from(["1", "2"]),
    TEXTS,
    TEXTS,
    st.sampled_from([False, False, False, True]),
)
TERMS = st.one_of(
    st.builds(FilterTerm, st.just(""), st.text(SIGNS, min_size=1, max_size=5), st.booleans()),
    st.builds(FilterTerm, st.just("release"), st.just("2"), st.booleans()),
    st.builds(FilterTerm, st.just("status"), st.just("contradicted"), st.booleans()),
    st.builds(FilterTerm, st.just("route"), st.just("PA"), st.booleans()),
)


def in_one_statement(client: Client, wanted: AnswerFilter, order: Order) -> list[AnswerCursor]:
    """The places of all rows of the list."""
    query = ONE_STATEMENT.format(
        failures=FAILED_COUNT[wanted.counted],
        condition=wanted.condition,
        order="failures DESC," if order == "worst" else "",
    )
    rows = client.query(query, {**wanted.parameters, **wanted.scope.parameters}).result_rows
    return [AnswerCursor(*row) for row in rows]


def by_the_page(
    client: Client, wanted: AnswerFilter, order: Order, limit: int
) -> list[AnswerCursor]:
    """The same from all pages, one after the other."""
    found: list[AnswerCursor] = []
    after = None
    while True:
        page = answer_page(client, wanted, order=order, after=after, limit=limit)
        found += [row.cursor for row in page.rows]
        if page.after is None:
            return found
        assert len(page.rows) == limit
        after = page.after


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    versions=st.lists(VERSIONS, min_size=4, max_size=24),
    later_first=st.booleans(),
    terms=st.one_of(st.just([]), st.lists(TERMS, max_size=2)),
    measure=st.sampled_from([None, None, *Measure]),
    order=st.sampled_from(["worst", "worst", "newest"]),
    limit=st.integers(1, 5),
    verifier=st.sampled_from([None, "a/1"]),
)
def test_replaced_verdicts_are_judged_by_their_newest_version(
    client: Client,
    versions: list[Written],
    later_first: bool,
    terms: list[FilterTerm],
    measure: Measure | None,
    order: Order,
    limit: int,
    verifier: str | None,
) -> None:
    """Whatever was replaced or withdrawn, in whatever order it was written, by words too."""
    for table in ("rt4chart_verifications", "rt4chart_failed_answers"):
        client.command(f"TRUNCATE TABLE {table}")
    rows = [one.row(version) for version, one in enumerate(versions, start=1)]
    written = rows[::-1] if later_first else rows
    for batch in (written[: len(rows) // 2], written[len(rows) // 2 :]):
        client.insert("rt4chart_verifications", batch, COLUMNS)
    wanted = AnswerFilter(replace(SCOPE, verifier=verifier), measure=measure, terms=terms)

    found = by_the_page(client, wanted, order, limit)

    assert found == in_one_statement(client, wanted, order)


def test_more_stale_candidates_than_a_page_has_do_not_end_the_list(client: Client) -> None:
    """Forty answers that were the worst and are faultless now, before three that are bad."""
    was, is_now, bad = (Written(0, count, 0, "1", "", "", is_deleted=False) for count in (9, 0, 1))
    rows = [
        replace(one, number=number).row(version)
        for version, one, numbers in ((1, was, range(40)), (2, is_now, range(40)))
        for number in numbers
    ]
    rows += [replace(bad, number=number).row(1) for number in (41, 42, 43)]
    client.insert("rt4chart_verifications", rows, COLUMNS)
    wanted = AnswerFilter(QueryScope())

    page = answer_page(client, wanted, order="worst", limit=4)

    assert [int(row.span_id, 16) for row in page.rows] == [41, 42, 43, 0]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("Refund", ["refund"]),
        ("50% OFF", ["50% off"]),
        ("no", []),
        ("Größe 42 cm", ["e 42 cm"]),
        ("退款政策", ["退款政策"]),
        ("ΟΔΟΣ", []),
    ],
)
def test_the_index_is_asked_for_what_has_the_same_characters_in_it(
    word: str, parts: list[str]
) -> None:
    """Three of ASCII or of a script without capitals, beside each other."""
    assert indexed_parts(word) == parts


CASES = """
SELECT n FROM (
    SELECT number AS n, multiIf(
        n < 128, char(n),
        n < 2048, concat(char(192 + intDiv(n, 64)), char(128 + n % 64)),
        concat(char(224 + intDiv(n, 4096)), char(128 + intDiv(n, 64) % 64), char(128 + n % 64))
    ) AS one FROM numbers(65536) WHERE n NOT BETWEEN 55296 AND 57343
)
WHERE arrayExists(letter -> positionCaseInsensitiveUTF8(one, letter) > 0 AND lower(one) != letter,
    arrayMap(code -> char(code), range(97, 123)))
"""


def test_no_other_character_is_found_as_a_letter_of_ascii(client: Client) -> None:
    """What the index rests on: such a letter is found where the index has the small one."""
    assert client.query(CASES).result_rows == []
