"""Eval sets read by the tools whose layouts they are in, where these are installed.

pip install deepeval ragas langfuse arize-phoenix-client
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from otel_rt4chart.verify.core.model import Exchange, Label, Passage
from rt4chart_clustering.evalset.case import CaseSource, EvalCase, LabelledClaim
from rt4chart_clustering.evalset.formats import FORMATS

PASSAGES = (Passage("kb-1", "The trial lasts 14 days."), Passage("kb-2", "Dogs are welcome."))
CASES = [
    EvalCase(
        "c1",
        Exchange("How long?", PASSAGES, "30 days."),
        (LabelledClaim("30 days.", Label.CONTRADICTED, 0, 8),),
        "00ab",
        CaseSource("a" * 32, "b" * 16, "shop", "support"),
        "14 days.",
    ),
    EvalCase("c2", Exchange("Und Hunde? 🐕", PASSAGES[1:], "Nein.")),
]
TEXTS = [[one.text for one in case.exchange.passages] for case in CASES]


def written(name: str, folder: Path) -> Path:
    """The one file of a layout."""
    ((file, text),) = FORMATS[name](CASES, "set").items()
    path = folder / file
    path.write_text(text, encoding="utf-8")
    return path


def test_deepeval_reads_the_goldens(tmp_path: Path) -> None:
    """Question, recorded answer, passages; the reference as what was expected."""
    module = pytest.importorskip("deepeval.dataset", reason="pip install deepeval")
    dataset = module.EvaluationDataset()

    dataset.add_goldens_from_json_file(
        str(written("deepeval", tmp_path)),
        context_key_name="context",
        retrieval_context_key_name="retrieval_context",
    )

    found = [(one.input, one.actual_output, one.retrieval_context) for one in dataset.goldens]
    assert found == [
        (case.exchange.question, case.exchange.answer, texts)
        for case, texts in zip(CASES, TEXTS, strict=True)
    ]
    assert [one.expected_output for one in dataset.goldens] == ["14 days.", None]


def test_ragas_reads_the_samples(tmp_path: Path) -> None:
    """As single turns."""
    module = pytest.importorskip("ragas", reason="pip install ragas")

    dataset = module.EvaluationDataset.from_jsonl(str(written("ragas", tmp_path)))

    assert [one.user_input for one in dataset] == [case.exchange.question for case in CASES]
    assert [one.response for one in dataset] == ["30 days.", "Nein."]
    assert [one.retrieved_contexts for one in dataset] == TEXTS
    assert [one.reference for one in dataset] == ["14 days.", None]


def test_phoenix_takes_the_arguments(tmp_path: Path) -> None:
    """The file's fields are arguments of its client's `create_dataset`, one entry a case."""
    module = pytest.importorskip("phoenix.client", reason="pip install arize-phoenix-client")
    given = json.loads(written("phoenix", tmp_path).read_text("utf-8"))
    client = module.Client(base_url="http://127.0.0.1:9", api_key="none")

    inspect.signature(client.datasets.create_dataset).bind(**given)

    assert {len(given[name]) for name in ("inputs", "outputs", "metadata")} == {2}
    assert [one["contexts"] for one in given["inputs"]] == TEXTS


def test_langfuse_takes_the_items(tmp_path: Path) -> None:
    """Each line is the request that its API declares."""
    module = pytest.importorskip("langfuse.api", reason="pip install langfuse")
    rows = written("langfuse", tmp_path).read_text("utf-8").rstrip("\n").split("\n")

    wire = pytest.importorskip("langfuse.api.core.serialization", reason="pip install langfuse")
    request = module.CreateDatasetItemRequest

    items = [
        # From the names of its wire to those of its class, as its own client does.
        request.model_validate(
            wire.convert_and_respect_annotation_metadata(
                object_=json.loads(row), annotation=request, direction="read"
            )
        )
        for row in rows
    ]

    assert [one.input["question"] for one in items] == [case.exchange.question for case in CASES]
    assert [one.expected_output for one in items] == ["14 days.", None]
    assert [one.source_trace_id for one in items] == ["a" * 32, None]
