"""Eval sets in the file formats of other tools, all JSON or JSON lines.

The recorded answer of a case is the wrong one. A format's field for a good answer gets the
reference that a person wrote, and stays out if there is none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rt4chart_clustering.evalset.case import EvalCase, case_row

Files = Mapping[str, str]
PHOENIX_METADATA = (
    "id", "issue", "trace_id", "span_id", "answer", "claims", "unwanted", "limits",
)  # fmt: skip
RAGTRUTH_TYPES = {"contradicted": "Evident Conflict", "baseless": "Evident Baseless Info"}


def jsonl(cases: Sequence[EvalCase], name: str) -> Files:
    """Our own rows, which the gate and `rt4chart verify` read."""
    return {f"{name}.jsonl": _lines(map(case_row, cases))}


def ragtruth(cases: Sequence[EvalCase], name: str) -> Files:
    """RAGTruth's two files (Niu et al., 2024), which `rt4chart bench` reads.

    A claim that is not supported is a label with its range in the response.
    """
    responses, sources = [], []
    for case in cases:
        exchange = case.exchange
        passages = [
            f"passage {n}:{passage.text}" for n, passage in enumerate(exchange.passages, start=1)
        ]
        info = {"question": exchange.question, "passages": "\n\n".join(passages)}
        sources.append(
            {"source_id": case.id, "task_type": "QA", "source": name, "source_info": info,
             "prompt": exchange.question}
        )  # fmt: skip
        labels = [
            {"start": claim.start, "end": claim.end,
             "text": exchange.answer[claim.start : claim.end],
             "label_type": RAGTRUTH_TYPES[claim.label], "implicit_true": False,
             "due_to_null": False}
            for claim in case.claims
            if claim.label in RAGTRUTH_TYPES
        ]  # fmt: skip
        responses.append(
            {"id": case.id, "source_id": case.id, "model": case.source.service, "split": "test",
             "temperature": None, "quality": "good", "response": exchange.answer,
             "labels": labels}
        )  # fmt: skip
    return {"response.jsonl": _lines(responses), "source_info.jsonl": _lines(sources)}


def openai(cases: Sequence[EvalCase], name: str) -> Files:
    """The rows of OpenAI's Evals, `{"item": …}` a line, for a data source of type `jsonl`."""
    items = ({"item": _flat(case)} for case in cases)
    return {f"{name}.jsonl": _lines(items)}


def deepeval(cases: Sequence[EvalCase], name: str) -> Files:
    """DeepEval's goldens, for `EvaluationDataset.add_goldens_from_json_file`.

    Its field `actual_output` holds the recorded answer, `context` the passages.
    """
    goldens = [
        {
            "input": case.exchange.question,
            "actual_output": case.exchange.answer,
            "expected_output": case.reference or None,
            "context": _texts(case),
            "retrieval_context": _texts(case),
            "name": case.id,
            "source_file": case.source.trace_id or None,
        }
        for case in cases
    ]
    return {f"{name}.json": json.dumps(goldens, ensure_ascii=False, indent=1) + "\n"}


def ragas(cases: Sequence[EvalCase], name: str) -> Files:
    """Ragas's `SingleTurnSample`s, for `EvaluationDataset.from_jsonl`."""
    samples = (
        {
            "user_input": case.exchange.question,
            "retrieved_contexts": _texts(case),
            "response": case.exchange.answer,
        }
        | ({"reference": case.reference} if case.reference else {})
        for case in cases
    )
    return {f"{name}.jsonl": _lines(samples)}


def phoenix(cases: Sequence[EvalCase], name: str) -> Files:
    """Phoenix's examples: `inputs`, `outputs` and `metadata`, the arguments of `create_dataset`."""
    flat = [_flat(case) for case in cases]
    given = {
        "name": name,
        "inputs": [{"question": row["question"], "contexts": row["contexts"]} for row in flat],
        "outputs": [{"reference": row["reference"]} if row["reference"] else {} for row in flat],
        "metadata": [{key: row[key] for key in PHOENIX_METADATA} for row in flat],
    }
    return {f"{name}.json": json.dumps(given, ensure_ascii=False, indent=1) + "\n"}


def langfuse(cases: Sequence[EvalCase], name: str) -> Files:
    """Langfuse's dataset items, a line each, as `POST /api/public/dataset-items` takes them.

    The case's id is the item's, so that sending a set twice changes nothing.
    """
    items = (
        {
            "datasetName": name,
            "id": f"{name}-{case.id}",
            "input": {"question": case.exchange.question, "contexts": _texts(case)},
            "expectedOutput": case.reference or None,
            "metadata": {key: value for key, value in _flat(case).items() if key != "contexts"},
        }
        | ({"sourceTraceId": case.source.trace_id} if case.source.trace_id else {})
        for case in cases
    )
    return {f"{name}.jsonl": _lines(items)}


FORMATS: Mapping[str, Callable[[Sequence[EvalCase], str], Files]] = {
    "jsonl": jsonl,
    "ragtruth": ragtruth,
    "openai": openai,
    "deepeval": deepeval,
    "ragas": ragas,
    "phoenix": phoenix,
    "langfuse": langfuse,
}


def _texts(case: EvalCase) -> list[str]:
    return [passage.text for passage in case.exchange.passages]


def _flat(case: EvalCase) -> dict[str, Any]:
    row = case_row(case)
    return {
        "id": case.id,
        "question": case.exchange.question,
        "contexts": _texts(case),
        "answer": case.exchange.answer,
        "reference": case.reference,
        "claims": row["claims"],
        "unwanted": row.get("unwanted", []),
        "limits": list(case.limits),
        "issue": case.issue,
        "trace_id": case.source.trace_id,
        "span_id": case.source.span_id,
    }


def _lines(rows: Any) -> str:  # noqa: ANN401 - any JSON
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
