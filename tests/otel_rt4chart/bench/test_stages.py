"""Stage by stage, with figures worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from otel_rt4chart.bench.dataset import GoldSpan, LabelledAnswer
from otel_rt4chart.bench.metrics import ConfusionCounts
from otel_rt4chart.bench.stages import (
    CheckedAnswer,
    Figure,
    check_answer,
    measure_datasets,
    measure_stages,
    product,
)
from otel_rt4chart.bench.tables import (
    escalation,
    escalation_values,
    render_escalation,
    render_stages,
    stage_values,
)
from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify.core.cascade import CascadeJudge
from otel_rt4chart.verify.core.judge import Question, Reply
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Clash,
    DraftClaim,
    Exchange,
    Label,
    Passage,
    Sentence,
)
from otel_rt4chart.verify.pipeline import Verifier

ENTAILED, CONTRADICTED, BASELESS = Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS
PASSAGE = Passage("p1", "The pool is heated. The bar opens at nine. Dogs are welcome.")
SCRIPTS = {
    "The pool is heated": Script(ENTAILED, evidence=("pool",), confidence=0.9),
    "The bar opens at nine": Script(CONTRADICTED, evidence=("bar",), confidence=0.55),
    "Guests swim happily": Script(ENTAILED),
    "The pool is cold": Script(
        CONTRADICTED,
        evidence=("pool",),
        clashes=(Clash("term", "cold", "heated"),),
        confidence=0.8,
    ),
    "The bar opens at ten": Script(ENTAILED, evidence=("bar",), confidence=0.6),
}


def row(
    answer: str, *wrong: str, dataset: str = "one", is_hallucinated: bool = False
) -> LabelledAnswer:
    """An answer in which people marked these words."""
    spans = tuple(
        GoldSpan(AnswerRange(answer.index(one), answer.index(one) + len(one)), "baseless")
        for one in wrong
    )
    exchange = Exchange("", (PASSAGE,), answer)
    return LabelledAnswer(
        answer,
        "s",
        "QA",
        dataset,
        "s",
        "dev",
        exchange,
        is_hallucinated or bool(wrong),
        None,
        spans,
    )


ROWS = (
    row("The pool is heated. The bar opens at nine. Guests swim happily."),
    row("The pool is cold. The bar opens at ten. Parking is free.", "cold", "at ten", "free"),
    row("The pool is cold.", dataset="two", is_hallucinated=True),
    row("The pool is heated.", dataset="two"),
)


def checked(judge: ScriptedJudge | CascadeJudge, *rows: LabelledAnswer) -> list[CheckedAnswer]:
    """The rows after verification by that judge."""
    return [check_answer(one, Verifier(judge).verify(one.exchange), judge) for one in rows]


def test_each_stage_has_its_own_figure() -> None:
    """Three spans of which a claim misses one; an unlinked claim; one false alarm and one miss."""
    found = measure_stages("overall", checked(ScriptedJudge(SCRIPTS), *ROWS))

    assert found.recall == (2 / 3, 3)
    assert found.grounded == found.atomic == Figure(1.0, 7)
    assert found.kept == (1.0, 7)
    assert found.linked == (3 / 4, 4)
    assert found.agreement == (1.0, 6)
    assert found.claims == ConfusionCounts(1, 1, 2, 1)
    assert (found.hit, found.overlap, found.length) == ((1.0, 1), (1.0, 1), (1.0, 1))
    assert found.answers == ConfusionCounts(2, 1, 1, 0)
    assert product(found.stages.values()) == pytest.approx(2 / 3 * 3 / 4 * (1 / 2 + 2 / 3) / 2)


def test_a_perfect_verification_is_one_at_every_stage() -> None:
    """All that is wrong is found and nothing else."""
    found = measure_stages(
        "overall",
        checked(
            ScriptedJudge(SCRIPTS), row("The pool is heated."), row("The pool is cold.", "cold")
        ),
    )

    assert set(found.stages.values()) == {1.0}
    assert product(found.stages.values()) == 1.0


def test_what_nobody_marked_leaves_a_dash() -> None:
    """Without spans there is no recall, no balanced accuracy and no product."""
    one = checked(ScriptedJudge(SCRIPTS), *ROWS[2:])
    found = measure_stages("overall", one)
    text = render_stages(found, measure_datasets(one))

    assert found.recall == Figure(None, 0)
    assert found.claims == ConfusionCounts(true_negative=1)
    assert found.stages == dict.fromkeys(found.stages) | {"linking": 1.0}
    assert text.splitlines()[1].split() == [
        "overall", "–", "1.00", "–", "–", "–", "1.00", "of", "2",
    ]  # fmt: skip


@dataclass(slots=True)
class Rewording(ScriptedJudge):
    """One claim a sentence, in its own words."""

    words: Mapping[str, str] = field(default_factory=dict)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The told words, else the sentence's own, over the sentence's range."""
        return [
            DraftClaim(self.words.get(s.text, s.text), s.index, AnswerRange(s.start, s.end))
            for s in sentences
        ]


def test_claims_that_invent_merge_or_drop_something_are_counted() -> None:
    """A number of its own, two statements in one, a lost number: one of three each."""
    words = {
        "The pool is heated.": "The pool is heated to 30 degrees",
        "The spa was built in 2019.": "The spa was built",
    }
    both = "The drug is safe for adults but is not approved for children."
    claims = (*words.values(), both)
    judge = Rewording({claim: Script(BASELESS) for claim in claims}, words=words)
    found = measure_stages("overall", checked(judge, row(" ".join((*words, both)))))

    assert found.grounded == (2 / 3, 3)
    assert found.atomic == (2 / 3, 3)
    assert found.kept == (2 / 3, 3)


def test_agreement_falls_where_the_candidates_do_not_hold_the_evidence() -> None:
    """A label on a sentence that shares no word with the claim is baseless on its candidates."""
    far = {**SCRIPTS, "The pool is heated": Script(ENTAILED, evidence=("Dogs",))}
    found = measure_stages("overall", checked(ScriptedJudge(far), ROWS[0]))

    assert found.agreement == (1 / 2, 2)


def test_a_range_is_compared_with_the_marked_span_it_fits_best() -> None:
    """A range beside all spans is no hit and takes no part in overlap and length."""
    scripts = {
        "The pool is cold": Script(BASELESS),
        "The bar opens at ten": Script(
            CONTRADICTED, evidence=("bar",), clashes=(Clash("term", "bar", "shop"),)
        ),
    }
    marked = row("The pool is cold. The bar opens at ten.", "is cold", "at ten", "The pool")
    found = measure_stages("overall", checked(ScriptedJudge(scripts), marked))

    assert found.hit == (1 / 2, 2)
    assert found.overlap == (4 / 7, 1)
    assert found.length == (4 / 7, 1)


@dataclass(slots=True)
class Waiting:
    """The scripted judge behind an interface that takes several questions at once."""

    told: ScriptedJudge
    one_call: bool = False
    input_limit: int = 1000
    id: str = "waiting/1"

    def answers(self, questions: Sequence[Question], meter: Meter) -> Sequence[Reply | Exception]:
        """Never asked here."""
        raise AssertionError(questions)

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> Sequence[Reply | Exception]:
        """Never asked here."""
        raise AssertionError(questions)


def test_a_judge_that_costs_calls_is_not_asked_again() -> None:
    """Ranges are found by the claims' words; agreement, and links of a single call, are unknown."""
    told = ScriptedJudge(SCRIPTS)
    reports = [(one, Verifier(told).verify(one.exchange)) for one in ROWS]
    stepwise = measure_stages("overall", [check_answer(*pair, Waiting(told)) for pair in reports])
    at_once = measure_stages(
        "overall", [check_answer(*pair, Waiting(told, one_call=True)) for pair in reports]
    )
    plain = measure_stages("overall", [check_answer(*pair, told) for pair in reports])

    assert stepwise == plain._replace(agreement=Figure(None, 0))
    assert at_once == stepwise._replace(linked=Figure(None, 0))


def test_a_cascade_has_no_agreement() -> None:
    """Its labels are of two judges."""
    judge = ScriptedJudge(SCRIPTS)
    found = measure_stages("overall", checked(CascadeJudge(judge, judge), *ROWS))

    assert found.agreement == Figure(None, 0)


@dataclass(slots=True)
class Broken(ScriptedJudge):
    """A judge that makes no claims."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Always fails."""
        raise JudgeError("no claims today")


def test_an_answer_that_could_not_be_split_counts_with_its_sentences() -> None:
    """They are undecided, so nothing is flagged."""
    found = measure_stages("overall", checked(Broken({}), ROWS[1]))

    assert found.recall == (1.0, 3)
    assert found.claims == ConfusionCounts(false_negative=3)


def test_the_table_has_every_share_with_its_number() -> None:
    """A line a data set, the weakest stage by name, and each word's meaning."""
    one = checked(ScriptedJudge(SCRIPTS), *ROWS)
    lines = render_stages(measure_stages("overall", one), measure_datasets(one)).splitlines()

    assert lines[0].split()[:2] == ["stages", "extraction"]
    assert [line.split()[0] for line in lines[1:4]] == ["one", "two", "overall"]
    assert lines[3].split()[1:6] == ["0.67", "0.75", "0.58", "1.00", "0.29"]
    assert next(line for line in lines[6:] if line.startswith("two")).split()[1] == "–"
    assert "weakest stage: classification (0.58)" in lines
    assert {line.partition(":")[0] for line in lines[-5:]} == {
        "extraction", "linking", "classification", "localisation", "product",
    }  # fmt: skip


def test_thousands_are_readable() -> None:
    """A comma in the number of things."""
    many = measure_stages("overall", checked(ScriptedJudge(SCRIPTS), *ROWS))._replace(
        linked=Figure(0.934, 1204)
    )

    assert "0.93 of 1,204" in render_stages(many, ())


def test_the_machine_form_has_the_same_figures() -> None:
    """Null where the table has a dash."""
    one = checked(ScriptedJudge(SCRIPTS), *ROWS)
    values = json.loads(
        json.dumps(stage_values(measure_stages("overall", one), measure_datasets(one)))
    )

    assert values["overall"]["extraction"]["recall"] == {"value": 2 / 3, "n": 3}
    assert values["overall"]["linking"]["figure"] == 3 / 4
    assert values["overall"]["classification"]["false_alarms"] == 1
    assert values["overall"]["answer_balanced_accuracy"] == {"value": 3 / 4, "n": 4}
    assert values["datasets"]["two"]["product"] is None


def test_thresholds_part_the_claims_by_confidence() -> None:
    """Confidences 0.9, 0.55 (wrong), 0.8, 0.6 (wrong), 0.8 (unknown), 0.9; the unlinked is out."""
    found = escalation(checked(ScriptedJudge(SCRIPTS), *ROWS))
    lenient, middle, strict = found.levels[0], found.levels[2], found.levels[5]

    assert lenient == (0.5, (0.0, 6), (2 / 5, 5), (None, 0))
    assert middle == (0.7, (1 / 3, 6), (0.0, 3), (1.0, 2))
    assert strict == (0.95, (1.0, 6), (None, 0), (2 / 5, 5))
    assert (found.for_share, found.for_error) == (0.6, 0.8)


def test_an_undecided_claim_is_escalated_however_sure_the_judge_is() -> None:
    """As a cascade does."""
    unsure = {"The pool is heated": replace(SCRIPTS["The pool is heated"], final=Label.UNDECIDED)}
    found = escalation(checked(ScriptedJudge(unsure), ROWS[3]))

    assert {level.escalated for level in found.levels} == {(1.0, 1)}
    assert (found.for_share, found.for_error) == (0.0, 1.0)


def test_escalation_is_printed_and_machine_readable() -> None:
    """Six thresholds, two suggestions."""
    found = escalation(checked(ScriptedJudge(SCRIPTS), *ROWS))
    lines = render_escalation(found).splitlines()
    values = json.loads(json.dumps(escalation_values(found)))

    assert lines[3].split() == ["0.70", "0.33", "of", "6", "0.00", "of", "3", "1.00", "of", "2"]
    assert "escalates about 20% of the claims: 0.60" in lines
    assert values["levels"][2]["escalated"] == {"value": 1 / 3, "n": 6}
    assert values["threshold_for_error"] == 0.8
