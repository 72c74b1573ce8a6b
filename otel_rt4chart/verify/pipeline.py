"""The main path of verification: RT4CHART's hierarchy over one answer, from texts to report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.cascade import CascadeJudge, judge_tiers
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.judge import (
    BatchJudge,
    Embedder,
    Judge,
    ModelJudge,
    ScanningJudge,
    is_remote,
)
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import (
    CheckPlan,
    Claim,
    DraftClaim,
    Exchange,
    Report,
    Usage,
)
from otel_rt4chart.verify.core.recalibration import Recalibration
from otel_rt4chart.verify.core.revision import revised
from otel_rt4chart.verify.core.steps import (
    Steps,
    answer_batch,
    answer_batch_async,
    run_steps,
    run_steps_async,
)
from otel_rt4chart.verify.findings.advice import advise, confirmed
from otel_rt4chart.verify.findings.cherry_picking import THRESHOLD as CHERRY_PICK_THRESHOLD
from otel_rt4chart.verify.findings.cherry_picking import CherryPickSearch
from otel_rt4chart.verify.findings.classify import failure_kinds
from otel_rt4chart.verify.findings.find import find, limit_findings
from otel_rt4chart.verify.findings.stale import Authority
from otel_rt4chart.verify.findings.statuses import with_statuses
from otel_rt4chart.verify.findings.sycophancy import find_sycophancy
from otel_rt4chart.verify.link.chunks import MAX_TOKENS, OVERLAP, WINDOW, check_window
from otel_rt4chart.verify.link.linker import DENSE_FLOOR, FLOOR, MAX_CANDIDATES
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.stages.claims import too_large_report, undecided_report
from otel_rt4chart.verify.stages.options import Options, PipelineStep, checked_steps
from otel_rt4chart.verify.stages.verification import VerificationRun, decompose_answer
from otel_rt4chart.verify.text.segment import segment, segment_passages

EVERY_CHECK = CheckPlan()


class Verifier:
    """Verifies answers with one judge; it has no state between answers, so threads may share it."""

    def __init__(
        self,
        judge: Judge | BatchJudge,
        *,
        window: int = WINDOW,
        overlap: int = OVERLAP,
        max_chunk_tokens: int = MAX_TOKENS,
        floor: float = FLOOR,
        dense_floor: float = DENSE_FLOOR,
        candidates: int = MAX_CANDIDATES,
        embedder: Embedder | None = None,
        reruns: int = 2,
        budget: Budget | None = None,
        scanner: Judge | BatchJudge | None = None,
        cherry_pick_threshold: float = CHERRY_PICK_THRESHOLD,
        authority: Authority | None = None,
        clock: Callable[[], int] | None = None,
        check_edits: bool | None = None,
        recalibration: Recalibration | None = None,
        exhaustive: bool = False,
        left_out: Collection[PipelineStep] = (),
    ) -> None:
        """The defaults are those of the paper where it names one.

        A claim is linked where one of its `candidates` sentences has a lexical link of at least
        `floor` or, with an `embedder`, a cosine of at least `dense_floor`. An unlinked claim is
        baseless at once where meaning was compared or the judge compares words alone; any other
        goes to the judge. `reruns` bounds evidence selection. `scanner` reads the passages that
        support nothing, for findings; it is the judge itself unless given, or the part of it that
        reads single sentences. Its word that a passage contradicts a claim counts from the
        confidence `cherry_pick_threshold` on, to which the encoder may add. `clock` returns
        nanoseconds. `check_edits` verifies an answer again with the edits of its advice, which are
        offered only if nothing fails then; by default for a judge in this process, where it costs
        no call. `recalibration` corrects the confidences, and is part of the verifier's `id`.
        `exhaustive` asks every chunk about every claim, as published; `left_out` are steps to
        measure the pipeline without. Neither applies to a one-call judge, which has no steps.
        """
        check_window(window, overlap, max_chunk_tokens)
        self.judge = judge
        self._recalibration = recalibration
        sizes = (window, overlap, max_chunk_tokens, floor, dense_floor, candidates, reruns)
        self._options = Options(*sizes, exhaustive, checked_steps(left_out))
        self._embedder = embedder
        self.budget = budget or Budget()
        self._scanner = choose_scanner(judge) if scanner is None else scanner
        self._encoder = _encoder_for(judge, embedder)
        self._cherry_pick_threshold = cherry_pick_threshold
        self._authority = authority
        self._clock = clock
        # Measured over labelled answers: .05 to .08 of the time of verification (local, rules).
        is_cheap = isinstance(judge, RulesJudge | ModelJudge)
        self._checks_edits = is_cheap if check_edits is None else check_edits

    @property
    def id(self) -> str:
        """The id of the judge, with that of the recalibration if there is one."""
        changed = self._recalibration
        return self.judge.id if changed is None else changed.id_of(self.judge.id)

    def recalibrated(self, recalibration: Recalibration | None) -> Verifier:
        """The same verifier with this recalibration instead of its own; None for none."""
        found = copy(self)
        found._recalibration = recalibration
        return found

    @property
    def is_remote(self) -> bool:
        """True where verifying an answer may send its texts out of this process."""
        parts = (self.judge, self._scanner, self._embedder)
        return any(is_remote(part) for part in parts if part is not None)

    @property
    def scans_remotely(self) -> bool:
        """True where the search for cherry-picked passages may call a remote judge."""
        return is_remote(self._scanner)

    def verify(
        self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
    ) -> Report:
        """The report on one answer; without passages every claim is undecided (`no_context`).

        What exceeds the budget is undecided too: the answer, or the claims that are left.
        `strict` sends every claim to the second judge of a cascade. `plan` says which checks run
        beyond the labels.
        """
        meter = Meter(self.budget)
        return run_steps(
            self._steps(exchange, meter, strict, plan), lambda batch: answer_batch(batch, meter)
        )

    async def verify_async(
        self, exchange: Exchange, *, strict: bool = False, plan: CheckPlan = EVERY_CHECK
    ) -> Report:
        """The same without blocking the event loop while an endpoint works."""
        meter = Meter(self.budget)
        return await run_steps_async(
            self._steps(exchange, meter, strict, plan),
            lambda batch: answer_batch_async(batch, meter),
        )

    def verify_claim(self, exchange: Exchange, draft: DraftClaim) -> Claim:
        """The verdict on a claim of the answer that is given, not looked for.

        Raises InputError for a judge that makes claims and labels in one call: it cannot be asked
        about a given claim.
        """
        (claim,), _ = self.verify_claims(exchange, (draft,))
        return claim

    def verify_claims(
        self, exchange: Exchange, drafts: Sequence[DraftClaim], *, budget: Budget | None = None
    ) -> tuple[tuple[Claim, ...], Usage]:
        """The same for several claims, in their order, with the cost; at most that of `budget`.

        Findings are not looked for, so no claim has a status.
        """
        if isinstance(self.judge, BatchJudge) and self.judge.one_call:
            raise InputError(f"{self.judge.id} cannot judge a given claim; use another judge")
        meter = Meter(budget or self.budget)
        context = segment_passages(exchange.passages)
        run = VerificationRun(exchange.question, context, self._options)
        run.accept(tuple(drafts), exchange.answer, None)
        run_steps(self._judge_claims(run, meter, False), lambda batch: answer_batch(batch, meter))
        return self._corrected(run.claims(exchange.answer, self.judge.id)), meter.usage()

    def _judge_claims(self, run: VerificationRun, meter: Meter, strict: bool) -> Steps[None]:
        yield from run.link(self._embedder, self.judge)
        meter.start_judging()
        # Each tier sees only the claims that the tier before it was not certain of.
        for tier in judge_tiers(self.judge, strict=strict):
            yield from run.verify_locally(tier, meter)  # chunk by chunk, then the OR-join
            yield from run.verify_globally(tier)  # the whole context, the chunk as a hint
            yield from run.require_evidence(tier)
            run.keep_confident(tier)

    def _steps(
        self, exchange: Exchange, meter: Meter, strict: bool, plan: CheckPlan
    ) -> Steps[Report]:
        """The verdict on the answer, and what to do about it."""
        started = self._clock() if self._clock else 0
        report = yield from self._verdict(exchange, meter, strict, plan)
        advice = advise(exchange.answer, report.claims, report.findings)
        if advice.edits and self._checks_edits:
            edited = replace(exchange, answer=revised(exchange.answer, advice.edits))
            again = yield from self._verdict(edited, meter, strict, plan)
            advice = confirmed(advice, again)
        elif advice.edits:
            advice = replace(advice, reason=f"{advice.reason}; the edits were not verified")
        elapsed = (self._clock() - started) / 1e6 if self._clock else None
        return replace(report, advice=advice, usage=meter.usage(elapsed))

    def _verdict(
        self, exchange: Exchange, meter: Meter, strict: bool, plan: CheckPlan
    ) -> Steps[Report]:
        """RT4CHART's Figure 2, from top to bottom."""
        problem = meter.budget.size_problem(exchange)
        context = () if problem else segment_passages(exchange.passages)
        problem = problem or meter.budget.sentence_problem(context)
        if problem is not None:
            return too_large_report(exchange.answer, problem, self.id)
        sentences = segment(exchange.answer)
        run = VerificationRun(exchange.question, context, self._options)

        # A one-call judge makes claims and labels together; the others go step by step.
        if isinstance(self.judge, BatchJudge) and self.judge.one_call:
            yield from run.audit(self.judge, sentences, exchange.answer)
        else:
            splits = PipelineStep.DECOMPOSITION not in self._options.left_out
            drafts = yield from decompose_answer(self.judge if splits else None, sentences)
            if isinstance(drafts, Exception):
                return undecided_report(exchange.answer, self.id, str(drafts))
            run.accept(drafts, exchange.answer, meter.budget.claims)
            yield from self._judge_claims(run, meter, strict)

        claims = self._corrected(run.claims(exchange.answer, self.judge.id))
        label = and_join(claim.label for claim in claims)
        picked = CherryPickSearch(self._scanner, self._encoder, self._cherry_pick_threshold, meter)
        findings = yield from find(
            exchange, claims, run.notes(), picked, self._authority, meter, plan
        )
        if plan.sycophancy:
            findings += yield from find_sycophancy(
                exchange, claims, run.judged_on, self.judge, self._embedder or self._encoder
            )
        claims = with_statuses(claims, findings, plan)
        listed = limit_findings(findings)
        # The kinds follow from the listed findings, which are stored: an issue has no others.
        listed = (*listed, *failure_kinds(claims, listed, exchange.question))
        return Report(label, claims, self.id, listed, plan=plan)

    def _corrected(self, claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
        return claims if self._recalibration is None else self._recalibration.claims(claims)


def choose_scanner(judge: Judge | BatchJudge) -> Judge | BatchJudge:
    """What compares single passages with claims: the judge's own scanner, else the judge.

    A cascade scans with its first judge. A one-call judge cannot be asked about a single passage.
    """
    first = judge.first if isinstance(judge, CascadeJudge) else judge
    if isinstance(first, ScanningJudge):
        return first.scanner
    is_one_call = isinstance(first, BatchJudge) and first.one_call
    return RulesJudge() if is_one_call else first


def _encoder_for(judge: Judge | BatchJudge, embedder: Embedder | None) -> Embedder | None:
    """The embedder for findings, always in this process: they compare many sentences."""
    if embedder is not None and not is_remote(embedder):
        return embedder
    first = judge.first if isinstance(judge, CascadeJudge) else judge
    return first.encoder if isinstance(first, ScanningJudge) else None
