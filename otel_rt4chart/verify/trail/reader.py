"""One step of all claims' trails at once: evidence selection, then verdicts on what was selected.

After VeriTrail: sentences are selected by their numbers, checked, and the verdict sees nothing
else. Claims that read the same nodes are asked about together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from otel_rt4chart.verify.core.drive import Batch, Steps
from otel_rt4chart.verify.core.evidence import is_borne_out, known_only
from otel_rt4chart.verify.core.judge import Assess, BatchJudge, Judge, Reply, Resolve, Select
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.link.chunks import chunk
from otel_rt4chart.verify.link.evidence_selection import compress
from otel_rt4chart.verify.link.link import FLOOR, Linker
from otel_rt4chart.verify.stages.outcome import NO_EVIDENCE
from otel_rt4chart.verify.trail.graph import Graph
from otel_rt4chart.verify.trail.walk import Walk

_UNREAD = Judgement(Label.UNDECIDED, reason="unlinked: no sentence shares a word with it")
Key = TypeVar("Key", bound=Hashable)


class Scope(NamedTuple):
    """How much is read at once; see `Tracer`."""

    window: int
    overlap: int
    max_chunk_tokens: int
    candidates: int
    reruns: int


class _Look(NamedTuple):
    """One question of evidence selection: a chunk, and the claims it is read for."""

    chunk: Chunk
    walks: tuple[Walk, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """Asks one judge about the nodes of one graph."""

    judge: Judge | BatchJudge
    graph: Graph
    scope: Scope

    def select(self, walks: Sequence[Walk]) -> Steps[None]:
        """Give each claim the sentences that bear on it, of the nodes it has not read yet."""
        for walk in walks:
            walk.begin()
        groups = _grouped(walks, lambda walk: walk.read)
        looks = [look for names, group in groups.items() for look in self._looks(names, group)]
        replies = (yield Batch(self.judge, tuple(map(self._question, looks)))) if looks else ()
        for look, reply in zip(looks, replies, strict=True):
            for walk, told in zip(look.walks, self._told(reply, len(look.walks)), strict=True):
                if isinstance(told, str):
                    walk.failure = walk.failure or told
                else:
                    walk.pick(told, look.chunk.sentences)
        for walk in walks:
            walk.gather()

    def resolve(self, walks: Sequence[Walk]) -> Steps[None]:
        """A verdict on the selected sentences alone; nothing is asked where there are none."""
        yield from self._compress(walks)
        for is_bare in (False, True):
            yield from self._judge([walk for walk in walks if _is_open(walk)], is_bare)
        for walk in walks:
            if walk.verdict is not None and not is_borne_out(walk.verdict):
                walk.verdict = NO_EVIDENCE

    def _looks(self, names: tuple[str, ...], walks: Sequence[Walk]) -> Iterator[_Look]:
        """The chunks to read, each for the claims that have a candidate in it and in none before.

        Other words, or another language, may say the same: a single chunk is read for all, and
        where no claim has a candidate, every chunk is. Where some have, the others are left
        unread; no model has then said that they are baseless, so they are undecided.
        """
        sentences = self.graph.sentences(names)
        parts = self._chunks(sentences)
        linker = Linker(sentences if len(parts) > 1 else ())
        wanted = [self._candidates(linker, walk.draft) for walk in walks]
        if not any(wanted):
            yield from (_Look(part, tuple(walks)) for part in parts)
            return
        if isinstance(self.judge, BatchJudge):
            for walk in (walk for walk, indices in zip(walks, wanted, strict=True) if not indices):
                walk.pick(_UNREAD, ())
        for part in parts:
            held = {sentence.index for sentence in part.sentences}
            asked = [number for number, indices in enumerate(wanted) if indices & held]
            for number in asked:
                wanted[number] -= held
            if asked:
                yield _Look(part, tuple(walks[number] for number in asked))

    def _chunks(self, sentences: tuple[Sentence, ...]) -> tuple[Chunk, ...]:
        most = self.scope.max_chunk_tokens
        if isinstance(self.judge, BatchJudge):
            most = min(most, self.judge.input_limit)
        return chunk(
            sentences, window=self.scope.window, overlap=self.scope.overlap, max_tokens=most
        )

    def _candidates(self, linker: Linker, draft: DraftClaim) -> set[int]:
        links = linker.candidates(draft.text, limit=self.scope.candidates)
        return {link.sentence for link in links if link.score >= FLOOR}

    def _question(self, look: _Look) -> Assess | Select:
        claims = _drafts(look.walks)
        if isinstance(self.judge, BatchJudge):
            return Select(claims, look.chunk.sentences)
        return Assess(claims, look.chunk, "")

    def _compress(self, walks: Sequence[Walk]) -> Steps[None]:
        """Select again where the evidence is too long for one call."""
        if not isinstance(self.judge, BatchJudge):
            return
        open_ = [walk for walk in walks if _is_open(walk)]
        for evidence, group in _grouped(open_, lambda walk: walk.evidence).items():
            fitted = yield from compress(self.judge, _drafts(group), evidence, self.scope)
            for walk in group:
                walk.evidence = fitted.sentences
                walk.failure = "" if fitted.failure is None else str(fitted.failure)

    def _judge(self, walks: Sequence[Walk], is_bare: bool) -> Steps[None]:
        groups = _grouped(walks, lambda walk: walk.evidence)
        if not groups:
            return
        asked = tuple(
            Resolve(_drafts(group), evidence, None, "", bare=is_bare)
            for evidence, group in groups.items()
        )
        replies = yield Batch(self.judge, asked)
        for (evidence, group), reply in zip(groups.items(), replies, strict=True):
            known = {sentence.index for sentence in evidence}
            for walk, told in zip(group, self._told(reply, len(group)), strict=True):
                if isinstance(told, str):
                    walk.failure = told
                else:
                    walk.verdict = known_only(told, known)

    def _told(self, reply: Reply | Exception, count: int) -> list[Judgement | str]:
        """What was said of each claim, or why nothing was."""
        if isinstance(reply, Exception):
            return [str(reply)] * count
        if len(reply) != count:
            return [f"{self.judge.id} answered for {len(reply)} of {count} claims"] * count
        return [_judgement(one) for one in reply]


def _is_open(walk: Walk) -> bool:
    """True for a claim that has evidence, and no verdict on it that stands on any."""
    is_judged = walk.verdict is not None and is_borne_out(walk.verdict)
    return bool(walk.evidence) and not walk.failure and not is_judged


def _judgement(told: object) -> Judgement:
    """A judgement, or a bare selection as one: the sentences it names."""
    if isinstance(told, Judgement):
        return told
    indices = told if isinstance(told, tuple) else ()
    return Judgement(Label.BASELESS, tuple(one for one in indices if isinstance(one, int)))


def _drafts(walks: Sequence[Walk]) -> tuple[DraftClaim, ...]:
    return tuple(walk.draft for walk in walks)


def _grouped(walks: Sequence[Walk], key: Callable[[Walk], Key]) -> dict[Key, list[Walk]]:
    """The walks by what they have in common, in the order of the first of each group."""
    groups: defaultdict[Key, list[Walk]] = defaultdict(list)
    for walk in walks:
        groups[key(walk)].append(walk)
    return groups
