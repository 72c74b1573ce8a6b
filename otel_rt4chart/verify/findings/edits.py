"""The least edits that make the claims of an answer true, without a model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    ClaimStatus,
    Clash,
    Edit,
    Evidence,
    Finding,
    Label,
    Sentence,
)
from otel_rt4chart.verify.decompose.grounding import locate_claim
from otel_rt4chart.verify.findings.claim_removal import without_claims
from otel_rt4chart.verify.findings.denied_claim import examples
from otel_rt4chart.verify.findings.dropped_qualifiers import (
    dropped_restrictions,
    restrictions,
)
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.text.citations import citations
from otel_rt4chart.verify.text.segment import segment

_MAX_NOTES = 2  # sentences of passages that are added for one claim
_LONGEST_NOTE = 300
_LONGEST_RESTRICTION = 15  # words
# A restriction that can follow a statement as it stands in the passage.
_FOLLOWS = re.compile(
    r"(?:if|unless|provided|on\s+condition|as\s+long\s+as|subject\s+to|contingent\s+on|only|with"
    r"|upon|after|when|once|where|within|until|no\s+later\s+than|for\s+the\s+first|except"
    r"|excluding|other\s+than|apart\s+from|not\s+including)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(r"(?P<words>[^\d]+?\s)(?P<value>\W?\d[\d.,]*)")
# A sentence that begins so says nothing without the one before it.
LEANS = re.compile(
    r"\W*(?:it|its|they|their|them|he|she|his|her|this|that|these|those|such|however|but|also"
    r"|additionally|moreover|furthermore|therefore|thus|instead|otherwise|both|either|neither"
    r"|then|so|and|or|in\s+(?:addition|contrast|that\s+case)|the\s+(?:former|latter|same))\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[A-Z][\w-]*+(?:\s[\w-]++){0,3}+\s?:\s+(?=\S)")
_CONDITION = re.compile(r"\b(?:unless|only|if|except|until|without)\b", re.IGNORECASE)
_END = re.compile(r"[\s.!?…;:]*$")


class NoEditError(Exception):
    """A failure cannot be mended mechanically; the message says why."""


class FoundEdits(NamedTuple):
    """Edits that do not overlap, in order, and the numbers of the claims that they remove."""

    edits: tuple[Edit, ...]
    dropped: frozenset[int]


class _ClaimPlace(NamedTuple):
    number: int
    claim: Claim
    sentence: Sentence
    range: AnswerRange
    is_alone: bool


_COORDINATION = re.compile(r"\b(?:and|but|or|as well as)\b|;", re.IGNORECASE)


def find_edits(answer: str, claims: Sequence[Claim], findings: Sequence[Finding]) -> FoundEdits:
    """An edit for every failure; NoEditError where one has none that is safe."""
    sentences = {sentence.index: sentence for sentence in segment(answer)}
    of_claim: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.claim is not None:
            of_claim[finding.claim].append(finding)
    in_sentence: defaultdict[int, list[int]] = defaultdict(list)
    for number, claim in enumerate(claims):
        if claim.label is not Label.NOT_A_CLAIM:
            in_sentence[claim.sentence].append(number)
    edits: list[Edit] = []
    dropped: set[int] = set()
    gone: list[Sentence] = []
    for index, numbers in in_sentence.items():
        failing = [number for number in numbers if claims[number].is_failure]
        if not failing:
            continue
        if index not in sentences:
            raise NoEditError("a claim that fails belongs to no single sentence of the answer")
        sentence = sentences[index]
        drops = []
        for number in failing:
            place = _place(number, claims[number], sentence, is_alone=len(numbers) == 1)
            mended = _mend(answer, place, of_claim[number])
            edits += mended or ()
            if mended is None:
                drops.append(number)
        dropped.update(drops)
        if len(drops) == len(numbers):
            gone.append(sentence)
        elif drops:
            edits.append(_partial_drop(sentence, claims, drops, numbers))
    edits += _without_sentences(answer, list(sentences.values()), gone, claims, dropped)
    return FoundEdits(_ordered(edits), frozenset(dropped))


def _ordered(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits in order; two equal ones are made once, for the first claim."""
    unique = {(edit.start, edit.end, edit.replacement): edit for edit in reversed(edits)}
    ordered = sorted(unique.values(), key=lambda edit: (edit.start, edit.end))
    if any(left.end > right.start for left, right in pairwise(ordered)):
        raise NoEditError("the edits of two claims overlap")
    return tuple(ordered)


def _place(number: int, claim: Claim, sentence: Sentence, *, is_alone: bool) -> _ClaimPlace:
    # The range of an unfaithful claim is narrowed to its wrong words: look for the whole claim.
    return _ClaimPlace(number, claim, sentence, locate_claim(claim.text, sentence), is_alone)


def _mend(answer: str, place: _ClaimPlace, findings: Sequence[Finding]) -> list[Edit] | None:
    """The edits that make the claim true; None where it must go."""
    claim = place.claim
    if claim.status is ClaimStatus.CHERRY_PICKED and claim.label.is_unfaithful:
        raise NoEditError(f"the passages disagree about “{claim.text}”")
    if claim.label is Label.CONTRADICTED:
        replaced = _replace_value(answer, place)
        return [replaced] if replaced else None
    names = {finding.name for finding in findings}
    if claim.label is Label.BASELESS or FindingName.SYCOPHANTIC in names:
        return None
    if FindingName.STALE in names:
        raise NoEditError(f"only passages that are out of date support “{claim.text}”")
    edits: list[Edit] = []
    for finding in findings:
        if finding.name == FindingName.DROPPED_QUALIFIER:
            edits.append(_put_qualifier(answer, place, finding))
        elif finding.name == FindingName.CITATION:
            edits += _without_marks(answer, place, finding)
    edits += _name_exclusions(answer, place, findings)
    if not edits:
        raise NoEditError(f"no edit is known for “{claim.text}” ({claim.status})")
    return edits


def _replace_value(answer: str, place: _ClaimPlace) -> Edit | None:
    """The source's value in place of the claim's, where exactly one clashes and can be replaced."""
    clash = place.claim.clashes[0] if len(place.claim.clashes) == 1 else None
    if clash is None or not clash.claimed or not clash.found:
        return None
    words = re.compile(rf"(?<!\w){re.escape(clash.claimed)}(?!\w)")
    found = list(words.finditer(answer, place.sentence.start, place.sentence.end))
    if len(found) != 1 or not _can_replace(clash, answer, *found[0].span()):
        return None
    start, end = found[0].span()
    said = f"the source says “{clash.found}”, not “{clash.claimed}”"
    return Edit(start, end, clash.found, place.number, said)


def _can_replace(clash: Clash, answer: str, start: int, end: int) -> bool:
    """True where the found value fits: a number with a unit for one, a whole name for one."""
    before, after = answer[:start], answer[end:]
    if re.search(r"\ban?\s+$", before, re.IGNORECASE):  # "an 8-day" would become "an 7-day"
        return False
    if clash.slot == "negation":
        return _without_not(clash.claimed) == _without_not(clash.found)
    if clash.slot == "name":
        names = (clash.claimed, clash.found)
        return not _is_part_of_name(before, after) and all(
            n[0].isupper() and not n.endswith(("'s", "’s")) for n in names
        )
    is_alike = len(clash.claimed.split()) == len(clash.found.split())
    return clash.slot == "date" or (clash.slot == "number" and is_alike)


def _is_part_of_name(before: str, after: str) -> bool:
    """True for the York of "New York" and the Elvis of "Elvis Presley"."""
    opens = re.search(r"(?:^|[.!?]\s+|\n)\w+\s$", before) is not None
    follows = re.search(r"[A-Z][\w'’.-]*\s$", before) is not None and not opens
    return follows or re.match(r"\s[A-Z]|['’]", after) is not None


def _without_not(text: str) -> str:
    return re.sub(r"\bnot\s+", "", text)


def _put_qualifier(answer: str, place: _ClaimPlace, finding: Finding) -> Edit:
    """The restriction behind the claim, in the passage's words; else the passage's sentence."""
    for evidence in finding.evidence:
        for restriction in dropped_restrictions(evidence.text, place.claim.text, content(answer)):
            text = restriction.text.rstrip(" .,;:")
            edit = _bounded(answer, place, text) or _followed(answer, place, text)
            if edit is not None:
                return edit
    edit = _as_the_passage_says(answer, place, finding.evidence)
    if edit is None:
        raise NoEditError(f"the qualifier of “{place.claim.text}” cannot be put back mechanically")
    return edit


def _bounded(answer: str, place: _ClaimPlace, restriction: str) -> Edit | None:
    """ "up to" before the claim's own number."""
    bound = _BOUND.match(restriction)
    if bound is None or _FOLLOWS.match(restriction):
        return None
    value = re.compile(rf"(?<![\w.,]){re.escape(bound['value'].rstrip('.,'))}(?!\w)")
    found = list(value.finditer(answer, *place.range))
    if len(found) != 1:
        return None
    at = found[0].start()
    return Edit(at, at, bound["words"], place.number, f"the passage says “{restriction}”")


def _followed(answer: str, place: _ClaimPlace, restriction: str) -> Edit | None:
    """The restriction right behind the claim.

    Not in a list or beside another clause: there it would restrict more than in the passage.
    """
    if not _FOLLOWS.match(restriction) or len(restriction.split()) > _LONGEST_RESTRICTION:
        return None
    said = answer[place.sentence.start : place.sentence.end]
    if _COORDINATION.search(said) or _COORDINATION.search(restriction):
        return None
    at = _end_of_claim(answer, place)
    if at is None:
        return None
    words = restriction[:1].lower() + restriction[1:]
    return Edit(at, at, f" {words}", place.number, f"the passage says “{restriction}”")


def _end_of_claim(answer: str, place: _ClaimPlace) -> int | None:
    """Where words can be added to the claim: before its full stop, citations or conjunction."""
    end = place.sentence.end if place.is_alone else place.range.end
    marks = [mark for mark in citations(answer[:end]) if mark.start >= place.sentence.start]
    own = answer[place.sentence.start : end]
    at = place.sentence.start + len(_END.sub("", own))
    for mark in reversed(marks):
        if mark.end >= at:
            at = place.sentence.start + len(_END.sub("", answer[place.sentence.start : mark.start]))
    if not place.is_alone and not re.match(r"[\s.!?\[(]*(?:$|[,;.]|(?:and|but|or)\b)", answer[at:]):
        return None
    return at if at > place.sentence.start else None


def _as_the_passage_says(
    answer: str, place: _ClaimPlace, evidence: Sequence[Evidence]
) -> Edit | None:
    """The passage's own sentence in place of the answer's, where both say one thing."""
    if not place.is_alone or len(evidence) != 1:
        return None
    note = _note(evidence[0].text)
    if note is None:
        return None
    start = place.range.start
    if answer[place.sentence.start : start].rstrip().endswith(","):
        note = _lower_first(note, answer)
    return Edit(start, place.sentence.end, note, place.number, "as the passage says it")


def _name_exclusions(
    answer: str, place: _ClaimPlace, findings: Sequence[Finding]
) -> Iterator[Edit]:
    """ "However, …" with the sentences of the passages that limit the claim."""
    picked = [one for one in findings if one.name == FindingName.CHERRY_PICKED]
    denying = [one for one in picked if one.kind in ("contradiction", "conflict")]
    if any(not _is_limit(evidence.text) for one in denying for evidence in one.evidence):
        raise NoEditError(f"the passages disagree about “{place.claim.text}”")
    texts = dict.fromkeys(evidence.text for one in picked for evidence in one.evidence)
    if not texts:
        return
    notes = [note for text in texts if (note := _note(text)) is not None]
    if len(notes) != len(texts) or len(notes) > _MAX_NOTES:
        raise NoEditError(f"what limits “{place.claim.text}” cannot be quoted in a sentence")
    first, *others = notes
    added = " ".join([f"However, {_lower_first(first, answer)}", *others])
    at = place.sentence.end
    closed = "" if re.search(r"[.!?…][\])”\"']*$", answer[:at].rstrip()) else "."
    yield from _without_examples(answer, place, list(texts))
    yield Edit(at, at, f"{closed} {added}", place.number, "another passage limits it")


def _without_examples(answer: str, place: _ClaimPlace, texts: Sequence[str]) -> Iterator[Edit]:
    """The claim without ", including private rooms" where a sentence leaves these out altogether.

    With a condition ("unless approved"), the statement and its limit can stand side by side.
    """
    named = examples(answer[place.range.start : place.sentence.end])
    told = content(" ".join(text for text in texts if not _is_limit(text)))
    if named.items and all(content(item).keys() <= told.keys() for item in named.items):
        start, end = (place.range.start + at for at in (named.start, named.end))
        yield Edit(start, end, "", place.number, "another passage excludes it")


def _note(text: str) -> str | None:
    """A sentence of a passage that can stand in the answer; None for anything else."""
    note = _HEADING.sub("", " ".join(text.split()))
    if not note or len(note) > _LONGEST_NOTE or LEANS.match(note) or not note[0].isalnum():
        return None
    note = note[:1].upper() + note[1:]
    return note if re.search(r"[.!?]$", note) else f"{note}."


def _is_limit(text: str) -> bool:
    """True for a sentence that denies something in a part of the cases only."""
    kinds = {restriction.kind for restriction in restrictions(text)}
    return bool(kinds - {"exclusion"}) or _CONDITION.search(text) is not None


def _lower_first(sentence: str, answer: str) -> str:
    """The sentence as it continues another one: names and abbreviations keep their capital."""
    slots = read_slots(sentence)
    first = slots.tokens[0] if slots.tokens else None
    is_name = any(0 in name.tokens and len(name.tokens) > 1 for name in slots.names)
    if first is not None and re.search(rf"(?<!\w){re.escape(first.text.lower())}(?!\w)", answer):
        is_name = False
    if first is None or is_name or first.text[1:] != first.text[1:].lower() or first.text == "I":
        return sentence
    return sentence[:1].lower() + sentence[1:]


def _without_marks(answer: str, place: _ClaimPlace, finding: Finding) -> Iterator[Edit]:
    """The citation removed: the passages support the claim, the cited one does not."""
    sentence = place.sentence
    marks = [
        mark
        for mark in citations(answer, finding.passage_ids)
        if sentence.start <= mark.start < sentence.end
    ]
    names: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    for mark in marks:
        names[mark.start, mark.end].add(mark.id)
    wrong = {name.casefold() for name in finding.passage_ids}
    removed = [
        span
        for span, ids in names.items()
        if finding.kind == "does_not_support" or {name.casefold() for name in ids} <= wrong
    ]
    if not removed:
        raise NoEditError(f"the citation of “{place.claim.text}” cannot be removed mechanically")
    for start, end in removed:
        before = len(answer[:start].rstrip(" "))
        yield Edit(max(before, sentence.start), end, "", place.number, finding.detail)


def _partial_drop(
    sentence: Sentence, claims: Sequence[Claim], drops: Sequence[int], numbers: Sequence[int]
) -> Edit:
    """The sentence without some of its claims, as one edit of the words that change."""
    left = without_claims(
        sentence.text,
        [claims[number].text for number in drops],
        [claims[number].text for number in numbers if number not in drops],
    )
    if left is None:
        raise NoEditError(f"“{claims[drops[0]].text}” cannot be taken out of its sentence")
    old = sentence.text
    head = next((n for n, (a, b) in enumerate(zip(old, left, strict=False)) if a != b), len(left))
    rest = min(len(old), len(left)) - head
    tail = next((n for n in range(rest) if old[-1 - n] != left[-1 - n]), rest)
    return Edit(
        sentence.start + head,
        sentence.end - tail,
        left[head : len(left) - tail],
        drops[0],
        _why_dropped(claims[drops[0]]),
    )


def _why_dropped(claim: Claim) -> str:
    if claim.label is Label.CONTRADICTED:
        return "the passages contradict it"
    return "the passages do not say it"


def _without_sentences(
    answer: str,
    sentences: Sequence[Sentence],
    gone: Sequence[Sentence],
    claims: Sequence[Claim],
    dropped: set[int],
) -> Iterator[Edit]:
    """One edit for each sentence that goes, with the space on one of its sides."""
    indices = {sentence.index for sentence in gone}
    number_of = {claims[number].sentence: number for number in sorted(dropped, reverse=True)}
    for is_gone, group in groupby(range(len(sentences)), lambda n: sentences[n].index in indices):
        if not is_gone:
            continue
        run = list(group)
        before = sentences[run[0] - 1].end if run[0] else 0
        behind = sentences[run[-1] + 1] if run[-1] + 1 < len(sentences) else None
        if behind and LEANS.match(behind.text):
            raise NoEditError(f"“{behind.text}” depends on the sentence that would be removed")
        start, last_end = sentences[run[0]].start, sentences[run[-1]].end
        gap = answer[last_end : behind.start] if behind else ""
        # The space behind them goes too, but not a paragraph's end: then the space before them.
        ends_paragraph = "\n" in gap and "\n" not in answer[before:start]
        takes_before = behind is None or (run[0] > 0 and ends_paragraph)
        if takes_before:
            start = max(before, len(answer[:start].rstrip()))
        for at in run:
            index = sentences[at].index
            is_last = at == run[-1]
            end = (
                sentences[at + 1].start if not is_last else last_end + len(gap) * (not takes_before)
            )
            yield Edit(start, end, "", number_of[index], _why_dropped(claims[number_of[index]]))
            start = end
