"""What keeps a decomposer honest: a claim says what its sentence says, all of it, once.

Guards after "Claim Extraction and Source-Span Verification": the extractor may invent a claim,
merge two, or drop a qualifier; each is found here by rule and told in words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Sentence
from otel_rt4chart.verify.decompose.rules import decompose, kind_of
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import Token

# Of a claim's content words, the share that its sentence and those before it must hold.
GROUNDED = 0.6
BEFORE = 3  # sentences in which a pronoun's name may stand
_JOINING = frozenset(["and", "but", "or", "while", "whereas", "which", "who", "that", "because"])
_KEPT_SCOPE = frozenset({"universal", "restriction", "partial", "hedge", "condition"})
DROPPED = 3  # content words in a row that no claim has: that much is a statement of its own
_ALL = frozenset({"all", "every", "always", "never"})
# What the sources do not say, what "I" cannot tell, what the reader shall not do: no claims.
_REMARK = re.compile(
    r"\b(?:(?-i:I)|passages?|documents?|contexts?|sources?|texts?|excerpts?)\b"
    r"|^\W*(?:please|do\ not|don['’]t)\b",
    re.IGNORECASE,
)


def ungrounded(claim: str, own: str, before: Iterable[str] = ()) -> str | None:
    """What the claim says that its sentence does not, in words; None where it is grounded.

    Names may come from the sentences `before`, in place of pronouns; numbers and the claim's
    substance must be its own sentence's.
    """
    said, source = read_slots(claim), read_slots(own)
    earlier = [read_slots(text) for text in before]
    near = {token.stem for slots in (source, *earlier) for token in slots.tokens}
    here = {token.stem for token in source.tokens}
    for word in said.words:
        if any(map(str.isdigit, word.text)) and word.stem not in here:
            return f"“{word.text}” does not stand in the sentence"
    strange = [word for word in said.words if word.stem not in near]
    for name in said.names:
        lacking = [said.tokens[at].text for at in name.tokens if said.tokens[at].stem not in near]
        if lacking:
            return f"“{' '.join(lacking)}” does not stand in the answer so far"
    if len(strange) > (1.0 - GROUNDED) * len(said.words):
        return "most of its words are not the sentence's: " + ", ".join(w.text for w in strange[:5])
    if said.words and source.words and not any(word.stem in here for word in said.words):
        return "it shares no word with its sentence"
    if said.denials and not source.denials:
        return "it denies what the sentence does not deny"
    return None


def lost(own: str, claims: Sequence[str], others: Sequence[str] = ()) -> tuple[str, ...]:
    """The sentence's numbers, negations and qualifiers that none of its claims has.

    So is what a run of its words says, where neither the claims nor the `others`, its parts that
    claim nothing, has one of them.
    """
    source = read_slots(own)
    kept = [read_slots(claim) for claim in claims]
    stems = {token.stem for slots in kept for token in slots.tokens}
    norms = {token.norm for slots in kept for token in slots.tokens}
    missing = [
        word.text
        for word in source.words
        if any(map(str.isdigit, word.text)) and word.stem not in stems
    ]
    if source.denials and not any(slots.denials for slots in kept):
        missing += [source.tokens[denial.cue].text for denial in source.denials]
    missing += [
        own[one.start : one.end]
        for one in source.scope
        if one.kind in _KEPT_SCOPE and not norms.issuperset(one.norm.split())
    ]
    missing += _dropped(
        source, stems | {t.stem for text in others for t in read_slots(text).tokens}
    )
    return tuple(dict.fromkeys(missing))


def _dropped(source: Slots, kept: Container[str]) -> list[str]:
    """The runs of content words that are not kept, after the first that is.

    An opening such as "based on the passages" may go; so may any remark about the sources.
    """
    runs: list[list[Token]] = [[]]
    is_opening = True
    for word in source.words:
        if word.stem in kept or len(word.text) == 1:
            is_opening = False
            runs.append([])
        elif not is_opening:
            runs[-1].append(word)
    texts = [source.text[run[0].start : run[-1].end] for run in runs if len(run) >= DROPPED]
    return [text for text in texts if not _REMARK.search(text)]


def claiming(own: str) -> str | None:
    """The word by which a sentence holds a claim for sure: a number, a denial, "only", "all"."""
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


def parts(claim: str) -> tuple[str, ...]:
    """The claims that a compound claim joins, by rule; one where it is atomic."""
    whole = Sentence(0, 0, len(claim), claim)
    return tuple(draft.text for draft in decompose([whole]) if draft.is_claim)


def place(claim: str, sentence: Sentence) -> AnswerRange:
    """The narrowest range of the answer's sentence that holds the claim's words it shares."""
    source = read_slots(sentence.text)
    wanted = {word.stem for word in read_slots(claim).words}
    found: list[Token] = [word for word in source.words if word.stem in wanted]
    if not found:
        return AnswerRange(sentence.start, sentence.end)
    left, right = found[0].start, found[-1].end
    opening = _opening(source, left)
    return AnswerRange(sentence.start + opening, sentence.start + right)


def _opening(source: Slots, left: int) -> int:
    """Function words right before the first shared word belong to it: "the", "not", "at least"."""
    start = left
    for token in reversed([one for one in source.tokens if one.end <= left]):
        if token.is_content or token.norm in _JOINING or source.text[token.end : start].strip():
            break
        start = token.start
    return start


def sound(drafts: Sequence[DraftClaim], sentences: Sequence[Sentence]) -> tuple[DraftClaim, ...]:
    """The drafts of any judge, held to the answer: ordered, their ranges and sentences real.

    A draft of an unknown sentence goes to the one its range lies in. `sentence` is -1 for holistic
    claims, which have no range of their own.
    """
    if any(draft.sentence < 0 for draft in drafts):
        return tuple(replace(draft, range=_whole(sentences)) for draft in drafts)
    known = {sentence.index: sentence for sentence in sentences}
    kept = [_held(draft, known, sentences) for draft in drafts if draft.text.strip()]
    return tuple(sorted(kept, key=lambda draft: (draft.sentence, draft.range)))


def _held(
    draft: DraftClaim, known: dict[int, Sentence], sentences: Sequence[Sentence]
) -> DraftClaim:
    start, end = draft.range
    home = known.get(draft.sentence) or next(
        (one for one in sentences if one.start <= start < one.end), sentences[0]
    )
    if not (home.start <= start < end <= home.end):
        return replace(draft, sentence=home.index, range=place(draft.text, home))
    return draft if draft.sentence == home.index else replace(draft, sentence=home.index)


def _whole(sentences: Sequence[Sentence]) -> AnswerRange:
    return AnswerRange(sentences[0].start, sentences[-1].end)


def whole_claim(sentence: Sentence) -> tuple[DraftClaim, ...]:
    """The sentence itself as a claim, or as what it is if it claims nothing."""
    drafts = decompose([sentence])
    if any(draft.is_claim for draft in drafts):
        where = AnswerRange(sentence.start, sentence.end)
        return (DraftClaim(sentence.text, sentence.index, where, kind_of(sentence.text)),)
    return drafts
