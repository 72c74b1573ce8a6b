"""What came out of a trace's rerankers, and what went another way."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.spans.texts import plain
from otel_rt4chart.spans.view import Kind, View
from otel_rt4chart.verify.model import Passage


def came_out(found: Sequence[View]) -> tuple[View, ...]:
    """The views but those that a later reranker chose from; they come in the order of time."""
    later = _Later()
    out: list[View] = []
    for one in reversed(found):
        if one.kind is Kind.RERANKER:
            if not later.ranked_again(one):
                out.append(one)
            later.add(one)
        elif not later.chose_from(one):
            out.append(one)
    return tuple(reversed(out))


class _Later:
    """What the rerankers after a point in time were given, found by text and by id."""

    def __init__(self) -> None:
        self._is_empty = True
        self._is_all_known = True
        self._texts: set[str] = set()
        self._by_id: dict[str, str] = {}
        # What one chose from, or at least kept, by the first of its texts.
        self._choices: dict[str, frozenset[str]] = {}

    def add(self, reranker: View) -> None:
        """A limit may have taken a part of what it was given: then that is not known."""
        is_known = bool(reranker.given) and not reranker.span.dropped_attributes
        self._is_empty = False
        self._is_all_known &= is_known
        texts = [plain(one.text) for one in (reranker.given if is_known else reranker.documents)]
        if texts:
            self._choices.setdefault(texts[0], frozenset(texts))
        if is_known:
            self._texts.update(texts)
            self._by_id |= {
                one.id: text for one, text in zip(reranker.given, texts, strict=True)
            }  # fmt: skip

    def chose_from(self, retrieval: View) -> bool:
        """True where a reranker was given any of its documents; a cut may stand in between.

        Where it is not known which, a reranker was given what there was.
        """
        if self._is_empty or not self._is_all_known:
            return not self._is_empty
        return not retrieval.documents or any(map(self._was_given, retrieval.documents))

    def ranked_again(self, reranker: View) -> bool:
        """True where one was given all that this one kept, or chose from nothing else.

        A part is not enough: rerankers beside each other may choose from the same documents.
        """
        texts = {plain(one.text) for one in reranker.documents}
        chosen = (self._choices.get(text) for text in texts)
        return bool(texts) and (
            texts <= self._texts or any(one is not None and one <= texts for one in chosen)
        )

    def _was_given(self, document: Passage) -> bool:
        """The same text, or a part of it under the same id."""
        text = plain(document.text)
        part = self._by_id.get(document.id)
        return text in self._texts or (part is not None and (part in text or text in part))
