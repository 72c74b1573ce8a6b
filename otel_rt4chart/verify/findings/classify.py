"""The classifier of failures: how a claim departs from its sources, by rules and by its status.

It reads only what is stored with a claim and its answer, so that the finding on an answer and the
fingerprint of its issue, which are made in different processes, cannot name different kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Claim, ClaimStatus, Clash, Evidence, Finding, Label
from otel_rt4chart.verify.findings.failure_kinds import (
    UNEXPLAINED,
    FailureKind,
    FindingName,
    kind_of_clash,
    kind_of_opposite,
    kind_of_word_pair,
)
from otel_rt4chart.verify.findings.misleading_kinds import (
    TEXT_LENGTH,
    TEXTS,
    is_exclusion,
    is_sycophantic,
    misleading_kind,
)
from otel_rt4chart.verify.findings.premise import premise_of
from otel_rt4chart.verify.findings.sycophancy import restates
from otel_rt4chart.verify.language.cues import cues
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, read_context, read_slots
from otel_rt4chart.verify.language.thesaurus import opposites, relations
from otel_rt4chart.verify.language.tokens import Token, stem
from otel_rt4chart.verify.language.word_lists import (
    FINGERPRINT_META,
    FINGERPRINT_NEGATIONS,
    FINGERPRINT_ORDER,
    CueKind,
)
from otel_rt4chart.verify.local.alignment import Alignment, align
from otel_rt4chart.verify.local.differences import negation_differences, term_differences
from otel_rt4chart.verify.local.value_differences import (
    date_differences,
    name_differences,
    number_differences,
)
from otel_rt4chart.verify.text.citations import blank_citations, citations

# The order in which the taxonomy lists the kinds.
PRECEDENCE = {kind: at for at, kind in enumerate(FailureKind)}
_LONG = 4  # so many content words in a row are an addition, not a replaced word
_NEGATIVE_OBJECTS = frozenset(("nothing", "none", "nobody"))
# Below this share of its weight, a claim is not about the sentence, so the sentence's restrictions
# and denials say nothing about the claim.
_RELATED = 0.5
# Below this share, the sources are about something else: the model said what it knew before.
_OFF_TOPIC = 0.2


@dataclass(frozen=True, slots=True)
class MeaningChange:
    """A kind of failure with the words of the claim and of the source; either may be ""."""

    kind: FailureKind
    claimed: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class ClaimDifference:
    """Every kind of failure that was found, and the one change that names the failure."""

    primary: MeaningChange
    kinds: frozenset[FailureKind]

    @property
    def kind(self) -> FailureKind:
        """The kind of the primary change."""
        return self.primary.kind


def source_texts(evidence: Sequence[Evidence], nearest: str) -> tuple[str, ...]:
    """The texts that a claim is compared with: its evidence, or else the nearest sentence.

    Where a passage contradicts or limits it, another one that supports it says nothing about how.
    """
    against = tuple(one.text for one in evidence if one.relation != "supports")
    return against or tuple(one.text for one in evidence) or (nearest,)


def failure_kinds(
    claims: Sequence[Claim], findings: Sequence[Finding], question: str
) -> Iterator[Finding]:
    """The kind of each failure of an answer, which is also the kind of its issue.

    The claims have their statuses, and `findings` are those of the answer.
    """
    for number, claim in enumerate(claims):
        if claim.is_failure:
            kind = classify_failure(
                claim.text,
                claim.label,
                source_texts(claim.evidence, claim.nearest),
                question=question,
                clashes=claim.clashes,
                status=claim.status,
                findings=[one for one in findings if one.claim == number],
            ).kind
            yield Finding(
                FindingName.FAILURE_KIND,
                kind.label(claim.label),
                kind=kind.finding_id,
                claim=number,
            )


def classify_failure(
    claim: str,
    label: str,
    sources: Sequence[str],
    *,
    question: str = "",
    clashes: Sequence[Clash] = (),
    status: ClaimStatus = ClaimStatus.UNDECIDED,
    findings: Sequence[Finding] = (),
) -> ClaimDifference:
    """How a claim departs from its sources; 8 texts are read, up to 2,000 characters each.

    The judge saw the whole context, so its clashes take precedence over what is found here. A
    clash of the slot `term` without a counterpart is a run of words that a model tagged as wrong,
    the most probable first. A misleading claim departs as its `status` says; `findings` are
    those of this claim.
    """
    if label == Label.ENTAILED:
        kind = misleading_kind(status, sources, findings)
        return ClaimDifference(MeaningChange(kind), frozenset({kind}))
    # The 1 of "[1]" is no value of the claim.
    slots = read_slots(blank_citations(claim[:TEXT_LENGTH]))
    # Only the evidence is read, not all passages: from most sentences of a context a claim differs
    # in most ways, and the topic hides the failure.
    context = read_context([text[:TEXT_LENGTH] for text in sources[:TEXTS] if text.strip()])
    laid = align(slots, context)
    found = list(_value_changes(slots, laid, context))
    own = _own_words(slots, laid)
    if own and own <= {word.stem for word in read_slots(question[:TEXT_LENGTH]).words}:
        found.append(MeaningChange(FailureKind.ECHO, _longest_run(slots, own)))
    explained = {word.stem for one in found for word in read_slots(one.claimed).words}
    found.extend(_word_changes(slots, laid, context, own, explained))
    judged = [_change_of_clash(one) for one in clashes if not _is_tag(one)]
    tagged = [_tagged_change(one.claimed, found, slots, context) for one in clashes if _is_tag(one)]
    primary = _primary(judged, tagged, found)
    # A premise that the answer took over is the reason for every other difference.
    if _restates_premise(slots.text, question) or is_sycophantic(status, findings):
        primary = MeaningChange(FailureKind.ECHO)
    elif label == Label.BASELESS and laid.coverage < _OFF_TOPIC:
        primary = _off_topic_change(claim, primary)
    elif status is ClaimStatus.CHERRY_PICKED and is_exclusion(sources):
        primary = MeaningChange(FailureKind.CHERRY_PICKED_EXCLUSION)
    kinds = {one.kind for one in (primary, *judged, *tagged, *found)}
    return ClaimDifference(primary, frozenset(kinds))


def _restates_premise(claim: str, question: str) -> bool:
    premise = premise_of(question)
    return premise is not None and restates(claim, premise)


def _off_topic_change(claim: str, primary: MeaningChange) -> MeaningChange:
    """The change of a claim whose subject its sources do not cover; a changed value says more."""
    if citations(claim[:TEXT_LENGTH]):
        return MeaningChange(FailureKind.BAD_CITATION)
    if primary.kind in UNEXPLAINED:
        return MeaningChange(FailureKind.PRIOR_KNOWLEDGE, primary.claimed)
    return primary


def _primary(
    judged: list[MeaningChange], tagged: list[MeaningChange], found: list[MeaningChange]
) -> MeaningChange:
    explained = [change for change in judged if change.kind not in UNEXPLAINED]
    if explained:
        return first_change([*explained, *_ignored_exclusions(explained, found)])
    surest = next((change for change in tagged if change.kind not in UNEXPLAINED), None)
    if surest is not None:
        return next(iter(_ignored_exclusions([surest], found)), surest)
    return first_change(judged + tagged + found)


def _ignored_exclusions(
    judged: Sequence[MeaningChange], found: Sequence[MeaningChange]
) -> list[MeaningChange]:
    """The exclusions that a judge, which has no slot for them, sees as negation or qualifier."""
    denied = any(change.kind in (FailureKind.POLARITY, FailureKind.QUALIFIER) for change in judged)
    return [change for change in found if change.kind is FailureKind.EXCLUSION] if denied else []


def _is_tag(clash: Clash) -> bool:
    return clash.slot == "term" and bool(clash.claimed) and not clash.found


def _change_of_clash(clash: Clash) -> MeaningChange:
    kind = kind_of_clash(clash)
    if kind is FailureKind.TERM:
        kind = kind_of_word_pair(clash.claimed, clash.found)
    elif kind is FailureKind.SCOPE and _is_about_certainty(clash):
        kind = FailureKind.HEDGE
    return MeaningChange(kind, clash.claimed, clash.found)


def _is_about_certainty(clash: Clash) -> bool:
    """True for `reduces` against `may reduce`: judges have one slot for scope and certainty."""
    texts = (clash.claimed, clash.found)
    hedged = [any(cues(text, "hedge")) for text in texts]
    scoped = any(any(cues(text, kind)) for text in texts for kind in ("partial", "universal"))
    return hedged[0] != hedged[1] and not scoped


def _tagged_change(
    written: str, found: Sequence[MeaningChange], claim: Slots, context: ContextIndex
) -> MeaningChange:
    """The change of tagged words: the rules' own if they found a counterpart for most of them."""
    words = {word.stem for word in read_slots(written).words}
    sources = first_change([one for one in found if one.found and _is_about(one, words)])
    if sources.kind not in (FailureKind.TERM, FailureKind.OTHER):
        return sources
    change = word_change(written, claim, context)
    return change if change.found else MeaningChange(change.kind, written, sources.found)


def _is_about(change: MeaningChange, words: Collection[str]) -> bool:
    mine = {word.stem for word in read_slots(change.claimed).words}
    return change.kind not in UNEXPLAINED and 2 * len(mine & set(words)) >= len(mine) > 0


def _value_changes(claim: Slots, laid: Alignment, context: ContextIndex) -> Iterator[MeaningChange]:
    yield from _changed_numbers(claim, laid, context)
    yield from _changed_units(claim, context)
    for date in date_differences(claim, laid, context):
        yield MeaningChange(FailureKind.DATE, date.claimed, date.found)
    for name in name_differences(claim, laid, context):
        # A missing name alone is too weak: the sentence may call it "the company".
        if name.manner == "clash":
            yield MeaningChange(FailureKind.ENTITY, name.claimed, name.found)
    for denial in negation_differences(claim, laid, context):
        is_opposite = denial.manner == "opposite"
        opposite = kind_of_opposite(stem(denial.claimed.lower()))
        kind = opposite if is_opposite else FailureKind.POLARITY
        yield MeaningChange(kind, denial.claimed, denial.found)
    if laid.coverage >= _RELATED:
        yield from _restriction_changes(claim, context)


def _changed_numbers(
    claim: Slots, laid: Alignment, context: ContextIndex
) -> Iterator[MeaningChange]:
    """Numbers that the sentences lack, with their rival or the only number of the sentences."""
    differences = [
        difference
        for difference in number_differences(claim, laid, context)
        if difference.manner != "elsewhere" and not difference.claimed.lower().startswith("once")
    ]
    differences.sort(key=lambda difference: difference.manner != "clash")
    lone = _lone_numbers(claim, context)
    for difference in differences:
        found = difference.found or (lone[1] if lone else "")
        yield MeaningChange(
            kind_of_clash(Clash("number", difference.claimed, found)), difference.claimed, found
        )
    # `under 18` is borne out by 16, but not by `16 and above`.
    if lone and not differences and kind_of_clash(Clash("number", *lone)) is FailureKind.NUMBER:
        yield MeaningChange(FailureKind.NUMBER, *lone)


def _lone_numbers(claim: Slots, context: ContextIndex) -> tuple[str, str] | None:
    """The only number of the claim and of the sentences, as written, if both have digits."""
    pairs = [(slots, other) for slots in context.sentences for other in slots.quantities]
    if len(claim.quantities) != 1 or len(pairs) != 1:
        return None
    (mine,), ((slots, other),) = claim.quantities, pairs
    written = claim.text[mine.start : mine.end], slots.text[other.start : other.end]
    return written if all(any(map(str.isdigit, one)) for one in written) else None


def _changed_units(claim: Slots, context: ContextIndex) -> Iterator[MeaningChange]:
    """`14 days` against `14 months`: the same value with a unit that the sentences lack."""
    stems = {token.stem for slots in context.sentences for token in slots.tokens}
    for mine in claim.quantities:
        same = [other for other in context.quantities.ordered if other.value == mine.value]
        units = {other.unit for other in same}
        if mine.unit.isalpha() and mine.unit not in stems and units and all(units):
            yield MeaningChange(FailureKind.UNIT, mine.unit, min(units))


def _restriction_changes(claim: Slots, context: ContextIndex) -> Iterator[MeaningChange]:
    """Exclusions, conditions, hedges and quantifiers of the sentences that the claim lacks."""
    for sentence in context.sentences:
        if not claim.denials and not any(cues(claim.text, "exclusion")):
            for span in _dropped_spans(claim, sentence, "exclusion", may_share=True):
                yield MeaningChange(FailureKind.EXCLUSION, found=span)
        for span in _dropped_spans(claim, sentence, "condition"):
            yield MeaningChange(FailureKind.QUALIFIER, found=span)
        yield from _dropped_cues(claim, sentence, "hedge", FailureKind.HEDGE)
        yield from _dropped_cues(claim, sentence, "partial", FailureKind.SCOPE)
    universals = [cue.word for cue in cues(claim.text, "universal")]
    theirs = any(any(cues(sentence.text, "universal")) for sentence in context.sentences)
    if universals and context.sentences and not theirs:
        yield MeaningChange(FailureKind.SCOPE, claimed=universals[0])


def _dropped_spans(
    claim: Slots, sentence: Slots, kind: CueKind, *, may_share: bool = False
) -> Iterator[str]:
    """The spans after such a cue that the claim mostly lacks, or may share."""
    for cue in cues(sentence.text, kind):
        words = [word.stem for word in read_slots(cue.span).words]
        shared = sum(word in claim.positions for word in words)
        if words and (may_share or shared * 2 < len(words)):
            yield cue.span


def _dropped_cues(
    claim: Slots, sentence: Slots, cue_kind: CueKind, kind: FailureKind
) -> Iterator[MeaningChange]:
    """Cues right before words that the claim has without any such cue."""
    if any(cues(claim.text, cue_kind)):
        return
    for cue in cues(sentence.text, cue_kind):
        words = [word.stem for word in read_slots(cue.span).words][:1]
        if words and words[0] in claim.positions:
            yield MeaningChange(kind, found=f"{cue.word} {cue.span}")


def _own_words(claim: Slots, laid: Alignment) -> frozenset[str]:
    """The stems of the claim that no sentence has."""
    met = {at for matches in laid.matches for at, places in enumerate(matches) if places}
    return frozenset(word.stem for at, word in enumerate(claim.words) if at not in met)


def _word_changes(
    claim: Slots,
    laid: Alignment,
    context: ContextIndex,
    own: frozenset[str],
    explained: Collection[str],
) -> Iterator[MeaningChange]:
    """Replaced words, opposites further away, and added words."""
    replaced: set[str] = set()
    for term in term_differences(claim, laid, context):
        words = {word.stem for word in read_slots(term.claimed).words}
        replaced |= words
        if not words & set(explained):
            kind = kind_of_word_pair(term.claimed, term.found)
            yield MeaningChange(kind, term.claimed, term.found)
    if laid.coverage >= _RELATED:
        for word in claim.words:
            opposite = opposite_in(context, word.stem) if word.stem in own else ""
            if opposite:
                yield MeaningChange(kind_of_opposite(word.stem), word.text, opposite)
    if added := own - replaced:
        yield MeaningChange(FailureKind.ADDITION, _longest_run(claim, added))


def _longest_run(claim: Slots, stems: frozenset[str]) -> str:
    """The longest run of these words as the claim writes it; of equal ones the first."""
    runs: list[list[Token]] = [[]]
    for word in claim.words:
        if word.stem not in stems or word.starts_clause:
            runs.append([])
        if word.stem in stems:
            runs[-1].append(word)
    best = max(runs, key=len)
    return claim.text[best[0].start : best[-1].end] if best else ""


def first_change(changes: Sequence[MeaningChange]) -> MeaningChange:
    """The change of the highest precedence; within a kind, one that has a counterpart."""
    return min(
        changes,
        key=lambda change: (PRECEDENCE[change.kind], not (change.claimed and change.found)),
        default=MeaningChange(FailureKind.OTHER),
    )


def word_change(written: str, claim: Slots, context: ContextIndex) -> MeaningChange:
    """The change that the words `written` in the claim make, given that they are wrong."""
    inside = _tokens(written, claim)
    by_rule = [_change_of(token, claim, context) for token in inside]
    known = [one for one in by_rule if one is not None]
    if known:
        kind, found = min(known, key=lambda one: PRECEDENCE[one[0]])
        return MeaningChange(kind, written, found)
    content = [one for one in inside if one.is_content and one.norm not in FINGERPRINT_META]
    if len(content) >= _LONG or not context.sentences:
        return MeaningChange(FailureKind.ADDITION, written)
    if not content:
        return MeaningChange(FailureKind.OTHER, written)
    if all(token.stem in context.holders for token in content):
        return MeaningChange(FailureKind.MISPLACED, written)
    is_graded = any(  # not "to major in biology"
        one.stem in relations().opposites and not claim.text.endswith(" to ", 0, one.start)
        for one in content
    )
    return MeaningChange(FailureKind.QUALITY if is_graded else FailureKind.TERM, written)


def opposite_in(context: ContextIndex, word_stem: str) -> str:
    """A word of the sentences that is the opposite of this one, as written; "" for none."""
    against = opposites(word_stem)
    for sentence in context.sentences:
        for word in sentence.words:
            if word.stem in against and word.norm.isalpha():
                return word.text
    return ""


def _tokens(written: str, claim: Slots) -> Sequence[Token]:
    start = claim.text.find(written) if written else -1
    end = start + len(written)
    return [token for token in claim.tokens if start < token.end and token.start < end]


def _change_of(token: Token, claim: Slots, context: ContextIndex) -> tuple[FailureKind, str] | None:
    """The kind of one word's change, with its counterpart if there is one; None without a rule."""
    value = _kind_of_value(token, claim)
    if value is not None:
        return value, ""
    if token.norm in FINGERPRINT_NEGATIONS or token.norm.endswith("n't"):
        return (FailureKind.POLARITY, "") if _denies_source(token, claim, context) else None
    cue = _kind_of_cue(token)
    if cue is not None:
        return cue, ""
    if any(name.start <= token.start < name.end for name in claim.names):
        return FailureKind.ENTITY, ""
    if not token.is_content:
        return None
    opposite = opposite_in(context, token.stem)
    kind = kind_of_opposite(token.stem)
    if opposite or kind is FailureKind.DIRECTION:
        return kind, opposite
    return None


def _denies_source(negation: Token, claim: Slots, context: ContextIndex) -> bool:
    """True if the claim denies words that the sentences have, and the sentences do not deny them.

    "It costs nothing" denies nothing of a sentence that has no cost.
    """
    if claim.text[negation.end : negation.end + 1] == "-":  # "a never-before-seen image"
        return False
    denied = _denied_stems(negation, claim)
    theirs = {
        sentence.tokens[at].stem
        for sentence in context.sentences
        for denial in sentence.denials
        for at in denial.over
    }
    return not denied & theirs and any(stem in context.holders for stem in denied)


def _denied_stems(negation: Token, claim: Slots) -> set[str]:
    """The stems that a negation of the claim denies; "nothing" as an object denies its verb."""
    at = claim.tokens.index(negation)
    if negation.norm in _NEGATIVE_OBJECTS and at and claim.tokens[at - 1].is_content:
        return {claim.tokens[at - 1].stem}
    return {
        claim.tokens[place].stem
        for denial in claim.denials
        if denial.cue == at
        for place in denial.over
    }


def _kind_of_value(token: Token, claim: Slots) -> FailureKind | None:
    if any(value.start <= token.start < value.end for value in claim.moments):
        return FailureKind.DATE
    if any(value.start <= token.start < value.end for value in claim.quantities):
        return FailureKind.NUMBER
    if any(value.end <= token.start < value.unit_end for value in claim.quantities):
        return FailureKind.UNIT if token.is_content else None
    return None


def _kind_of_cue(token: Token) -> FailureKind | None:
    """The kind of a word that excludes, hedges, quantifies or orders by itself."""
    if any(cues(token.text, "exclusion")):
        return FailureKind.EXCLUSION
    if any(cues(token.text, "hedge")):
        return FailureKind.HEDGE
    if any(cues(token.text, "universal")) or any(cues(token.text, "partial")):
        return FailureKind.SCOPE
    if token.norm in FINGERPRINT_ORDER:
        return FailureKind.ORDER
    return None
