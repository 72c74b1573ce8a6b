"""Which value stands with which subject: a claim whose words are there, but not together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from otel_rt4chart.verify.language.context import Context
from otel_rt4chart.verify.language.numbers import agree, same_kind
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import stem
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.differences import Difference, measured

_MOST_WORDS = 8  # a longer claim says more than one thing
_MOST_SENTENCES = 200
_CLAUSE = re.compile(r"[;,]\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
# Whoever meets somebody is met by them.
_MUTUAL = frozenset(
    map(stem, ("meet", "marry", "face", "play", "date", "fight", "divorce", "join"))
)
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th)|first|second|third|(?:four|fif|six|seven|eigh|nin|ten)th"
)


def subject_name(slots: Slots) -> frozenset[str]:
    """The stems that name the thing a text begins with: `Ben`, `Warehouse 57`, `the second`."""
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


def is_of_another(claim: Slots, sentence: Slots) -> bool:
    """True where both begin with a name, and the sentence has not the claim's."""
    mine, theirs = subject_name(claim), subject_name(sentence)
    return bool(mine and theirs - mine) and not mine <= theirs


def swapped(claim: Slots, laid: Alignment, context: Context) -> Iterator[Difference]:
    """The claim's value where its subject has another one, and another subject has the value.

    Nothing where one clause of the context has all the words.
    """
    if not 2 <= len(claim.content) <= _MOST_WORDS or claim.denials:
        return
    found = _reversed(claim, laid, context) or _exchanged(claim, laid, context)
    if found is not None:
        yield found


def _exchanged(claim: Slots, laid: Alignment, context: Context) -> Difference | None:
    known = [word for word, stems in enumerate(laid.equivalents) if stems]
    name = subject_name(claim)
    subject = {word for word in known if claim.words[word].stem in name} or {0}
    words = range(len(claim.content))
    if not subject <= set(known) or len(known) < len(words) - 1:
        return None
    clauses = list(_clauses(_near(known, laid, context), context))
    if any(_holds(clause, words, laid) for _, clause in clauses):
        return None
    for value in words[max(subject) + 1 :]:
        others = [word for word in words if word != value]
        is_elsewhere = any(
            _is_others(clause, subject, value, others, laid) for _, clause in clauses
        )
        for at, clause in clauses:
            if not _holds(clause, others, laid) or is_of_another(claim, clause):
                continue
            rival = _rival(claim, value, clause, laid)
            if rival is not None and (is_elsewhere or (name and rival.slot == "number")):
                return replace(rival, sentence=at)
    return None


def _near(known: list[int], laid: Alignment, context: Context) -> list[int]:
    """The sentences that hold all the claim's words but one, or the rarest of them."""
    held = [
        {at for stem in laid.equivalents[word] for at in context.holders[stem]} for word in known
    ]
    most = set[int]().union(*held)
    ranked = sorted(most, key=lambda at: (-sum(at in one for one in held), at))
    return ranked[:_MOST_SENTENCES]


def _clauses(sentences: Iterable[int], context: Context) -> Iterator[tuple[int, Slots]]:
    for at in sentences:
        for part in _CLAUSE.split(context.sentences[at].text):
            yield at, read_slots(part)


def _holds(clause: Slots, words: Iterable[int], laid: Alignment) -> bool:
    return all(any(stem in clause.positions for stem in laid.equivalents[word]) for word in words)


def _is_others(
    clause: Slots, subject: set[int], value: int, others: list[int], laid: Alignment
) -> bool:
    """True for a clause with the value and the predicate, that begins with another subject."""
    said = [word for word in others if word not in subject]
    shares = not said or any(_holds(clause, [word], laid) for word in said)
    if not shares or not _holds(clause, [value], laid) or _holds(clause, subject, laid):
        return False
    met = {stem for stems in laid.equivalents for stem in stems}
    own = subject_name(clause) or {clause.tokens[clause.content[0]].stem}
    return not own <= met


def _rival(claim: Slots, value: int, clause: Slots, laid: Alignment) -> Difference | None:
    """What the clause has in the value's place, where it has not the value."""
    if _holds(clause, [value], laid):
        return None
    token = claim.words[value]
    counted = next((one for one in claim.quantities if one.start <= token.start < one.end), None)
    if counted is not None:
        return next(
            (
                Difference("number", "swapped", measured(claim, counted), measured(clause, other))
                for other in clause.quantities
                if same_kind(counted, other)
                and not any(agree(one, other) for one in claim.quantities)
            ),
            None,
        )
    before = {
        place + 1
        for stem in laid.equivalents[value - 1]
        for place in clause.positions.get(stem, ())
    }
    met = {stem for stems in laid.equivalents for stem in stems}
    if len(clause.content) != len(claim.content):
        return None
    return next(
        (
            Difference("term", "swapped", token.text, other.text)
            for place, other in enumerate(clause.words)
            if place in before and other.stem not in met and other.is_capital == token.is_capital
        ),
        None,
    )


def _reversed(claim: Slots, laid: Alignment, context: Context) -> Difference | None:
    """`Bob sued Alice` for `Alice sued Bob`: the two names around one verb, the other way round."""
    verbs = [word for word, at in enumerate(claim.content) if not claim.tokens[at].is_capital]
    if len(verbs) != 1 or not 0 < verbs[0] < len(claim.content) - 1:
        return None
    verb = claim.words[verbs[0]].stem
    mine = _actor(claim, (verb,))
    told = [
        (actor, at)
        for at, clause in _clauses(laid.sentences, context)
        if (actor := _actor(clause, laid.equivalents[verbs[0]]))
        and {word.stem for word in claim.words} - {verb} <= clause.positions.keys()
    ]
    if verb in _MUTUAL or mine is None or any(actor == mine for actor, _ in told):
        return None
    sides = [{word.stem for word in claim.words[: verbs[0]]}]
    sides.append({word.stem for word in claim.words[verbs[0] + 1 :]})
    for actor, at in told:
        if any(mine in one and actor in other for one, other in (sides, sides[::-1])):
            first = claim.words[0]
            found = next(word.text for word in context.sentences[at].words if word.stem in sides[1])
            return Difference("name", "swapped", first.text, found, at)
    return None


def _actor(clause: Slots, verbs: Iterable[str]) -> str | None:
    """The stem of the name that does it: before the verb, or behind its `by`."""
    for place in (place for verb in verbs for place in clause.positions.get(verb, ())):
        if not 0 < place < len(clause.content) - 1:
            continue
        left, at, right = clause.content[place - 1 : place + 2]
        if clause.tokens[left].is_capital and clause.tokens[right].is_capital:
            is_passive = any(token.norm == "by" for token in clause.tokens[at + 1 : right])
            return clause.tokens[right if is_passive else left].stem
    return None
