"""What leaving out a step changes, and what asking every chunk does, on the paper's example."""

from __future__ import annotations

from collections import Counter

import pytest

from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Exchange, Label, Passage, Report, RulesJudge, Verifier
from otel_rt4chart.verify.stages.options import PipelineStep
from tests.otel_rt4chart.verify.test_pipeline import SCRIPTS
from tests.running_example import ANSWER, POLICY

CON, ENT, NIC = Label.CONTRADICTED, Label.ENTAILED, Label.BASELESS
EXCHANGE = Exchange("What does the trial offer?", [Passage("p1", POLICY)], ANSWER)
Calls = list[tuple[str, int, tuple[str, ...]]]


def run(*left_out: str, exhaustive: bool = False, window: int = 3) -> tuple[Report, Calls]:
    """The report on the paper's example in three chunks, and what the judge was asked."""
    judge = ScriptedJudge(SCRIPTS)
    steps = [PipelineStep(name) for name in left_out]
    verifier = Verifier(judge, window=window, overlap=1, left_out=steps, exhaustive=exhaustive)
    return verifier.verify(EXCHANGE), judge.calls


def kinds(calls: Calls) -> Counter[str]:
    """How often each step was asked."""
    return Counter(kind for kind, *_ in calls)


def test_without_the_local_step_no_chunk_is_asked_and_there_is_no_local_label() -> None:
    """One question on the whole context, without a hint."""
    report, calls = run("local")

    assert [call[:2] for call in calls] == [("resolve", -1)]
    assert {claim.local_label for claim in report.claims} == {None}
    assert [claim.label for claim in report.claims] == [CON, CON, ENT, ENT, NIC]


def test_without_the_global_step_the_chunks_decide() -> None:
    """The claim whose evidence is spread over chunks is baseless, as Table 1 says."""
    report, calls = run("global")

    assert kinds(calls) == {"assess": 3}
    assert [claim.label for claim in report.claims] == [CON, CON, ENT, NIC, NIC]
    assert [claim.local_label for claim in report.claims] == [CON, CON, ENT, NIC, NIC]
    assert [one.text for one in report.claims[2].evidence] == ["The free trial lasts 14 days."]


def test_without_the_global_step_a_single_chunk_is_asked() -> None:
    """Otherwise nothing would be judged."""
    report, calls = run("global", window=25)

    assert [call[:2] for call in calls] == [("assess", 0)]
    assert report.claims[0].label is CON


def test_without_hints_the_global_step_is_asked_once_and_told_nothing() -> None:
    """The local step runs all the same."""
    report, calls = run("hints")

    assert kinds(calls) == {"assess": 3, "resolve": 1}
    assert calls[-1][1] == -1
    assert [claim.local_label for claim in report.claims] == [CON, CON, ENT, NIC, NIC]


def test_without_the_evidence_step_a_bare_label_stands() -> None:
    """It is not asked about again, and not made baseless."""
    judge = ScriptedJudge({"The trial lasts a week": Script(ENT)})
    bare = Exchange("", [Passage("p", "The trial lasts a week.")], "The trial lasts a week")

    held = Verifier(judge, scanner=RulesJudge()).verify(bare).claims[0]
    asked, judge.calls = len(judge.calls), []
    left_out = [PipelineStep.EVIDENCE]
    stands = Verifier(judge, scanner=RulesJudge(), left_out=left_out).verify(bare).claims[0]

    assert (held.label, held.reason, asked) == (NIC, "no_evidence", 2)
    assert (stands.label, stands.evidence, len(judge.calls)) == (ENT, (), 1)


def test_without_decomposition_each_sentence_is_one_claim() -> None:
    """The judge is not asked to split, so it is asked about the sentence as it stands."""
    whole = "The pool is heated and dogs are welcome."
    judge = ScriptedJudge(
        {
            whole: Script(NIC),
            "The pool is heated": Script(ENT, evidence=("heated",)),
            "dogs are welcome": Script(NIC),
        }
    )
    exchange = Exchange("", [Passage("p", "The pool is heated.")], whole)

    report = Verifier(judge, left_out=[PipelineStep.DECOMPOSITION]).verify(exchange)

    assert [claim.text for claim in report.claims] == [whole]
    assert judge.calls == [("resolve", -1, (whole,))]


def test_exhaustive_asks_every_chunk_about_every_claim() -> None:
    """Three chunks and five claims, of which one has no word of the third chunk."""
    _, fewer = run()
    report, calls = run(exhaustive=True)

    assert [len(claims) for kind, _, claims in fewer if kind == "assess"] == [5, 5, 4]
    assert [len(claims) for kind, _, claims in calls if kind == "assess"] == [5, 5, 5]
    assert [claim.label for claim in report.claims] == [CON, CON, ENT, ENT, NIC]


def test_exhaustive_asks_a_single_chunk_too() -> None:
    """So every claim has a local label that a chunk gave it."""
    report, calls = run(exhaustive=True, window=25)

    assert next(call[0] for call in calls) == "assess"
    assert None not in {claim.local_label for claim in report.claims}


def test_exhaustive_lets_no_link_decide_a_claim() -> None:
    """A claim like no sentence is asked about, on every chunk and on the whole."""
    odd = "Zebras sing"
    judge = ScriptedJudge({odd: Script(NIC), "The pool is heated": Script(ENT, evidence=("pool",))})
    exchange = Exchange("", [Passage("p", "The pool is heated.")], f"The pool is heated. {odd}")

    linked = Verifier(judge).verify(exchange).claims[1]
    asked = Verifier(judge, exhaustive=True).verify(exchange).claims[1]

    assert (linked.decided_by, linked.local_label) == ("link", None)
    assert (asked.decided_by, asked.local_label) == (judge.id, NIC)


def test_a_pipeline_without_both_steps_is_refused() -> None:
    """Nothing would give a label."""
    with pytest.raises(ValueError, match="expected the local or the global step to stay"):
        run("local", "global")
