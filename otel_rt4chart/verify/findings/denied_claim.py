"""Whether a sentence denies a claim, and the wordings of a claim that are compared with it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Clash, Judgement, reaches
from otel_rt4chart.verify.decompose.coordination import WORD, verbs
from otel_rt4chart.verify.findings.modifiers import is_narrative
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import Token, content
from otel_rt4chart.verify.language.word_lists import BOUND_DENIED, EXCLUDES
from otel_rt4chart.verify.local.swaps import has_other_subject

_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|may|might|will|would|shall|should|must|has|have|had)\b",
    re.IGNORECASE,
)
_PART = re.compile(r",?\s+(?:including|such\s+as|among\s+them|for\s+example)\s+(.+?)[.!]?$", re.I)
# What holds of a subject as a whole, and so of its examples; "is" before an example says something
# else ("is one of many painters, including Monet").
_OF_WHOLE = re.compile(
    r"\b(?:is|are)\s+(?:covered|reimbursed|refunded|insured|paid|included|accepted|allowed|permitted"
    r"|supported|available|free)\b",
    re.IGNORECASE,
)
_PLACES = re.compile(r"(?:in|at|on|for|by|during|from|to|with)\s", re.IGNORECASE)
_LIST = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_MOST_PARTS = 4
_CACHED_TEXTS = 4_096
# A sentence with another value is about the same thing only if it has nearly all other words.
_SAME, _OF_SENTENCE = 0.7, 0.4
# A negation denies the claim only in a sentence of the same subject.
_SAME_DENIED, _OF_DENIAL = 0.5, 0.33
_CERTAIN = 0.8
_VALUES = ("number", "date", "name", "term")
_EXCLUDES = re.compile(EXCLUDES, re.IGNORECASE)
_BOUND_DENIED = re.compile(BOUND_DENIED, re.IGNORECASE)
_BOUNDS = re.compile(
    r"\b(?:within|up\s+to|at\s+(?:most|least)|before|after|until|by|under|over|than|between)"
    r"\s+(?:the\s+|an?\s+)?$",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\b(?:an?|per|each|every)\s+(hour|day|night|week|month|quarter|year)\b|\b(times)\b"
)
_COMPARES = re.compile(r"\b(?:than|more|less|fewer|before|after|earlier|later)\b", re.IGNORECASE)


_REFERS = re.compile(r"\b(?:it|they|this|that|these|those|he|she)\b", re.IGNORECASE)
# Where the clause of a value begins: behind "and", or behind what opens the sentence.
_CLAUSE = re.compile(r"[;:]\s|,\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_COVERS = re.compile(r"\b(?:covers?|reimburses?|refunds?|insures?|pays?\s+for)\b", re.IGNORECASE)
_IS_COVERED = re.compile(r"\b(?:is|are)\s+(?:covered|reimbursed|refunded|insured)\b", re.IGNORECASE)
_NOT_COVERED = re.compile(
    r"\b(?:is|are)\s+not\s+(?:covered|reimbursed|refunded|insured|payable|paid\s+for)\b"
    r"|\b(?:must\s+be|is|are)\s+paid\s+(?:for\s+)?by\s+(?:the\s+)?"
    r"(?:members?|patients?|customers?|policyholders?|you)"
    r"(?![\w'’])",
    re.IGNORECASE,
)


def left_uncovered(claim: str, sentence: str) -> str:
    """The words of a sentence that do not cover, in whole or in part, what the claim covers, or "".

    "MRI scans must be paid by members" takes back "The policy covers MRI"; "Dental scans are not
    reimbursed" does not.
    """
    denied = _NOT_COVERED.search(sentence)
    if denied is None or read_slots(claim).denials:
        return ""
    covers, is_covered = _COVERS.search(claim), _IS_COVERED.search(claim)
    if covers is not None and not is_about_other(claim, sentence):
        covered = claim[covers.end() :]
    elif is_covered is not None and not is_narrative(sentence):
        covered = claim[: is_covered.start()]
    else:
        return ""
    thing = content(covered).keys()
    subject = content(sentence[: denied.start()].rpartition(":")[2]).keys()
    return denied.group() if thing and thing <= subject else ""


@lru_cache(maxsize=_CACHED_TEXTS)
def deny(claim: str) -> str:
    """The claim with "not" at its verb, for an encoder: it need not be good English."""
    if match := _AUXILIARY.search(claim):
        return f"{claim[: match.end()]} not{claim[match.end() :]}"
    if verb := _verb(claim):
        return f"{claim[: verb.start()]}does not {claim[verb.start() :]}"
    first, space, rest = claim.partition(" ")
    return f"{first} not{space}{rest}"


class Examples(NamedTuple):
    """The examples that a claim names at its end, and where in its text that phrase stands."""

    items: tuple[str, ...]
    start: int
    end: int


def examples(claim: str) -> Examples:
    """Of "imaging, including MRI and CT": MRI and CT; no items where the claim names none."""
    match = _PART.search(claim)
    if match is None:
        return Examples((), 0, 0)
    items = [item.strip() for item in _LIST.split(match.group(1)) if item.strip()]
    return Examples(tuple(items[:_MOST_PARTS]), match.start(), match.end(1))


def claim_parts(claim: str) -> tuple[str, ...]:
    """What a claim asserts of the examples that it names.

    "The policy covers imaging, including MRI" asserts that the policy covers MRI, and "Imaging is
    covered, including MRI" that MRI is covered.
    """
    items, start, _ = examples(claim)
    if whole := _OF_WHOLE.search(claim[:start]):
        stem = claim[: whole.end()]
        return tuple(
            f"{stem} {item}." if _PLACES.match(item) else f"{item} {whole.group()}."
            for item in items
        )
    verb = _verb(claim) if items else None
    if verb is None or _AUXILIARY.search(claim[:start]):
        return ()
    return tuple(f"{claim[: verb.end()]} {item}." for item in items)


def _verb(claim: str) -> re.Match[str] | None:
    words = list(WORD.finditer(claim))[1:]
    return next((word for word in words if word.group().lower() in verbs()), None)


def is_about_other(claim: str, sentence: str) -> bool:
    """True for a story beside a rule, and for a sentence whose subject has another name."""
    if is_narrative(sentence) and not is_narrative(claim):
        return True
    return has_other_subject(read_slots(claim), read_slots(sentence))


def denies(claim: str, denied: Judgement, sentence: str) -> bool:
    """True if the sentence is about the same thing, not only the same topic.

    A judge that is certain and names no words has read that. Two sentences with different values
    are mostly about two things, so the rest must agree. If two numbers or dates differ, one of them
    names the thing.
    """
    own, theirs = read_slots(claim), read_slots(sentence)
    if not denied.clashes and reaches(denied.confidence, _CERTAIN):
        is_other = has_other_subject(own, theirs) or is_denied_of_other(own, theirs)
        return not is_other and not _values_of_two_things(own, theirs)
    if is_about_other(claim, sentence) or is_denied_of_other(own, theirs):
        return False
    if any(_is_of_other_subject(clash, claim, sentence) for clash in denied.clashes if clash.found):
        return False
    if any(_is_put_otherwise(clash, claim, sentence) for clash in denied.clashes):
        return False
    values = [clash for clash in denied.clashes if clash.slot in _VALUES]
    if sum(clash.slot in ("number", "date") for clash in values) > 1:
        return False
    if not denied.clashes:
        return not _values_of_two_things(own, theirs)
    if values and any(clash.slot == "term" for clash in values[1:]):
        return False  # "opens at 9" and "closes at 8" are two things
    is_value = len(values) == len(denied.clashes)
    same, of_sentence = (_SAME, _OF_SENTENCE) if is_value else (_SAME_DENIED, _OF_DENIAL)
    rest, sentence_content = content(claim), content(sentence)
    for clash in values:
        for stem in content(clash.claimed):
            rest.pop(stem, None)
        for stem in content(clash.found):
            sentence_content.pop(stem, None)
    shared = sum(weight for stem, weight in rest.items() if stem in sentence_content)
    return shared >= max(same * sum(rest.values()), of_sentence * sum(sentence_content.values()))


def _is_of_other_subject(clash: Clash, claim: str, sentence: str) -> bool:
    """True where the words before the values name two things.

    "Extra users cost 4 euros on Team" has a word of its own there, and "Team costs 24 euros", too.
    What is affirmed of "plans bought through a reseller" leaves "monthly plans are not refunded"
    alone. Nobody knows what "it" is, unless the sentence says "it", too.
    """
    before, others = _named_before(clash.claimed, claim), _named_before(clash.found, sentence)
    own, theirs = set(content(before)), set(content(others))
    if clash.slot in ("number", "date"):
        is_unknown = _REFERS.search(before) and not _REFERS.search(others)
        return bool(is_unknown or (own - theirs and theirs - own))
    # "MRI for cosmetic reasons is not covered" does take back "outpatient MRI is covered".
    if clash.slot != "negation" or not read_slots(claim).denials:
        return False
    return bool(own - content(sentence).keys() and theirs - content(claim).keys())


def _named_before(value: str, text: str) -> str:
    """The last clause before the value that says anything; "" where the text lacks the value."""
    parts = _CLAUSE.split(text[: max(text.find(value), 0)])
    return next((part for part in reversed(parts) if content(part)), "")


def _is_put_otherwise(clash: Clash, claim: str, sentence: str) -> bool:
    """True where the difference may be one of wording.

    "Norway is not served" is what "all countries except Norway" says, "18 days a year" what "1.5
    days a month" says, and ten minutes are within an hour.
    """
    if clash.slot == "negation":
        return _is_denied_twice(claim, sentence) or bool(_BOUND_DENIED.search(claim))
    if clash.slot == "term":
        return bool(_COMPARES.search(claim) and _COMPARES.search(sentence))
    if clash.slot not in ("number", "date"):
        return False
    if set(_RATE.findall(claim.lower())) != set(_RATE.findall(sentence.lower())):
        return True
    values = {one.value for one in read_slots(clash.claimed).quantities}
    if values & {one.value for one in read_slots(sentence).quantities}:
        return True
    return _is_bounded(clash.found, sentence) and not _is_bounded(clash.claimed, claim)


def _is_denied_twice(claim: str, sentence: str) -> bool:
    """True where both deny or exclude something, and the sentence is not the claim with "not"."""
    own, theirs = _denials(claim), _denials(sentence)
    is_copy = content(claim).keys() <= content(sentence).keys() and not _EXCLUDES.search(sentence)
    return bool(own and theirs) and not (is_copy and (own + theirs) % 2)


def _is_bounded(value: str, text: str) -> bool:
    """True for a value behind "within", "before" and the like."""
    at = text.find(value)
    return at > 0 and _BOUNDS.search(text, 0, at) is not None


def is_denied_of_other(claim: Slots, sentence: Slots) -> bool:
    """True where the sentence denies something of a thing that the claim does not name.

    "Checking accounts do not earn interest" leaves "Savings accounts earn interest" alone: each has
    a word of its own for what it is about, and half of what is denied is not in the claim. A
    heading before a colon names nothing.
    """
    if not sentence.denials or claim.denials:
        return False
    cue = sentence.denials[0].cue
    heads = [at for at, token in enumerate(sentence.tokens[:cue]) if _ends_heading(sentence, token)]
    first = heads[-1] + 1 if heads else 0
    subject = {sentence.tokens[at].stem for at in sentence.content if first <= at < cue}
    stated = {word.stem for word in claim.words}
    is_named = 2 * len(subject & stated) > len(subject)
    return bool(subject and stated - {word.stem for word in sentence.words}) and not is_named


def _ends_heading(sentence: Slots, token: Token) -> bool:
    return sentence.text[token.end : token.end + 1] == ":"


def _values_of_two_things(claim: Slots, sentence: Slots) -> bool:
    """True where both have numbers or dates, and the words beside them do not agree."""
    if not ((claim.quantities or claim.moments) and (sentence.quantities or sentence.moments)):
        return False
    told = {word.stem for word in sentence.words}
    rest = {word.stem: word.rarity for word in claim.words if not word.text[0].isdigit()}
    if any(are_opposite(stem, other) for stem in rest.keys() - told for other in told):
        return True
    return sum(weight for stem, weight in rest.items() if stem in told) < 0.5 * sum(rest.values())


def is_opposite(claim: str, sentence: str) -> bool:
    """True if one of them denies, excludes or limits something, and the other does not."""
    return bool(_denials(claim)) != bool(_denials(sentence))


def _denials(text: str) -> int:
    """How many words deny, exclude or limit something."""
    return len(read_slots(text).denials) + len(_EXCLUDES.findall(text))
