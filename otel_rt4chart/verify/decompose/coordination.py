"""Splits coordinated predicates with a common subject: "it covers X, requires Y and is Z"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


CONJUNCTIONS = _listed("and but")
ADVERBS = _listed(
    """also then now later still eventually currently subsequently typically often usually even
    initially originally recently finally officially primarily generally already ultimately
    further additionally therefore first however furthermore moreover overall"""
)
NOMINATIVES = _listed("he she they we i")
PRONOUNS = NOMINATIVES | _listed("it you this these those")
DETERMINERS = _listed(
    """the a an its their his her our your my this these those any all some each every both
    several many more another no one two three four five six seven eight nine ten"""
)
OBJECTS = DETERMINERS | _listed("it them him us me you to that")
PREPOSITIONS = _listed(
    """in on at from into onto with within without for of about as over under through across
    against around behind between during near off out up down back toward towards after before
    since until to by along than per via like despite among"""
)
FUNCTION_WORDS = PREPOSITIONS | OBJECTS | CONJUNCTIONS | PRONOUNS
RELATIVES = _listed("who whom whose which that what where why how there")
NO_SUBJECT = RELATIVES | _listed("no none nobody nothing few never rarely hardly only or not")
NO_MODIFIERS = _listed("available only online here such not outside inside above below less")
NO_OBJECT = FUNCTION_WORDS | ADVERBS | RELATIVES | NO_MODIFIERS
CONTRACTION = re.compile(r"'(?:ll|re|ve|d|m)$|^(?:it|he|she|that|this|there|what|who|here|let)'s$")
MAX_SUBJECT = 8


class Word(NamedTuple):
    """A word in lower case, its offsets, and the text between it and the word before."""

    text: str
    start: int
    end: int
    gap: str
    is_capital: bool


class Form(NamedTuple):
    """A finite verb form; `number` is "one", "many" or "any".

    `is_sure` where no noun, adjective or participle has this form.
    """

    number: str
    is_past: bool
    is_auxiliary: bool
    is_sure: bool


class PredicateStart(NamedTuple):
    """A predicate's start, `begin`; the predicate before ends at `cut`, before word `stop`."""

    stop: int
    cut: int
    begin: int
    has_conjunction: bool


class Predicate(NamedTuple):
    """A slice of the sentence, and the slice of the subject to put before it, if any."""

    start: int
    end: int
    subject: tuple[int, int] | None = None


def predicates(text: str, start: int, end: int) -> tuple[Predicate, ...]:
    """The clause's predicates where each can stand alone for certain; else the clause as one."""
    words = _words(text, start, end)
    main = next((at for at in range(len(words)) if _is_verb(words, at)), 0)
    subject = _subject(words[:main])
    if subject is None or words[main].gap.strip():
        return (Predicate(start, end),)
    heads = _predicate_starts(words, main)
    starts = [start, *(head.begin for head in heads)]
    ends = [*(head.cut for head in heads), end]
    subjects = [None, *(subject for _ in heads)]
    return tuple(map(Predicate, starts, ends, subjects))


def _words(text: str, start: int, end: int) -> list[Word]:
    found: list[Word] = []
    at = start
    for match in WORD.finditer(text, start, end):
        word = match.group()
        lower = word.lower().replace("’", "'")
        found.append(Word(lower, *match.span(), text[at : match.start()], word[0].isupper()))
        at = match.end()
    return found


def _subject(words: Sequence[Word]) -> tuple[int, int] | None:
    """The subject: the words before the verb without adverbs at either end, if they can be one."""
    if len(words) > 1 and words[0].text in ADVERBS and words[1].gap.startswith(","):
        words = words[1:]
    while words and words[-1].text in ADVERBS:
        words = words[:-1]
    if not 0 < len(words) <= MAX_SUBJECT or any(word.gap.strip() for word in words[1:]):
        return None
    is_pronoun = len(words) == 1 and words[0].text in PRONOUNS
    is_noun = words[-1].text not in FUNCTION_WORDS and _begins_noun(words[0])
    is_subject = (is_pronoun or is_noun) and _is_plain(words)
    return (words[0].start, words[-1].end) if is_subject else None


def _is_plain(words: Sequence[Word]) -> bool:
    """False where a verb, a relative clause, a negation or a hedge is among a subject's words."""
    texts = [word.text for word in words]
    joints = [at for at, text in enumerate(texts) if text in CONJUNCTIONS]
    is_hedged = any(text in NO_SUBJECT or CONTRACTION.search(text) for text in texts)
    is_clause = any(text in NOMINATIVES or text.endswith("ly") for text in texts[1:])
    joins_names = all(word.is_capital for at in joints for word in words[at - 1 : at + 2 : 2])
    return joins_names and not is_hedged and not is_clause


def _begins_noun(word: Word) -> bool:
    """False for a preposition, and for an imperative: "Make sure the item is new and has ..."."""
    is_noun = word.text not in FUNCTION_WORDS and word.text + "s" not in verbs()
    return is_noun or word.text in DETERMINERS


def _predicate_starts(words: Sequence[Word], main: int) -> list[PredicateStart]:
    """The verbs that begin further predicates, as far as all before them are clear."""
    heads: list[PredicateStart] = []
    left = main
    for verb in range(main + 2, len(words)):
        head = _predicate_start(words, verb)
        if head is None or not _agrees(words, main, verb, has_conjunction=head.has_conjunction):
            continue
        if not _is_clear(words[left : head.stop]):
            break
        heads.append(head)
        left = verb
    while heads and not heads[-1].has_conjunction:
        heads.pop()
    return heads


def _predicate_start(words: Sequence[Word], verb: int) -> PredicateStart | None:
    """The verb as the first word, but for an adverb, after a comma or a conjunction."""
    if _form(words[verb]) is None:
        return None
    if words[verb].gap.strip() == ",":
        return PredicateStart(verb, words[verb - 1].end, words[verb].start, has_conjunction=False)
    first = verb - 1 if words[verb - 1].text in ADVERBS else verb
    stop = first - 1
    gaps = words[verb].gap + words[first].gap + words[stop].gap.removeprefix(",")
    if words[stop].text not in CONJUNCTIONS or gaps.strip(' %)"”'):
        return None
    gap = words[stop].gap
    cut = words[stop].start - len(gap) + len(gap.rstrip(" ,"))
    return PredicateStart(stop, cut, words[first].start, has_conjunction=True)


def _agrees(words: Sequence[Word], main: int, verb: int, *, has_conjunction: bool) -> bool:
    """True where the verb is finite and of the first one's number, and, if in doubt, of its tense.

    A bare form or a participle may be under the first verb's auxiliary.
    """
    left, right = _form(words[main]), _form(words[verb])
    if left is None or right is None or {left.number, right.number} == {"one", "many"}:
        return False
    if right.is_auxiliary:
        return left.number == "many" or words[verb].text not in ("have", "do")
    if not _is_verb(words, verb, has_conjunction=has_conjunction):
        return False
    if not right.is_past:
        return right.is_sure or left.number == "one"
    is_copula = words[main].text in ("was", "were", "had") and words[main + 1].text in DETERMINERS
    return left.is_past and (is_copula or not left.is_auxiliary)


def _is_verb(words: Sequence[Word], at: int, *, has_conjunction: bool = True) -> bool:
    """True where the word is finite here: what may be a noun or a participle needs an object."""
    form = _form(words[at])
    if form is None or form.is_auxiliary or at + 1 == len(words):
        return form is not None and form.is_auxiliary
    after = words[at + 1]
    if after.gap.strip(' $€£"“') or after.text in CONJUNCTIONS or after.text == "or":
        return False
    if form.is_sure or after.text in OBJECTS or after.text[0].isdigit() or after.is_capital:
        return True
    if form.is_past:
        is_loose = after.text in PREPOSITIONS - {"by"} or after.text.endswith("ly")
        return has_conjunction and is_loose
    return at + 2 < len(words) and not words[at + 2].gap.strip() and _may_modify(after.text)


def _may_modify(text: str) -> bool:
    """False for a word that begins no object: "visits require", "offers for", "available"."""
    is_verb = text in verbs() or text + "s" in verbs()
    return not (is_verb or text in NO_OBJECT or text.endswith(("ing", "ly", "ed")))


def _is_clear(words: Sequence[Word]) -> bool:
    """True where a predicate is complete and only its verb can begin a clause."""
    if len(words) < 2 or words[-1].text in FUNCTION_WORDS:
        return False
    if words[-2].text in CONJUNCTIONS and _form(words[-1]) is not None:  # "shot and killed him"
        return False
    return not any(_begins_clause(words, at) for at in range(1, len(words)))


def _begins_clause(words: Sequence[Word], at: int) -> bool:
    """True for a pronoun or a second finite verb. After an auxiliary a past is a participle."""
    text, first, form = words[at].text, _form(words[0]), _form(words[at])
    if text in RELATIVES or text in NOMINATIVES or CONTRACTION.search(text):
        return True
    if first is not None and first.is_past and not first.is_auxiliary and text.endswith("ed"):
        return True
    if form is None or text in ("have", "do") or (at == 1 and text == "had"):
        return False
    if first is None or not first.is_auxiliary or not form.is_past or form.is_auxiliary:
        return _is_verb(words, at)
    return form.is_sure or any(word.text in CONJUNCTIONS for word in words[1 : at - 1])


def _form(word: Word) -> Form | None:
    """The finite verb form that the word may be."""
    return verbs().get(word.text) or verbs().get(word.text.removesuffix("n't"))


@cache
def verbs() -> Mapping[str, Form]:
    """The finite forms of common verbs."""
    listed = files(__package__).joinpath("verbs.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in listed.splitlines() if not line.startswith("#")]
    return {form: _read(form, marks) for form, *marks in lines}


def _read(form: str, marks: Sequence[str]) -> Form:
    """A line of the table; without marks the form may also be another part of speech."""
    if "auxiliary" in marks:
        return Form(marks[1], "past" in marks, is_auxiliary=True, is_sure=True)
    is_past = not form.endswith("s")
    return Form("any" if is_past else "one", is_past, is_auxiliary=False, is_sure=bool(marks))
