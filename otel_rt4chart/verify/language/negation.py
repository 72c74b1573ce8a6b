"""What is denied in a text: which words stand under a negation, counted by parity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.language.thesaurus import opposites
from otel_rt4chart.verify.language.tokens import Token
from otel_rt4chart.verify.language.word_lists import (
    JUDGE_CONTRASTS,
    JUDGE_DENIALS,
    JUDGE_NEGATIONS,
    JUDGE_UNDENIED,
)

_SCOPE = 3


@dataclass(frozen=True, slots=True)
class Denial:
    """A negation word, by its index, and the content words it stands over, by theirs."""

    cue: int
    over: tuple[int, ...]


def denials(tokens: Sequence[Token]) -> tuple[Denial, ...]:
    """The negations of a text, each over up to three content words of its clause."""
    found: list[Denial] = []
    for at, token in enumerate(tokens):
        if _is_cue(tokens, at):
            over = _scope(tokens, at)
            if not over and token.norm not in JUDGE_DENIALS:
                over = _before(tokens, at)
            if over:
                found.append(Denial(at, (*_denied_verb(tokens, at), *over)))
    return tuple(found)


def _denied_verb(tokens: Sequence[Token], cue: int) -> tuple[int, ...]:
    """`found no evidence` denies the finding too: it is what `did not find any evidence` denies."""
    is_determiner = tokens[cue].norm == "no" and cue > 0 and not tokens[cue].starts_clause
    return (cue - 1,) if is_determiner and tokens[cue - 1].is_content else ()


def _is_cue(tokens: Sequence[Token], at: int) -> bool:
    norm = tokens[at].norm
    if norm in JUDGE_DENIALS or norm.endswith("n't"):
        return True
    if norm not in JUDGE_NEGATIONS:
        return False
    following = [token.norm for token in tokens[at + 1 : at + 3]]
    if norm not in ("not", "no") or not following:
        return True
    is_bound = following[-1] == "than"  # "no more than", "not later than" deny nothing
    return following[0] not in JUDGE_UNDENIED and not is_bound


def _scope(tokens: Sequence[Token], cue: int) -> tuple[int, ...]:
    over: list[int] = []
    for at in range(cue + 1, min(len(tokens), cue + 10)):
        if (
            tokens[at].starts_clause
            or tokens[at].norm in JUDGE_CONTRASTS
            or _is_explicit(tokens[at].norm)
            or _begins_another(tokens, at)
        ):
            break
        if tokens[at].is_content:
            over.append(at)
            if len(over) == _SCOPE:
                break
    return tuple(over)


def _begins_another(tokens: Sequence[Token], at: int) -> bool:
    """True for the "and" of `not supported and strongly discouraged`: an adverb says more."""
    is_last = at + 2 >= len(tokens)
    return tokens[at].norm == "and" and not is_last and tokens[at + 1].norm.endswith("ly")


def _is_explicit(norm: str) -> bool:
    return norm in JUDGE_NEGATIONS or norm.endswith("n't")


def _before(tokens: Sequence[Token], cue: int) -> tuple[int, ...]:
    """`it does not`: with nothing after it, a negation denies the word before it."""
    for at in range(cue - 1, max(-1, cue - 5), -1):
        if tokens[at].is_content:
            return (at,)
    return ()


def parity(found: Sequence[Denial]) -> Mapping[int, bool]:
    """For each word under at least one negation, whether their number is odd."""
    counts: dict[int, int] = {}
    for denial in found:
        for at in denial.over:
            counts[at] = counts.get(at, 0) + 1
    return {at: count % 2 == 1 for at, count in counts.items()}


def are_opposite(left: str, right: str) -> bool:
    """True for stems that say the opposite of each other."""
    return right in opposites(left)
