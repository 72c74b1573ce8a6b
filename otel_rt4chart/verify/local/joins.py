"""Words of a claim that the context has, but never together: names, lists, predicates of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile

from otel_rt4chart.verify.decompose.coordination import listed
from otel_rt4chart.verify.language.names import Name
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.thesaurus import all_synonyms
from otel_rt4chart.verify.language.tokens import content, token_range, tokenize
from otel_rt4chart.verify.local.alignment import nearest_path
from otel_rt4chart.verify.local.comparison import (
    BE,
    ComparedClaim,
    StructuralDoubt,
    in_all_near,
    is_behind_preposition,
    is_verb,
    phrase,
    stems_at,
)

_MAX_SENTENCES = 400  # that hold both words of a pair; more are read as if one joined them
_MIN_PAIRS, _MIN_PARTS = 2, 3
_NEARBY = 5  # sentences within which a pronoun may stand for a name
_LIST_MARK = re.compile(r"[,;:|/•\n\t]|\.(?=\s|$)")


def spliced_name(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Anna Weber` where the context has Anna Schmidt and Maria Weber, and nobody of that name."""
    doubts = (_splice(comparison, *name.tokens) for name in _full_names(comparison.claim))
    return next(filter(None, doubts), None)


def names_apart(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Anna Schmidt met Maria Weber` where no part of the context speaks of both.

    A long list of people has any two names; that they have to do with each other it does not say.
    """
    claim = comparison.claim
    names = _full_names(claim)
    places = [_sentences_with(comparison, name) for name in names]
    if len(names) < 2 or not all(places):
        return None
    ordered = sorted((at, which) for which, found in enumerate(places) for at in found)
    if any(
        one != other and there - here <= _NEARBY
        for (here, one), (there, other) in pairwise(ordered)
    ):
        return None
    sentence = comparison.sentence(places[0][0])
    first = sentence.positions[claim.tokens[names[0].tokens[0]].stem][0]
    found = next((name for name in sentence.names if sentence.content[first] in name.tokens), None)
    return StructuralDoubt(
        phrase(claim, names[0].tokens[0], names[1].tokens[-1]),
        sentence.text[found.start : found.end] if found else sentence.words[first].text,
        places[0][0],
    )


def _full_names(claim: Slots) -> list[Name]:
    """The names of two words; longer ones are written in many ways: King Henry III, the UN."""
    return [
        name
        for name in claim.names
        if len(name.tokens) == 2
        and name.tokens[1] == name.tokens[0] + 1
        and all(claim.tokens[at].is_capital for at in name.tokens)
    ]


def _sentences_with(comparison: ComparedClaim, name: Name) -> list[int]:
    """The sentences that have both words of a name, in order."""
    holders = comparison.context.holders
    first, second = (set(holders.get(comparison.claim.tokens[at].stem, ())) for at in name.tokens)
    return sorted(first & second)


def listed_words(comparison: ComparedClaim) -> StructuralDoubt | None:
    """A claim whose words stand one by one in a list, such as a glossary or an index.

    A list of single words says nothing of what they are joined to.
    """
    claim = comparison.claim
    pairs = [
        (word, word + 1)
        for word in range(len(claim.content) - 1)
        if comparison.equivalents[word] and comparison.equivalents[word + 1]
    ]
    if len(pairs) < _MIN_PAIRS:
        return None
    parts: dict[int, list[list[int]]] = {}
    doubt = None
    # In a claim that repeats its words, each pair of them is looked at once.
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for pair in pairs:
        words = tuple(comparison.equivalents[at] for at in pair)
        if words in seen:
            continue
        seen.add(words)
        if (found := _listed_apart(comparison, *pair, parts)) is None:
            return None
        doubt = doubt or found
    return doubt


def _splice(comparison: ComparedClaim, first: int, second: int) -> StructuralDoubt | None:
    """The doubt where both parts of a name stand in other names only, never side by side."""
    claim = comparison.claim
    stems = claim.tokens[first].stem, claim.tokens[second].stem
    shared = set(comparison.context.holders.get(stems[0], ())) & set(
        comparison.context.holders.get(stems[1], ())
    )
    if len(shared) > _MAX_SENTENCES or any(
        stems[1] in {sentence.tokens[at].stem for at in name.tokens}
        for sentence in map(comparison.sentence, shared)
        for name in _names_with(sentence, stems[0])
    ):
        return None
    held = [_other_name(comparison, stem) for stem in stems]
    if held[0] is None or held[1] is None:
        return None
    at, found = held[0]
    return StructuralDoubt(phrase(claim, first, second), found, at)


def _other_name(comparison: ComparedClaim, stem: str) -> tuple[int, str] | None:
    """A name of two words or more with this one, and its sentence; None where it stands alone.

    Where it stands alone anywhere, it may be short for a name that the claim writes in full.
    """
    found: tuple[int, str] | None = None
    for at in comparison.context.holders.get(stem, ())[:_MAX_SENTENCES]:
        sentence = comparison.sentence(at)
        for name in _names_with(sentence, stem):
            if len(name.tokens) < 2:
                return None
            found = found or (at, sentence.text[name.start : name.end])
    return found


def _names_with(slots: Slots, stem: str) -> Iterator[Name]:
    return (
        name for name in slots.names if any(slots.tokens[at].stem == stem for at in name.tokens)
    )


def _listed_apart(
    comparison: ComparedClaim, first: int, second: int, parts: dict[int, list[list[int]]]
) -> StructuralDoubt | None:
    """The doubt where every sentence with both words lists them one by one.

    `parts` keeps the parts of the sentences that were read for other words.
    """
    holders = comparison.context.holders
    left, right = (
        {at for stem in comparison.equivalents[word] for at in holders[stem]}
        for word in (first, second)
    )
    shared = sorted(left & right)
    if not shared or len(shared) > _MAX_SENTENCES:
        return None
    word = ""
    for at in shared:
        if at not in parts:
            parts[at] = _parts(comparison.sentence(at))
        if not (listed := _listed_word(comparison, at, first, second, parts[at])):
            return None
        word = word or listed
    claim = comparison.claim
    claimed = phrase(claim, claim.content[first], claim.content[second])
    return StructuralDoubt(claimed, word, shared[0])


def _parts(sentence: Slots) -> list[list[int]]:
    """The places of a sentence's content words, divided at the marks between items of a list."""
    tokens = [sentence.tokens[one] for one in sentence.content]
    parts: list[list[int]] = [[0]]
    for place, (before, after) in enumerate(pairwise(tokens), 1):
        if _LIST_MARK.search(sentence.text, before.end, after.start):
            parts.append([])
        parts[-1].append(place)
    return parts


def _listed_word(
    comparison: ComparedClaim, at: int, first: int, second: int, parts: list[list[int]]
) -> str:
    """The first word where the sentence lists both as parts of one word each; else ""."""
    sentence = comparison.sentence(at)
    ones, others = (
        {p for stem in comparison.equivalents[word] for p in sentence.positions.get(stem, ())}
        for word in (first, second)
    )
    held = ones | others
    # An index may begin with its title: of the first part, the last word alone is an item.
    title = held.intersection(parts[0][:-1])
    items = [part for part in (parts[0][-1:], *parts[1:]) if held.intersection(part)]
    if len(parts) < _MIN_PARTS or title or any(len(part) > 1 for part in items):
        return ""
    word = sentence.content[min(ones)]
    return phrase(sentence, word, word)


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


def _leading_subject(slots: Slots) -> frozenset[int]:
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
    own = _leading_subject(claim)
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
        stems & stems_at(sentence, _leading_subject(sentence))
        for sentence in map(comparison.sentence, holders)
    )


def _told_of_other(
    comparison: ComparedClaim, at: int, own: frozenset[int], rest: list[int]
) -> StructuralDoubt | None:
    """The doubt where this sentence has the claim's predicate and another subject of its type."""
    claim, sentence, matches = comparison.claim, comparison.sentence(at), comparison.matches[at]
    theirs, verb = _leading_subject(sentence), max(own) + 1
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


_MIN_PREDICATE = 2  # content words that two statements hardly share by chance
_LONG = 60  # characters of a predicate of which a reason names the first word alone
_CLAUSE_START = re.compile(r"[,;:.]\s|\b(?:and|but|while|whereas)\s", re.IGNORECASE)


def predicate_of_another(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`A downgrade takes effect at once`, word for word what the context says of an upgrade.

    And of a downgrade it says something else, in the same sentence or with words of this predicate.
    """
    claim = comparison.claim
    subject = _leading_subject(claim)
    if not subject or claim.denials:
        return None
    own = {claim.words[word].stem for word in subject}
    alike = {other for one in own for other in all_synonyms(one)}
    predicate = claim.text[claim.words[max(subject)].end :].strip(" .!?")
    doubt = None
    for at in (*comparison.near, *comparison.others):
        text = comparison.sentence(at).text
        for said in re.finditer(rf"(?<!\w){re.escape(predicate)}(?!\w)", text, re.IGNORECASE):
            starts = _CLAUSE_START.finditer(text, 0, said.start())
            start = max((one.end() for one in starts if not _joins_names(text, one)), default=0)
            theirs = content(text[start : said.start()]).keys()
            if (
                comparison.sentence(at).denials
                or theirs <= own
                or own <= theirs
                or not theirs.isdisjoint(alike)
            ):
                return None
            words = len(predicate) if len(predicate) <= _LONG else _first_word(predicate)
            claimed = claim.text[: claim.text.index(predicate) + words]
            doubt = doubt or StructuralDoubt(claimed, text[start : said.start() + words], at)
    return doubt if doubt and _says_another(comparison, own, predicate, doubt.sentence) else None


def _joins_names(text: str, joint: re.Match[str]) -> bool:
    """True for `in Lyon and Turin`: two names, no two clauses."""
    before = text[: joint.start()].split()[-1:]
    return bool(before) and before[0][:1].isupper() and text[joint.end() :][:1].isupper()


def _first_word(predicate: str) -> int:
    """Where the first word that says something ends."""
    return next((one.end for one in tokenize(predicate) if one.is_content), len(predicate))


def _says_another(comparison: ComparedClaim, own: set[str], predicate: str, at: int) -> bool:
    """True where another clause is about the subject: there, or with words of the claim."""
    rest = {word.stem for word in comparison.claim.words} - own
    clauses = (
        (where, content(clause).keys())
        for where in (*comparison.near, *comparison.others)
        for clause in _CLAUSE_START.split(comparison.sentence(where).text)
        if predicate.casefold() not in clause.casefold()
    )
    is_long = len(rest) >= _MIN_PREDICATE
    return any(
        own <= has and (where == at or (is_long and not rest.isdisjoint(has)))
        for where, has in clauses
    )


_MIN_OTHERS = 3  # words of the claim that a sentence with another word in one's place has
_JOINTS = frozenset(("and", "but", "or"))
_CLAUSES = listed("if when unless until while because although which who that so")


def other_in_place(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`included in Team` where the sentence with the rest has `included in Works`.

    And Team stands in another clause or sentence, which says something else of it.
    """
    return in_all_near(comparison, _other_in_place)


def _other_in_place(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    path = nearest_path(comparison.matches[at])
    strange = [word for word, place in enumerate(path) if place is None]
    if not strange or sentence.denials:
        return None
    first = strange[0]
    if any(claim.content[first] in name.tokens for name in _full_names(claim)):
        return None  # a person may have met both; see `names_apart`
    lost = list(takewhile(lambda word: path[word] is None, range(first, len(path))))
    rest = [word for word in range(len(path)) if word not in lost]
    if len(rest) < _MIN_OTHERS or any(path[word] is None for word in rest):
        return None
    if _acts(claim, claim.content[first]) and not is_behind_preposition(claim, first):
        return None  # another verb may say the same
    if not _is_said_elsewhere(comparison, lost, at):
        return None
    found = stretches(comparison, at, claim.content[lost[0]], claim.content[lost[-1]])
    if found is None:
        return None
    own, told = found
    said = stems_in(sentence, told)
    same = {stem for word in lost for stem in all_synonyms(claim.words[word].stem)}
    shared = said & claim.positions.keys()
    if said == shared or (shared and not _has_value(sentence, told)) or not said.isdisjoint(same):
        return None
    return StructuralDoubt(text_of(claim, own), text_of(sentence, told), at)


def _has_value(slots: Slots, stretch: range) -> bool:
    starts = {slots.tokens[at].start for at in stretch}
    return any(one.start in starts for one in slots.quantities)


def _is_said_elsewhere(comparison: ComparedClaim, lost: Iterable[int], at: int) -> bool:
    """True where the context has the words, but none of its other sentences the rest with them."""
    known = [comparison.equivalents[word] for word in lost]
    if not all(known):
        return False
    holders = comparison.context.holders
    others = [word for word in range(len(comparison.weights)) if word not in set(lost)]
    for where in {where for stems in known for stem in stems for where in holders[stem]} - {at}:
        has = comparison.sentence(where).positions
        held = sum(
            comparison.weights[word]
            for word in others
            if any(stem in has for stem in comparison.equivalents[word])
        )
        if held >= _NEARLY_ALL * sum(comparison.weights[word] for word in others):
            return False
    return True


def stretches(
    comparison: ComparedClaim, at: int, first: int, last: int
) -> tuple[range, range] | None:
    """The tokens around `first` to `last` of the claim, and those of the sentence in their place.

    Between words that both have, or up to the end of a clause. Both begin with the same
    preposition, or with none: what is paid within ten days may well be paid in euros.
    """
    claim, sentence = comparison.claim, comparison.sentence(at)
    path = nearest_path(comparison.matches[at])
    held = [(claim.content[word], place) for word, place in enumerate(path) if place is not None]
    before = [(token, sentence.content[place]) for token, place in held if token < first]
    behind = [(token, sentence.content[place]) for token, place in held if token > last]
    if not before:
        return None
    start, told_start = before[-1][0] + 1, before[-1][1] + 1
    if told_start >= len(sentence.tokens) or sentence.tokens[told_start].starts_clause:
        return None
    end, told_end = clause_end(claim, start), clause_end(sentence, told_start)
    if behind and told_start < behind[0][1] < told_end:
        end, told_end = behind[0]
    while start < end and told_start < told_end and _is_same(claim, end, sentence, told_end):
        end, told_end = end - 1, told_end - 1
    if start >= end or told_start >= told_end or end <= last:
        return None
    if _preposition(claim, start) != _preposition(sentence, told_start):
        return None
    return _with_units(claim, start, end), _with_units(sentence, told_start, told_end)


def _is_same(claim: Slots, end: int, sentence: Slots, told_end: int) -> bool:
    return claim.tokens[end - 1].norm == sentence.tokens[told_end - 1].norm


def _with_units(slots: Slots, start: int, end: int) -> range:
    """These tokens, and the rest of a value that begins among them."""
    within = slots.tokens[start].start, slots.tokens[end - 1].end
    ends = (one.unit_end for one in slots.quantities if within[0] <= one.start < within[1])
    whole = token_range(slots.tokens, within[0], max((within[1], *ends)))
    return range(start, max(end, whole.stop))


def clause_end(slots: Slots, first: int) -> int:
    """The first token behind the clause of the one at `first`."""
    for at in range(first + 1, len(slots.tokens)):
        token = slots.tokens[at]
        is_joint = token.norm in _JOINTS and at + 1 < len(slots.tokens)
        if token.starts_clause or token.norm in _CLAUSES or (is_joint and _acts(slots, at + 1)):
            return at
    return len(slots.tokens)


def _acts(slots: Slots, at: int) -> bool:
    return slots.tokens[at].norm in _AUXILIARIES or is_verb(slots, at)


def _preposition(slots: Slots, at: int) -> str:
    norm = slots.tokens[at].norm
    return norm if norm in _PREPOSITIONS else ""


def stems_in(slots: Slots, stretch: range) -> frozenset[str]:
    """The stems of the content words among these tokens."""
    return frozenset(slots.tokens[at].stem for at in stretch if slots.tokens[at].is_content)


def text_of(slots: Slots, stretch: range) -> str:
    """The text of these tokens."""
    tokens = slots.tokens[stretch.start : stretch.stop]
    return slots.text[tokens[0].start : tokens[-1].end]
