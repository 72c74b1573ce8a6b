"""Who does what: arguments in exchanged order, and a predicate that belongs to another subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.verify.decompose.coordination import DETERMINERS, listed, verbs
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
    stems_at,
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
        stem_of = claim.tokens[token].stem
        theirs = [_roles(sentence, one) for one in same if sentence.tokens[one].stem == stem_of]
        known = [roles for roles in theirs if roles is not None]
        if known and all(_are_exchanged(comparison, own, roles) for roles in known):
            return StructuralDoubt(own.span(claim), known[0].span(sentence), at)
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
    is_inflected = token.norm.endswith(("s", "ed")) and before.is_content
    return is_inflected and not token.starts_clause and behind.norm in DETERMINERS


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
    is_noun = is_noun or (at + 1 < len(slots.tokens) and _is_label(slots, at + 1))  # "release 5"
    return token.is_content and (is_noun or not is_verb(slots, at))


def _is_label(slots: Slots, at: int) -> bool:
    """True for the number of `level 2`: right behind a noun, and without a unit."""
    if at == 0 or not slots.tokens[at].norm.isdigit():
        return False
    token, before = slots.tokens[at], slots.tokens[at - 1]
    is_beside = before.is_content and token.start == before.end + 1 and not token.starts_clause
    is_counted = any(one.start == token.start and one.unit for one in slots.quantities)
    is_dated = any(one.start <= token.start < one.end for one in slots.moments)
    return is_beside and before.norm not in verbs() and not is_counted and not is_dated


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
    is_same = sides.subject & sides.acting or sides.objects & sides.concerned
    if is_same or not (sides.subject & sides.concerned and sides.objects & sides.acting):
        return None
    return StructuralDoubt(Roles(*own).span(claim), Roles(*theirs).span(sentence), at)


def _ends(slots: Slots) -> _Ends:
    ends = _Ends({}, {})
    for at, token in enumerate(slots.tokens[:-1]):
        if token.norm not in _SOURCES and token.norm not in _GOALS:
            continue
        if token.norm == "to" and is_verb(slots, at + 1):
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
    is_crossed = sides.subject & sides.concerned and sides.objects & sides.acting
    return bool(is_crossed) and not sides.subject & sides.acting


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


def other_degree(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`A costs less than B` for `A costs more than B`."""
    return in_all_near(comparison, _degree_in)


def _degree_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    if claim.denials or sentence.denials:
        return None
    for own, is_more in _degrees(claim):
        for theirs, is_more_there in _degrees(sentence):
            is_same_verb = claim.tokens[own].stem == sentence.tokens[theirs].stem
            ours, others = _roles(claim, own), _roles(sentence, theirs)
            if is_more == is_more_there or not is_same_verb or not (ours and others):
                continue
            sides = _sides(comparison, ours, others)
            if sides.subject & sides.acting:
                return StructuralDoubt(
                    phrase(claim, own, own + 2), phrase(sentence, theirs, theirs + 2), at
                )
    return None


def _degrees(slots: Slots) -> Iterator[tuple[int, bool]]:
    """The verb before "more than" or "less than", and whether it is "more"."""
    for at in range(2, len(slots.tokens)):
        degree, verb = slots.tokens[at - 1].norm, slots.tokens[at - 2]
        if slots.tokens[at].norm == "than" and degree in _COMPARATIVES and verb.is_content:
            yield at - 2, degree == "more"


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


_NO_SUBJECT = listed("it this that these those he she they we you i there here")
_AUXILIARIES = BE | listed(
    "has have had does do did can could may might will would shall should must"
)
_PREPOSITIONS = listed(
    """of in on for with at and or from by during after before when if as to like than since while
    until under over not no"""
)
_LONGEST_SUBJECT = 8
_HALF, _NEARLY_ALL = 0.5, 0.7


def leading_subject(slots: Slots) -> frozenset[int]:
    """The content words, by position, before the first verb; none where that is no plain noun."""
    tokens = slots.tokens
    is_cleft = len(tokens) > 2 and tokens[0].norm == "it" and tokens[1].norm in BE
    first = 2 if is_cleft else 0
    found: list[int] = []
    for at in range(first, min(len(tokens), first + _LONGEST_SUBJECT)):
        norm = tokens[at].norm
        is_end = norm in _AUXILIARIES or norm in ("who", "that")
        if is_end or (found and is_verb(slots, at) and tokens[at].is_content):
            places = slots.content_places
            return frozenset(places[one] for one in found)
        if (at == first and norm in _NO_SUBJECT) or norm in _PREPOSITIONS:
            break
        if at > first and tokens[at].starts_clause:
            break
        if tokens[at].is_content:
            found.append(at)
    return frozenset()


def other_subject(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Bob founded it` where the context says so of Alice, and of Bob only something else."""
    claim = comparison.claim
    own = leading_subject(claim)
    rest = [word for word in range(len(claim.content)) if word not in own]
    if not own or not rest or not _is_subject_elsewhere(comparison, own):
        return None
    shares = {at: comparison.share(at, rest) for at in (*comparison.near, *comparison.others)}
    best = max(shares.values(), default=0.0)
    if best < _HALF * sum(comparison.weights[word] for word in rest):
        return None
    holders = [at for at, share in shares.items() if share >= _NEARLY_ALL * best]
    found = [_told_of_other(comparison, at, own, rest) for at in holders]
    return found[0] if found and all(found) else None


def _is_subject_elsewhere(comparison: ComparedClaim, own: frozenset[int]) -> bool:
    """True where a sentence of the context is about the claim's subject."""
    stems = {stem for word in own for stem in comparison.equivalents[word]}
    holders = {at for one in stems for at in comparison.context.holders[one]}
    return any(
        stems & stems_at(sentence, leading_subject(sentence))
        for sentence in map(comparison.sentence, holders)
    )


def _told_of_other(
    comparison: ComparedClaim, at: int, own: frozenset[int], rest: list[int]
) -> StructuralDoubt | None:
    """The doubt where this sentence has the claim's predicate and another subject of its type."""
    claim, sentence, matches = comparison.claim, comparison.sentence(at), comparison.matches[at]
    theirs, verb = leading_subject(sentence), max(own) + 1
    if not theirs or any(matches[word] for word in own) or verb >= len(matches):
        return None
    found = max(theirs) + 1
    if found not in matches[verb] or not (_has_name(claim, own) and _has_name(sentence, theirs)):
        return None  # two common nouns often name the same thing
    if any(theirs.intersection(matches[word]) for word in rest):
        return None  # in a passive, the claim's object is the subject here
    claimed = phrase(claim, claim.content[min(own)], claim.content[verb])
    said = phrase(sentence, sentence.content[min(theirs)], sentence.content[found])
    if _is_passive(claimed) != _is_passive(said):
        return None
    return StructuralDoubt(claimed, said, at)


def _is_passive(text: str) -> bool:
    return not BE.isdisjoint(text.lower().split())


def _has_name(slots: Slots, words: Iterable[int]) -> bool:
    named = {at for name in slots.names for at in name.tokens}
    return any(slots.content[word] in named for word in words)
