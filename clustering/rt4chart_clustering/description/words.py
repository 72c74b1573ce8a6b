"""What kind of difference a single word makes that the source does not have in its place."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.language.antonyms import opposites
from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.relations import relations
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.synonyms import alike
from otel_rt4chart.verify.language.tokens import Token, stem
from rt4chart_clustering.description.cues import cues
from rt4chart_clustering.description.operations import Change, Op

_NEGATED = """no not never none nobody nothing neither nor without cannot hardly barely scarcely
    rarely seldom fail failed fails lack lacks lacked lacking unable"""
_ORDERED = """before after because since until following prior earlier later subsequently
    previously first then therefore due during while"""
_UP_OR_DOWN = """increase decrease rise fall grow shrink gain loss up down higher lower high low
    more less greater fewer above below over under raise cut drop decline climb surge plunge slump
    improve worsen exceed expand reduce boost strengthen weaken better worse big small
    outperform underperform advance retreat accelerate slow double halve"""
_NEGATIONS = frozenset(_NEGATED.split())
_ORDER = frozenset(_ORDERED.split())
_DIRECTION = frozenset(stem(word) for word in _UP_OR_DOWN.split())
_LONG = 4  # words of its own in a row are no word for a word


def word_change(written: str, claim: Slots, context: Context) -> Change:
    """What the words `written` in the claim change, by the first of them that tells.

    Marked by a model or by the rules, these words are taken to be wrong: what is asked is how.
    """
    inside = _tokens(written, claim)
    told = [_told(token, claim, context) for token in inside]
    known = [one for one in told if one is not None]
    if known:
        op, found = min(known, key=lambda one: list(Op).index(one[0]))
        return Change(op, written, found)
    content = [token for token in inside if token.is_content]
    if len(content) >= _LONG or not context.sentences:
        return Change(Op.ADDITION, written)
    if not content:
        return Change(Op.OTHER, written)
    if all(token.stem in context.holders for token in content):
        return Change(Op.MISPLACED, written)
    is_graded = any(token.stem in relations().opposites for token in content)
    return Change(Op.QUALITY if is_graded else Op.TERM, written)


def direction_or_opposite(word_stem: str) -> Op:
    """Which of the two a word makes that says the opposite of the source's."""
    return Op.DIRECTION if word_stem in _DIRECTION else Op.OPPOSITE


def opposed(word_stem: str, context: Context) -> str:
    """A word of the sentences that says the opposite of this one, as written; "" for none."""
    against = opposites(word_stem)
    for sentence in context.sentences:
        for word in sentence.words:
            if word.stem in against and word.norm.isalpha():
                return word.text
    return ""


def is_paraphrase(word_stem: str, stems: frozenset[str]) -> bool:
    """True where one of the stems says the same."""
    return word_stem in stems or not alike(word_stem).isdisjoint(stems)


def _tokens(written: str, claim: Slots) -> Sequence[Token]:
    start = claim.text.find(written) if written else -1
    end = start + len(written)
    return [token for token in claim.tokens if start < token.end and token.start < end]


def _told(token: Token, claim: Slots, context: Context) -> tuple[Op, str] | None:
    """The op of one word, with the counterpart where there is one; None where no rule tells."""
    valued = _value(token, claim)
    if valued is not None:
        return valued, ""
    if token.norm in _NEGATIONS or token.norm.endswith("n't"):
        return None if _is_denied_too(token, claim, context) else (Op.POLARITY, "")
    worded = _cue(token)
    if worded is not None:
        return worded, ""
    if any(name.start <= token.start < name.end for name in claim.names):
        return Op.ENTITY, ""
    if not token.is_content:
        return None
    against = opposed(token.stem, context)
    if against:
        return direction_or_opposite(token.stem), against
    if token.stem in _DIRECTION:
        return Op.DIRECTION, ""
    return None


def _is_denied_too(negation: Token, claim: Slots, context: Context) -> bool:
    """True where the sentences deny one of the words that the claim denies there."""
    denied = {
        claim.tokens[at].stem
        for denial in claim.denials
        if claim.tokens[denial.cue] == negation
        for at in denial.over
    }
    return any(
        sentence.tokens[at].stem in denied
        for sentence in context.sentences
        for denial in sentence.denials
        for at in denial.over
    )


def _value(token: Token, claim: Slots) -> Op | None:
    if any(one.start <= token.start < one.end for one in claim.moments):
        return Op.DATE
    if any(one.start <= token.start < one.end for one in claim.quantities):
        return Op.NUMBER
    if any(one.end <= token.start < one.unit_end for one in claim.quantities):
        return Op.UNIT if token.is_content else None
    return None


def _cue(token: Token) -> Op | None:
    """The op of a word that restricts, limits, hedges or orders by itself."""
    if any(cues(token.text, "exclusion")):
        return Op.EXCLUSION
    if any(cues(token.text, "hedge")):
        return Op.HEDGE
    if any(cues(token.text, "universal")) or any(cues(token.text, "partial")):
        return Op.SCOPE
    if token.norm in _ORDER:
        return Op.ORDER
    return None
