"""The task of rewriting an answer so that its passages support it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.conversation import ParsedReply
from otel_rt4chart.verify.llm.prompt import (
    Prompt,
    numbered,
    passages_text,
    quoted_lines,
)
from otel_rt4chart.verify.llm.replies import REVISIONS, build_prompt, listed


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Asks for one corrected answer; `problems` says what is wrong with it."""

    judge: str
    answer: str
    problems: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    question: str

    @property
    def units(self) -> int:
        """One answer."""
        return 1

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, as in every prompt."""
        return build_prompt(
            "rewrite", self._material(), REVISIONS, 2 * estimate_tokens(self.answer)
        )

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """The last answer of the reply that has text."""
        found = [item.get("answer") for item in listed(text, "revisions", is_cut=is_cut).items]
        answers = [one.strip() for one in found if isinstance(one, str) and one.strip()]
        if not answers or is_cut:
            return ParsedReply({}, ('expected {"revisions": [{"answer": "…"}]} with one text',))
        return ParsedReply({0: answers[-1]})

    def keeps(self, value: object) -> bool:
        """True: every answer that `read` accepts may be cached."""
        return True

    def _material(self) -> str:
        return (
            f"{passages_text(self.sentences, self.question)}Answer:\n{quoted_lines(self.answer)}"
            f"\n\nWhat is wrong:\n{numbered(self.problems)}"
        )
