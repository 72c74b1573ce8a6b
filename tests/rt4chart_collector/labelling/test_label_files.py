"""Labels in files: our own, and the exports of other tools."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.labelling.label_files import (
    LabelRecord,
    parse_label_map,
    read_labels_text,
)
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, RaterKind

TRACE, SPAN = "a" * 32, "b" * 16
ID = f"{TRACE}/{SPAN}/2"
AT = 1_767_225_600 * 10**9  # 2026-01-01
ENTAILED, BASELESS = GivenLabel.ENTAILED, GivenLabel.BASELESS


def records(value: object, **options: object) -> tuple[str, list[LabelRecord]]:
    """What is read of a JSON value."""
    return read_labels_text(json.dumps(value), **options)  # type: ignore[arg-type]


def test_our_own_lines_are_read() -> None:
    """JSONL with an id, or with the three parts of it."""
    row = {"id": ID, "label": "baseless", "rater": "ann", "at": "2026-01-01T00:00:00Z"}
    parts = {"trace_id": TRACE, "span_id": SPAN, "claim": 2, "label": "Entailed", "blind": True}
    more = {"kind": "judge", "draw": "d1", "verifier": "v", "claim_hash": "h", "status": "stale"}
    text = "\n".join(map(json.dumps, ({**row, **more}, parts)))

    form, found = read_labels_text(text)

    assert form == "rt4chart"
    assert found == [
        LabelRecord(
            *(TRACE, SPAN, 2, BASELESS, "ann", RaterKind.JUDGE, "stale", "", AT),
            *("v", "h", "d1"),
        ),
        LabelRecord(TRACE, SPAN, 2, ENTAILED, is_blind=True),
    ]


def test_csv_is_read() -> None:
    """With a header in any order, with and without a byte order mark."""
    text = f'\ufefflabel,id,note\nbaseless,{ID},"two\nlines"\nentailed,{ID},\n'

    form, found = read_labels_text(text)

    assert form == "rt4chart"
    assert found == [
        LabelRecord(TRACE, SPAN, 2, BASELESS, note="two\nlines"),
        LabelRecord(TRACE, SPAN, 2, ENTAILED),
    ]


def test_langfuse_scores_are_read() -> None:
    """With the names of the API, and with those of the export to blob storage."""
    api = {
        "traceId": TRACE,
        "observationId": SPAN,
        "name": "claim",
        "dataType": "CATEGORICAL",
        "stringValue": "baseless",
        "source": "ANNOTATION",
        "authorUserId": "u1",
        "comment": "no",
        "metadata": {"claim": 2},
        "timestamp": "2026-01-01T00:00:00.000Z",
    }
    blob = {
        "trace_id": TRACE,
        "observation_id": SPAN,
        "string_value": "supported",
        "source": "EVAL",
        "metadata": '{"claim": "2"}',
        "timestamp": "2026-01-01 00:00:00",
    }

    form, found = records([api, blob])

    assert form == "langfuse"
    assert found == [
        LabelRecord(TRACE, SPAN, 2, BASELESS, "u1", note="no", at_ns=AT),
        LabelRecord(TRACE, SPAN, 2, ENTAILED, kind=RaterKind.JUDGE, at_ns=AT),
    ]


def test_phoenix_annotations_are_read() -> None:
    """Of the API with a result inside, and of a data frame with flat columns."""
    api = {
        "span_id": SPAN,
        "name": "claim",
        "annotator_kind": "HUMAN",
        "identifier": "ann",
        "result": {"label": "contradicted", "score": 0, "explanation": "30 days"},
        "metadata": {"claim": 2},
        "created_at": "2026-01-01T00:00:00+00:00",
    }
    flat = {"span_id": SPAN, "annotator_kind": "LLM", "result.label": "entailed"}

    form, found = records([api, flat])

    contradicted = GivenLabel.CONTRADICTED
    assert form == "phoenix"
    assert found == [
        LabelRecord("", SPAN, 2, contradicted, "ann", note="30 days", at_ns=AT),
        LabelRecord("", SPAN, -1, ENTAILED, kind=RaterKind.JUDGE),
    ]


def test_argilla_records_are_read() -> None:
    """Each user's response to the question `label`, or to the only question."""
    responses = [{"value": "entailed", "user_id": "u1"}, {"value": "baseless", "user_id": "u2"}]
    draft = [{"value": "entailed", "user_id": "u3", "status": "draft"}]

    form, found = records(
        [
            {"id": ID, "fields": {}, "responses": {"label": responses, "why": [{"value": "x"}]}},
            {"external_id": ID, "id": "9", "responses": {"verdict": responses[:1]}},
            {"id": ID, "responses": {"label": draft}},
            {"id": ID, "responses": {}},
        ]
    )

    assert form == "argilla"
    assert found == [
        LabelRecord(TRACE, SPAN, 2, ENTAILED, "u1"),
        LabelRecord(TRACE, SPAN, 2, BASELESS, "u2"),
        LabelRecord(TRACE, SPAN, 2, ENTAILED, "u1"),
        LabelRecord(problem="the response is a draft"),
        LabelRecord(problem="no response to the question `label`"),
    ]


def test_label_studio_tasks_are_read() -> None:
    """The first choice of each annotation; who made it by e-mail, else by number."""
    choice = {"type": "choices", "from_name": "label", "value": {"choices": ["baseless"]}}
    by_mail = {"result": [{"type": "textarea"}, choice], "completed_by": {"email": "a@b.c"}}
    by_id = {"result": [choice], "completed_by": 7, "created_at": "2026-01-01T00:00:00Z"}
    cancelled = {"result": [], "was_cancelled": True}

    form, found = records(
        [
            {"id": 1, "data": {"id": ID}, "annotations": [by_mail, by_id, cancelled]},
            {"id": 2, "data": {"claim_id": ID}, "annotations": []},
            {"id": 3, "data": {}, "annotations": [by_id]},
        ]
    )

    assert form == "label-studio"
    assert found == [
        LabelRecord(TRACE, SPAN, 2, BASELESS, "a@b.c"),
        LabelRecord(TRACE, SPAN, 2, BASELESS, "7", at_ns=AT),
        LabelRecord(problem="the annotation was cancelled"),
        LabelRecord(problem="the task has no annotation"),
        LabelRecord(problem="no id of a claim: expected TRACE/SPAN/NUMBER, or a span id"),
    ]


def test_unknown_words_are_no_labels() -> None:
    """A number or another tool's word needs --map; nothing is guessed."""
    rows = [{"id": ID, "label": word} for word in ("correct", "1", "")]

    _, found = records(rows)
    _, mapped = records(rows[:1], meanings=dict([parse_label_map("Correct=entailed")]))

    assert [one.problem for one in found] == [
        "unknown label 'correct': say what it means with --map",
        "unknown label '1': say what it means with --map",
        "no label",
    ]
    assert mapped == [LabelRecord(TRACE, SPAN, 2, ENTAILED)]
    for wrong in ("correct", "correct=good", "=entailed"):
        with pytest.raises(ArgumentTypeError, match="expected WORD=LABEL"):
            parse_label_map(wrong)


def test_lines_that_are_no_rows_are_counted() -> None:
    """They do not stop the others."""
    text = f'{{"id": "{ID}", "label": "entailed"}}\n{{broken\n[1]\n'

    _, found = read_labels_text(text)

    assert [one.problem for one in found] == ["", *["the line is no JSON object"] * 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("[1, 2", "expected a JSON array"),
        ('[{"odd": 1}]', "expected the fields of rt4chart, langfuse"),
        ("[" * 100_000, "expected a JSON array"),
    ],
)
def test_a_file_of_another_kind_is_refused(text: str, message: str) -> None:
    """With what was expected."""
    with pytest.raises(InputError, match=message):
        read_labels_text(text)


@pytest.mark.parametrize(
    "value",
    [
        {"id": ID, "label": ["entailed"], "metadata": 3},
        {"annotations": "x", "data": 5},
        {"responses": {"label": [1, None]}, "id": [1]},
        {"annotator_kind": None, "result": [], "span_id": {"a": 1}, "created_at": 5},
        {"stringValue": {"a": 1}, "traceId": 3, "timestamp": "9999999-1"},
        {"id": "a/b/99999999999", "label": "entailed"},
    ],
)
def test_odd_values_are_refused_and_do_no_harm(value: object) -> None:
    """Each yields a record with a problem, or one that no stored claim matches."""
    _, found = records([value])

    assert all(one.problem or one.claim == -1 for one in found)


def test_lone_surrogates_are_replaced() -> None:
    """JSON escapes can produce them, and no database stores them."""
    row = '{"id": "t/\\ud800/0", "label": "baseless", "rater": "\\udfff", "note": "a\\ud800"}'

    _, (found,) = read_labels_text(row)

    assert (found.span_id, found.rater, found.note) == ("?", "?", "a?")


@pytest.mark.parametrize(("kind", "is_judge"), [("JUDGE", True), ("Person", False), ("", False)])
def test_a_kind_is_read_in_any_case(kind: str, is_judge: bool) -> None:
    """None is a person."""
    (found,) = records([{"id": ID, "label": "baseless", "kind": kind}])[1]

    assert (found.kind is RaterKind.JUDGE, found.problem) == (is_judge, "")


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ({"kind": "god"}, "unknown kind 'god': expected person or judge"),
        ({"kind": "llm"}, "unknown kind 'llm': expected person or judge"),
        ({"rater": {"a": 1}}, "the rater is no text"),
        ({"rater": 7}, "the rater is no text"),
        ({"at": "yesterday"}, "unknown time 'yesterday': expected ISO 8601"),
        ({"at": 1e300}, "unknown time '1e+300': expected ISO 8601"),
        ({"at": "1900-01-01T00:00:00Z"}, "the time '1900-01-01T00:00:00Z' is before 2000"),
    ],
)
def test_a_value_with_no_meaning_refuses_its_row(field: dict[str, object], problem: str) -> None:
    """It is not replaced by a guess, which would be stored as if it were given."""
    good = {"id": ID, "label": "baseless"}

    assert [one.problem for one in records([good | field, good])[1]] == [problem, ""]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f'{{"id": "{ID}", "label": "baseless", "x": NaN}}', "NaN is not a JSON number"),
        (f'{{"id": "{ID}", "label": "a", "label": "b"}}', "an object has the name 'label' twice"),
        ("{no json", "the line is no JSON object"),
    ],
)
def test_a_line_that_is_no_strict_json_is_refused_alone(line: str, problem: str) -> None:
    """The other lines are read."""
    good = json.dumps({"id": ID, "label": "baseless"})

    assert [one.problem for one in read_labels_text(f"{good}\n{line}\n{good}")[1]] == [
        "",
        problem,
        "",
    ]


def test_an_annotation_with_a_problem_takes_no_other_with_it() -> None:
    """Each of a task's annotations is refused or read by itself."""
    choice = [{"type": "choices", "value": {"choices": ["baseless"]}}]
    annotations = [
        {"result": choice, "completed_by": 3, "updated_at": "soon"},
        {"result": choice, "completed_by": 4},
    ]

    _, found = records([{"data": {"id": ID}, "annotations": annotations}])

    assert [one.problem for one in found] == ["unknown time 'soon': expected ISO 8601", ""]
    assert found[1].rater == "4"


def test_a_broken_quote_of_csv_is_a_problem_of_its_lines() -> None:
    """The row behind it does not vanish into its field."""
    rows = [f'{ID},entailed,"note {number}"' for number in range(5)]
    rows[1] = rows[1][:-1]

    _, found = read_labels_text("\n".join(["id,label,note", *rows]))

    problems = [one.problem for one in found if one.problem]
    assert [one.note for one in found if not one.problem] == ["note 0", "note 3", "note 4"]
    assert len(problems) == 1
    assert problems[0].startswith("lines 3 to 4 are no row of CSV: ")


def test_csv_must_have_each_column_once_and_no_field_too_many() -> None:
    """The last of two would win silently."""
    with pytest.raises(InputError, match="expected CSV with each column once, got 'label' twice"):
        read_labels_text(f"id,label,label\n{ID},entailed,baseless\n")

    _, found = read_labels_text(f"id,label\n{ID},entailed,x\n{ID},baseless\n")
    assert [one.problem for one in found] == ["line 2 has more fields than the header", ""]
