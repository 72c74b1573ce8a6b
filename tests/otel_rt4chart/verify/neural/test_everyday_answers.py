"""Answers on travel, insurance, software, medicine and work: right, misleading and wrong ones."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
from otel_rt4chart.verify.core.model import ClaimStatus

FARES = "Seats can be chosen at booking on Flex fares only. Refunds are paid within 7 to 10 days."
DENTAL = "Orthodontic treatment is covered at 50 percent for members under 18."
TOKENS = "Access tokens expire after 60 minutes and refresh tokens after 30 days."
VACCINE = "Protection starts two to three weeks after the injection."
WORK = "Employees may work from home up to three days a week with the approval of their manager."
OVERTIME = "Overtime is paid at 125 percent on weekdays and 150 percent on Sundays."
SUPPORT = "An upgrade is active at once; a downgrade takes effect with the next invoice."
HOTEL = "Breakfast is included for guests in suites."


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    """With the embedded judge, on one thread."""
    return Verifier(LocalJudge(threads=1))


def judged(verifier: Verifier, passage: str, answer: str) -> tuple[ClaimStatus, str]:
    """The status of an answer that is one claim, and the reason."""
    (claim,) = verifier.verify(Exchange("", [Passage("p1", passage)], answer)).claims
    return claim.status, claim.reason


@pytest.mark.parametrize(
    ("passage", "answer", "words"),
    [
        (FARES, "Seats can be chosen at booking.", "on Flex fares only"),
        (DENTAL, "Orthodontic treatment is covered at 50 percent.", "for members under 18"),
        (WORK, "Employees may work from home up to three days a week.",
         "with the approval of their manager"),
        (HOTEL, "Breakfast is included.", "for guests in suites"),
    ],
)  # fmt: skip
def test_an_answer_without_its_condition_misleads(
    passage: str, answer: str, words: str, verifier: Verifier
) -> None:
    """Each word of it is in the passage."""
    assert judged(verifier, passage, answer) == (
        ClaimStatus.QUALIFIER_DROPPED,
        f"the passage says “{words}”, the answer does not",
    )


@pytest.mark.parametrize(
    ("passage", "answer", "reason"),
    [
        (FARES, "Refunds are paid within 2 to 3 days.",
         "“2 to 3 days” in the answer, “7 to 10 days” in passage p1"),
        (VACCINE, "Protection starts five to six weeks after the injection.",
         "“five to six weeks” in the answer, “two to three weeks” in passage p1"),
    ],
)  # fmt: skip
def test_a_wrong_range_is_contradicted_as_one_value(
    passage: str, answer: str, reason: str, verifier: Verifier
) -> None:
    """The reason sets the whole of it against the passage's."""
    assert judged(verifier, passage, answer) == (ClaimStatus.CONTRADICTED, reason)


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        (TOKENS, "Refresh tokens expire after 60 minutes."),
        (OVERTIME, "Overtime is paid at 125 percent on Sundays."),
        (SUPPORT, "A downgrade is active at once."),
    ],
)
def test_what_the_passage_says_of_another_subject_is_not_supported(
    passage: str, answer: str, verifier: Verifier
) -> None:
    """All words of the answer are in the passage."""
    assert judged(verifier, passage, answer)[0] in (
        ClaimStatus.UNDECIDED,
        ClaimStatus.CONTRADICTED,
    )


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        ("New employees have a probation period of six months.",
         "Only new employees have a probation period."),
        ("Files are scanned when they are uploaded.",
         "Files are scanned as soon as they are uploaded."),
        ("The test is free for people over 50.", "The test is free for people over 50 only."),
    ],
)  # fmt: skip
def test_words_that_no_passage_denies_contradict_nothing(
    passage: str, answer: str, verifier: Verifier
) -> None:
    """ "Only" and "as soon as" say more than the passage, not something else."""
    assert judged(verifier, passage, answer)[0] is not ClaimStatus.CONTRADICTED
