"""Whether a claim is grounded in its own sentence, and the range of the answer that it covers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.decompose.rules import decompose, kind_of
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import Token, tokenize
from otel_rt4chart.verify.text.sentences import whole_graphemes

_JOINING = frozenset(["and", "but", "or", "while", "whereas", "which", "who", "that", "because"])


def locate_claim(claim: str, sentence: Sentence) -> AnswerRange:
    """The narrowest range of the sentence that holds all words it shares with the claim."""
    source = read_slots(sentence.text)
    wanted = {word.stem for word in read_slots(claim).words}
    found: list[Token] = [word for word in source.words if word.stem in wanted]
    if not found:
        return AnswerRange(sentence.start, sentence.end)
    left, right = found[0].start, found[-1].end
    opening = _opening(source, left)
    return AnswerRange(sentence.start + opening, sentence.start + right)


def _opening(source: Slots, left: int) -> int:
    """The start with the function words right before it: "the", "not", "at least"."""
    start = left
    for token in reversed([one for one in source.tokens if one.end <= left]):
        if token.is_content or token.norm in _JOINING or source.text[token.end : start].strip():
            break
        start = token.start
    return start


# A part of the claim is worth marking only where it is clearly shorter than the claim.
MAX_NARROW_SHARE = 0.6


def narrow_range(answer: str, draft: DraftClaim, judgement: Judgement, nearest: str) -> AnswerRange:
    """The range of the clashing value, else of the words `nearest` lacks, else of the claim.

    It is never empty and never splits a grapheme.
    """
    found = _clash_range(answer, draft, judgement)
    if found is None and nearest:
        found = _unsupported_words(answer, draft.range, nearest)
    return whole_graphemes(answer, found or draft.range)


def _clash_range(answer: str, draft: DraftClaim, judgement: Judgement) -> AnswerRange | None:
    """From the first to the last clashing value that stands in the claim's range."""
    low, high = draft.range
    places = [
        found
        for clash in judgement.clashes
        if (found := _find_value(clash.claimed, answer, low, high)) is not None
    ]
    if not places:
        return None
    widest = AnswerRange(min(at for at, _ in places), max(end for _, end in places))
    return (
        widest
        if widest.end - widest.start <= MAX_NARROW_SHARE * (high - low)
        else AnswerRange(*places[0])
    )


def _find_value(value: str, answer: str, low: int, high: int) -> tuple[int, int] | None:
    """Where the value first stands, as a word of its own if it does: "1" is not found in "14"."""
    if not value:
        return None
    whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)").search(answer, low, high)
    at = whole.start() if whole else answer.find(value, low, high)
    return (at, at + len(value)) if at >= 0 else None


def _unsupported_words(answer: str, own: AnswerRange, nearest: str) -> AnswerRange | None:
    """From the first to the last content word in the claim's range that `nearest` lacks.

    The answer's words count, not the claim's: a judge may put a claim in its own words.
    """
    text = answer[own.start : own.end]
    known = {token.stem for token in tokenize(nearest)}
    content = [token for token in tokenize(text) if token.is_content]
    strange: list[Token] = [token for token in content if token.stem not in known]
    if not strange or len(strange) == len(content):
        return None
    left, right = strange[0].start, strange[-1].end
    if right - left > MAX_NARROW_SHARE * len(text):
        return None
    return AnswerRange(own.start + left, own.start + right)


# The share of a claim's content words that its sentence and those before it must have. A decomposer
# may resolve pronouns and inflect words, but a claim that it made up would count as the answer's.
MIN_GROUNDED_SHARE = 0.6
SENTENCES_BEFORE = 3  # sentences in which a pronoun's name may stand
_KEPT_SCOPE = frozenset({"universal", "restriction", "partial", "hedge", "condition"})
MIN_DROPPED_WORDS = (
    3  # content words in a row that no claim has: that much is a statement of its own
)
_ALL = frozenset({"all", "every", "always", "never"})
# Remarks about the sources or the speaker, and instructions to the reader, are no claims.
_REMARK = re.compile(
    r"\b(?:(?-i:I)|passages?|documents?|contexts?|sources?|texts?|excerpts?)\b"
    r"|^\W*(?:please|do\ not|don['’]t)\b",
    re.IGNORECASE,
)


def grounding_problem(claim: str, own: str, before: Iterable[str] = ()) -> str | None:
    """What the claim says that its sentence does not; None where it is grounded.

    Names may come from the sentences `before`, in place of pronouns. Numbers and the substance of
    the claim must be those of its own sentence.
    """
    claimed, source = read_slots(claim), read_slots(own)
    earlier = [read_slots(text) for text in before]
    known = {token.stem for slots in (source, *earlier) for token in slots.tokens}
    own_stems = {token.stem for token in source.tokens}
    for word in claimed.words:
        if any(map(str.isdigit, word.text)) and word.stem not in own_stems:
            return f"“{word.text}” is not in the sentence"
    strange = [word for word in claimed.words if word.stem not in known]
    for name in claimed.names:
        tokens = [claimed.tokens[at] for at in name.tokens]
        lacking = [token.text for token in tokens if token.stem not in known]
        if lacking:
            return f"“{' '.join(lacking)}” is not in the answer so far"
    if len(strange) > (1.0 - MIN_GROUNDED_SHARE) * len(claimed.words):
        return "most of its words are not the sentence's: " + ", ".join(w.text for w in strange[:5])
    if claimed.words and source.words and not any(word.stem in own_stems for word in claimed.words):
        return "it shares no word with its sentence"
    if claimed.denials and not source.denials:
        return "it denies what the sentence does not deny"
    return None


def missing_content(own: str, claims: Sequence[str], others: Sequence[str] = ()) -> tuple[str, ...]:
    """The sentence's numbers, negations and qualifiers that none of its claims has.

    And each run of its words of which neither the claims nor the `others`, the parts that claim
    nothing, has a single one.
    """
    source = read_slots(own)
    claimed = [read_slots(claim) for claim in claims]
    stems = {token.stem for slots in claimed for token in slots.tokens}
    norms = {token.norm for slots in claimed for token in slots.tokens}
    missing = [
        word.text
        for word in source.words
        if any(map(str.isdigit, word.text)) and word.stem not in stems
    ]
    if source.denials and not any(slots.denials for slots in claimed):
        missing += [source.tokens[denial.cue].text for denial in source.denials]
    missing += [
        own[one.start : one.end]
        for one in source.scope
        if one.kind in _KEPT_SCOPE and not norms.issuperset(one.norm.split())
    ]
    missing += _dropped_runs(
        source, stems | {t.stem for text in others for t in read_slots(text).tokens}
    )
    return tuple(dict.fromkeys(missing))


def _dropped_runs(source: Slots, kept: Container[str]) -> list[str]:
    """The runs of content words that no claim has.

    An opening such as "based on the passages" may be dropped, and so may remarks on the sources.
    """
    runs: list[list[Token]] = [[]]
    is_opening = True
    for word in source.words:
        if word.stem in kept or len(word.text) == 1:
            is_opening = False
            runs.append([])
        elif not is_opening:
            runs[-1].append(word)
    texts = [
        source.text[run[0].start : run[-1].end] for run in runs if len(run) >= MIN_DROPPED_WORDS
    ]
    return [text for text in texts if not _REMARK.search(text)]


def claim_signal(own: str) -> str | None:
    """A word that proves that a sentence makes a claim: a number, a negation, "only", "all"."""
    source = read_slots(own)
    for token in source.tokens:
        if any(map(str.isdigit, token.text)):
            return token.text
    if len(source.words) < 2 or _REMARK.search(own):
        return None
    words = [source.tokens[denial.cue].text for denial in source.denials]
    words += [
        own[one.start : one.end]
        for one in source.scope
        if one.kind == "restriction" or one.norm in _ALL
    ]
    return next(iter(words), None)


def split_claim(claim: str) -> tuple[str, ...]:
    """The claims that a compound claim joins, by rule; a single one where it is atomic."""
    whole = Sentence(0, 0, len(claim), claim)
    return tuple(draft.text for draft in decompose([whole]) if draft.is_claim)


def repair_drafts(
    drafts: Sequence[DraftClaim], sentences: Sequence[Sentence]
) -> tuple[DraftClaim, ...]:
    """A judge's claims in the order of the answer, with sentences and ranges that exist.

    A claim of an unknown sentence goes to the one that its range lies in. Holistic claims, whose
    `sentence` is -1, get the range of the whole answer.
    """
    if any(draft.sentence < 0 for draft in drafts):
        return tuple(replace(draft, range=_whole_answer(sentences)) for draft in drafts)
    known = {sentence.index: sentence for sentence in sentences}
    repaired = [_repaired(draft, known, sentences) for draft in drafts if draft.text.strip()]
    return tuple(sorted(repaired, key=lambda draft: (draft.sentence, draft.range)))


def _repaired(
    draft: DraftClaim, known: dict[int, Sentence], sentences: Sequence[Sentence]
) -> DraftClaim:
    start, end = draft.range
    home = known.get(draft.sentence) or next(
        (one for one in sentences if one.start <= start < one.end), sentences[0]
    )
    if not (home.start <= start < end <= home.end):
        return replace(draft, sentence=home.index, range=locate_claim(draft.text, home))
    return draft if draft.sentence == home.index else replace(draft, sentence=home.index)


def _whole_answer(sentences: Sequence[Sentence]) -> AnswerRange:
    return AnswerRange(sentences[0].start, sentences[-1].end)


def claim_from_sentence(sentence: Sentence) -> tuple[DraftClaim, ...]:
    """The whole sentence as one claim; its parts by rule where it claims nothing."""
    drafts = decompose([sentence])
    if any(draft.is_claim for draft in drafts):
        where = AnswerRange(sentence.start, sentence.end)
        return (DraftClaim(sentence.text, sentence.index, where, kind_of(sentence.text)),)
    return drafts
