"""One claim beside its context as a fixed vector of named features, with what explains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.scope import ScopeWord, has
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.word_lists import ScopeKind
from otel_rt4chart.verify.local.alignment import Alignment, align, common_order, longest_run
from otel_rt4chart.verify.local.binding import swapped
from otel_rt4chart.verify.local.differences import (
    Difference,
    date_differences,
    negation_differences,
    number_differences,
    term_differences,
)
from otel_rt4chart.verify.local.word_differences import (
    name_differences,
    scope_differences,
    sibling_differences,
)

# Every feature is built so that more of it speaks for unfaithful: the head's weights are >= 0.
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
_THIN = 0.4  # a share of the claim beyond which too little of it stands anywhere
_UNHEARD_OF = 0.6  # a rarity above which a missing word is hardly a paraphrase


@dataclass(frozen=True, slots=True)
class Reading:
    """A claim read beside a context: `values` in the order of `FEATURES`."""

    claim: Slots
    context: Context
    laid: Alignment
    differences: tuple[Difference, ...]
    values: tuple[float, ...]

    @property
    def named(self) -> dict[str, float]:
        """The features by their names."""
        return dict(zip(FEATURES, self.values, strict=True))


def read_claim(claim: Slots, context: Context) -> Reading:
    """Lay a claim beside its sentences and measure where it departs from them."""
    laid = align(claim, context)
    differences = (
        *number_differences(claim, laid, context),
        *date_differences(claim, laid, context),
        *name_differences(claim, laid, context),
        *negation_differences(claim, laid, context),
        *term_differences(claim, laid, context),
        *sibling_differences(claim, laid, context),
        *scope_differences(claim, laid, context),
        *swapped(claim, laid, context),
    )
    measured = (
        _word_features(claim, laid)
        | _order_features(claim, laid, context)
        | _slot_features(differences, laid)
        | _scope_features(claim, laid, context)
    )
    measured["clash"] = max(measured[name] for name in _CLASHES)
    measured["unheard_of"] = max(0.0, measured["rarest_missing"] - _UNHEARD_OF)
    measured["thin"] = max(0.0, measured["uncovered"] - _THIN)
    values = tuple(measured[name] for name in FEATURES)
    return Reading(claim, context, laid, differences, values)


def _word_features(claim: Slots, laid: Alignment) -> dict[str, float]:
    lost = [weight for weight, met in zip(laid.weights, laid.equivalents, strict=True) if not met]
    total = sum(laid.weights) or 1.0
    return {
        "missing": sum(lost) / total,
        "missing_count": min(1.0, len(lost) / 4),
        "rarest_missing": max(lost, default=0.0),
        "uncovered_best": 1.0 - laid.best_coverage,
        "uncovered": 1.0 - laid.coverage,
    }


def _order_features(claim: Slots, laid: Alignment, context: Context) -> dict[str, float]:
    words = len(claim.content) or 1
    order = max((common_order(meets) for meets in laid.meets), default=0)
    run = max((longest_run(meets) for meets in laid.meets), default=0)
    return {
        "disorder": 1.0 - order / words,
        "uncopied": 1.0 - min(1.0, run / min(words, 6)),
        "pair_novelty": _pair_novelty(laid, context),
    }


def _pair_novelty(laid: Alignment, context: Context) -> float:
    """The share of neighbouring words, both known, that no sentence of the context joins."""
    known = strange = 0.0
    for left in range(len(laid.weights) - 1):
        ones, others = laid.equivalents[left], laid.equivalents[left + 1]
        if not ones or not others:
            continue
        weight = min(laid.weights[left], laid.weights[left + 1])
        known += weight
        if any(meets[left] and meets[left + 1] for meets in laid.meets):
            continue
        holders = {at for stem in ones for at in context.holders[stem]}
        if not any(at in holders for stem in others for at in context.holders[stem]):
            strange += weight
    return strange / known if known else 0.0


def _slot_features(differences: Sequence[Difference], laid: Alignment) -> dict[str, float]:
    """The strongest of each kind; a clash counts by how much the two sentences share otherwise."""

    def most(slot: str, manner: str) -> float:
        return max(
            (
                _strength(one, laid)
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


def _strength(one: Difference, laid: Alignment) -> float:
    """A value that stands against another is half a clash even where little else is shared."""
    if one.sentence < 0:
        return one.weight
    share = laid.share(one.sentence)
    firm = one.manner in ("opposite", "sibling") or one.slot in ("number", "date", "name")
    return one.weight * (0.5 + 0.5 * share if firm else share)


def _scope_features(claim: Slots, laid: Alignment, context: Context) -> dict[str, float]:
    near = [word for at in laid.sentences for word in context.sentences[at].scope]
    best = list(context.sentences[laid.sentences[0]].scope) if laid.sentences else []

    def new(kind: ScopeKind) -> float:
        return float(has(claim.scope, kind) and not has(near, kind))

    return {
        "universal_new": new("universal"),
        "restriction_dropped": float(
            has(best, "restriction") and not has(claim.scope, "restriction")
        ),
        "superlative_new": float(bool(_strange_superlatives(claim, near))),
        "hedge_dropped": float(has(best, "hedge") and not has(claim.scope, "hedge")),
        "hedge_added": new("hedge"),
        "condition_dropped": float(has(best, "condition") and not has(claim.scope, "condition")),
        "cause_new": new("cause"),
    }


def _strange_superlatives(claim: Slots, near: Sequence[ScopeWord]) -> list[ScopeWord]:
    known = {word.norm for word in near}
    return [word for word in claim.scope if word.kind == "superlative" and word.norm not in known]
