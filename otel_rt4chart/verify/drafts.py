"""What keeps a decomposer honest: a claim says what its sentence says, all of it, once.

Guards after "Claim Extraction and Source-Span Verification": the extractor may invent a claim,
merge two, or drop a qualifier; each is found here by rule and told in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from otel_rt4chart.verify.decompose import decompose, kind_of
from otel_rt4chart.verify.local.slots import Slots, read_slots
from otel_rt4chart.verify.local.tokens import Token
from otel_rt4chart.verify.model import AnswerRange, DraftClaim, Sentence

# Of a claim's content words, the share that its sentence and those before it must hold.
GROUNDED = 0.6
BEFORE = 3  # sentences in which a pronoun's name may stand
_JOINING = frozenset(["and", "but", "or", "while", "whereas", "which", "who", "that", "because"])
_KEPT_SCOPE = frozenset({"universal", "restriction", "partial", "hedge", "condition"})


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


def lost(own: str, claims: Sequence[str]) -> tuple[str, ...]:
    """The sentence's numbers, negations and qualifiers that none of its claims has."""
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
    return tuple(dict.fromkeys(missing))


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
