"""A claim and its context as a fixed vector of named features, with the differences behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.slots import ContextIndex, ScopeWord, Slots, has
from otel_rt4chart.verify.language.word_lists import ScopeKind
from otel_rt4chart.verify.local.alignment import (
    Alignment,
    align,
    common_subsequence_length,
    longest_run,
)
from otel_rt4chart.verify.local.differences import (
    SlotDifference,
    negation_differences,
    scope_differences,
    sibling_differences,
    term_differences,
)
from otel_rt4chart.verify.local.implied import settle_implied
from otel_rt4chart.verify.local.swaps import swap_differences
from otel_rt4chart.verify.local.value_differences import (
    date_differences,
    identifier_differences,
    name_differences,
    name_whole_ranges,
    number_differences,
)

# More of any feature speaks for "unfaithful": the fit constrains the weights to be 0 or more.
# The names are those of weights.json and of the package of models.
FEATURES = (
    "missing",
    "missing_count",
    "rarest_missing",
    "uncovered_best",
    "uncovered",
    "disorder",
    "uncopied",
    "pair_novelty",
    "number_missing",
    "number_elsewhere",
    "number_clash",
    "date_missing",
    "date_clash",
    "name_missing",
    "name_clash",
    "negation_clash",
    "opposite",
    "sibling_clash",
    "term_clash",
    "universal_new",
    "quantifier_clash",
    "restriction_dropped",
    "superlative_new",
    "hedge_dropped",
    "hedge_added",
    "condition_dropped",
    "cause_new",
    "clash",
    "unheard_of",
    "thin",
)
_CLASHES = (
    "number_clash",
    "date_clash",
    "name_clash",
    "negation_clash",
    "opposite",
    "term_clash",
    "quantifier_clash",
)
_MOSTLY_UNCOVERED = 0.4  # with more of a claim missing, too little of it stands anywhere
_RARE = 0.6  # a missing word that is rarer than this is hardly a paraphrase


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """A claim aligned with its context; `values` are in the order of `FEATURES`."""

    claim: Slots
    context: ContextIndex
    alignment: Alignment
    differences: tuple[SlotDifference, ...]
    values: tuple[float, ...]

    @property
    def named(self) -> dict[str, float]:
        """The features by their names."""
        return dict(zip(FEATURES, self.values, strict=True))


def read_claim(claim: Slots, context: ContextIndex) -> ClaimReading:
    """Align a claim with its context, find the differences and measure the features."""
    alignment = align(claim, context)
    raw = (
        *number_differences(claim, alignment, context),
        *date_differences(claim, alignment, context),
        *name_differences(claim, alignment, context),
        *identifier_differences(claim, alignment, context),
        *negation_differences(claim, alignment, context),
        *term_differences(claim, alignment, context),
        *sibling_differences(claim, alignment, context),
        *scope_differences(claim, alignment, context),
        *swap_differences(claim, alignment, context),
    )
    settled = settle_implied(claim, alignment, context, raw)
    differences = name_whole_ranges(claim, context, settled)
    measured = (
        _word_features(claim, alignment)
        | _order_features(claim, alignment, context)
        | _slot_features(differences, alignment)
        | _scope_features(claim, alignment, context)
    )
    # What a linear model cannot form by itself: a maximum, and two hinges above a threshold.
    measured["clash"] = max(measured[name] for name in _CLASHES)
    measured["unheard_of"] = max(0.0, measured["rarest_missing"] - _RARE)
    measured["thin"] = max(0.0, measured["uncovered"] - _MOSTLY_UNCOVERED)
    values = tuple(measured[name] for name in FEATURES)
    return ClaimReading(claim, context, alignment, differences, values)


def _word_features(claim: Slots, alignment: Alignment) -> dict[str, float]:
    lost = [
        weight
        for weight, met in zip(alignment.weights, alignment.equivalents, strict=True)
        if not met
    ]
    total = sum(alignment.weights) or 1.0
    return {
        "missing": sum(lost) / total,
        "missing_count": min(1.0, len(lost) / 4),
        "rarest_missing": max(lost, default=0.0),
        "uncovered_best": 1.0 - alignment.best_coverage,
        "uncovered": 1.0 - alignment.coverage,
    }


def _order_features(claim: Slots, alignment: Alignment, context: ContextIndex) -> dict[str, float]:
    words = len(claim.content) or 1
    order = max((common_subsequence_length(matches) for matches in alignment.matches), default=0)
    run = max((longest_run(matches) for matches in alignment.matches), default=0)
    return {
        "disorder": 1.0 - order / words,
        "uncopied": 1.0 - min(1.0, run / min(words, 6)),
        "pair_novelty": _pair_novelty(alignment, context),
    }


def _pair_novelty(alignment: Alignment, context: ContextIndex) -> float:
    """The share of neighbouring words, both in the context, that no sentence of it has together."""
    known = strange = 0.0
    for left in range(len(alignment.weights) - 1):
        ones, others = alignment.equivalents[left], alignment.equivalents[left + 1]
        if not ones or not others:
            continue
        weight = min(alignment.weights[left], alignment.weights[left + 1])
        known += weight
        if any(matches[left] and matches[left + 1] for matches in alignment.matches):
            continue
        holders = {at for stem in ones for at in context.holders[stem]}
        if not any(at in holders for stem in others for at in context.holders[stem]):
            strange += weight
    return strange / known if known else 0.0


def _slot_features(differences: Sequence[SlotDifference], alignment: Alignment) -> dict[str, float]:
    """The strongest difference of each kind; a clash counts more where the texts share more."""

    def most(slot: str, manner: str) -> float:
        return max(
            (
                _strength(one, alignment)
                for one in differences
                if one.slot == slot and one.manner == manner
            ),
            default=0.0,
        )

    return {
        "number_missing": most("number", "missing"),
        "number_elsewhere": most("number", "elsewhere"),
        "number_clash": most("number", "clash"),
        "date_missing": most("date", "missing"),
        "date_clash": most("date", "clash"),
        "name_missing": most("name", "missing"),
        "name_clash": most("name", "clash"),
        "negation_clash": most("negation", "clash"),
        "opposite": most("term", "opposite"),
        "sibling_clash": most("term", "sibling"),
        "term_clash": most("term", "clash"),
        "quantifier_clash": most("quantifier", "clash"),
    }


def _strength(one: SlotDifference, alignment: Alignment) -> float:
    """The weight of a difference by the share of the claim that its sentence holds.

    A definite one counts by half even where little else is shared.
    """
    if one.sentence < 0:
        return one.weight
    share = alignment.share(one.sentence)
    is_definite = one.manner in ("opposite", "sibling") or one.slot in ("number", "date", "name")
    return one.weight * (0.5 + 0.5 * share if is_definite else share)


def _scope_features(claim: Slots, alignment: Alignment, context: ContextIndex) -> dict[str, float]:
    near = [word for at in alignment.sentences for word in context.sentences[at].scope]
    best = list(context.sentences[alignment.sentences[0]].scope) if alignment.sentences else []

    def new(kind: ScopeKind) -> float:
        return float(has(claim.scope, kind) and not has(near, kind))

    return {
        "universal_new": new("universal"),
        "restriction_dropped": float(
            has(best, "restriction") and not has(claim.scope, "restriction")
        ),
        "superlative_new": float(bool(_new_superlatives(claim, near))),
        "hedge_dropped": float(has(best, "hedge") and not has(claim.scope, "hedge")),
        "hedge_added": new("hedge"),
        "condition_dropped": float(has(best, "condition") and not has(claim.scope, "condition")),
        "cause_new": new("cause"),
    }


def _new_superlatives(claim: Slots, near: Sequence[ScopeWord]) -> list[ScopeWord]:
    known = {word.norm for word in near}
    return [word for word in claim.scope if word.kind == "superlative" and word.norm not in known]
