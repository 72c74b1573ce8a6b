"""Splits coordinated predicates and clauses: "it covers X, requires Y and the bar is closed"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*")


def listed(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


CONJUNCTIONS = listed("and but")
ADVERBS = listed(
    """also then now later still eventually currently subsequently typically often usually even
    initially originally recently finally officially primarily generally already ultimately
    further additionally therefore first however furthermore moreover overall"""
)
NOMINATIVES = listed("he she they we i")
PRONOUNS = NOMINATIVES | listed("it you this these those")
DETERMINERS = listed(
    """the a an its their his her our your my this these those any all some each every both
    several many more another no one two three four five six seven eight nine ten"""
)
OBJECTS = DETERMINERS | listed("it them him us me you to that")
PREPOSITIONS = listed(
    """in on at from into onto with within without for of about as over under through across
    against around behind between during near off out up down back toward towards after before
    since until to by along than per via like despite among"""
)
FUNCTION_WORDS = PREPOSITIONS | OBJECTS | CONJUNCTIONS | PRONOUNS
RELATIVES = listed("who whom whose which that what where why how there")
NO_SUBJECT = RELATIVES | listed("no none nobody nothing few never rarely hardly only or not")
NO_MODIFIERS = listed("available only online here such not outside inside above below less")
NO_OBJECT = FUNCTION_WORDS | ADVERBS | RELATIVES | NO_MODIFIERS
_OWN_PRONOUNS = NOMINATIVES | listed("it this there these those")
_TIMES = frozenset(("after", "before", "until", "since"))
_CLAUSE_WORDS = RELATIVES | NOMINATIVES | CONJUNCTIONS | listed("or nor to than")
CONTRACTION = re.compile(r"'(?:ll|re|ve|d|m)$|^(?:it|he|she|that|this|there|what|who|here|let)'s$")
MAX_SUBJECT = 8  # words that are read again before each predicate
_CLAUSE_CHARS = 200  # in which the verb of a clause is looked for
_MAX_OWN_SUBJECT = 14  # words of a subject that is read once


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
    """A predicate's start, `begin`; the predicate before ends at `cut`, before word `stop`.

    `own` is the subject of a predicate that has one of its own.
    """

    stop: int
    cut: int
    begin: int
    has_conjunction: bool
    own: Sequence[Word] = ()


Slice = tuple[int, int]


class Predicate(NamedTuple):
    """A slice of the sentence, and the slices to read before it, such as its subject.

    `read_from` is where its own words begin, if not at its start: "Ann, who {was born in 1990}".
    """

    start: int
    end: int
    prefix: tuple[Slice, ...] = ()
    read_from: int | None = None

    def read(self, text: str) -> str:
        """The predicate behind its prefix, in the sentence's own words."""
        own = (self.start if self.read_from is None else self.read_from, self.end)
        return " ".join(text[slice(*one)] for one in (*self.prefix, own))


def predicates(text: str, whole: Predicate) -> tuple[Predicate, ...]:
    """The clause's predicates where each can stand alone for certain; else the clause as one.

    Its prefix has the clause's subject where it does not stand at its start.
    """
    slices = (*whole.prefix, (whole.start, whole.end))
    words = [word for one in slices for word in read_words(text, *one)]
    main = next((at for at in range(len(words)) if is_finite(words, at)), 0)
    first = whole
    found: list[Predicate] = []
    subject = _subject(words[:main], MAX_SUBJECT)
    if _subject(words[:main], _MAX_OWN_SUBJECT) is None or words[main].gap.strip():
        return (whole,)
    for head in _predicate_starts(words, main, has_subject=subject is not None):
        found.append(first._replace(end=head.cut))
        first = Predicate(head.begin, whole.end, (subject,) if subject and not head.own else ())
        subject = _subject(head.own, MAX_SUBJECT) if head.own else subject
    return (*found, first)


@lru_cache(maxsize=64)  # each rule of decomposition reads the same few slices
def read_words(text: str, start: int, end: int) -> tuple[Word, ...]:
    """The words of a slice, with what stands between them."""
    found: list[Word] = []
    at = start
    for match in WORD.finditer(text, start, end):
        word = match.group()
        lower = word.lower().replace("’", "'")
        found.append(Word(lower, *match.span(), text[at : match.start()], word[0].isupper()))
        at = match.end()
    return tuple(found)


def _subject(words: Sequence[Word], most: int) -> Slice | None:
    """The subject: the words before the verb without adverbs at either end, if they can be one."""
    if len(words) > 1 and words[0].text in ADVERBS and words[1].gap.startswith(","):
        words = words[1:]
    while words and words[-1].text in ADVERBS:
        words = words[:-1]
    if not 0 < len(words) <= most or any(word.gap.strip() for word in words[1:]):
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


def _predicate_starts(
    words: Sequence[Word], main: int, *, has_subject: bool
) -> list[PredicateStart]:
    """The verbs that begin further predicates, as far as all before them are clear."""
    heads: list[PredicateStart] = []
    left = main
    for verb in range(main + 2, len(words)):
        head = _clause_start(words, left, verb)
        if head is None and has_subject:
            head = _predicate_start(words, verb)
            if head and not _agrees(words, main, verb, has_conjunction=head.has_conjunction):
                continue
        if head is None:
            continue
        if not _is_clear(words[left : head.stop]):
            break
        heads.append(head)
        left = verb
        if head.own:
            main, has_subject = verb, _subject(head.own, MAX_SUBJECT) is not None
    while heads and not heads[-1].has_conjunction:
        heads.pop()
    return heads


def _clause_start(words: Sequence[Word], left: int, verb: int) -> PredicateStart | None:
    """The verb behind a conjunction and a subject of its own: "and the bar is closed"."""
    form = form_of(words[verb])
    if form is None or not is_finite(words, verb, has_conjunction=False):
        return None
    stop = verb - 1
    while stop > left and words[stop].text not in CONJUNCTIONS:
        if words[stop + 1].gap.strip() or verb - stop > _MAX_OWN_SUBJECT:
            return None
        stop -= 1
    own = words[stop + 1 : verb]
    has_comma = words[stop].gap.strip() == ","
    if stop <= left or not own or words[stop + 1].gap.strip() or words[stop].gap.strip(", %)\"”'"):
        return None
    if not _is_own_subject(own, form) or not (
        has_comma or _is_sure_clause(words[:verb], left, own, form)
    ):
        return None
    gap = words[stop].gap
    cut = words[stop].start - len(gap) + len(gap.rstrip(" ,"))
    return PredicateStart(stop, cut, own[0].start, has_conjunction=True, own=own)


def begins_clause(text: str, start: int, end: int) -> bool:
    """True for a subject and a finite verb that is no participle: "Alex suggests a new pub"."""
    words = read_words(text, start, min(end, start + _CLAUSE_CHARS))
    for verb in range(1, min(len(words) - 1, MAX_SUBJECT)):
        if words[verb].gap.strip():
            return False
        form = form_of(words[verb])
        if form and is_finite(words, verb, has_conjunction=False):
            return _is_own_subject(words[:verb], form)
    return False


def _is_own_subject(own: Sequence[Word], form: Form) -> bool:
    """True for a pronoun, a name or a noun phrase with a determiner that holds no clause."""
    while len(own) > 1 and own[-1].text in ADVERBS:
        own = own[:-1]
    if len(own) == 1 and own[0].text in _OWN_PRONOUNS:
        return True
    begins = own[0].text in DETERMINERS or own[0].is_capital
    is_noun = own[-1].text not in FUNCTION_WORDS | ADVERBS
    is_clause = any(is_finite(own, at) or word.text in _CLAUSE_WORDS for at, word in enumerate(own))
    # "the pool and the bar are closed" is no clause "the bar are closed".
    agrees = form.number != "many" or own[-1].text.endswith("s")
    return begins and is_noun and agrees and not is_clause


def _is_sure_clause(words: Sequence[Word], left: int, own: Sequence[Word], form: Form) -> bool:
    """Without a comma, what stands before the conjunction could be one half of the subject.

    Only a singular verb or a pronoun is without doubt, behind a verb that cannot be a participle.
    """
    is_pronoun = len(own) == 1 and own[0].text in NOMINATIVES | {"it"}
    # "after the war and the peace was" may be one time.
    is_time = any(word.text in _TIMES for word in words[left : -len(own)])
    is_sure = is_pronoun or (form.number == "one" and not is_time)
    return is_sure and is_finite(words, left, has_conjunction=False)


def _predicate_start(words: Sequence[Word], verb: int) -> PredicateStart | None:
    """The verb as the first word, but for an adverb, after a comma or a conjunction."""
    if form_of(words[verb]) is None:
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
    left, right = form_of(words[main]), form_of(words[verb])
    if left is None or right is None or {left.number, right.number} == {"one", "many"}:
        return False
    if right.is_auxiliary:
        return left.number == "many" or words[verb].text not in ("have", "do")
    if not is_finite(words, verb, has_conjunction=has_conjunction):
        return False
    if not right.is_past:
        return right.is_sure or left.number == "one"
    is_copula = words[main].text in ("was", "were", "had") and words[main + 1].text in DETERMINERS
    return left.is_past and (is_copula or not left.is_auxiliary)


def is_finite(words: Sequence[Word], at: int, *, has_conjunction: bool = True) -> bool:
    """True where the word is finite here: what may be a noun or a participle needs an object."""
    form = form_of(words[at])
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
    if len(words) < 2 or words[-1].text in FUNCTION_WORDS | NO_SUBJECT:
        return False
    if words[-2].text in CONJUNCTIONS and form_of(words[-1]) is not None:  # "shot and killed him"
        return False
    return not any(_begins_clause(words, at) for at in range(1, len(words)))


def _begins_clause(words: Sequence[Word], at: int) -> bool:
    """True for a pronoun or a second finite verb. After an auxiliary a past is a participle."""
    text, first, form = words[at].text, form_of(words[0]), form_of(words[at])
    if text in RELATIVES or text in NOMINATIVES or CONTRACTION.search(text):
        return True
    if first is not None and first.is_past and not first.is_auxiliary and text.endswith("ed"):
        return True
    if form is None or text in ("have", "do") or (at == 1 and text == "had"):
        return False
    if first is None or not first.is_auxiliary or not form.is_past or form.is_auxiliary:
        return is_finite(words, at)
    return form.is_sure or any(word.text in CONJUNCTIONS for word in words[1 : at - 1])


def form_of(word: Word) -> Form | None:
    """The finite verb form that the word may be; the month May is none."""
    if word.text == "may" and word.is_capital:
        return None
    return verbs().get(word.text) or verbs().get(word.text.removesuffix("n't"))


@cache
def verbs() -> Mapping[str, Form]:
    """The finite forms of common verbs."""
    listed = files(__package__).joinpath("verbs.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in listed.splitlines() if not line.startswith("#")]
    return {form: _read(form, marks) for form, *marks in lines}


@cache
def base_forms() -> frozenset[str]:
    """What may be the base forms of these verbs: `earn` of `earns`, and some that are none."""
    ends = ("s", "es", "ed", "d")
    return frozenset(
        form.removesuffix(end) for form in verbs() for end in ends if form.endswith(end)
    )


def _read(form: str, marks: Sequence[str]) -> Form:
    """A line of the table; without marks the form may also be another part of speech."""
    if "auxiliary" in marks:
        return Form(marks[1], "past" in marks, is_auxiliary=True, is_sure=True)
    is_past = not form.endswith("s")
    return Form("any" if is_past else "one", is_past, is_auxiliary=False, is_sure=bool(marks))
