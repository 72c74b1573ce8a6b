"""The judgement of a claim: its odds by the fitted classifiers, then label, evidence and reason."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import NamedTuple

from otel_rt4chart.core.text import clip
from otel_rt4chart.verify.core.model import Clash, Judgement, Label, Sentence
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import Token, content
from otel_rt4chart.verify.language.word_lists import SAY_LITTLE
from otel_rt4chart.verify.local.differences import SETTLED, SlotDifference
from otel_rt4chart.verify.local.features import FEATURES, ClaimReading

_MAX_SCORE = 40.0  # keeps `exp` from overflowing
_KEYS = ("intercept", "slope", "offset", "threshold")


@dataclass(frozen=True, slots=True)
class LogisticHead:
    """A logistic regression over named features; `threshold` applies to the probability.

    `slope` and `offset` calibrate the raw score (Platt, 1999; fitted out of fold).
    """

    weights: Mapping[str, float]
    intercept: float
    slope: float
    offset: float
    threshold: float

    def probability(self, values: Mapping[str, float]) -> float:
        """The calibrated probability, for classes of equal prior probability."""
        raw = self.intercept + sum(weight * values[name] for name, weight in self.weights.items())
        score = self.slope * raw + self.offset
        return 1.0 / (1.0 + math.exp(-max(-_MAX_SCORE, min(_MAX_SCORE, score))))


def read_head(fitted: Mapping[str, object], known: Collection[str]) -> LogisticHead:
    """The head that a fit wrote; ValueError where it has weights of unknown features."""
    weights = fitted["weights"]
    if not isinstance(weights, dict) or not set(weights) <= set(known):
        raise ValueError(f"expected weights of some of {', '.join(known)}; got {weights}")
    named = {str(name): float(weight) for name, weight in weights.items()}
    return LogisticHead(named, *(float(str(fitted[key])) for key in _KEYS))


@dataclass(frozen=True, slots=True)
class RulesHeads:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless."""

    unfaithful: LogisticHead
    contradicted: LogisticHead


@cache
def rules_heads() -> RulesHeads:
    """The fitted weights that the package ships, read once."""
    fitted = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return RulesHeads(
        read_head(fitted["unfaithful"], FEATURES), read_head(fitted["contradicted"], FEATURES)
    )


class DecisionThresholds(NamedTuple):
    """Where a judge decides, by P(unfaithful); what it does not decide is undecided.

    A claim is entailed below `entailed_below`; contradicted from `contradicted_from` on, where a
    sentence sets something against it and P(contradicted | unfaithful) reaches `kind_from`; where
    nothing but a network's marks says what, from `marks_from` on; and baseless from `baseless_from`
    on.
    """

    entailed_below: float
    contradicted_from: float
    baseless_from: float
    kind_from: float
    marks_from: float = 1.0


class Odds(NamedTuple):
    """P(unfaithful), P(contradicted | unfaithful), and the thresholds they are compared with."""

    unfaithful: float
    contradicted: float
    thresholds: DecisionThresholds


# Of the training rows' single claims with less of their weight in the passages, 443 of 470 are
# unfaithful (SummEdits alone: 25 of 36).
_UNCOVERED, _MOSTLY_WRONG = 0.4, 0.85
# Of the claims in the training rows of which one sentence has this share of the other words' weight
# (two words at least) and another date or number, 89 of 106 are unfaithful.
_COPIED, _MIN_OTHERS, _LIKELY_WRONG = 0.8, 2, 0.7
_PRECISE = 7  # digits of a number that nobody rounded


def uncovered_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where too little of the claim stands anywhere in the context.

    Only for judges that compare words alone.
    """
    return _MOSTLY_WRONG if reading.alignment.coverage < _UNCOVERED else 0.0


def clash_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where the claim's sentence has another value or quantifier.

    "1 May" for "1 April", "cures" for "may cure", one account number for another.
    """
    if is_swapped(reading) or has_other_identifier(reading):
        return _LIKELY_WRONG
    return _LIKELY_WRONG if _has_clash(reading, "date", "number", "quantifier") else 0.0


def has_other_identifier(reading: ClaimReading) -> bool:
    """True where a sentence that says the rest of the claim has another identifier in its place."""
    return any(
        _is_precise(one) and one.manner == "clash" and _is_mostly_copied(reading, one)
        for one in reading.differences
    )


def _is_precise(one: SlotDifference) -> bool:
    """True for an identifier, and a number with too many digits to be a rounded one."""
    has_digits = one.slot == "number" and sum(map(str.isdigit, one.claimed)) >= _PRECISE
    return one.is_exact or has_digits


def negation_floor(reading: ClaimReading) -> float:
    """The least P(unfaithful) where the claim's sentence says the rest of it and denies it.

    Or where the claim denies it. Of 25 such claims in the training rows, 24 are unfaithful.
    """
    return _LIKELY_WRONG if _has_clash(reading, "negation") else 0.0


def swap_floor(reading: ClaimReading) -> float:
    """The least P(contradicted) where the claim gives one subject another one's value.

    Or where its sentence has another identifier.
    """
    return _LIKELY_WRONG if has_other_identifier(reading) or is_swapped(reading) else 0.0


def is_swapped(reading: ClaimReading) -> bool:
    """True where the context has the claim's value with another subject."""
    return any(one.manner == "swapped" for one in reading.differences)


def _has_clash(reading: ClaimReading, *slots: str) -> bool:
    """True where a sentence that says the rest of the claim clashes in one of these slots."""
    return any(
        one.slot in slots and one.manner == "clash" and _is_mostly_copied(reading, one)
        for one in reading.differences
    )


def _is_mostly_copied(reading: ClaimReading, one: SlotDifference) -> bool:
    """True where the sentence that clashes has nearly all of the claim's other words."""
    alignment = reading.alignment
    if alignment.share(one.sentence) >= _COPIED:
        return True
    claimed = content(one.claimed)
    matches = alignment.matches[alignment.sentences.index(one.sentence)]
    others = [
        (weight, bool(places))
        for word, weight, places in zip(
            reading.claim.words, alignment.weights, matches, strict=True
        )
        if word.stem not in claimed
    ]
    held = sum(weight for weight, is_met in others if is_met)
    # "The account is …": one word is enough beside an identifier.
    enough = 1 if _is_precise(one) else _MIN_OTHERS
    return len(others) >= enough and held >= _COPIED * sum(weight for weight, _ in others)


class MarkedWords(NamedTuple):
    """Runs of a claim's words that a network holds wrong, the most probable first.

    No passage has the `words` as they stand. `told` are the runs that one has. `rivals` are what a
    sentence that says the rest of the claim has in the place of some of the words.
    """

    words: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    rivals: tuple[SlotDifference, ...] = ()


NO_MARKS = MarkedWords()
MAX_SHOWN = 3  # differences or words in one reason
_QUOTE_LENGTH = 160  # characters of a sentence that a reason quotes
# Manners that set another value against the claim's.
CLASHING = ("clash", "opposite", "sibling")
_LACKING = ("missing", "elsewhere")
# Manners of values of which the passages do not say what the claim says.
_UNSAID = ("narrowed", "beyond")
# Of differences between terms, those that are more than another wording.
_DEFINITE = ("opposite", "sibling")
# The order in which differences are reported: comparable values before single words.
_SLOT_ORDER = ("number", "date", "name", "negation", "quantifier", "qualifier", "term")


def select_differences(reading: ClaimReading, *, rivals: bool) -> tuple[SlotDifference, ...]:
    """The differences to report, one for each claimed value, the strongest first.

    With `rivals`, only those that set another value against the claim's; else only the others.
    """
    selected: dict[str, SlotDifference] = {}
    swapped = [one for one in reading.differences if one.manner == "swapped"]
    if rivals and swapped:
        return tuple(swapped)
    ordered = sorted(
        reading.differences,
        key=lambda one: (_SLOT_ORDER.index(one.slot), one.manner not in _DEFINITE),
    )
    for one in ordered:
        is_meant = one.manner in CLASHING if rivals else one.manner in _LACKING
        if is_meant and _is_reliable(reading, one):
            known = one.claimed if one.slot != "negation" else one.slot
            selected.setdefault(known, one)
    definite = [one for one in selected.values() if one.slot != "term" or one.manner in _DEFINITE]
    return tuple((definite or list(selected.values()))[:MAX_SHOWN])


def _is_reliable(reading: ClaimReading, one: SlotDifference) -> bool:
    """False for a name in place of another in a sentence that may speak of something else.

    In the training rows, the other name is the right one for 64 of 68 edited summaries, but for 4
    of 28 claims of Wikipedia; where its sentence has the rest of the claim, for 21 of these 21.
    """
    if one.is_exact:
        return _is_mostly_copied(reading, one) if one.manner == "clash" else True
    if one.slot != "name" or one.manner != "clash":
        return True
    return one.is_exclusive and _is_mostly_copied(reading, one)


_MOST, _ALL = 0.6, 0.95


def coverage_reason(reading: ClaimReading) -> str:
    """How much of the claim the passages say in its own words; "" where it is not most of it."""
    share = reading.alignment.coverage
    if share < _MOST:
        return ""
    return f"{'its words' if share >= _ALL else 'most of its words'} are in the passage"


def missing_words_reason(reading: ClaimReading, words: Sequence[str]) -> str:
    """The words of the claim that no sentence has; `words`, where they are known already."""
    words = words or [
        word.text
        for word, met in zip(reading.claim.words, reading.alignment.equivalents, strict=True)
        if not met
    ]
    if not words and reading.alignment.best_coverage >= _ALL:
        return "the passages join its words otherwise"
    if not words:
        return "no sentence of the passages joins its words"
    return "not in the passages: " + ", ".join(f"“{word}”" for word in words[:MAX_SHOWN])


def is_absent(words: str, sentences: Sequence[Sentence]) -> bool:
    """True where no sentence has these words as they stand, in whatever case."""
    folded = words.casefold()
    pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE)
    # Of half a megabyte of passages, most is ruled out by the plain search, four times as fast.
    return not any(
        folded in text.casefold() and pattern.search(text)
        for one in sentences
        for text in (one.text, one.rendered)
    )


def clash_reason(differences: Sequence[SlotDifference], sentences: Sequence[Sentence]) -> str:
    """Each claimed value, and the value that a passage has in its place."""
    return "; ".join(
        f"“{one.claimed}” in the answer, “{one.found}” in {passage_name(sentences[one.sentence])}"
        for one in differences
    )


def passage_name(sentence: Sentence) -> str:
    """The sentence's passage, as a reason names it."""
    return f"passage {sentence.passage_id}" if sentence.passage_id else "the passage"


MAX_CONFIDENCE = 0.99  # no verdict in this process is certain


def judgement_from_odds(
    reading: ClaimReading,
    odds: Odds,
    sentences: Sequence[Sentence],
    near: Sequence[Sentence] = (),
    marks: MarkedWords = NO_MARKS,
) -> Judgement:
    """The first of these that holds: entailed, contradicted, baseless, undecided.

    `near` are the sentences that a network read with the claim, best first, and `marks` the words
    of the claim that it holds wrong; a judge without a network gives neither. Contradicted needs a
    sentence that sets something against the claim. The confidence is that of "supported" against
    "not supported": it says nothing of contradicted against baseless.
    """
    settled = [one for one in reading.differences if one.manner in SETTLED]
    evidence = tuple(sorted(sentences[at].index for at in reading.alignment.sentences))
    evidence = evidence or tuple(one.index for one in near)
    thresholds = odds.thresholds
    is_low = odds.unfaithful < thresholds.entailed_below
    unheard = [one.claimed for one in reading.differences if _is_unheard(one)]
    if is_low and unheard:
        return _unheard(reading, odds, sentences, unheard)
    if is_low and evidence and not any(one.manner in _UNSAID for one in settled):
        confidence = min(MAX_CONFIDENCE, 1.0 - odds.unfaithful)
        reason = coverage_reason(reading) or _reworded_reason(odds)
        return Judgement(Label.ENTAILED, evidence, confidence, reason)
    if (
        odds.unfaithful >= thresholds.contradicted_from
        and odds.contradicted >= thresholds.kind_from
    ):
        found = _contradicted(reading, odds, sentences, marks)
        if found is not None:
            return found
    has_grounds = marks.words or select_differences(reading, rivals=False)
    if settled and evidence and (is_low or not has_grounds):
        return Judgement(Label.UNDECIDED, reason=_settled_reason(settled[0], sentences))
    if marks.told and evidence and not has_grounds:
        return Judgement(Label.UNDECIDED, reason=f"not sure: “{marks.told[0]}” is in the passages")
    if odds.unfaithful >= thresholds.baseless_from or not evidence:
        return _baseless(reading, odds, sentences, marks.words)
    return Judgement(Label.UNDECIDED, reason=_unsure_reason(odds))


def _is_unheard(one: SlotDifference) -> bool:
    """True for a name or value that no passage has; "the three" may count what a sentence lists."""
    is_value = one.slot in ("number", "date") and any(map(str.isdigit, one.claimed))
    return one.manner == "missing" and (one.slot == "name" or is_value or _is_precise(one))


def _unheard(
    reading: ClaimReading, odds: Odds, sentences: Sequence[Sentence], unheard: Sequence[str]
) -> Judgement:
    """Baseless, or undecided where the passages may say it in other words; however low the odds."""
    claim = reading.claim
    named = {claim.text[one.start : one.end] for one in claim.identifiers if one.has_one_name}
    if named.isdisjoint(unheard):
        reason = f"not sure: no passage has “{unheard[0]}” as it stands"
        return Judgement(Label.UNDECIDED, reason=reason)
    return _baseless(reading, odds._replace(unfaithful=_LIKELY_WRONG), sentences, ())


def _contradicted(
    reading: ClaimReading, odds: Odds, sentences: Sequence[Sentence], marks: MarkedWords
) -> Judgement | None:
    """Contradicted by what a sentence sets against the claim; None where none does."""
    clashing = _confirmed_by_marks(select_differences(reading, rivals=True), marks.words)
    if not clashing and odds.unfaithful >= odds.thresholds.marks_from:
        clashing = marks.rivals[:MAX_SHOWN]
    if not clashing:
        return None
    return contradicted_by(clashing, sentences, min(MAX_CONFIDENCE, odds.unfaithful))


def contradicted_by(
    clashing: Sequence[SlotDifference], sentences: Sequence[Sentence], confidence: float | None
) -> Judgement:
    """The judgement on a claim against which sentences set other values or words."""
    return Judgement(
        Label.CONTRADICTED,
        tuple(sorted({sentences[one.sentence].index for one in clashing})),
        confidence,
        clash_reason(clashing, sentences),
        tuple(Clash(one.slot, one.claimed, one.found) for one in clashing),
    )


def says_little(word: Token) -> bool:
    """True for a word in small letters that a statement may do without: "works", "twice"."""
    return word.stem in SAY_LITTLE and word.text.islower()


def _baseless(
    reading: ClaimReading, odds: Odds, sentences: Sequence[Sentence], marked: Sequence[str]
) -> Judgement:
    """Baseless, with the words that no sentence has."""
    differences = select_differences(reading, rivals=False)
    # What stands in a passage is not missing from it, whatever else is wrong with its use.
    missing = list(
        islice(
            (
                Clash(slot, words)
                for slot, words in (
                    [(one.slot, one.claimed) for one in differences]
                    or [("term", word) for word in marked]
                )
                if is_absent(words, sentences)
            ),
            MAX_SHOWN,
        )
    )
    return Judgement(
        Label.BASELESS,
        confidence=min(MAX_CONFIDENCE, odds.unfaithful),
        reason=missing_words_reason(reading, [one.claimed for one in missing]),
        clashes=tuple(missing),
    )


def doubt_thin_grounds(
    judgement: Judgement,
    reading: ClaimReading,
    sentences: Sequence[Sentence],
    marks: MarkedWords = NO_MARKS,
) -> Judgement:
    """A baseless claim is undecided where one sentence has all of it but words that say little.

    "The link then works for 7 days" beside "The link is valid for 7 days", "only" and "as soon as".
    """
    if judgement.label is not Label.BASELESS:
        return judgement
    claim, alignment = reading.claim, reading.alignment
    if any(one.manner not in SETTLED and one.slot != "term" for one in reading.differences):
        return judgement
    marked = [word for run in marks.words for word in read_slots(run).words]
    if not all(map(says_little, marked)):
        return judgement
    for at, matches in zip(alignment.sentences, alignment.matches, strict=True):
        lost = [word for word, met in zip(claim.words, matches, strict=True) if not met]
        words = marks.words[0] if marks.words else lost[0].text if lost else ""
        is_most = len(lost) < len(claim.words) / 2
        if words and is_most and all(map(says_little, lost)):
            held = passage_name(sentences[at])
            reason = f"not sure: {held} has the rest of the claim, and not “{words}”"
            return Judgement(Label.UNDECIDED, reason=reason)
    return judgement


def _settled_reason(one: SlotDifference, sentences: Sequence[Sentence]) -> str:
    """The words of the claim, and those of a passage from which they may follow."""
    relation = "is beyond" if one.manner == "beyond" else "may follow from"
    found, name = clip(one.found, _QUOTE_LENGTH), passage_name(sentences[one.sentence])
    return f"not sure: “{one.claimed}” {relation} “{found}” in {name}"


def _unsure_reason(odds: Odds) -> str:
    """In words, with how likely the claim is supported."""
    supported = 1.0 - odds.unfaithful
    return f"not sure: the passages may support it, and may not (probability {supported:.0%})"


def _reworded_reason(odds: Odds) -> str:
    """Where most of the claim's words are in no passage, and it is held for supported."""
    return f"likely said in other words (probability {1.0 - odds.unfaithful:.0%})"


def _confirmed_by_marks(
    differences: Sequence[SlotDifference], marked: Sequence[str]
) -> Sequence[SlotDifference]:
    """A word in another one's place counts only where it is the network's most likely error."""
    if not marked:
        return differences
    known = set(content(marked[0]))
    return [
        one
        for one in differences
        if one.slot != "term" or one.manner == "opposite" or known & set(content(one.claimed))
    ]
