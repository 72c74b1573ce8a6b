from __future__ import annotations

import pytest

from otel_rt4chart.spans.reading.documents import (
    read_documents,
    read_template_context,
    read_tool_result,
)
from tests.otel_rt4chart.spans.conventions.golden.case import doc

FORMS = {
    "a text": "One.",
    "texts": ["One."],
    "content": [{"content": "One."}],
    "text": [{"text": "One."}],
    "page_content": [{"page_content": "One."}],
    "document": [{"document": "One."}],
    "body": [{"body": "One."}],
    "parts": [{"content": [{"type": "text", "text": "One."}]}],
    "in documents": {"documents": [{"page_content": "One."}]},
    "in source_documents": {"result": "x", "source_documents": [{"page_content": "One."}]},
    "in results": {"results": [{"content": "One."}]},
    "in matches": {"matches": [{"metadata": {}, "text": "One."}], "namespace": ""},
    "in a response": {"response": {"hits": [{"text": "One."}]}},
    "LangChain's constructor": [
        {"lc": 1, "type": "constructor", "id": ["langchain", "Document"],
         "kwargs": {"page_content": "One.", "type": "Document"}}
    ],
    "flattened in JSON": [{"document.content": "One."}],
    "lists in lists": [["One."]],
}  # fmt: skip


@pytest.mark.parametrize("value", FORMS.values(), ids=FORMS)
def test_a_document_is_found_in_every_form(value: object) -> None:
    """One document, its text the same, its id made from it."""
    assert read_documents(value) == ((doc("One."),), False)


@pytest.mark.parametrize(
    ("item", "name", "score"),
    [
        ({"id": 7, "content": "One.", "score": "0.5"}, "7", 0.5),
        ({"_id": "a", "text": "One.", "_score": 2}, "a", 2.0),
        ({"node": {"id_": "a", "text": "One.", "metadata": {}}, "score": 0.5}, "a", 0.5),
        ({"document": {"id": "a", "content": "One."}, "relevance_score": 0.5}, "a", 0.5),
        ({"doc_id": "a", "content": "One.", "distance": 0.5, "metadata": {}}, "a", None),
    ],
)
def test_ids_and_scores_are_read_under_the_names_they_have(
    item: object, name: str, score: float | None
) -> None:
    """Also where they stand around the document; a distance is no score."""
    assert read_documents([item]) == ((doc("One.", name, score),), False)


@pytest.mark.parametrize(
    "metadata", [{"page": 2, "tags": ("x",)}, '{"page": 2, "tags": ["x"]}',
                 "{'page': 2, 'tags': ('x',)}"],
)  # fmt: skip
def test_metadata_is_a_map_in_every_form(metadata: object) -> None:
    """A map, JSON, or what Python's `str` makes of a map."""
    (found,), _ = read_documents([{"content": "One.", "metadata": metadata}])

    assert found.metadata == {"page": 2, "tags": ["x"]}


@pytest.mark.parametrize("metadata", ["no map", "{'a': __import__('os')}", "{'a': ", "[1]", 5])
def test_metadata_that_is_no_map_is_none(metadata: object) -> None:
    """Nothing is run, nothing is raised."""
    (found,), _ = read_documents([{"content": "One.", "metadata": metadata}])

    assert found.metadata == {}


def test_chromas_columns_are_documents() -> None:
    """Ids beside texts, a list each for every query."""
    value = {"ids": [["a", "b"]], "documents": [["One.", "Two."]], "metadatas": None}

    assert read_documents(value) == ((doc("One.", "a"), doc("Two.", "b")), False)


def test_a_placeholder_is_no_text() -> None:
    """It tells that there was one."""
    assert read_documents([{"content": "__REDACTED__"}, "One."]) == ((doc("One."),), True)
    assert read_tool_result("__REDACTED__", "__REDACTED__") == ((), True)


def test_a_tools_row_stays_whole() -> None:
    """What stands beside a text may be what was asked."""
    rows = [{"name": "Ada", "text": "gold", "balance": 30}]

    assert read_tool_result(rows, "as it was written") == ((doc("as it was written"),), False)
    assert read_tool_result({"documents": ["One."]}, "…") == ((doc("One."),), False)
    assert read_tool_result([], "") == ((), False)


def test_the_context_of_a_template_is_evidence_and_its_question_is_not() -> None:
    """By their names, lists in JSON too."""
    variables = {"context_str": "One.", "Documents": '["Two."]', "question": "?", "query": "?"}

    assert read_template_context(variables) == ((doc("One."), doc("Two.")), False)


def test_what_python_shows_of_an_object_is_no_document() -> None:
    """LlamaIndex's inner retriever writes its nodes so."""
    shown = "<NodeWithScore(node=TextNode(id_=a, text=…), score=0.1)>"

    found, _ = read_documents([shown, "<b>The trial</b> lasts 14 days."])

    assert [one.text for one in found] == ["<b>The trial</b> lasts 14 days."]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"id": "7", "metadata": {"source": "a.md"}}, "7"),
        ({"id": None, "metadata": {"source": "a.md"}}, "a.md"),
        ({"metadata": {"doc_id": "d-1", "source": "a.md"}}, "d-1"),
        ({"metadata": '{"file_path": "/docs/a.pdf", "page_label": "3"}'}, "/docs/a.pdf#page=3"),
        ({"metadata": {"source": "a.pdf", "page": 0, "chunk_index": 2}}, "a.pdf#page=0&chunk=2"),
        ({"metadata": {"chunk_id": "a-17"}}, "a-17"),
        ({"source": "a.md", "score": 0.5}, "a.md"),
        ({"metadata": {"source": ["a.md"], "lang": "en"}}, "sha256:e05d6f4db6a8"),
        ({"metadata": {"source": "x" * 600}}, "sha256:e05d6f4db6a8"),
    ],
)
def test_a_document_is_named_by_its_id_then_by_its_metadata(
    document: dict[str, object], name: str
) -> None:
    """The digest of the text is the last resort."""
    ((found,), _) = read_documents([{"text": "14 days.", **document}])

    assert found.id == name


def test_chunks_of_one_source_have_names_of_their_own() -> None:
    """They do not depend on the order of the chunks."""
    chunks = [{"text": text, "metadata": {"source": "a.md"}} for text in ("14 days.", "Free.")]

    names = [
        {one.text: one.id for one in read_documents(found)[0]} for found in (chunks, chunks[::-1])
    ]

    assert names[0] == names[1]
    assert names[0] == {"14 days.": "a.md#e05d6f4db6a8", "Free.": "a.md#5a9e52664035"}


def test_a_long_id_is_shortened_and_stays_distinct() -> None:
    """It is stored with each sentence of the passage that is evidence."""
    rows = [{"id": "d" * 1_000_000 + end, "text": f"text {end}"} for end in "ab"]

    found, _ = read_documents(rows)

    assert [len(one.id) for one in found] == [500, 500]
    assert len({one.id for one in found}) == 2


ONE, TWO = '{"id": "a", "text": "One."}', '{\n "id": "b",\n "text": "Two."\n}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, f"{ONE}\n{TWO}"),
        ({"result": f"{ONE}{TWO}\n"}, "as it was written"),
        ({"result": f"[{ONE}, {TWO}]"}, "as it was written"),
        ({"content": [{"type": "text", "text": ONE}, {"type": "text", "text": TWO}]}, "…"),
        (
            {
                "_meta": None,
                "isError": False,
                "content": [{"type": "text", "text": f"{ONE}\n{TWO}"}],
            },
            "…",
        ),
    ],
)
def test_parts_of_a_tool_s_result_are_documents(value: object, text: str) -> None:
    """In the envelope of the Model Context Protocol, and as a client puts them into a prompt."""
    assert read_tool_result(value, text) == ((doc("One.", "a"), doc("Two.", "b")), False)


@pytest.mark.parametrize(
    ("value", "text", "read"),
    [
        ({"result": "Sunny."}, '{"result": "Sunny."}', "Sunny."),
        ({"content": [{"type": "text", "text": "Sunny."}], "isError": False}, "…", "Sunny."),
        (None, '{"price": 3}\nOnly today.', '{"price": 3}\nOnly today.'),
        (None, '{"price": 3}\n{"price": 4}', '{"price": 3}\n{"price": 4}'),
        (None, "{" * 100_000, "{" * 100_000),
    ],
)
def test_other_results_are_one_text(value: object, text: str, read: str) -> None:
    """Without the envelope; rows that are no documents, and what is no JSON, stay as they are."""
    assert read_tool_result(value, text) == ((doc(read),), False)
