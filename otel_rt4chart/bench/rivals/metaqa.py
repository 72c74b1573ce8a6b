"""MetaQA: an answer is doubted if its rewordings are not true, or its reversals are.

Yang, Al Mamun, Zhang and Uddin, FSE 2025 (arXiv 2502.15844): a model rewords the answer five times
and reverses it five times, and is asked of each whether it is true. A rewording should be (yes 0,
no 1), a reversal should not (yes 1, no 0), and "not sure" is one half; the mean is the score.
Adapted to retrieved context as in RT4CHART (section 4.2): true by the passages, instead of by what
the model knows. Ours: the prompts' words, and rewritings that are listed as JSON.
"""

from __future__ import annotations

from statistics import fmean

from otel_rt4chart.bench.rivals.asking import (
    NO,
    VOTE,
    VOTE_TOKENS,
    YES,
    Asker,
    closed_object,
    doubts,
    passages_material,
    question,
    version,
)
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict, no_verdict, verdict_of
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.conversation import UnusableReplyError
from otel_rt4chart.verify.llm.prompt import quoted, quoted_lines

MUTATIONS = 5  # of each kind
THRESHOLD = 0.5
_REWRITES = closed_object(rewrites={"type": "array", "items": {"type": "string"}})
# The prompt of each kind of rewriting, and the vote that a right answer's rewritings get.
_KINDS = (("rewordings", YES), ("reversals", NO))


class MetaQA:
    """MetaQA over an endpoint."""

    def __init__(self, asker: Asker, budget: Budget) -> None:
        """The budget is that of one answer."""
        self._asker = asker
        self._budget = budget

    @property
    def id(self) -> str:
        """Model, and versions of the prompts."""
        names = (*(name for name, _ in _KINDS), "true_by_passages")
        return f"metaqa/{self._asker.model}/{'.'.join(map(version, names))}"

    def verify(self, exchange: Exchange) -> HolisticVerdict:
        """Rewrite, ask of each rewriting, and join."""
        meter = Meter(self._budget)
        if not exchange.answer.strip():
            return no_verdict("no_claims: the answer is empty", meter.usage())
        try:
            score = fmean(
                doubt
                for name, expected in _KINDS
                for doubt in self._doubts(exchange, name, expected, meter)
            )
        except JudgeError as error:
            return no_verdict(error, meter.usage())
        return verdict_of(score, THRESHOLD, meter.usage())

    def _doubts(self, exchange: Exchange, name: str, expected: str, meter: Meter) -> list[float]:
        asked = f"Question: {quoted(exchange.question)}\n\n" if exchange.question else ""
        material = f"{asked}Answer: {quoted_lines(exchange.answer)}"
        tokens = MUTATIONS * (30 + 2 * estimate_tokens(exchange.answer))
        reply = self._asker.object(question(name, material, _REWRITES, tokens), meter)
        listed = reply.get("rewrites")
        texts = (
            [one for one in listed if isinstance(one, str) and one.strip()]
            if isinstance(listed, list)
            else []
        )
        if not texts:
            raise UnusableReplyError(f"the model's reply was not usable: no {name}")
        known = passages_material(exchange.passages, exchange.question)
        prompts = [
            question("true_by_passages", f"{known}Text: {quoted_lines(text)}", VOTE, VOTE_TOKENS)
            for text in texts[:MUTATIONS]
        ]
        return doubts(self._asker.objects(prompts, meter), expected=expected)
