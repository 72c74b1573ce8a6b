"""The embedded judge: the models that are installed, not stand-ins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
from otel_rt4chart.verify.core.judge import ModelJudge
from otel_rt4chart.verify.core.model import AnswerRange, Claim, DraftClaim, Judgement, Label
from otel_rt4chart.verify.neural.local_judge import HEADS_FILE
from otel_rt4chart.verify.text.segment import segment
from rt4chart_models import folder as model_folder

PASSAGES = (
    "The free trial lasts 30 days for verified new users. Verification is required.",
    "Dr. Okafor examined the patient on Monday. Revenue rose to $3.2 million in 2021.",
    "Out-of-network clinics are not covered by the basic plan.",
)
MOST_MIB = 400
COLD = """
import re
from pathlib import Path
from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
text = "The pool is heated. " * 400
report = Verifier(LocalJudge()).verify(Exchange("", [Passage("p", text)], "The pool is cold."))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(report.claims[0].label, int(peak[1]) // 1024)
"""


@pytest.fixture(scope="module")
def judge() -> LocalJudge:
    """On one thread."""
    return LocalJudge(threads=1)


def claim_of(judge: LocalJudge, answer: str) -> Claim:
    """The only claim of an answer, verified against the passages."""
    passages = [Passage(f"p{number}", text) for number, text in enumerate(PASSAGES, start=1)]
    (claim,) = Verifier(judge).verify(Exchange("", passages, answer)).claims
    return claim


@pytest.mark.parametrize(
    ("answer", "label", "told"),
    [
        ("The free trial lasts 30 days.", Label.ENTAILED, ""),
        ("New users who are verified have a free trial of 30 days.", Label.ENTAILED, ""),
        ("The free trial lasts 14 days.", Label.CONTRADICTED, "14 days"),
        ("Out-of-network clinics are covered by the basic plan.", Label.CONTRADICTED, "covered"),
        ("Revenue fell to $3.2 million in 2021.", Label.CONTRADICTED, "fell"),
        ("The trial includes priority email support.", Label.BASELESS, "priority"),
    ],
)
def test_plain_cases_are_told_apart_and_in_words(
    judge: LocalJudge, answer: str, label: Label, told: str
) -> None:
    """What a reader sees at a glance, and which words make it so."""
    claim = claim_of(judge, answer)

    assert claim.label is label
    assert told in claim.reason
    assert (label is Label.BASELESS) == (claim.evidence == ())


def test_a_contradiction_names_both_values_and_the_passage(judge: LocalJudge) -> None:
    """The answer's range is the value itself, and the evidence is the sentence that denies it."""
    claim = claim_of(judge, "The free trial lasts 14 days.")

    assert "“14 days” in the answer, “30 days” in passage p1" in claim.reason
    assert claim.answer_range == AnswerRange(21, 28)
    assert [(one.passage_id, one.relation) for one in claim.evidence] == [("p1", "contradicts")]


def judged(judge: LocalJudge, *claims: str) -> list[Judgement]:
    """Claims that are judged in one call."""
    drafts = [DraftClaim(text, 0, AnswerRange(0, len(text))) for text in claims]
    return list(judge.resolve(drafts, segment(" ".join(PASSAGES)), hint=None, question=""))


def test_a_claim_is_judged_the_same_whatever_is_judged_beside_it(judge: LocalJudge) -> None:
    """In any order, and again."""
    texts = ["The trial lasts 14 days.", "Revenue rose in 2021.", "The pool is heated."]

    together = judged(judge, *texts)

    assert together == [judged(judge, text)[0] for text in texts]
    assert together == judged(judge, *texts[::-1])[::-1]


def test_a_claim_too_long_to_be_read_is_undecided(judge: LocalJudge) -> None:
    """Nothing of it is left out silently."""
    (judgement,) = judged(judge, "The trial lasts " + "very " * 300 + "long.")

    assert judgement.label is Label.UNDECIDED
    assert "too long" in judgement.reason


def test_it_is_asked_about_claims_that_share_no_word_with_the_passages(judge: LocalJudge) -> None:
    """It reads meaning: the pipeline must not settle them by words."""
    assert isinstance(judge, ModelJudge)


def test_the_id_tells_one_set_of_heads_from_another(judge: LocalJudge, tmp_path: Path) -> None:
    """Another threshold gives other verdicts."""
    copied = shutil.copytree(model_folder(), tmp_path / "models")
    assert LocalJudge(copied).id == judge.id

    fitted = json.loads((copied / HEADS_FILE).read_text())
    fitted["unfaithful"]["threshold"] = 0.123
    (copied / HEADS_FILE).write_text(json.dumps(fitted))

    assert LocalJudge(copied).id != judge.id


@pytest.mark.parametrize(
    "head",
    [None, "{", "[]", '{"unfaithful": {}}', '{"unfaithful": {"weights": {"of_tomorrow": 1.0}}}'],
)
def test_heads_of_another_version_are_refused(head: str | None, tmp_path: Path) -> None:
    """The error says what to install."""
    copied = shutil.copytree(model_folder(), tmp_path / "models")
    if head is None:
        (copied / HEADS_FILE).unlink()
    else:
        (copied / HEADS_FILE).write_text(head)

    with pytest.raises(SettingsError, match=r"head\.json.*rt4chart-models of the same version"):
        LocalJudge(copied)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is not told here")
def test_a_process_of_its_own_needs_little_memory() -> None:
    """From the start to the first verdict on a long passage."""
    out = subprocess.run(
        [sys.executable, "-c", COLD],
        capture_output=True, text=True, check=True, timeout=120, env=os.environ | {},
    )  # fmt: skip
    label, mebibytes = out.stdout.split()

    assert label == "contradicted"
    assert int(mebibytes) < MOST_MIB
