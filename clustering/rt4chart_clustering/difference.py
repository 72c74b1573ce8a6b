"""The mechanical difference of a claim and the sentence it is held against: its fingerprint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.verify.local.align import Alignment, align
from otel_rt4chart.verify.local.context import Context, read_context
from otel_rt4chart.verify.local.differences import (
    date_differences,
    negation_differences,
    number_differences,
    term_differences,
)
from otel_rt4chart.verify.local.name_differences import name_differences
from otel_rt4chart.verify.local.negation import are_opposite
from otel_rt4chart.verify.local.slots import Slots, read_slots
from otel_rt4chart.verify.local.stems import stem
from otel_rt4chart.verify.local.tokens import Token
from otel_rt4chart.verify.model import Clash
from rt4chart_clustering.cues import CueKind, cues

# Old issues keep the version they were made with: a changed rule must not regroup them.
FINGERPRINT_VERSION = "fp1"
# Below this share of its weight, a claim is not about the sentence, and what the sentence
# restricts or denies says nothing of the claim.
_RELATED = 0.5
_TEXT_LENGTH = 2_000
_TEXTS = 8


class Op(StrEnum):
    """What happened to the source's meaning, in the order in which one is chosen as primary.

    `date` is a date or a unit, `polarity` a negation or an opposite, `echo` takes from the question
    what the source lacks. `addition` and `other` say that no rule explains the difference: words
    of its own, and words put in the place of others, which any paraphrase has too.
    """

    NUMBER = "number"
    DATE = "date"
    ENTITY = "entity"
    EXCLUSION = "exclusion"
    POLARITY = "polarity"
    SCOPE = "scope"
    QUALIFIER = "qualifier"
    ECHO = "echo"
    ADDITION = "addition"
    OTHER = "other"


OPS = tuple(Op)
POOL = frozenset({Op.ADDITION, Op.OTHER})
_OP_OF_SLOT = {
    "number": Op.NUMBER,
    "date": Op.DATE,
    "name": Op.ENTITY,
    "negation": Op.POLARITY,
    "quantifier": Op.SCOPE,
    "qualifier": Op.QUALIFIER,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One op that fired: `claimed` stands in the claim, `found` in the source; either may be ""."""

    op: Op
    claimed: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that fired, and the one change that names it."""

    primary: Change
    fired: frozenset[Op]

    @property
    def op(self) -> Op:
        """The primary op."""
        return self.primary.op


def difference(
    claim: str, evidence: Sequence[str], *, question: str = "", clashes: Sequence[Clash] = ()
) -> Difference:
    """How a claim departs from its evidence; texts are read up to 2,000 characters, 8 of them.

    The judge saw the whole context, so what it found to clash goes before what is found here.
    """
    slots = read_slots(claim[:_TEXT_LENGTH])
    context = read_context([text[:_TEXT_LENGTH] for text in evidence[:_TEXTS] if text.strip()])
    laid = align(slots, context)
    judged = [_change_of_clash(clash) for clash in clashes]
    found = list(_changes(slots, laid, context))
    own = _own_words(slots, laid)
    if own and own <= {word.stem for word in read_slots(question[:_TEXT_LENGTH]).words}:
        found.append(Change(Op.ECHO, _written(slots, own)))
    found.extend(_unexplained(slots, laid, context, own))
    explained = [change for change in judged if change.op not in POOL]
    primary = _first([*explained, *_refined(explained, found)] if explained else judged + found)
    fired = frozenset(change.op for change in (*judged, *found)) or frozenset({Op.OTHER})
    return Difference(primary, fired)


def _change_of_clash(clash: Clash) -> Change:
    op = _OP_OF_SLOT.get(clash.slot, Op.OTHER)
    if op is Op.NUMBER and clash.found and _digits(clash.claimed) == _digits(clash.found) != "":
        op = Op.DATE
    if op is Op.OTHER and are_opposite(stem(clash.claimed.lower()), stem(clash.found.lower())):
        op = Op.POLARITY
    return Change(op, clash.claimed, clash.found)


def _refined(judged: Sequence[Change], found: Sequence[Change]) -> list[Change]:
    """An ignored exclusion is what a judge without that slot sees as a negation or a qualifier."""
    denied = any(change.op in (Op.POLARITY, Op.QUALIFIER) for change in judged)
    return [change for change in found if change.op is Op.EXCLUSION] if denied else []


def _first(changes: Sequence[Change]) -> Change:
    """The change of the highest precedence; of one op, the one that has a counterpart."""
    return min(
        changes,
        key=lambda change: (OPS.index(change.op), not (change.claimed and change.found)),
        default=Change(Op.OTHER),
    )


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
        yield Change(Op.POLARITY, denial.claimed, denial.found)
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
        yield Change(Op.DATE if same else Op.NUMBER, one.claimed, found)
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
            yield Change(Op.DATE, mine.unit, min(units))


def _restrictions(claim: Slots, context: Context) -> Iterator[Change]:
    """What the sentences exclude, condition or limit, and the claim does not."""
    for sentence in context.sentences:
        if not claim.denials and not any(cues(claim.text, "exclusion")):
            for span in _dropped(claim, sentence, "exclusion", may_share=True):
                yield Change(Op.EXCLUSION, found=span)
        for span in _dropped(claim, sentence, "condition"):
            yield Change(Op.QUALIFIER, found=span)
        yield from _unlimited(claim, sentence, "hedge", Op.QUALIFIER)
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
    claim: Slots, laid: Alignment, context: Context, own: frozenset[str]
) -> Iterator[Change]:
    replaced: set[str] = set()
    for term in term_differences(claim, laid, context):
        op = (
            Op.POLARITY
            if are_opposite(stem(term.claimed.lower()), stem(term.found.lower()))
            else Op.OTHER
        )
        yield Change(op, term.claimed, term.found)
        replaced.update(word.stem for word in read_slots(term.claimed).words)
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
