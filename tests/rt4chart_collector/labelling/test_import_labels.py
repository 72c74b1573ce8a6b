"""Imports of labels: matched with stored claims, refused with a reason, never lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.labelling.export_labels import export_labels
from rt4chart_collector.labelling.import_labels import (
    CHANGED,
    DELETED,
    FUTURE,
    NO_NUMBER,
    NO_RATER,
    SEVERAL,
    UNKNOWN,
    ImportResult,
    import_labels,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels import trusted_labels
from rt4chart_collector.store.labels.corrected_rates import draw_rates
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    label_history,
    labels_in,
)
from tests.rt4chart_collector.records import VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    draw,
    insert_answers,
    label_all,
)

Import = Callable[..., ImportResult]
ALL = QueryScope()


@pytest.fixture
def imported(client: Client, tmp_path: Path) -> Import:
    """Imports rows as JSONL; there are three answers with three claims each."""
    insert_answers(client, [1, 2, 3])

    def run(*rows: Mapping[str, object], rater: str = "") -> ImportResult:
        path = tmp_path / "labels.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        return import_labels(client, path, rater=rater, now_ns=NOW)

    return run


def row(number: int, claim: int = 1, label: str = "baseless", **more: object) -> dict[str, object]:
    """A label on a claim of the answer with that number."""
    return {"id": f"{number:032x}/{number:016x}/{claim}", "label": label, "rater": "ann", **more}


def test_labels_are_stored_as_no_sample(client: Client, imported: Import) -> None:
    """Without a known probability; the output says what they count for."""
    result = imported(row(1), row(2, note="why", at="2026-01-01T00:00:00Z"))

    found = labels_in(client, ALL)
    assert [(one.rater, one.label, one.draw, one.source) for one in found] == [
        ("ann", GivenLabel.BASELESS, "", "import")
    ] * 2
    assert [(one.verifier, one.weight, one.note) for one in found] == [
        (VERIFIER, 4.0, ""),
        (VERIFIER, 4.0, "why"),
    ]
    assert list(result.lines()) == [
        "2 labels imported (rt4chart), 0 were there already",
        "2 of them are on claims without a known probability: they are no sample, and count for "
        "the agreement of raters and the judge on labelled claims, not in the corrected rate",
    ]


def test_refused_rows_are_counted_with_their_reason(client: Client, imported: Import) -> None:
    """Unknown ids, missing numbers and raters, other texts; the good ones are stored."""
    result = imported(
        row(9),
        row(1, claim=77),
        {"trace_id": "", "span_id": f"{2:016x}", "claim": "", "label": "entailed", "rater": "a"},
        {**row(1), "rater": ""},
        row(1, claim_hash="0" * 16),
        row(3, label="right"),
        row(3),
    )

    assert result.stored == 1
    assert result.refused == {
        UNKNOWN: 2,
        NO_NUMBER: 1,
        NO_RATER: 1,
        CHANGED: 1,
        "unknown label 'right': say what it means with --map": 1,
    }
    assert f"refused: 2 × {UNKNOWN}" in list(result.lines())
    assert [one.trace_id for one in labels_in(client, ALL)] == [f"{3:032x}"]


def test_a_time_in_the_future_is_refused(client: Client, imported: Import) -> None:
    """Later labels of the same rater would not count; a clock may be ahead a little."""
    ahead, far = (datetime.fromtimestamp(NOW / 1e9 + s, UTC).isoformat() for s in (60, 86_400))

    result = imported(row(1, at=ahead), row(2, at=far))

    assert (result.stored, result.refused) == (1, {FUTURE: 1})
    assert [one.at_ns for one in labels_in(client, ALL)] == [NOW]


def test_a_label_on_a_deleted_answer_is_refused(client: Client, imported: Import) -> None:
    """The database knows the answer still, from a label or its spans, and says so."""
    imported(row(1))
    client.command("TRUNCATE TABLE rt4chart_claims")

    result = imported(row(1, rater="bob"), row(2, rater="bob"))

    assert result.refused == {DELETED: 1, UNKNOWN: 1}
    assert [one.rater for one in labels_in(client, ALL)] == ["ann"]


def test_labels_that_contradict_are_all_kept(client: Client, imported: Import) -> None:
    """Of one rater the later one counts, and the history has both."""
    imported(row(1))
    result = imported(row(1, label="entailed", rater="bob"), row(1, label="contradicted"))

    key = (f"{1:032x}", f"{1:016x}", 1)
    assert result.contradicting == 2
    assert {one.rater: one.label for one in labels_in(client, ALL)} == {
        "ann": GivenLabel.CONTRADICTED,
        "bob": GivenLabel.ENTAILED,
    }
    assert len(label_history(client, VERIFIER, key)) == 3


def test_the_same_file_twice_changes_nothing(client: Client, imported: Import) -> None:
    """The labels are there already."""
    imported(row(1), row(2))
    again = imported(row(1), row(2))

    assert (again.stored, again.unchanged) == (0, 2)
    assert len(label_history(client, VERIFIER, (f"{1:032x}", f"{1:016x}", 1))) == 1


def test_two_rows_on_one_claim_of_one_rater(client: Client, imported: Import) -> None:
    """The last of the file counts, and the other one is counted as refused."""
    result = imported(row(1), row(1, label="entailed"))

    assert (result.stored, result.refused) == (1, {SEVERAL: 1})
    assert [one.label for one in labels_in(client, ALL)] == [GivenLabel.ENTAILED]


def test_a_rater_is_named_for_files_without_one(client: Client, imported: Import) -> None:
    """The name of the row takes precedence."""
    imported({**row(1), "rater": ""}, row(2), rater="team")

    assert [one.rater for one in labels_in(client, ALL)] == ["team", "ann"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_an_export_is_read_back_as_it_was(client: Client, tmp_path: Path, suffix: str) -> None:
    """With draw and probability: the labels are a sample again, and the rate is the same."""
    insert_answers(client, range(1, 31))
    made = draw(client, 40)
    label_all(client, made.queue)
    before, rates = labels_in(client, ALL), draw_rates(client, made)
    path = tmp_path / f"labels.{suffix}"
    assert export_labels(client, ALL, path) == 40
    client.command("TRUNCATE TABLE rt4chart_labels")

    result = import_labels(client, path, now_ns=NOW + 1)

    after = labels_in(client, ALL)
    assert (result.stored, result.not_drawn, result.refused) == (40, 0, {})
    assert [(one.id, one.label, one.draw, one.probability, one.rater) for one in after] == [
        (one.id, one.label, one.draw, one.probability, one.rater) for one in before
    ]
    assert [rate.corrected for rate in draw_rates(client, made)] == [
        rate.corrected for rate in rates
    ]


def test_a_row_that_cannot_be_stored_is_refused_alone(client: Client, imported: Import) -> None:
    """An unknown status, however long, and a rater's name that is not free."""
    rows = [
        row(1),
        row(2, status="=" * 10**6),
        row(3, rater="rt4chart"),
        row(3, note="n" * 5_000),
    ]

    result, again = imported(*rows), imported(*rows)

    assert [one.span_id[-1] for one in labels_in(client, ALL)] == ["1", "3"]
    assert (result.stored, again.stored, again.unchanged) == (2, 0, 2)
    assert [(reason[:28], count) for reason, count in result.refused.items()] == [
        ("expected a status of support", 1),
        ("expected the rater's name of", 1),
    ]
    assert max(map(len, result.refused)) < 300


def test_an_import_is_stored_in_parts(
    client: Client, imported: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The local API takes a bounded statement, and a file may have 100 MiB."""
    monkeypatch.setattr(trusted_labels, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(trusted_labels, "KEYS_AT_ONCE", 2)
    rows = [row(number, claim) for number in (1, 2, 3) for claim in (1, 2)]

    result, again = imported(*rows), imported(*rows)

    assert (result.stored, again.stored, again.unchanged) == (6, 0, 6)
    assert len(labels_in(client, ALL)) == 6


def test_a_draw_of_another_database_is_no_sample(client: Client, imported: Import) -> None:
    """Its probability is not known here, whatever the file says of it."""
    result = imported(row(1, draw="elsewhere", probability=0.5))

    (found,) = labels_in(client, ALL)
    assert (result.not_drawn, found.draw, found.probability) == (1, "", 0.0)


def test_files_that_cannot_be_read_or_written(client: Client, tmp_path: Path) -> None:
    """One line with the reason."""
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe{")

    with pytest.raises(InputError, match="cannot read"):
        import_labels(client, tmp_path / "none.jsonl", now_ns=NOW)
    with pytest.raises(InputError, match="expected UTF-8"):
        import_labels(client, binary, now_ns=NOW)
    with pytest.raises(InputError, match=r"expected a file .jsonl or .csv"):
        export_labels(client, ALL, tmp_path / "labels.xls")
    with pytest.raises(InputError, match="cannot write"):
        export_labels(client, ALL, tmp_path / "no/folder.csv")
