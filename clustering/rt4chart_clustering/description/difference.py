"""The mechanical difference of a claim and the sentence it is held against: its fingerprint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from otel_rt4chart.verify.core.model import Clash
from otel_rt4chart.verify.language.context import Context, read_context
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import Token, stem
from otel_rt4chart.verify.local.alignment import Alignment, align
from otel_rt4chart.verify.local.differences import (
    date_differences,
    negation_differences,
    number_differences,
    term_differences,
)
from otel_rt4chart.verify.local.word_differences import name_differences
from rt4chart_clustering.description.cues import CueKind, cues
from rt4chart_clustering.description.operations import (
    FINGERPRINT_VERSION,
    OPS,
    POOL,
    Change,
    Difference,
    Op,
    first,
)
from rt4chart_clustering.description.words import (
    direction_or_opposite,
    is_paraphrase,
    opposed,
    word_change,
)

__all__ = ["FINGERPRINT_VERSION", "OPS", "POOL", "Change", "Difference", "Op", "difference"]

# Below this share of its weight, a claim is not about the sentence, and what the sentence
# restricts or denies says nothing of the claim.
_RELATED = 0.5
_TEXT_LENGTH = 2_000
_TEXTS = 8
_OP_OF_SLOT = {
    "number": Op.NUMBER,
    "date": Op.DATE,
    "name": Op.ENTITY,
    "negation": Op.POLARITY,
    "quantifier": Op.SCOPE,
    "qualifier": Op.QUALIFIER,
}


def difference(
    claim: str, evidence: Sequence[str], *, question: str = "", clashes: Sequence[Clash] = ()
) -> Difference:
    """How a claim departs from its evidence; texts are read up to 2,000 characters, 8 of them.

    The judge saw the whole context, so what it found to clash goes before what is found here. A
    clash of the slot `term` without a counterpart is a run of words that a model holds wrong, the
    surest first; what kind of words they are says how.
    """
    slots = read_slots(claim[:_TEXT_LENGTH])
    context = read_context([text[:_TEXT_LENGTH] for text in evidence[:_TEXTS] if text.strip()])
    laid = align(slots, context)
    found = list(_changes(slots, laid, context))
    own = _own_words(slots, laid)
    if own and own <= {word.stem for word in read_slots(question[:_TEXT_LENGTH]).words}:
        found.append(Change(Op.ECHO, _written(slots, own)))
    told = {word.stem for one in found for word in read_slots(one.claimed).words}
    found.extend(_unexplained(slots, laid, context, own, told))
    firm = [_change_of_clash(one) for one in clashes if not _is_mark(one)]
    marks = [_marked(one.claimed, found, slots, context) for one in clashes if _is_mark(one)]
    primary = _primary(firm, marks, found)
    fired = frozenset(one.op for one in (*firm, *marks, *found)) or frozenset({Op.OTHER})
    return Difference(primary, fired)


def _primary(firm: list[Change], marks: list[Change], found: list[Change]) -> Change:
    explained = [one for one in firm if one.op not in POOL]
    if explained:
        return first([*explained, *_refined(explained, found)])
    surest = next((one for one in marks if one.op not in POOL), None)
    if surest is not None:
        return next(iter(_refined([surest], found)), surest)
    return first(firm + marks + found)


def _is_mark(clash: Clash) -> bool:
    return clash.slot == "term" and bool(clash.claimed) and not clash.found


def _change_of_clash(clash: Clash) -> Change:
    op = _OP_OF_SLOT.get(clash.slot, Op.TERM)
    if op is Op.NUMBER and clash.found and _digits(clash.claimed) == _digits(clash.found) != "":
        op = Op.UNIT
    if op is Op.TERM:
        op = _op_of_pair(clash.claimed, clash.found)
    return Change(op, clash.claimed, clash.found)


def _op_of_pair(claimed: str, found: str) -> Op:
    mine, theirs = stem(claimed.lower()), stem(found.lower())
    if are_opposite(mine, theirs):
        return direction_or_opposite(mine)
    return Op.OTHER if is_paraphrase(mine, frozenset({theirs})) else Op.TERM


def _marked(written: str, found: Sequence[Change], claim: Slots, context: Context) -> Change:
    """What marked words change: as the rules say that found a counterpart for most of them."""
    words = {word.stem for word in read_slots(written).words}
    beside = first([one for one in found if one.found and _is_about(one, words)])
    if beside.op not in (Op.TERM, Op.OTHER):
        return beside
    change = word_change(written, claim, context)
    return change if change.found else Change(change.op, written, beside.found)


def _is_about(change: Change, words: Collection[str]) -> bool:
    mine = {word.stem for word in read_slots(change.claimed).words}
    return change.op not in POOL and 2 * len(mine & set(words)) >= len(mine) > 0


def _refined(judged: Sequence[Change], found: Sequence[Change]) -> list[Change]:
    """An ignored exclusion is what a judge without that slot sees as a negation or a qualifier."""
    denied = any(change.op in (Op.POLARITY, Op.QUALIFIER) for change in judged)
    return [change for change in found if change.op is Op.EXCLUSION] if denied else []


def _changes(claim: Slots, laid: Alignment, context: Context) -> Iterator[Change]:
    yield from _changed_numbers(claim, laid, context)
    yield from _changed_units(claim, context)
    for date in date_differences(claim, laid, context):
        yield Change(Op.DATE, date.claimed, date.found)
    for name in name_differences(claim, laid, context):
        # A missing name alone is too weak: the sentence may call it "the company".
        if name.manner == "clash":
            yield Change(Op.ENTITY, name.claimed, name.found)
    for denial in negation_differences(claim, laid, context):
        is_negation = denial.manner != "opposite"
        op = Op.POLARITY if is_negation else direction_or_opposite(stem(denial.claimed.lower()))
        yield Change(op, denial.claimed, denial.found)
    if laid.coverage >= _RELATED:
        yield from _restrictions(claim, context)


def _changed_numbers(claim: Slots, laid: Alignment, context: Context) -> Iterator[Change]:
    """Numbers that the sentences lack, beside their rival, or beside the only number there is."""
    differences = [
        one
        for one in number_differences(claim, laid, context)
        if one.manner != "elsewhere" and not one.claimed.lower().startswith("once")
    ]
    differences.sort(key=lambda one: one.manner != "clash")
    lone = _lone_numbers(claim, context)
    for one in differences:
        found = one.found or (lone[1] if lone else "")
        same = found and _digits(one.claimed) == _digits(found) != ""
        yield Change(Op.UNIT if same else Op.NUMBER, one.claimed, found)
    # `under 18` is borne out by 16, but not by `16 and above`.
    if lone and not differences and _digits(lone[0]) != _digits(lone[1]):
        yield Change(Op.NUMBER, *lone)


def _lone_numbers(claim: Slots, context: Context) -> tuple[str, str] | None:
    """The claim's only number and the sentences' only number, as written, both in digits."""
    pairs = [(slots, other) for slots in context.sentences for other in slots.quantities]
    if len(claim.quantities) != 1 or len(pairs) != 1:
        return None
    (mine,), ((slots, other),) = claim.quantities, pairs
    written = claim.text[mine.start : mine.end], slots.text[other.start : other.end]
    return written if all(map(_digits, written)) else None


def _changed_units(claim: Slots, context: Context) -> Iterator[Change]:
    """`14 days` against `14 months`: the same value, another unit that the sentences lack."""
    stems = {token.stem for slots in context.sentences for token in slots.tokens}
    for mine in claim.quantities:
        same = [other for other in context.quantities if other.value == mine.value]
        units = {other.unit for other in same}
        if mine.unit.isalpha() and mine.unit not in stems and units and all(units):
            yield Change(Op.UNIT, mine.unit, min(units))


def _restrictions(claim: Slots, context: Context) -> Iterator[Change]:
    """What the sentences exclude, condition or limit, and the claim does not."""
    for sentence in context.sentences:
        if not claim.denials and not any(cues(claim.text, "exclusion")):
            for span in _dropped(claim, sentence, "exclusion", may_share=True):
                yield Change(Op.EXCLUSION, found=span)
        for span in _dropped(claim, sentence, "condition"):
            yield Change(Op.QUALIFIER, found=span)
        yield from _unlimited(claim, sentence, "hedge", Op.HEDGE)
        yield from _unlimited(claim, sentence, "partial", Op.SCOPE)
    everywhere = [cue.word for cue in cues(claim.text, "universal")]
    theirs = any(any(cues(sentence.text, "universal")) for sentence in context.sentences)
    if everywhere and context.sentences and not theirs:
        yield Change(Op.SCOPE, claimed=everywhere[0])


def _dropped(
    claim: Slots, sentence: Slots, kind: CueKind, *, may_share: bool = False
) -> Iterator[str]:
    """The spans under such a cue whose words the claim mostly lacks (or has, if it may)."""
    for cue in cues(sentence.text, kind):
        words = [word.stem for word in read_slots(cue.span).words]
        shared = sum(word in claim.positions for word in words)
        if words and (may_share or shared * 2 < len(words)):
            yield cue.span


def _unlimited(claim: Slots, sentence: Slots, kind: CueKind, op: Op) -> Iterator[Change]:
    """A hedge or a quantifier right before words that the claim has without any such word."""
    if any(cues(claim.text, kind)):
        return
    for cue in cues(sentence.text, kind):
        words = [word.stem for word in read_slots(cue.span).words][:1]
        if words and words[0] in claim.positions:
            yield Change(op, found=f"{cue.word} {cue.span}")


def _own_words(claim: Slots, laid: Alignment) -> frozenset[str]:
    """The stems of the claim that no sentence has."""
    met = {at for meets in laid.meets for at, places in enumerate(meets) if places}
    return frozenset(word.stem for at, word in enumerate(claim.words) if at not in met)


def _unexplained(
    claim: Slots,
    laid: Alignment,
    context: Context,
    own: frozenset[str],
    told: Collection[str],
) -> Iterator[Change]:
    """Words in the place of others, opposites further away, and words that are only added."""
    replaced: set[str] = set()
    for term in term_differences(claim, laid, context):
        words = {word.stem for word in read_slots(term.claimed).words}
        replaced |= words
        if not words & set(told):
            yield Change(_op_of_pair(term.claimed, term.found), term.claimed, term.found)
    if laid.coverage >= _RELATED:
        for word in claim.words:
            against = opposed(word.stem, context) if word.stem in own else ""
            if against:
                yield Change(direction_or_opposite(word.stem), word.text, against)
    if added := own - replaced:
        yield Change(Op.ADDITION, _written(claim, added))


def _written(claim: Slots, stems: frozenset[str]) -> str:
    """The longest run of these words as the claim writes it, the first one of that length."""
    runs: list[list[Token]] = [[]]
    for word in claim.words:
        if word.stem not in stems or word.starts_clause:
            runs.append([])
        if word.stem in stems:
            runs[-1].append(word)
    best = max(runs, key=len)
    return claim.text[best[0].start : best[-1].end] if best else ""


def _digits(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit())
