"""Reading labelled answers, in our layout and in RAGTruth's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from otel_rt4chart.bench.dataset import GoldSpan, choose_split, read_rows
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Exchange, Passage

BUNDLED = Path(__file__).parents[2] / "data/bench"
SOURCE: Mapping[str, object] = {"source_id": "s1", "task_type": "QA", "contexts": ["It rains."]}
RESPONSE: Mapping[str, object] = {"id": "r1", "source_id": "s1", "response": "It snows."}


def folder(
    path: Path, sources: Sequence[object], responses: Sequence[object], encoding: str = "utf-8"
) -> Path:
    """A folder with these lines."""
    for name, lines in (("source_info.jsonl", sources), ("response.jsonl", responses)):
        text = "".join(
            (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n"
            for line in lines
        )
        (path / name).write_bytes(text.encode(encoding))
    return path


def test_our_layout_is_read_whole() -> None:
    """Question, passages, answer, label and spans."""
    row = read_rows(BUNDLED)[1]

    assert (row.id, row.task, row.dataset, row.split) == ("r2", "QA/shop", "own", "dev")
    assert row.exchange == Exchange(
        "How fast are refunds?",
        (
            Passage(
                "p1",
                "Refunds are issued within 30 days of the purchase."
                " A receipt is required for every refund.",
            ),
            Passage("p2", "Shipping costs are not refunded."),
        ),
        "Refunds are issued within 14 days of the purchase.",
    )
    assert row.is_hallucinated
    assert row.label is AnswerLabel.CONTRADICTED
    assert row.spans == (GoldSpan(AnswerRange(26, 33), "contradicted", "contradicted"),)


def test_ragtruths_question_and_passages_are_read(tmp_path: Path) -> None:
    """`source_info` is a dictionary there; label types are mapped, a row is unfaithful by spans."""
    source = {
        "source_id": "15",
        "task_type": "QA",
        "source": "MARCO",
        "source_info": {
            "question": "how tall",
            "passages": "passage 1:It is tall.\n\npassage 2:It is 330 metres.\n\n",
        },
        "prompt": "Answer the question.",
    }
    response = {
        "id": "7",
        "source_id": "15",
        "model": "m",
        "split": "test",
        "quality": "good",
        "response": "It is 300 metres.",
        "labels": [{"start": 6, "end": 9, "label_type": "Evident Conflict", "due_to_null": False}],
    }
    (row,) = read_rows(folder(tmp_path, [source], [response]))

    assert row.exchange.question == "how tall"
    assert [one.text for one in row.exchange.passages] == ["It is tall.", "It is 330 metres."]
    assert (row.is_hallucinated, row.label) == (True, AnswerLabel.CONTRADICTED)
    assert (row.dataset, row.group, row.split) == ("MARCO", "15", "test")


def test_ragtruths_article_and_business_record_are_read(tmp_path: Path) -> None:
    """A text is one passage; a record becomes a line for each value, null unknown."""
    record = {"name": "Café", "attributes": {"WiFi": "no", "OutdoorSeating": True, "Music": None}}
    sources = [
        {"source_id": 1, "task_type": "Summary", "source_info": "It rained."},
        {"source_id": 2, "task_type": "Data2txt", "source_info": record},
    ]
    responses = [
        {"id": "1", "source_id": 1, "response": "It rained.", "labels": []},
        {"id": "2", "source_id": 2, "response": "It has WiFi.", "labels": []},
    ]
    summary, business = read_rows(folder(tmp_path, sources, responses))

    assert [one.text for one in summary.exchange.passages] == ["It rained."]
    assert business.exchange.passages[0].text.splitlines() == [
        "name: Café",
        "attributes Wi Fi: no",
        "attributes Outdoor Seating: yes",
        "attributes Music: unknown",
    ]
    assert (summary.is_hallucinated, summary.label) == (False, AnswerLabel.ENTAILED)


@pytest.mark.parametrize(
    ("sources", "responses", "message"),
    [
        (["{"], [RESPONSE], "source_info.jsonl, line 1: expected one JSON object a line"),
        (["[1]"], [RESPONSE], "line 1: expected a JSON object, got a list"),
        (["[" * 100_000], [RESPONSE], "line 1: expected one JSON object a line: "),
        ([SOURCE], [RESPONSE, {**RESPONSE, "source_id": "s9"}], "line 2: source 's9' is not in"),
        ([SOURCE], [{"id": "r1", "source_id": "s1"}], "'response': expected a string, got null"),
        ([{"source_id": "s1"}], [RESPONSE], "source_info.jsonl, line 1: expected 'contexts'"),
        ([SOURCE], [{**RESPONSE, "labels": [{"start": 3, "end": 99}]}], "in the 9 characters"),
        ([SOURCE], [{**RESPONSE, "labels": "no"}], "'labels': expected a list"),
        (
            [SOURCE],
            [{**RESPONSE, "labels": [{"start": 0, "end": 2, "label_type": "odd"}]}],
            "'label_type': expected one of",
        ),
        ([SOURCE], [{**RESPONSE, "label": "wrong"}], "'label': expected entailed"),
    ],
)
def test_a_bad_line_is_named(
    tmp_path: Path, sources: Sequence[object], responses: Sequence[object], message: str
) -> None:
    """File, line, what was expected and what came."""
    with pytest.raises(InputError) as caught:
        read_rows(folder(tmp_path, sources, responses))

    assert message in str(caught.value)


def test_a_missing_folder_file_or_encoding_is_named(tmp_path: Path) -> None:
    """Each with its path."""
    with pytest.raises(InputError, match="a folder with source_info"):
        read_rows(tmp_path / "none")
    with pytest.raises(InputError, match="jsonl cannot be read"):
        read_rows(tmp_path)
    folder(tmp_path, [{**SOURCE, "contexts": ["Café"]}], [RESPONSE], encoding="latin-1")
    with pytest.raises(InputError, match="expected UTF-8"):
        read_rows(tmp_path)


def test_the_split_is_dev_where_there_is_one() -> None:
    """Else all rows, and a split that no row has is an error."""
    rows = read_rows(BUNDLED)
    train = [row for row in rows if row.split == "train"]

    assert [row.id for row in choose_split(rows, None)[1]] == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert choose_split(rows, "all") == ("all", rows)
    assert choose_split(train, None) == ("all", tuple(train))
    with pytest.raises(InputError, match="--split: expected one of dev, train, got 'test'"):
        choose_split(rows, "test")


def test_control_characters_of_names_do_not_reach_the_tables(tmp_path: Path) -> None:
    """A task's name is a text of others: an escape in it would be the terminal's."""
    source = {"source_id": "s", "task_type": "QA\x1b[31m", "source": "set\x07", "contexts": ["A."]}
    answer = {"id": "1", "source_id": "s", "response": "A.", "labels": []}
    (tmp_path / "source_info.jsonl").write_text(json.dumps(source), "utf-8")
    (tmp_path / "response.jsonl").write_text(json.dumps(answer), "utf-8")

    (row,) = read_rows(tmp_path)

    assert (row.task, row.dataset) == ("QA [31m", "set ")
