"""Splits one clause further: relative clauses, appositions, objects, dates, comparatives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from otel_rt4chart.verify.decompose.coordination import (
    ADVERBS,
    CONJUNCTIONS,
    DETERMINERS,
    FUNCTION_WORDS,
    NO_SUBJECT,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    Predicate,
    Slice,
    Word,
    form_of,
    is_finite,
    listed,
    read_words,
)

_MAX_NAME = 6  # words of a subject or an antecedent
_MAX_APPOSITION = 10
_ARTICLES = frozenset(("a", "an", "the"))
_OWNED = _ARTICLES | frozenset(("its", "their", "his", "her", "our", "your"))
_JOINS = RELATIVES | CONJUNCTIONS | frozenset(("or", "nor"))
_INDEFINITE = listed("any all some each every both several many most few no one another")
# Verbs that say something of the whole clause: "he left Paris, which surprised her".
_OF_A_CLAUSE = listed(
    """means meant makes made allows allowed leads led causes caused results resulted
    enables enabled helps helped surprised suggests suggested indicates indicated shows showed
    ensures ensured brings brought gives gave enhances improves reduces increases can could will
    would may might"""
)
# Where one of these stands, a part may not say what the whole does.
_JOINT_MEANING = re.compile(
    r"""\b(?:not|no|never|neither|nor|none|without|cannot|only|just|solely|exclusively|either|both|or
      |between|together|each|every|respectively|same|different|half|quarter|total|combined|jointly
      |first|last|again|once|twice|times|almost|nearly|except|excluding|unless|than|as|that|who|which
      |more|most|less|least|to)\b | n[’']t\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = rf"(?:(?:early|late|mid)[ -])?(?:{_MONTH}\b|\d{{1,2}}\ {_MONTH}\b|(?:1[5-9]|20)\d\d\b)"
# "by Acme on 4 May 1990 for $3 million": what happened, by whom, when, for how much.
_ADJUNCT = re.compile(
    rf"""\ (?=(?:on|in)\ {_DATE}) | \ (?=for\ (?:US)?[$€£]\ ?\d)""",
    re.VERBOSE,
)
_AGENT = re.compile(r" (?=by )")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|has been|have been|had been) (\w+)$")
_COMPARED = re.compile(r"(?:more|less|fewer|[a-z]{2,}er)$")


def split_subject(text: str, start: int, end: int) -> tuple[Predicate, ...]:
    """The relative clause or the apposition behind a clause's subject, and the clause without it.

    The last one is the clause; the only one, if there is nothing to split.
    """
    words = read_words(text, start, end)
    stop = next((at for at, word in enumerate(words) if at and word.gap.strip()), 0)
    verb = next((at for at in range(stop + 1, len(words)) if words[at].gap.strip()), 0)
    whole = (Predicate(start, end),)
    if not 0 < stop <= _MAX_NAME or not verb or words[0].start != start:
        return whole
    if not (words[stop].gap.strip() == words[verb].gap.strip() == ","):
        return whole
    subject, inner = words[:stop], words[stop:verb]
    if not _is_name(subject) or not is_finite(words, verb):
        return whole
    name: Slice = (subject[0].start, subject[-1].end)
    rest = Predicate(words[verb].start, end, (name,))
    if inner[0].text in ("who", "which") and _is_predicate(inner[1:]):
        return (Predicate(start, inner[-1].end, (name,), inner[1].start), rest)
    if _is_apposition(subject, inner):
        return (Predicate(start, inner[-1].end), rest)
    return whole


def _is_name(words: Sequence[Word]) -> bool:
    """True for a name, or a noun phrase that means a certain thing and holds no other noun."""
    texts = [word.text for word in words]
    if not 0 < len(words) <= _MAX_NAME or any(word.gap.strip() for word in words[1:]):
        return False
    if texts[-1] in FUNCTION_WORDS | ADVERBS or set(texts) & (_INDEFINITE | NO_SUBJECT | PRONOUNS):
        return False
    begins = texts[0] in _OWNED or all(word.is_capital or word.text.isdigit() for word in words)
    inside = texts[1:] if texts[0] in _OWNED else texts
    is_plain = not any(text in PREPOSITIONS | CONJUNCTIONS | DETERMINERS for text in inside)
    return begins and is_plain and not any(is_finite(words, at) for at in range(len(words)))


def _is_predicate(words: Sequence[Word]) -> bool:
    """True for a finite verb and what belongs to it, with no second verb and no comma."""
    if len(words) < 2 or any(word.gap.strip() for word in words[1:]):
        return False
    if form_of(words[0]) is None:
        return False
    return not any(word.text in _JOINS for word in words)


def _is_apposition(subject: Sequence[Word], inner: Sequence[Word]) -> bool:
    """True for a noun phrase with an article behind a name: "Ann Lee, the head of Acme, joined"."""
    return (
        all(word.is_capital for word in subject)
        and subject[0].text not in DETERMINERS | PREPOSITIONS | ADVERBS
        and inner[0].text in _ARTICLES
        and 2 <= len(inner) <= _MAX_APPOSITION
        and inner[-1].text not in FUNCTION_WORDS
        and not any(word.text in _JOINS for word in inner)
        and not any(is_finite(inner, at) for at in range(len(inner)))
    )


def split_phrases(text: str, part: Predicate) -> tuple[Predicate, ...]:
    """A predicate as several that say no more and no less together; else as it is."""
    if part.read_from is not None:
        return (part,)
    rest, *relative = split_relative(text, part)
    for split in (_split_comparatives, _split_objects, _split_adjuncts):
        if found := split(text, rest):
            return (*found, *relative)
    return (rest, *relative)


def split_relative(text: str, part: Predicate) -> tuple[Predicate, ...]:
    """The clause, and the relative clause that it ends with, read behind its antecedent."""
    words = read_words(text, part.start, part.end)
    joints = [at for at, word in enumerate(words) if at and word.gap.strip()]
    if len(joints) != 1 or words[joints[0]].gap.strip() != ",":
        return (part,)
    at = joints[0]
    own = words[at:]
    # "which is sad" and "which surprised her" may be said of the whole clause before it.
    is_verdict = len(own) <= 3 or own[1].text in _OF_A_CLAUSE
    if own[0].text not in ("who", "which") or is_verdict or not _is_predicate(own[1:]):
        return (part,)
    before = words[:at]
    start = next((n for n in range(max(0, at - _MAX_NAME), at) if _is_antecedent(before, n)), None)
    if start is None or CONJUNCTIONS & {word.text for word in before}:
        return (part,)
    name: Slice = (before[start].start, before[-1].end)
    return (part._replace(end=before[-1].end), Predicate(own[1].start, part.end, (name,)))


def _is_antecedent(words: Sequence[Word], start: int) -> bool:
    """True for a name right behind a verb, or behind a preposition of a verb."""
    if not start or not _is_name(words[start:]):
        return False
    at = start - 1
    if words[at].text in PREPOSITIONS and at:
        at -= 1
    return form_of(words[at]) is not None


def _main_verb(words: Sequence[Word]) -> int | None:
    """The only finite verb; None where a clause has none or a second one."""
    verbs = [at for at in range(len(words)) if is_finite(words, at)]
    return verbs[0] if len(verbs) == 1 else None


def _prefix(part: Predicate, start: int, end: int) -> tuple[Slice, ...]:
    """What to read before a further part: the predicate's own prefix and its first words."""
    return (*part.prefix, (start, end))


def _split_comparatives(text: str, part: Predicate) -> tuple[Predicate, ...] | None:
    """ "A is faster than B and cheaper than C"."""
    words = read_words(text, part.start, part.end)
    verb = next((at for at in range(len(words)) if is_finite(words, at)), None)
    joint = [at for at, word in enumerate(words) if word.text in ("and", "but")]
    if verb is None or len(joint) != 1 or words[verb].text not in ("is", "are", "was", "were"):
        return None
    at = joint[0]
    sides = (words[verb + 1 : at], words[at + 1 :])
    if not all(_is_comparison(side) for side in sides):
        return None
    cut = words[at - 1].end
    return (
        part._replace(end=cut),
        Predicate(words[at + 1].start, part.end, _prefix(part, part.start, words[verb].end)),
    )


def _is_comparison(words: Sequence[Word]) -> bool:
    """True for "faster than B" and "more useful than B", with nothing else in it."""
    texts = [word.text for word in words]
    if texts.count("than") != 1 or not _COMPARED.match(texts[0]):
        return False
    return texts.index("than") in (1, 2) and _is_name(words[texts.index("than") + 1 :])


def _split_objects(text: str, part: Predicate) -> tuple[Predicate, ...] | None:
    """ "It covers the exam, the glasses and the surgery": each with a determiner of its own."""
    words = read_words(text, part.start, part.end)
    verb = _main_verb(words)
    if verb is None or _JOINT_MEANING.search(text, part.start, part.end):
        return None
    while verb + 1 < len(words) and words[verb + 1].text not in DETERMINERS:
        verb += 1
        if form_of(words[verb]) is None and words[verb].text not in ADVERBS:
            return None
    items = _items(words[verb + 1 :])
    if len(items) < 2 or not all(_is_item(item) for item in items):
        return None
    head = _prefix(part, part.start, words[verb].end)
    first = part._replace(end=items[0][-1].end)
    ends = [*(item[-1].end for item in items[1:-1]), part.end]
    return (
        first,
        *(Predicate(item[0].start, end, head) for item, end in zip(items[1:], ends, strict=True)),
    )


def _items(words: Sequence[Word]) -> list[Sequence[Word]]:
    """What stands between commas and the last conjunction; nothing where the list is unclear."""
    if [word.text in CONJUNCTIONS for word in words].count(True) != 1:
        return []
    items: list[list[Word]] = [[]]
    joint = next(at for at, word in enumerate(words) if word.text in CONJUNCTIONS)
    for at, word in enumerate(words):
        mark = word.gap.strip() if at else ""
        if (mark and mark != ",") or (mark and at > joint):
            return []
        if at == joint or (mark and at < joint):
            items.append([])
        if at != joint:
            items[-1].append(word)
    return [item for item in items if item]


def _is_item(words: Sequence[Word]) -> bool:
    """True for a noun phrase with an article or an owner, and nothing behind it but a date."""
    end = next((at for at, word in enumerate(words) if word.text in PREPOSITIONS), len(words))
    noun, rest = words[:end], words[end:]
    is_dated = len(rest) == 2 and rest[0].text == "in" and rest[1].text.isdigit()
    return len(noun) > 1 and _is_name(noun) and noun[0].text in _OWNED and (not rest or is_dated)


def _split_adjuncts(text: str, part: Predicate) -> tuple[Predicate, ...] | None:
    """ "It was built by Acme in 1990 for $3 million": by whom, when and for how much."""
    own = text[part.start : part.end]
    words = read_words(text, part.start, part.end)
    if _JOINT_MEANING.search(own) or any(w.text in CONJUNCTIONS for w in words):
        return None
    if any(word.gap.strip(" $€£") for word in words[1:]):
        return None
    cuts = [match.start() for match in _ADJUNCT.finditer(own)]
    agent = _AGENT.search(own)
    passive = _PASSIVE.search(own[: agent.start()]) if agent else None
    core = agent.start() if agent and passive else (cuts[0] if cuts else 0)
    begins = [core, *(cut for cut in cuts if cut > core)]
    if len(begins) < 2 or not _is_core(words, part, core, is_passive=bool(passive)):
        return None
    head = _prefix(part, part.start, part.start + core)
    spans = [(part.start + left + 1, part.start + right) for left, right in pairwise(begins)]
    spans.append((part.start + begins[-1] + 1, part.end))
    return (
        part._replace(end=spans[0][1]),
        *(Predicate(begin, end, head) for begin, end in spans[1:]),
    )


def _is_core(words: Sequence[Word], part: Predicate, core: int, *, is_passive: bool) -> bool:
    """True where the words before the first adjunct say something by themselves."""
    before = [word for word in words if word.end <= part.start + core]
    verb = next((at for at in range(len(words)) if is_finite(words, at)), None)
    if verb is None or verb >= len(before) or not (verb or part.prefix):
        return False
    behind = before[verb + 1 :]
    if any(is_finite(words, at) for at in range(verb + 2, len(words))):
        return False
    if any(word.text in PREPOSITIONS for word in behind):
        return False
    return is_passive or _is_name(behind)


def split_each(text: str, parts: Sequence[Predicate]) -> tuple[Predicate, ...]:
    """All parts, each split as far as it can be."""
    return tuple(found for part in parts for found in split_phrases(text, part))
