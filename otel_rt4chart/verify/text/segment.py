"""Text into sentences with exact character offsets."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.core.model import Passage, Sentence
from otel_rt4chart.verify.text.sentences import sentence_spans
from otel_rt4chart.verify.text.structured import render_structured


def segment(text: str, passage_id: str = "", first_index: int = 0) -> tuple[Sentence, ...]:
    """The sentences of a text: disjoint, in order, and together all characters except whitespace.

    Offsets are code points of `text`. List items, headings and table rows are sentences.
    """
    return tuple(
        Sentence(first_index + number, start, end, text[start:end], passage_id)
        for number, (start, end) in enumerate(sentence_spans(text))
    )


def segment_passages(passages: Iterable[Passage]) -> tuple[Sentence, ...]:
    """The sentences of all passages; their indices continue from passage to passage.

    JSON, key-value blocks and tables become sentences in words with the offsets of their source.
    """
    found: list[Sentence] = []
    for passage in passages:
        parts = render_structured(passage.text)
        if parts is None:
            found.extend(segment(passage.text, passage.id, len(found)))
            continue
        for start, end, words in parts:
            text = passage.text[start:end]
            found.append(Sentence(len(found), start, end, text, passage.id, words))
    return tuple(found)
