"""Evidence selection: a context too long for one call becomes the sentences that bear on a claim.

After VeriTrail's evidence selection: sentence ids only, checked, re-run where the selection is
still too long. Nothing is cut: what cannot be made to fit is a failure with its reason.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.drive import Batch, Replies, Steps
from otel_rt4chart.verify.core.judge import BatchJudge, Select
from otel_rt4chart.verify.core.model import DraftClaim, Sentence
from otel_rt4chart.verify.link.chunks import chunk
from otel_rt4chart.verify.text.token_estimate import tokens_of


class Compressed(NamedTuple):
    """The sentences to judge on; empty where none bears on the claims."""

    sentences: tuple[Sentence, ...]
    failure: JudgeError | None = None


class Reruns(Protocol):
    """How often a selection that is still too long is made again."""

    @property
    def reruns(self) -> int:
        """0 or more."""


def compress(
    judge: BatchJudge,
    claims: tuple[DraftClaim, ...],
    context: tuple[Sentence, ...],
    options: Reruns,
) -> Steps[Compressed]:
    """The context itself where the judge can read it at once, else the sentences it selects."""
    kept = context
    for _ in range(options.reruns + 2):
        if tokens_of(kept) <= judge.input_limit:
            return Compressed(kept)
        parts = chunk(kept, window=len(kept), overlap=0, max_tokens=judge.input_limit)
        replies = yield Batch(judge, tuple(Select(claims, part.sentences) for part in parts))
        selected, failure = _selected(replies)
        if failure is not None:
            return Compressed(kept, failure)
        before, kept = kept, tuple(one for one in kept if one.index in selected)
        if len(kept) == len(before):
            break
    return Compressed(
        kept,
        JudgeError(
            f"context_too_long: {len(kept)} sentences bear on it, about {tokens_of(kept)} tokens; "
            f"{judge.id} takes {judge.input_limit}"
        ),
    )


def _selected(replies: Replies) -> tuple[set[int], JudgeError | None]:
    """The union over parts and claims; a part that could not be read is a failure of all."""
    found: set[int] = set()
    for reply in replies:
        if isinstance(reply, JudgeError):
            return set(), reply
        if isinstance(reply, Exception):
            return set(), JudgeError(str(reply))
        for indices in reply:
            if isinstance(indices, tuple):
                found.update(index for index in indices if isinstance(index, int))
    return found, None
