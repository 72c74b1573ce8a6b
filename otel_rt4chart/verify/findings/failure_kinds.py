"""The failure taxonomy: every kind of failure and every finding, with its stored id and label.

Findings store `finding_id`, fingerprints of issues store the value of a `FailureKind`. Both ids
are in databases and JSON files: change labels, never ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from otel_rt4chart.verify.core.model import AnswerCheck, ClaimStatus, Clash, Label, Slot
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.thesaurus import all_synonyms
from otel_rt4chart.verify.language.tokens import stem
from otel_rt4chart.verify.language.word_lists import DIRECTIONS


class FailureFamily(StrEnum):
    """What several kinds of failure have in common, with a label for people."""

    label: str

    def __new__(cls, value: str, label: str) -> Self:
        """A member that equals its stored id."""
        member = str.__new__(cls, value)
        member._value_, member.label = value, label
        return member

    REPLACED = "replaced", "Replaced by something else"
    NEGATED = "negated", "Negation added or dropped"
    REVERSED = "reversed", "Opposite or reversed"
    UNLIMITED = "unlimited", "Wider or more certain than the source"
    ADDED = "added", "Beyond the source"
    PARTIAL = "partial", "True, but not all that the source says"
    UNTOLD = "untold", "Different in a way no rule explains"


class FailureKind(StrEnum):
    """How an unfaithful or misleading claim departs from its source, in the order of precedence.

    Contradicted and baseless claims of a kind that rules explain are one issue, so the name is true
    of both. The value is the id in a fingerprint. `finding_id` is the `kind` of a `failure_kind`
    finding: several kinds may share one. `description` is embedded to group failures, so a changed
    text moves new failures away from stored ones.
    """

    family: FailureFamily
    finding_id: str
    description: str
    contradicted: str
    baseless: str
    entailed: str

    def __new__(
        cls,
        value: str,
        family: FailureFamily,
        finding_id: str,
        description: str,
        contradicted: str,
        baseless: str = "",
        entailed: str = "",
    ) -> Self:
        """A member that equals its id in fingerprints; the last three arguments are its labels."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.family, member.finding_id, member.description = family, finding_id, description
        member.contradicted, member.baseless = contradicted, baseless or contradicted
        member.entailed = entailed or contradicted
        return member

    def label(self, claim_label: str) -> str:
        """The name for people; it depends on whether the source says the claim, or denies it."""
        if claim_label == Label.ENTAILED:
            return self.entailed
        return self.contradicted if claim_label == Label.CONTRADICTED else self.baseless

    # fmt: off
    NUMBER = ("number", FailureFamily.REPLACED, "numeric_slip",
        "a number differs from the source", "Number not as in the source")
    UNIT = ("unit", FailureFamily.REPLACED, "numeric_slip",
        "a unit differs from the source", "Unit not as in the source")
    DATE = ("date", FailureFamily.REPLACED, "temporal_shift",
        "a date or time differs from the source", "Date or time not as in the source")
    ENTITY = ("entity", FailureFamily.REPLACED, "entity_swap",
        "a name differs from the source", "Name not as in the source")
    EXCLUSION = ("exclusion", FailureFamily.UNLIMITED, "cherry_picked_exclusion",
        "an exclusion of the source is ignored", "Exclusion ignored")
    POLARITY = ("polarity", FailureFamily.NEGATED, "negation_flip",
        "the statement is negated or a negation is dropped", "Negation added or dropped")
    # Words that rise, fall or compare.
    DIRECTION = ("direction", FailureFamily.REVERSED, "negation_flip",
        "what rises, falls or compares goes the other way than in the source",
        "Direction not as in the source")
    OPPOSITE = ("opposite", FailureFamily.REVERSED, "negation_flip",
        "a word is replaced by its opposite", "Opposite of a word in the source")
    SCOPE = ("scope", FailureFamily.UNLIMITED, "unsupported_generalisation",
        "the scope is wider than in the source", "Wider than the source")
    QUALIFIER = ("qualifier", FailureFamily.UNLIMITED, "dropped_qualifier",
        "a condition of the source is dropped", "Qualifier dropped", "", "Qualifier left out")
    # A possibility or a plan stated as a fact, or the reverse.
    HEDGE = ("hedge", FailureFamily.UNLIMITED, "inference_as_fact",
        "how sure the source is differs", "Certainty differs from the source")
    # What precedes or causes what.
    ORDER = ("order", FailureFamily.REVERSED, "temporal_shift",
        "what comes first or follows from what differs", "Order or cause not as in the source")
    # Words of the question that the source lacks.
    ECHO = ("echo", FailureFamily.ADDED, "sycophantic_restatement",
        "the question is restated", "Repeats the question, not the source", "",
        "Repeats the question")
    MISPLACED = ("misplaced", FailureFamily.REPLACED, "other",
        "a word of the source is said of something else",
        "Word of the source said of something else")
    # Words that have an opposite: minor, unknown, public.
    QUALITY = ("quality", FailureFamily.REPLACED, "other",
        "a quality or degree differs from the source", "Quality or degree not as in the source")
    TERM = ("term", FailureFamily.REPLACED, "other",
        "another word stands in the place of the source's", "Word not as in the source")
    # The sources are about something else; the claim cites a passage, or it does not.
    BAD_CITATION = ("bad_citation", FailureFamily.ADDED, "bad_citation",
        "the claim cites a passage that does not cover the topic", "Citation does not support it",
        "", "Cites a passage that does not say it")
    PRIOR_KNOWLEDGE = ("prior_knowledge", FailureFamily.ADDED, "prior_knowledge",
        "the passages do not cover the topic", "Unrelated to the passages")
    # No rule explains the next two: words of its own, and a wording that any paraphrase has.
    ADDITION = ("addition", FailureFamily.ADDED, "overreach",
        "words are added that the source does not have", "Added to the source and against it",
        "Added to the source")
    OTHER = ("other", FailureFamily.UNTOLD, "other",
        "other words than in the source", "Differs from the source", "Not in the source")
    # Of misleading claims. One passage supports the claim, and another one limits or denies it.
    CHERRY_PICKED_EXCLUSION = ("cherry_picked_exclusion", FailureFamily.PARTIAL,
        "cherry_picked_exclusion", "an exclusion in another passage is left out",
        "Cherry-picked exclusion")
    CHERRY_PICKED_CONTRADICTION = ("cherry_picked_contradiction", FailureFamily.PARTIAL,
        "cherry_picked_contradiction", "another passage says the opposite",
        "Cherry-picked contradiction")
    CHERRY_PICKED_LIMIT = ("cherry_picked_limit", FailureFamily.PARTIAL, "cherry_picked_limit",
        "a limit in another passage is left out", "Limit in another passage left out")
    # Never the kind of a claim: of an issue whose claims have several of the kinds above.
    CHERRY_PICKED = ("cherry_picked", FailureFamily.PARTIAL, "cherry_picked_contradiction",
        "another passage limits or denies it", "Cherry-picked passage")
    # The passage that supports the claim limits it.
    DROPPED_CONDITION = ("dropped_condition", FailureFamily.PARTIAL, "dropped_qualifier",
        "a condition in the same passage is left out", "Condition left out")
    DROPPED_EXCEPTION = ("dropped_exception", FailureFamily.PARTIAL, "dropped_qualifier",
        "an exception in the same passage is left out", "Exception left out")
    DROPPED_TIME = ("dropped_time", FailureFamily.PARTIAL, "dropped_qualifier",
        "a limit of time in the same passage is left out", "Time limit left out")
    DROPPED_POPULATION = ("dropped_population", FailureFamily.PARTIAL, "dropped_qualifier",
        "whom the same passage limits it to is left out", "Limited group left out")
    DROPPED_PLACE = ("dropped_place", FailureFamily.PARTIAL, "dropped_qualifier",
        "where the same passage limits it to is left out", "Limited place left out")
    DROPPED_QUANTITY = ("dropped_quantity", FailureFamily.PARTIAL, "dropped_qualifier",
        "a limit of quantity in the same passage is left out", "Quantity limit left out")
    DROPPED_HEDGE = ("dropped_hedge", FailureFamily.PARTIAL, "dropped_qualifier",
        "that the same passage is not sure is left out", "Uncertainty left out")
    DROPPED_SOURCE = ("dropped_source", FailureFamily.PARTIAL, "dropped_qualifier",
        "who says so in the same passage is left out", "Attribution left out")
    STALE = ("stale", FailureFamily.PARTIAL, "stale_source",
        "only superseded passages say it", "Outdated source")
    # fmt: on


# Kinds that say nothing about what went wrong: failures of these are clustered by what they say.
UNEXPLAINED = frozenset({FailureKind.PRIOR_KNOWLEDGE, FailureKind.ADDITION, FailureKind.OTHER})
EXPLAINED = frozenset(FailureKind) - UNEXPLAINED
_KIND_OF_SLOT: Mapping[Slot, FailureKind] = {
    "number": FailureKind.NUMBER,
    "date": FailureKind.DATE,
    "name": FailureKind.ENTITY,
    "negation": FailureKind.POLARITY,
    "quantifier": FailureKind.SCOPE,
    "qualifier": FailureKind.QUALIFIER,
    "term": FailureKind.TERM,
}
_DIRECTIONS = frozenset(map(stem, DIRECTIONS))
# The kind of what a claim leaves out of its own passage, by the kind of the restriction.
KIND_OF_DROPPED: Mapping[str, FailureKind] = {
    "condition": FailureKind.DROPPED_CONDITION,
    "exclusion": FailureKind.DROPPED_EXCEPTION,
    "time_limit": FailureKind.DROPPED_TIME,
    "eligibility": FailureKind.DROPPED_POPULATION,
    "population": FailureKind.DROPPED_POPULATION,
    "place": FailureKind.DROPPED_PLACE,
    "bound": FailureKind.DROPPED_QUANTITY,
    "quantifier": FailureKind.DROPPED_QUANTITY,
    "hedge": FailureKind.DROPPED_HEDGE,
    "source": FailureKind.DROPPED_SOURCE,
}


# Kinds of one status: too few claims of each on a route may be enough for one issue of them all.
_BROADER_KIND: Mapping[FailureKind, FailureKind] = {
    **dict.fromkeys(KIND_OF_DROPPED.values(), FailureKind.QUALIFIER),
    FailureKind.CHERRY_PICKED_EXCLUSION: FailureKind.CHERRY_PICKED,
    FailureKind.CHERRY_PICKED_CONTRADICTION: FailureKind.CHERRY_PICKED,
    FailureKind.CHERRY_PICKED_LIMIT: FailureKind.CHERRY_PICKED,
}


def pattern_of(label: str, kind: str) -> str:
    """The part of a fingerprint after its version, such as `unfaithful:number`.

    The same mistake is contradicted where a sentence stands against the claim, and baseless where
    the judge found none. The label tells only those failures apart that no rule explains.
    """
    is_unfaithful = label in (Label.CONTRADICTED, Label.BASELESS) and kind in EXPLAINED
    return f"{Measure.UNFAITHFUL if is_unfaithful else label}:{kind}"


def pattern_of_fingerprint(fingerprint: str) -> str:
    """The pattern of a fingerprint; those of earlier versions have the label in all of them."""
    pattern = fingerprint.partition(":")[2]
    label, _, kind = pattern.partition(":")
    return pattern_of(label, kind) if kind else pattern


def broader_fingerprint(fingerprint: str) -> str:
    """`fp6:entailed:qualifier` of `fp6:entailed:dropped_time`, and of itself; "" for others."""
    head, _, _ = fingerprint.rpartition(":")
    kind = kind_of_fingerprint(fingerprint)
    if kind is None or not head.endswith(f":{Label.ENTAILED}"):
        return ""
    broader = kind if kind in _BROADER_KIND.values() else _BROADER_KIND.get(kind)
    return f"{head}:{broader}" if broader else ""


def kind_of_fingerprint(fingerprint: str) -> FailureKind | None:
    """The kind in a fingerprint such as `fp6:unfaithful:number`; None for an unknown one."""
    value = fingerprint.rpartition(":")[2]
    return next((kind for kind in FailureKind if kind == value), None)


def measure_of_fingerprint(fingerprint: str) -> Measure:
    """The measure that counts the claims of a fingerprint: misleading if they are entailed."""
    is_misleading = f":{Label.ENTAILED}:" in fingerprint
    return Measure.MISLEADING if is_misleading else Measure.UNFAITHFUL


def kind_of_clash(clash: Clash) -> FailureKind:
    """The kind that a clash's slot stands for; equal digits leave the unit as the difference."""
    kind = _KIND_OF_SLOT.get(clash.slot, FailureKind.TERM)
    digits = _digits(clash.claimed)
    is_unit = kind is FailureKind.NUMBER and digits != "" and digits == _digits(clash.found)
    return FailureKind.UNIT if is_unit else kind


def kind_of_opposite(word_stem: str) -> FailureKind:
    """The kind of a claim's word that is the opposite of the source's."""
    return FailureKind.DIRECTION if word_stem in _DIRECTIONS else FailureKind.OPPOSITE


def kind_of_word_pair(claimed: str, found: str) -> FailureKind:
    """The kind of a word that replaces another; a synonym explains nothing."""
    mine, theirs = stem(claimed.lower()), stem(found.lower())
    if are_opposite(mine, theirs):
        return kind_of_opposite(mine)
    is_paraphrase = mine == theirs or theirs in all_synonyms(mine)
    return FailureKind.OTHER if is_paraphrase else FailureKind.TERM


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())


class FindingName(StrEnum):
    """The names of findings, in the order in which reports list them, with labels for people."""

    label: str

    def __new__(cls, value: str, label: str) -> Self:
        """A member that equals its stored name."""
        member = str.__new__(cls, value)
        member._value_, member.label = value, label
        return member

    CHUNK_ATTRIBUTION = "chunk_attribution", "Passages used"
    CHUNK_UTILISATION = "chunk_utilisation", "Share of passages used"
    CITATION = "citation", "Citation"
    CHERRY_PICKED = "cherry_picked", ClaimStatus.CHERRY_PICKED.label.capitalize()
    DROPPED_QUALIFIER = "dropped_qualifier", ClaimStatus.QUALIFIER_DROPPED.label.capitalize()
    SYCOPHANTIC = "sycophantic", ClaimStatus.RESTATES_PREMISE.label.capitalize()
    STALE = "stale", ClaimStatus.STALE.label.capitalize()
    OVERREACH = "overreach", ClaimStatus.OVERREACH.label.capitalize()
    CONTEXT_COMPRESSED = "context_compressed", "Context compressed"
    DECISION_BASIS = "decision_basis", "What the judge says decided"
    LINKED_BY_WORDS_ONLY = "linked_by_words_only", "Linked by words only"
    FINDINGS_LIMITED = "findings_limited", "Not all findings are listed"
    FAILURE_KIND = "failure_kind", "Kind of failure"


# The findings that say that an entailed claim misleads, with the check that made them: None for
# those that are made for every verified answer.
MISLEADING: Mapping[str, tuple[ClaimStatus, AnswerCheck | None]] = {
    FindingName.CHERRY_PICKED: (ClaimStatus.CHERRY_PICKED, AnswerCheck.CHERRY_PICKING),
    FindingName.DROPPED_QUALIFIER: (ClaimStatus.QUALIFIER_DROPPED, None),
    FindingName.STALE: (ClaimStatus.STALE, None),
    FindingName.SYCOPHANTIC: (ClaimStatus.RESTATES_PREMISE, AnswerCheck.SYCOPHANCY),
    FindingName.CITATION: (ClaimStatus.MISCITED, AnswerCheck.CITATIONS),
}
