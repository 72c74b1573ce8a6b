"""Names in a text: runs of capitalised words, acronyms, and rare words of lower-case text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from otel_rt4chart.verify.language.tokens import Token, vocabulary

_TITLES = {"mr", "mrs", "ms", "dr", "sir", "lord", "lady", "prof", "president", "mp", "ch", "st"}
_INSIDE = {"of", "de", "la", "van", "von", "der", "den", "bin", "al"}
_LINKERS = _INSIDE | {"the", "and", "for"}


@dataclass(frozen=True, slots=True)
class Name:
    """A run of words that is a name; `tokens` are indices into the words of the text."""

    tokens: tuple[int, ...]
    start: int
    end: int


def names(tokens: tuple[Token, ...], taken: Collection[int] = ()) -> tuple[Name, ...]:
    """The names of a text in order; where all is lower case, its uncommon words.

    `taken` are the character offsets that belong to dates and identifiers.
    """
    has_case = any(token.is_capital for token in tokens)
    found: list[Name] = []
    run: list[int] = []
    for at, token in enumerate(tokens):
        joins = bool(run) and run[-1] == at - 1 and not token.starts_clause
        if not _is_name(token, has_case=has_case) or token.start in taken:
            continue
        if run and not (joins or _is_linked(tokens, run[-1], at)):
            found.append(_name_from(tokens, run))
            run = []
        run.append(at)
    if run:
        found.append(_name_from(tokens, run))
    return tuple(found)


def _is_name(token: Token, *, has_case: bool) -> bool:
    has_letter = any(letter.isalpha() for letter in token.text)
    if not token.is_content or not has_letter or token.norm in _TITLES:
        return False
    if token.is_capital and not token.starts_clause:
        return True
    if token.is_capital or not has_case:
        return len(token.norm) > 2 and not vocabulary().is_common(token.stem)
    return any(letter.isdigit() or letter.isupper() for letter in token.text[1:])


def _is_linked(tokens: tuple[Token, ...], last: int, at: int) -> bool:
    """True for `Bank of England`: one such word between two capitals does not end the name."""
    return (
        at - last == 2
        and tokens[last + 1].norm in _INSIDE
        and not tokens[at].starts_clause
        and tokens[at].is_capital
    )


def _name_from(tokens: tuple[Token, ...], run: list[int]) -> Name:
    return Name(tuple(run), tokens[run[0]].start, tokens[run[-1]].end)


def initials(tokens: tuple[Token, ...]) -> frozenset[str]:
    """The lower-case initials of each run of two or more capitalised words, to match acronyms."""
    runs: set[str] = set()
    run = ""
    for token in tokens:
        if token.is_capital and (not token.starts_clause or not run):
            run += token.norm[0]
        elif token.norm in _LINKERS and run:
            continue
        else:
            if len(run) > 1:
                runs.add(run)
            run = ""
    if len(run) > 1:
        runs.add(run)
    return frozenset(runs)


def missing_parts(
    name: Name, tokens: tuple[Token, ...], known: Collection[str], acronyms: Collection[str]
) -> tuple[int, ...]:
    """The words of a name that the context has neither as they are nor in an acronym.

    `known` are the context's stems, `acronyms` the initials of its runs of capitalised words.
    """
    missing = tuple(at for at in name.tokens if not _is_known(tokens[at], known, acronyms))
    letters = "".join(tokens[at].norm[0] for at in name.tokens)
    return () if len(letters) > 1 and letters in known else missing


def _is_known(token: Token, known: Collection[str], acronyms: Collection[str]) -> bool:
    if token.stem in known or token.norm in known:
        return True
    squeezed = token.norm.replace(".", "")
    if squeezed in known:
        return True
    return token.text.isupper() and squeezed in acronyms
