"""A trusted judge as a rater: it answers the same queue as people, claim by claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW, map_in_order
from otel_rt4chart.verify.core.model import Claim, DraftClaim, Label
from otel_rt4chart.verify.core.recalibration import judge_of
from otel_rt4chart.verify.pipeline import Verifier
from rt4chart_collector.labelling.task_reading import LabellingTask, read_task
from rt4chart_collector.labelling.tasks import GONE, Rater, label_row, open_claims, record_answer
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, RaterKind, record_labels

# Reasons of the pipeline for a verdict that is a failure, not a judgement.
NO_PASSAGES = "the passages were deleted"
LABELS = {
    Label.ENTAILED: GivenLabel.ENTAILED,
    Label.CONTRADICTED: GivenLabel.CONTRADICTED,
    Label.BASELESS: GivenLabel.BASELESS,
    Label.NOT_A_CLAIM: GivenLabel.CANNOT_TELL,
}


@dataclass(slots=True)
class JudgeRun:
    """One run: the number of labels given, and the claims without one by reason."""

    labels: int = 0
    unlabelled: Counter[str] = field(default_factory=Counter)
    stopped: str = ""


def label_with_judge(
    client: Client,
    draw: LabelDraw,
    verifier: Verifier,
    *,
    limit: int,
    clock: Callable[[], int],
    jobs: int = 1,
) -> JudgeRun:
    """Label at most `limit` claims of the draw with this verifier's judge, under its id.

    A claim that the judge leaves undecided has no label and stays in the queue for others: an
    undecided verdict may be a failed call. After several of them in a row the run stops. Raises
    InputError for the judge that is to be checked, and for one that cannot judge a given claim.
    """
    judge = verifier.judge
    if judge.id == judge_of(draw.verifier):
        raise InputError(f"expected another judge than {judge.id}, whose claims were drawn")
    rater = Rater(judge.id, RaterKind.JUDGE, "judge")
    run, in_a_row = JudgeRun(), 0
    # The database is read in this thread alone; the judge works in others.
    tasks = _tasks(client, draw, rater, run, limit=limit, clock=clock)
    for task, claim in map_in_order(lambda task: (task, _judge(verifier, task)), tasks, jobs):
        label = LABELS.get(claim.label)
        if label is None:
            in_a_row += 1
            run.unlabelled[claim.reason or "undecided"] += 1
            if in_a_row >= MAX_FAILURES_IN_A_ROW:
                run.stopped = f"{in_a_row} claims in a row were left undecided"
                break
            continue
        in_a_row = 0
        record_answer(client, task.row, rater, label, at_ns=clock())
        run.labels += 1
    return run


def _judge(verifier: Verifier, task: LabellingTask) -> Claim:
    draft = DraftClaim(task.claim.text, task.claim.sentence, task.answer_range, task.claim.kind)
    return verifier.verify_claim(task.exchange, draft)


def _tasks(
    client: Client,
    draw: LabelDraw,
    rater: Rater,
    run: JudgeRun,
    *,
    limit: int,
    clock: Callable[[], int],
) -> Iterator[LabellingTask]:
    for row in islice(list(open_claims(client, draw, rater, now_ns=clock())), limit):
        task = read_task(client, row)
        if task is None:
            skip = label_row(row, rater, GivenLabel.SKIPPED, at_ns=clock(), note=GONE)
            record_labels(client, [skip])
            run.unlabelled[GONE] += 1
        elif task.passages is None:
            run.unlabelled[NO_PASSAGES] += 1
        else:
            yield task
