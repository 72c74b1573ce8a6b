"""Swapped values and roles: the context has all words of a claim, but joined in another way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from heapq import nsmallest
from itertools import islice, permutations, product
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.agreement import same_kind, values_agree
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, quantity_text, read_slots
from otel_rt4chart.verify.language.tokens import Token, stem
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.differences import SlotDifference

_MAX_WORDS = 8  # a longer claim says more than one thing
_MAX_SENTENCES = 200
_MAX_CLAUSES = 2_000  # ten a sentence: more are a list of single words
_CACHED_SENTENCES = 1_024
_LIST_LINES = 12  # between two lines of one list
_CLAUSE = re.compile(r"[;,]\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
# Verbs whose subject and object can change places without another meaning.
SYMMETRIC_VERBS = frozenset(
    map(stem, ("meet", "marry", "face", "play", "date", "fight", "divorce", "join"))
)
_AGENT_WORDS = 4
_TURNS = frozenset(("before", "after", "ahead", "behind", "above", "below", "from", "to"))
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th)|first|second|third|(?:four|fif|six|seven|eigh|nin|ten)th"
)


def subject_name(slots: Slots) -> frozenset[str]:
    """The stems of the name that a text begins with: `Ben`, `Warehouse 57`, `the second`."""
    if not slots.content:
        return frozenset()
    first = slots.content[0]
    token = slots.tokens[first]
    stems = {slots.tokens[at].stem for name in slots.names if first in name.tokens
             for at in name.tokens}  # fmt: skip
    following = slots.tokens[first + 1] if first + 1 < len(slots.tokens) else None
    if following and following.text.isdigit() and following.start == token.end + 1:
        stems |= {token.stem, following.stem}
    return frozenset(stems | ({token.stem} if _ORDINAL.fullmatch(token.norm) else set()))


def has_other_subject(claim: Slots, sentence: Slots) -> bool:
    """True where both begin with a name, and the sentence's is not the claim's.

    In the passive, the one who acts stands behind "by": "MRI is not covered by the Gold plan" is
    about the Gold plan, too.
    """
    own, theirs = subject_name(claim), subject_name(sentence)
    is_other = bool(own and theirs - own) and not own <= theirs
    return is_other and not own <= _agent_stems(sentence)


def _agent_stems(slots: Slots) -> frozenset[str]:
    """The stems of the words that may name the one who acts in the passive."""
    behind = (at for at, token in enumerate(slots.tokens) if token.norm == "by")
    return frozenset(
        token.stem for at in behind for token in slots.tokens[at + 1 : at + 1 + _AGENT_WORDS]
    )


def swap_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """The claim's value, where its subject has another one and another subject has this one.

    Nothing where one clause of the context has all the words.
    """
    if not 2 <= len(claim.content) <= _MAX_WORDS or claim.denials:
        return
    found = (
        _find_reversed_roles(claim, alignment, context)
        or _find_swapped_value(claim, alignment, context)
        or _find_swapped_partner(claim, context)
    )
    if found is not None:
        yield found


def _find_swapped_value(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> SlotDifference | None:
    known = [word for word, stems in enumerate(alignment.equivalents) if stems]
    name = subject_name(claim)
    subject = {word for word in known if claim.words[word].stem in name} or {0}
    words = range(len(claim.content))
    if not subject <= set(known) or len(known) < len(words) - 1:
        return None
    nearest = _nearest_sentences(known, alignment, context)
    clauses = list(islice(_clauses(nearest, context), _MAX_CLAUSES))
    # One clause with all the words supports the claim, whatever the others join.
    if any(_has_words(clause, words, alignment) for _, clause in clauses):
        return None
    for value in words[max(subject) + 1 :]:
        others = [word for word in words if word != value]
        is_elsewhere = any(
            _is_about_other_subject(clause, subject, value, others, alignment)
            for _, clause in clauses
        )
        for at, clause in clauses:
            if not _has_words(clause, others, alignment) or has_other_subject(claim, clause):
                continue
            rival = _counterpart(claim, value, clause, alignment)
            if rival is not None and (is_elsewhere or (name and rival.slot == "number")):
                return replace(rival, sentence=at)
    return None


def _nearest_sentences(known: list[int], alignment: Alignment, context: ContextIndex) -> list[int]:
    """The sentences that hold the most of the claim's words, best first."""
    numbers: Counter[int] = Counter()
    for word in known:
        stems = alignment.equivalents[word]
        if len(stems) == 1:
            numbers.update(context.holders[stems[0]])
        else:
            numbers.update({at for stem in stems for at in context.holders[stem]})
    ranked = nsmallest(_MAX_SENTENCES, ((-number, at) for at, number in numbers.items()))
    return [at for _, at in ranked]


def _clauses(sentences: Iterable[int], context: ContextIndex) -> Iterator[tuple[int, Slots]]:
    for at in sentences:
        for clause in _clauses_of(context.sentences[at].text):
            yield at, clause


@lru_cache(maxsize=_CACHED_SENTENCES)
def _clauses_of(sentence: str) -> tuple[Slots, ...]:
    """A cache of sentences: all short claims of an answer are compared with the same ones."""
    return tuple(read_slots(part) for part in _CLAUSE.split(sentence))


def _has_words(clause: Slots, words: Iterable[int], alignment: Alignment) -> bool:
    return all(
        any(stem in clause.positions for stem in alignment.equivalents[word]) for word in words
    )


def _is_about_other_subject(
    clause: Slots, subject: set[int], value: int, others: list[int], alignment: Alignment
) -> bool:
    """True for a clause with the value and the predicate that begins with another subject."""
    predicate = [word for word in others if word not in subject]
    has_predicate = not predicate or any(
        _has_words(clause, [word], alignment) for word in predicate
    )
    if (
        not has_predicate
        or not _has_words(clause, [value], alignment)
        or _has_words(clause, subject, alignment)
    ):
        return False
    met = {stem for stems in alignment.equivalents for stem in stems}
    own = subject_name(clause) or {clause.tokens[clause.content[0]].stem}
    return not own <= met


def _counterpart(
    claim: Slots, value: int, clause: Slots, alignment: Alignment
) -> SlotDifference | None:
    """What the clause has in the value's place; None where it has the value itself."""
    if _has_words(clause, [value], alignment):
        return None
    token = claim.words[value]
    counted = next((one for one in claim.quantities if one.start <= token.start < one.end), None)
    if counted is not None:
        return next(
            (
                SlotDifference(
                    "number", "swapped", quantity_text(claim, counted), quantity_text(clause, other)
                )
                for other in clause.quantities
                if same_kind(counted, other)
                and not any(values_agree(one, other) for one in claim.quantities)
            ),
            None,
        )
    before = {
        place + 1
        for stem in alignment.equivalents[value - 1]
        for place in clause.positions.get(stem, ())
    }
    met = {stem for stems in alignment.equivalents for stem in stems}
    if len(clause.content) != len(claim.content):
        return None
    return next(
        (
            SlotDifference("term", "swapped", token.text, other.text)
            for place, other in enumerate(clause.words)
            if place in before and other.stem not in met and other.is_capital == token.is_capital
        ),
        None,
    )


def _find_reversed_roles(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> SlotDifference | None:
    """The two names around one verb, exchanged: `Bob sued Alice` for `Alice sued Bob`."""
    verbs = [word for word, at in enumerate(claim.content) if not claim.tokens[at].is_capital]
    if len(verbs) != 1 or not 0 < verbs[0] < len(claim.content) - 1:
        return None
    verb = claim.words[verbs[0]].stem
    own_agent = _agent_stem(claim, (verb,))
    agents = [
        (agent, at)
        for at, clause in _clauses(alignment.sentences, context)
        if (agent := _agent_stem(clause, alignment.equivalents[verbs[0]]))
        and {word.stem for word in claim.words} - {verb} <= clause.positions.keys()
        and _links(claim) == _links(clause)
    ]
    if (
        verb in SYMMETRIC_VERBS
        or own_agent is None
        or any(agent == own_agent for agent, _ in agents)
    ):
        return None
    sides = [{word.stem for word in claim.words[: verbs[0]]}]
    sides.append({word.stem for word in claim.words[verbs[0] + 1 :]})
    for agent, at in agents:
        if any(own_agent in one and agent in other for one, other in (sides, sides[::-1])):
            first = claim.words[0]
            found = next(word.text for word in context.sentences[at].words if word.stem in sides[1])
            return SlotDifference("name", "swapped", first.text, found, at)
    return None


class _Partner(NamedTuple):
    """A word that a sentence pairs with another one, and the words from the first to the second."""

    sentence: int
    word: Token
    is_behind: bool
    links: tuple[str, ...]


def _find_swapped_partner(claim: Slots, context: ContextIndex) -> SlotDifference | None:
    """`422 raises BadRequestError` where that stands with 400 in a list, and 422 with another name.

    Both have to be in lines that pair two such words in the same way, and no sentence with both.
    """
    named = [word for word in claim.words if _is_particular(word)]
    if len(named) != 2:
        return None
    first, second = named
    holders = [context.holders.get(word.stem, ()) for word in named]
    if not all(holders) or set(holders[0]).intersection(holders[1]):
        return None
    own = list(_partners(first, second, holders[0], context))
    theirs = list(_partners(second, first, holders[1], context))
    for one, other in islice(product(own, theirs), _MAX_CLAUSES):
        is_list = abs(one.sentence - other.sentence) <= _LIST_LINES
        if is_list and one.links == other.links and one.is_behind != other.is_behind:
            slot: Slot = "number" if _is_number(second) else "name"
            return SlotDifference(slot, "swapped", second.text, one.word.text, one.sentence)
    return None


def _partners(
    word: Token, like: Token, holders: Iterable[int], context: ContextIndex
) -> Iterator[_Partner]:
    """What the sentences with a word pair it with: names if `like` is one, else numbers."""
    for sentence in islice(holders, _MAX_SENTENCES):
        slots = context.sentences[sentence]
        named = [at for at in slots.content if _is_particular(slots.tokens[at])][:_MAX_WORDS]
        for at, other in permutations(named, 2):
            partner = slots.tokens[other]
            is_pair = slots.tokens[at].stem == word.stem and partner.stem != word.stem
            if is_pair and _is_number(partner) == _is_number(like):
                between = slots.tokens[min(at, other) + 1 : max(at, other)]
                links = tuple(token.norm for token in between)
                yield _Partner(sentence, partner, other > at, links)


def _is_particular(word: Token) -> bool:
    """True for a word that names one thing among others of its sort."""
    return word.is_capital or _is_number(word)


def _is_number(word: Token) -> bool:
    return word.norm[:1].isdigit()


def _links(slots: Slots) -> frozenset[str]:
    """The words that turn who is named first: Ana came before Leo, who came after Ana."""
    return frozenset(token.norm for token in slots.tokens) & _TURNS


def _agent_stem(clause: Slots, verbs: Iterable[str]) -> str | None:
    """The stem of the name that acts: the one before the verb, or after `by` in the passive."""
    for place in (place for verb in verbs for place in clause.positions.get(verb, ())):
        if not 0 < place < len(clause.content) - 1:
            continue
        left, at, right = clause.content[place - 1 : place + 2]
        if clause.tokens[left].is_capital and clause.tokens[right].is_capital:
            is_passive = any(token.norm == "by" for token in clause.tokens[at + 1 : right])
            return clause.tokens[right if is_passive else left].stem
    return None
