"""Who does what to whom: arguments, ends of a way and sides of a comparison that are exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.verify.decompose.coordination import DETERMINERS, base_forms, listed, verbs
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.tokens import stem
from otel_rt4chart.verify.local.comparison import (
    BE,
    ComparedClaim,
    StructuralDoubt,
    in_all_near,
    is_verb,
    phrase,
)
from otel_rt4chart.verify.local.swaps import SYMMETRIC_VERBS

# More verbs of which no order of the arguments is the wrong one.
_SYMMETRIC = SYMMETRIC_VERBS | frozenset(
    map(
        stem,
        listed(
            """compete agree talk merge differ resemble equal match collaborate border touch
            separate precede follow tied tie"""
        ),
    )
)
_COMPARATIVES = listed("more less fewer")
_MODALS = listed("will would shall should can could may might must")
_THAN_WITHIN = 5
# Words that end the subject on its left; an argument stands behind one of `_ROLES` on the right.
_BEFORE_SUBJECT = listed(
    """in on at from by with for during after before since to than that which who while when as if
    because and or but said says"""
)
_ROLES = listed("to from by than with against over")
_ADJUNCTS = listed("in on at for during as into about under")
_CLAUSE_ENDS = listed("and or but while which who that because when after before if although")
_END_STOPS = _ROLES | _ADJUNCTS | _CLAUSE_ENDS | listed("into onto") | BE
_PARTICIPLES = ("ed", "en", "wn", "ght", "ld", "nt", "de", "ne", "ut", "id")

# Verbs with the same subject and object: "acquired by" is the passive of "bought", too.
_SAME_ROLES = tuple(
    frozenset(map(stem, listed(group)))
    for group in (
        "buy purchase acquire",
        "beat defeat",
        "kill murder assassinate",
        "hire employ recruit",
        "attack assault",
        "arrest detain",
        "approve authorise authorize",
        "criticise criticize condemn",
    )
)


def _alike_roles(verb: str) -> frozenset[str]:
    """The stems of the verbs whose arguments stand as those of this one do, itself included."""
    return next((group for group in _SAME_ROLES if verb in group), frozenset((verb,)))


@dataclass(frozen=True, slots=True)
class Roles:
    """The words of who acts and of whom it concerns, by stem, with their tokens."""

    subject: dict[str, int]
    objects: dict[str, int]

    def span(self, slots: Slots) -> str:
        """The text from the first to the last of them."""
        tokens = (*self.subject.values(), *self.objects.values())
        return phrase(slots, min(tokens), max(tokens))


def exchanged_arguments(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`B is faster than A` for `A is faster than B`, `Ben sold it to Anna` for `Anna … to Ben`."""
    return in_all_near(comparison, _exchanged_in)


def _exchanged_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    for word, places in enumerate(comparison.matches[at]):
        token = claim.content[word]
        own = _roles(claim, token) if places and _is_predicate(claim, token) else None
        if own is None or not own.subject or not own.objects:
            continue
        # A synonym may be the converse: "left the farm to" is what "inherited the farm from" says.
        same = [sentence.content[place] for place in places]
        alike = _alike_roles(claim.tokens[token].stem)
        theirs = [_roles(sentence, one) for one in same if sentence.tokens[one].stem in alike]
        known = [roles for roles in theirs if roles is not None]
        found = _against(comparison, own, known)
        if found is not None and _degree_relation(claim, sentence) is not False:
            return StructuralDoubt(own.span(claim), found.span(sentence), at)
    return None


def _against(comparison: ComparedClaim, own: Roles, known: Sequence[Roles]) -> Roles | None:
    """The roles with exchanged arguments, or those of the claim's object alone.

    "The seller pays the shipping" for "the buyer pays the shipping and the seller the refund" has
    the subject of one predicate and the object of another. None where one predicate has both.
    """
    sides = [(roles, _sides(comparison, own, roles)) for roles in known]
    if any(one.subject & one.acting and one.objects & one.concerned for _, one in sides):
        return None
    for roles, _ in sides:
        if _are_exchanged(comparison, own, roles):
            return roles
    if any(one.subject & one.acting for _, one in sides):
        # A predicate without a subject, as in "covers scans and pays pills", has that of the first.
        joined = (roles for roles, one in sides if roles.subject and one.objects & one.concerned)
        return next(joined, None)
    return None


def _is_predicate(slots: Slots, at: int) -> bool:
    token = slots.tokens[at]
    if token.stem in _SYMMETRIC:
        return False
    if _is_comparative(slots, at):
        return True
    is_verbal = token.norm in verbs() or _stands_as_verb(slots, at)
    return is_verbal and not token.is_capital and not _is_nominal(slots, at)


def _stands_as_verb(slots: Slots, at: int) -> bool:
    """True for `bills` in `the supplier bills the shop`, and `billed` in `is billed by`.

    Many verbs are nouns, too, so that the list of verbs does not have their forms.
    """
    if not 0 < at < len(slots.tokens) - 1 or slots.tokens[at + 1].starts_clause:
        return False
    before, token, behind = slots.tokens[at - 1 : at + 2]
    if behind.norm == "by":
        return before.norm in BE
    if before.norm in _MODALS:
        return token.is_content
    if token.starts_clause or not before.is_content:
        return False
    if token.norm.endswith(("s", "ed")):
        is_noun = at > 1 and slots.tokens[at - 2].norm in DETERMINERS
        return behind.norm in DETERMINERS or (is_noun and behind.is_content)
    # "Sellers ship items"
    return token.norm in base_forms() and before.norm.endswith("s") and at == 1


def _is_nominal(slots: Slots, at: int) -> bool:
    """True for `signed` in `the signed form` and `thanks` in `received thanks`."""
    before = slots.tokens[at - 1] if at else None
    if before is None:
        return False
    # "The sponsor supports", "the yearly pass costs"
    is_noun = before.norm not in verbs() and any(
        token.norm in DETERMINERS for token in slots.tokens[max(0, at - 3) : at - 1]
    )
    is_behind_verb = before.is_content and is_verb(slots, at - 1) and not is_noun
    return before.norm in DETERMINERS or is_behind_verb


def _is_comparative(slots: Slots, at: int) -> bool:
    """True for `longer` in `longer than`, and for `interest` in `more interest than`."""
    is_marked = at > 0 and slots.tokens[at - 1].norm in _COMPARATIVES
    return (is_marked or slots.tokens[at].norm.endswith("er")) and any(
        token.norm == "than" for token in slots.tokens[at + 1 : at + 1 + _THAN_WITHIN]
    )


def _roles(slots: Slots, at: int) -> Roles | None:
    """The arguments of the predicate at this token; None in a passive that names nobody."""
    left, compares = _left_of(slots, at), _is_comparative(slots, at)
    by: dict[str, int] = {}
    right: dict[str, int] = {}
    role = "" if compares else "object"
    for place in range(at + 1, len(slots.tokens)):
        token = slots.tokens[place]
        if token.starts_clause or token.norm in _CLAUSE_ENDS:
            break
        if token.norm in _ROLES and (role or token.norm == "than"):
            role = token.norm
        elif token.norm in _ADJUNCTS and role:
            role = "adjunct"
        elif role not in ("", "adjunct") and _is_argument(slots, place):
            (by if role == "by" else right)[token.stem] = place
    is_passive = any(token.norm in BE for token in slots.tokens[max(0, at - 3) : at])
    is_participle = slots.tokens[at].norm.endswith(_PARTICIPLES)
    if compares or not (is_participle or (is_passive and by)):
        return Roles(left, right)
    if by:
        return Roles(by, left)
    return None if is_passive else Roles(left, right)


def _left_of(slots: Slots, at: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for place in range(at - 1, -1, -1):
        if slots.tokens[place].norm in _BEFORE_SUBJECT or slots.tokens[place + 1].starts_clause:
            break
        if _is_argument(slots, place):
            found[slots.tokens[place].stem] = place
    return found


def _is_argument(slots: Slots, at: int) -> bool:
    """True for a content word that is no verb, and for a letter or number that is a name."""
    token = slots.tokens[at]
    if at in slots.measures:
        return _is_label(slots, at)  # else a number or a date
    if len(token.text) == 1 and token.is_capital and token.text != "I":
        following = slots.tokens[at + 1].norm if at + 1 < len(slots.tokens) else "is"
        return token.text != "A" or following in BE
    is_noun = at > 0 and slots.tokens[at - 1].norm in DETERMINERS  # "the pool", not "to pool"
    is_noun = is_noun or _is_label(slots, at + 1)  # "release 5"
    return token.is_content and (is_noun or not is_verb(slots, at))


def _is_label(slots: Slots, at: int) -> bool:
    """True for what names a thing of a kind: the number of `level 2`, the letter of `release B`."""
    if not 0 < at < len(slots.tokens) or slots.tokens[at].starts_clause:
        return False
    token, before = slots.tokens[at], slots.tokens[at - 1]
    is_beside = before.is_content and token.start == before.end + 1
    if not is_beside or before.norm in verbs():
        return False
    is_counted = any(one.start == token.start and one.unit for one in slots.quantities)
    is_dated = any(one.start <= token.start < one.end for one in slots.moments)
    is_number = token.norm.isdigit() and not is_counted and not is_dated
    return is_number or (len(token.text) == 1 and token.is_capital and token.text not in "AI")


class _Ends(NamedTuple):
    """The words behind "from" and behind "to", by stem, with their tokens."""

    source: dict[str, int]
    goal: dict[str, int]


_SOURCES, _GOALS = listed("from"), listed("to into onto")
_LONGEST_END = 6  # tokens


def exchanged_ends(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`From the shop to the depot` for `from the depot to the shop`."""
    return in_all_near(comparison, _ends_exchanged_in)


def _ends_exchanged_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    own, theirs = _ends(claim), _ends(sentence)
    if not (own.source and own.goal and theirs.source and theirs.goal):
        return None
    sides = _sides(comparison, Roles(*own), Roles(*theirs))
    if not sides.are_crossed:
        return None
    return StructuralDoubt(Roles(*own).span(claim), Roles(*theirs).span(sentence), at)


def _ends(slots: Slots) -> _Ends:
    ends = _Ends({}, {})
    for at, token in enumerate(slots.tokens[:-1]):
        if token.norm not in _SOURCES and token.norm not in _GOALS:
            continue
        is_rate = at > 0 and at - 1 in slots.measures and at + 1 in slots.measures  # "2 to 1"
        if token.norm == "to" and (is_verb(slots, at + 1) or (is_rate and not ends.source)):
            continue  # "to move it"
        words = ends.source if token.norm in _SOURCES else ends.goal
        for place in range(at + 1, min(len(slots.tokens), at + 1 + _LONGEST_END)):
            one = slots.tokens[place]
            if place > at + 1 and (one.starts_clause or one.norm in _END_STOPS):
                break
            if one.is_content:
                words[one.stem] = place
    return ends


class _Sides(NamedTuple):
    """Who acts and whom it concerns, in the claim and in the sentence; shared words are none."""

    subject: set[str]
    objects: set[str]
    acting: set[str]
    concerned: set[str]

    @property
    def are_crossed(self) -> bool:
        """True where words of both sides of the claim stand on the other one, and not in place."""
        is_crossed = self.subject & self.concerned and self.objects & self.acting
        return bool(is_crossed) and not self.are_straight

    @property
    def are_straight(self) -> bool:
        """True where words of both sides of the claim stand on the same one."""
        return bool(self.subject & self.acting and self.objects & self.concerned)


def _sides(comparison: ComparedClaim, own: Roles, theirs: Roles) -> _Sides:
    both = own.subject.keys() & own.objects.keys() | theirs.subject.keys() & theirs.objects.keys()
    return _Sides(
        _matching(comparison, own.subject.keys() - both),
        _matching(comparison, own.objects.keys() - both),
        theirs.subject.keys() - both,
        theirs.objects.keys() - both,
    )


def _are_exchanged(comparison: ComparedClaim, own: Roles, theirs: Roles) -> bool:
    """True where one argument of each side stands on the other one, and no subject in its place."""
    sides = _sides(comparison, own, theirs)
    return sides.are_crossed and not sides.subject & sides.acting


# The first and the last of something: both are true of it, at different times.
STAGES = tuple(
    (frozenset(map(stem, first.split())), frozenset(map(stem, last.split())))
    for first, last in (
        ("open opens", "close closes shut"),
        ("start begin commence", "end finish stop conclude"),
        ("leave depart departure", "arrive arrival"),
        ("board enter", "exit alight"),
    )
)


def is_converse(comparison: ComparedClaim, claimed: str, found: str, at: int) -> bool:
    """True where opposites do not exclude each other: `Ben bought` from Anna, who `sold` to Ben.

    So it is with exchanged arguments, and with the first and the last of something.
    """
    claim, sentence = comparison.claim, comparison.sentence(at)
    own, theirs = _token_of(claim, claimed), _token_of(sentence, found)
    pair = {claim.tokens[own].stem, sentence.tokens[theirs].stem}
    if any(pair & first and pair & last for first, last in STAGES):
        given = {one.parts for one in sentence.moments}
        return bool(claim.moments) and not any(one.parts in given for one in claim.moments)
    ours, others = _roles(claim, own), _roles(sentence, theirs)
    return ours is not None and others is not None and _is_turned(comparison, ours, others)


# Verbs of who gives and of who gets: the same subject does not do both.
_CONVERSES = tuple(
    (frozenset(map(stem, first.split())), frozenset(map(stem, last.split())))
    for first, last in (
        ("sell", "buy purchase"),
        ("lend lent", "borrow"),
        ("give send pay transfer hand lend lent award grant", "receive get borrow"),
        ("teach", "learn"),
        ("win beat defeat", "lose"),
        ("precede", "follow"),
    )
)


class _Degree(NamedTuple):
    """What stands before "than": a comparative, or "more" or "less" and the stem behind it."""

    stem: str
    is_more: bool
    at: int
    than: int


def _degree(slots: Slots) -> _Degree | None:
    for than in range(2, len(slots.tokens)):
        if slots.tokens[than].norm != "than":
            continue
        before, first = slots.tokens[than - 1], slots.tokens[than - 2].norm
        if before.norm in _COMPARATIVES:
            return _Degree("", before.norm == "more", than - 1, than)
        if first in _COMPARATIVES:
            return _Degree(before.stem, first == "more", than - 2, than)
        if before.norm.endswith("er") or before.norm in ("better", "worse"):
            return _Degree(before.stem, is_more=True, at=than - 1, than=than)
    return None


def _degree_relation(claim: Slots, sentence: Slots) -> bool | None:
    """True where both compare in the same direction, False in the opposite one, else None."""
    own, theirs = _degree(claim), _degree(sentence)
    if own is None or theirs is None:
        return None
    if own.stem == theirs.stem:
        return own.is_more == theirs.is_more
    is_opposite = are_opposite(own.stem, theirs.stem)
    return own.is_more != theirs.is_more if is_opposite else None


def other_comparison(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Visitors pay less than members` for `Members pay less than visitors`, or `members more`."""
    return in_all_near(comparison, _comparison_in)


def _comparison_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    relation = _degree_relation(claim, sentence)
    if relation is None or claim.denials or sentence.denials:
        return None
    own, theirs = _compared(claim), _compared(sentence)
    sides = _sides(comparison, own, theirs)
    if sides.are_crossed if relation else sides.are_straight:
        return StructuralDoubt(own.span(claim), theirs.span(sentence), at)
    return None


def _compared(slots: Slots) -> Roles:
    """The words on both sides of what compares: no verb is among what is compared."""
    degree = _degree(slots)
    if degree is None:
        return Roles({}, {})
    left: dict[str, int] = {}
    for at in range(degree.at - 1, -1, -1):
        if slots.tokens[at].norm in _BEFORE_SUBJECT or slots.tokens[at + 1].starts_clause:
            break
        if slots.tokens[at].is_content or _is_argument(slots, at):
            left[slots.tokens[at].stem] = at
    right: dict[str, int] = {}
    for at in range(degree.than + 1, len(slots.tokens)):
        token = slots.tokens[at]
        if token.starts_clause or token.norm in _CLAUSE_ENDS | _ADJUNCTS:
            break
        if token.is_content or _is_argument(slots, at):
            right[token.stem] = at
    return Roles(left, right)


def converse_of_same(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Mia borrowed it` for `Mia lent it to Tom`, `Tom is younger` for `Tom is older than Lea`."""
    return in_all_near(comparison, _converse_in)


def _converse_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    if claim.denials or sentence.denials:
        return None
    for own, theirs in _converse_pairs(claim, sentence):
        ours, others = _roles(claim, own), _roles(sentence, theirs)
        if ours is None or others is None or not ours.subject or not others.subject:
            continue
        sides = _sides(comparison, ours, others)
        if sides.subject & sides.acting:
            tokens = (sentence.tokens[theirs], claim.tokens[own])
            return StructuralDoubt(tokens[1].text, tokens[0].text, at)
    return None


def _converse_pairs(claim: Slots, sentence: Slots) -> Iterator[tuple[int, int]]:
    """The tokens of converse verbs, each on one side only, and those of opposite comparatives."""
    for first, last in _CONVERSES:
        for one, other in ((first, last), (last, first)):
            ours = [at for at in claim.content if claim.tokens[at].stem in one]
            theirs = [at for at in sentence.content if sentence.tokens[at].stem in other]
            both = [at for at in sentence.content if sentence.tokens[at].stem in one]
            if ours and theirs and not both:
                yield ours[0], theirs[0]
    for own in claim.content:
        for at in sentence.content if _is_comparative(claim, own) else ():
            pair = claim.tokens[own].stem, sentence.tokens[at].stem
            if _is_comparative(sentence, at) and are_opposite(*pair):
                yield own, at


def _token_of(slots: Slots, text: str) -> int:
    return next(at for at in slots.content if slots.tokens[at].text == text)


def _is_turned(comparison: ComparedClaim, own: Roles, theirs: Roles) -> bool:
    """True where an argument of one side stands on the other one, and no subject in its place."""
    sides = _sides(comparison, own, theirs)
    is_crossed = sides.subject & sides.concerned or sides.objects & sides.acting
    return bool(is_crossed) and not sides.subject & sides.acting


def _matching(comparison: ComparedClaim, stems: Iterable[str]) -> set[str]:
    """The stems, and those in the context that match them."""
    known = set(stems)
    for one in tuple(known):
        for word in comparison.claim.positions.get(one, ()):
            known.update(comparison.equivalents[word])
    return known
