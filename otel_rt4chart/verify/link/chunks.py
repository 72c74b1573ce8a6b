"""Parts of the context that fit into one call: chunks, and selections from a long context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import BatchJudge, Judge, Select
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Sentence
from otel_rt4chart.verify.core.steps import Batch, Replies, Steps

# UTF-8 bytes in one token: about four in English, three in Chinese. The lower number is safe.
_BYTES = 3


def estimate_tokens(text: str) -> int:
    """An upper estimate of a text's tokens, for any script."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES)


def tokens_of(sentences: Iterable[Sentence]) -> int:
    """An upper estimate for numbered sentences, as judges read them."""
    return sum(estimate_tokens(sentence.reading) + 4 for sentence in sentences)


# The best of the paper's six settings (RT4CHART, Table 9: F1 .840). 35 sentences are as good; 15
# lose .06 or more, because evidence is cut apart. MAX_TOKENS fits the input limit of any judge.
WINDOW, OVERLAP, MAX_TOKENS = 25, 10, 8_000


def split_into_chunks(
    sentences: Sequence[Sentence],
    *,
    window: int = WINDOW,
    overlap: int = OVERLAP,
    max_tokens: int = MAX_TOKENS,
) -> tuple[Chunk, ...]:
    """Windows of at most `window` sentences and `max_tokens` tokens that share `overlap` sentences.

    Every sentence is in at least one; a sentence longer than the bound is a chunk of its own.
    """
    check_window(window, overlap, max_tokens)
    return tuple(
        Chunk(n, part) for n, part in enumerate(_windows(sentences, window, overlap, max_tokens))
    )


def chunks_for(
    judge: Judge | BatchJudge,
    sentences: Sequence[Sentence],
    *,
    window: int,
    overlap: int,
    max_tokens: int,
) -> tuple[Chunk, ...]:
    """The chunks that this judge can read, each in one call."""
    if isinstance(judge, BatchJudge):
        max_tokens = min(max_tokens, judge.input_limit)
    return split_into_chunks(sentences, window=window, overlap=overlap, max_tokens=max_tokens)


def check_window(window: int, overlap: int, max_tokens: int) -> None:
    """Raise ValueError where the windows could not advance."""
    if window < 1 or not 0 <= overlap < window or max_tokens < 1:
        raise ValueError(
            "expected window ≥ 1, 0 ≤ overlap < window and max_tokens ≥ 1, "
            f"got window={window}, overlap={overlap}, max_tokens={max_tokens}"
        )


def _windows(
    sentences: Sequence[Sentence], window: int, overlap: int, max_tokens: int
) -> Iterator[tuple[Sentence, ...]]:
    # Windows overlap because two sentences that support a claim together may otherwise fall into
    # different chunks, and neither chunk suffices alone (RT4CHART, section 3.4).
    start = 0
    while start < len(sentences):
        end = start + 1
        size = tokens_of(sentences[start : start + 1])
        while end < len(sentences) and end - start < window:
            size += tokens_of(sentences[end : end + 1])
            if size > max_tokens:
                break
            end += 1
        yield tuple(sentences[start:end])
        if end == len(sentences):
            return
        # A window that the token limit cut may be shorter than the overlap; it must still advance.
        start = max(end - overlap, start + 1)


def passage_parts(sentences: Sequence[Sentence], max_tokens: int) -> tuple[Chunk, ...]:
    """Whole passages together, up to `max_tokens`; only a longer passage is cut."""
    parts: list[tuple[Sentence, ...]] = []
    size = 0
    for _, some in groupby(sentences, key=lambda one: one.passage_id):
        passage = tuple(some)
        own = tokens_of(passage)
        if parts and size + own <= max_tokens:
            parts[-1] += passage
            size += own
        else:
            whole = len(passage)
            pieces = split_into_chunks(passage, window=whole, overlap=0, max_tokens=max_tokens)
            parts += [piece.sentences for piece in pieces]
            size = tokens_of(parts[-1])
    return tuple(Chunk(number, part) for number, part in enumerate(parts))


class SelectedEvidence(NamedTuple):
    """The sentences to judge on; empty where none bears on the claims, or with a failure."""

    sentences: tuple[Sentence, ...]
    failure: JudgeError | None = None


def select_evidence(
    judge: BatchJudge,
    claims: tuple[DraftClaim, ...],
    context: tuple[Sentence, ...],
    reruns: int,
) -> Steps[SelectedEvidence]:
    """The context itself where the judge can read it in one call, else the sentences it selects.

    A selection that is still too long is made again, at most `reruns` times.
    """
    kept = context
    for _ in range(reruns + 2):  # the first selection, and a last look at the length
        if tokens_of(kept) <= judge.input_limit:
            return SelectedEvidence(kept)
        parts = split_into_chunks(kept, window=len(kept), overlap=0, max_tokens=judge.input_limit)
        replies = yield Batch(judge, tuple(Select(claims, part.sentences) for part in parts))
        selected, failure = _selected(replies)
        if failure is not None:
            return SelectedEvidence(kept, failure)
        before, kept = kept, tuple(one for one in kept if one.index in selected)
        if len(kept) == len(before):  # another round would select the same sentences again
            break
    return SelectedEvidence(
        kept,
        JudgeError(
            f"context_too_long: {len(kept)} sentences bear on it, about {tokens_of(kept)} tokens; "
            f"{judge.id} takes {judge.input_limit}"
        ),
    )


def _selected(replies: Replies) -> tuple[set[int], JudgeError | None]:
    """The union over parts and claims; a part that failed fails the selection."""
    found: set[int] = set()
    for reply in replies:
        # A missing part could hold the decisive sentence, so the rest alone is not judged.
        if isinstance(reply, JudgeError):
            return set(), reply
        if isinstance(reply, Exception):
            return set(), JudgeError(str(reply))
        for indices in reply:
            if isinstance(indices, tuple):
                found.update(index for index in indices if isinstance(index, int))
    return found, None
