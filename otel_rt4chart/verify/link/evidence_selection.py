"""Evidence selection: of a context too long for one call, the sentences that bear on a claim.

After VeriTrail: the judge answers with sentence ids only, which are checked, and selects again
where the selection is still too long. Nothing is cut: what does not fit in the end is an error.
"""

from __future__ import annotations

from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import BatchJudge, Select
from otel_rt4chart.verify.core.model import DraftClaim, Sentence
from otel_rt4chart.verify.core.steps import Batch, Replies, Steps
from otel_rt4chart.verify.link.chunks import split_into_chunks
from otel_rt4chart.verify.text.token_estimate import tokens_of


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
