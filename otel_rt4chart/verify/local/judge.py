"""The embedded judge without a model: words aligned, slots compared, a fitted head decides."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify import decompose as decomposition
from otel_rt4chart.verify.citation import blanked
from otel_rt4chart.verify.judge import Hint
from otel_rt4chart.verify.local.context import Context, read_context
from otel_rt4chart.verify.local.decide import Heads, heads
from otel_rt4chart.verify.local.differences import Difference
from otel_rt4chart.verify.local.features import Reading, read_claim
from otel_rt4chart.verify.local.slots import read_slots
from otel_rt4chart.verify.local.tokens import content
from otel_rt4chart.verify.local.tongue import are_apart, tongue
from otel_rt4chart.verify.model import Chunk, Clash, DraftClaim, Judgement, Label, Sentence

_CLASHES = 3
_MOST = 0.99  # no verdict by rules is certain
# Of the training rows' single claims with less of their weight in the passages, 443 of 470 are
# unfaithful (SummEdits alone: 25 of 36).
_UNCOVERED, _MOSTLY_WRONG = 0.4, 0.85
# A sentence that has this share of a claim's other words' weight, two of them at least, and another
# date or number in it: of 106 such claims in the training rows, 89 are unfaithful.
_COPIED, _OTHERS, _DENIED = 0.8, 2, 0.7
# The order in which differences are told: values that can be read off before single words.
_TELLING = ("number", "date", "name", "negation", "quantifier", "qualifier", "term")


class LocalJudge:
    """Needs no key, no network and no model: the same input gives the same verdict everywhere.

    It holds no state; what it remembers between calls is bounded and shared by all its instances.
    """

    def __init__(self) -> None:
        """Read the fitted weights, once per process."""
        self._heads: Heads = heads()

    @property
    def id(self) -> str:
        """Changes whenever the same claim could get another verdict."""
        return "local/lexical-4"

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The rule-based decomposition."""
        return decomposition.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Each claim against the sentences of one chunk alone."""
        return self._judge(claims, chunk.sentences)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Each claim against all sentences; the index sees all of them, so no hint is needed."""
        return self._judge(claims, context)

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: Sequence[Sentence]
    ) -> tuple[Judgement, ...]:
        context = read_context([sentence.reading for sentence in sentences])
        return tuple(self._judge_one(claim, context, sentences) for claim in claims)

    def _judge_one(
        self, draft: DraftClaim, context: Context, sentences: Sequence[Sentence]
    ) -> Judgement:
        claim = read_slots(blanked(draft.text))
        if not draft.is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
        if not claim.content and not claim.quantities:
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        copied = context.keys.get(claim.key)
        if copied is None and are_apart(tongue(claim.tokens), context.tongue):
            return Judgement(
                Label.UNDECIDED,
                reason=f"the passages are in another language ({context.tongue}): "
                "this judge compares words",
            )
        if copied is not None:
            index = (sentences[copied].index,)
            return Judgement(Label.ENTAILED, index, _MOST, "stands word for word in the passage")
        return self._decide(read_claim(claim, context), sentences)

    def _decide(self, reading: Reading, sentences: Sequence[Sentence]) -> Judgement:
        unfaithful = max(self._heads.unfaithful.probability(reading), _floor(reading))
        leaned_on = tuple(sorted(sentences[at].index for at in reading.laid.sentences))
        if unfaithful < self._heads.unfaithful.threshold and leaned_on:
            return Judgement(
                Label.ENTAILED,
                leaned_on,
                min(_MOST, 1.0 - unfaithful),
                _covered(reading),
            )
        clashing = _tell(reading, rivals=True)
        contradicted = max(
            self._heads.contradicted.probability(reading), _DENIED * _is_swapped(reading)
        )
        if clashing and contradicted >= self._heads.contradicted.threshold:
            indices = sorted({sentences[one.sentence].index for one in clashing})
            return Judgement(
                Label.CONTRADICTED,
                tuple(indices),
                min(_MOST, unfaithful * contradicted),
                "; ".join(
                    f"“{one.claimed}” in the answer, “{one.found}” in the passage"
                    for one in clashing
                ),
                tuple(Clash(one.slot, one.claimed, one.found) for one in clashing),
            )
        strange = _tell(reading, rivals=False)
        return Judgement(
            Label.BASELESS,
            confidence=min(_MOST, unfaithful * (1.0 - contradicted)),
            reason=_missing(reading, strange),
            clashes=tuple(Clash(one.slot, one.claimed) for one in strange),
        )


def _floor(reading: Reading) -> float:
    """What the head must not go under, by logic and by the counts of the training rows."""
    if reading.laid.coverage < _UNCOVERED:
        return _MOSTLY_WRONG
    if _is_swapped(reading):
        return _DENIED
    # "1 May" against "1 April", "all users" against "only new users", "cures" against "may cure".
    told_otherwise = any(
        one.slot in ("date", "number", "quantifier")
        and one.manner == "clash"
        and _is_copied(reading, one)
        for one in reading.differences
    )
    return _DENIED if told_otherwise else 0.0


def _is_swapped(reading: Reading) -> bool:
    return any(one.manner == "swapped" for one in reading.differences)


def _is_copied(reading: Reading, one: Difference) -> bool:
    """True where the clash's sentence has nearly all that the claim says besides."""
    laid = reading.laid
    if laid.share(one.sentence) >= _COPIED:
        return True
    claimed = content(one.claimed)
    meets = laid.meets[laid.sentences.index(one.sentence)]
    others = [
        (weight, bool(places))
        for word, weight, places in zip(reading.claim.words, laid.weights, meets, strict=True)
        if word.stem not in claimed
    ]
    held = sum(weight for weight, is_met in others if is_met)
    return len(others) >= _OTHERS and held >= _COPIED * sum(weight for weight, _ in others)


def _tell(reading: Reading, *, rivals: bool) -> tuple[Difference, ...]:
    """The differences worth telling, one for each claimed value, the most telling first."""
    told: dict[str, Difference] = {}
    swapped = [one for one in reading.differences if one.manner == "swapped"]
    if rivals and swapped:
        return tuple(swapped)
    ordered = sorted(reading.differences, key=lambda one: _TELLING.index(one.slot))
    for one in ordered:
        if (one.manner in ("clash", "opposite")) == rivals:
            known = one.claimed if one.slot != "negation" else one.slot
            told.setdefault(known, one)
    firm = [one for one in told.values() if one.slot != "term" or one.manner == "opposite"]
    return tuple((firm or list(told.values()))[:_CLASHES])


def _covered(reading: Reading) -> str:
    return f"{reading.laid.coverage:.0%} of its words' weight stands in the passage"


def _missing(reading: Reading, strange: tuple[Difference, ...]) -> str:
    """Which words of the claim no sentence has."""
    words = [one.claimed for one in strange] or [
        word.text
        for word, met in zip(reading.claim.words, reading.laid.equivalents, strict=True)
        if not met
    ]
    if not words:
        return "no sentence of the passages joins its words"
    return "not in the passages: " + ", ".join(f"“{word}”" for word in words[:_CLASHES])
