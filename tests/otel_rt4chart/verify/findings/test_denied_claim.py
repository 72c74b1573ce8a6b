"""The denial of a claim, and the parts that it asserts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.findings.denied_claim import (
    claim_parts,
    deny,
    is_about_other,
    left_uncovered,
)


def found_against(stated: str, other: str) -> list[str]:
    """The kinds of what rules hold against a claim in a passage beside the one that says it."""
    passages = [Passage("p1", stated), Passage("p2", other)]
    report = Verifier(RulesJudge()).verify(Exchange("", passages, stated))
    return [one.kind for one in report.findings if one.name == "cherry_picked"]


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("The drug is safe.", "The drug is not safe."),
        ("The policy covers MRI.", "The policy does not covers MRI."),
        ("Safe drug.", "Safe not drug."),
        ("Safe", "Safe not"),
    ],
)
def test_a_claim_is_denied_at_its_verb(claim: str, denied: str) -> None:
    """For an encoder, which does not mind the grammar."""
    assert deny(claim) == denied


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        ("The policy covers imaging, including MRI.", ("The policy covers MRI.",)),
        ("The policy covers imaging such as MRI and CT.", ("The policy covers MRI.",
                                                           "The policy covers CT.")),
        ("The policy covers imaging.", ()),
        ("Coverage is given for imaging, including MRI.", ()),
        ("He is one of many painters, including Monet.", ()),
        ("Imaging is covered in clinics, including MRI.", ("MRI is covered.",)),
        ("Treatment is covered, including in Peru.", ("Treatment is covered in Peru.",)),
    ],
)  # fmt: skip
def test_examples_that_a_claim_names_are_parts(claim: str, parts: tuple[str, ...]) -> None:
    """Behind a full verb, or of what holds for the whole subject; "is" alone says otherwise."""
    assert claim_parts(claim) == parts


@pytest.mark.parametrize("plan", ["Plus", "Silver", "Gold"])
def test_the_one_who_acts_in_the_passive_is_no_other_subject(plan: str) -> None:
    """ "MRI is not covered by the Plus policy" is about the Plus policy."""
    denial = f"MRI is not covered by the {plan} policy."

    assert not is_about_other(f"The {plan} policy covers MRI.", denial)
    assert is_about_other("The Basic policy covers MRI.", denial)


@given(st.text(max_size=80))
def test_no_text_breaks_them(text: str) -> None:
    """A denial always has "not"; parts are at most four."""
    assert "not" in deny(text)
    assert len(claim_parts(text)) <= 4


@pytest.mark.parametrize(
    ("stated", "other"),
    [
        ("Crete is not served.", "All islands except Crete are served."),
        ("There is no weekly quota on the Max plan.", "The Max plan has no weekly quota."),
        ("Guests who are not residents may not park.", "Only residents may park."),
        ("You can enter without a ticket.", "A ticket is not needed to enter."),
        ("You pay no more than $90 a month.", "You pay $90 a month."),
        ("Staff accrue 24 days of holiday a year.", "Staff accrue 2 days of holiday a month."),
        ("The dose comes to four drops a day.", "The dose is two drops two times a day."),
        ("A booking can be changed 20 minutes later.",
         "A booking can be changed within an hour."),
        ("A bike bought in May 2021 is insured.",
         "A bike bought before 1 July 2021 is insured."),
        ("The hill path is shorter than the valley path.",
         "The valley path is longer than the hill path."),
        ("The evening shift works 6 hours.",
         "The day shift works 8 hours and the evening shift works 6."),
    ],
    ids=["exception", "no", "only", "not needed", "bound denied", "rate", "times", "within",
         "before", "comparison", "two values"],
)  # fmt: skip
def test_what_may_say_the_same_in_other_words_denies_nothing(stated: str, other: str) -> None:
    """A double denial, another unit of time, a bound, a comparison the other way round."""
    assert "contradiction" not in found_against(stated, other)


@pytest.mark.parametrize(
    ("stated", "other"),
    [
        ("You can enter without a ticket.", "You cannot enter without a ticket."),
        ("The trial lasts 14 days.", "The trial lasts 30 days."),
        (
            "You can park within 10 metres of the gate.",
            "You can park within 20 metres of the gate.",
        ),
        ("The plan costs $9 a month.", "The plan costs $12 per month."),
        ("The policy covers outpatient MRI.", "The policy does not cover outpatient MRI."),
    ],
)
def test_a_flat_denial_and_another_value_stand(stated: str, other: str) -> None:
    """The same words with "not", or another value in the same place and unit."""
    assert found_against(stated, other) == ["contradiction"]


@pytest.mark.parametrize(
    ("claim", "sentence", "words"),
    [
        ("The policy covers MRI.", "MRI scans must be paid by members themselves.",
         "must be paid by members"),
        ("The policy covers MRI.", "Imaging procedures, including MRI, are not reimbursed.",
         "are not reimbursed"),
        ("MRI is covered.", "Note: MRI scans are not reimbursed.", "are not reimbursed"),
        ("The policy covers outpatient MRI.", "Dental MRI scans are not reimbursed.", ""),
        ("The policy covers MRI.", "MRI scans must be paid by members' insurers.", ""),
        ("The policy does not cover MRI.", "MRI scans are not reimbursed.", ""),
        ("MRI scans are available.", "MRI scans are not reimbursed.", ""),
    ],
)  # fmt: skip
def test_what_others_pay_for_is_not_covered(claim: str, sentence: str, words: str) -> None:
    """The thing that the claim covers must be what the sentence leaves to others."""
    assert left_uncovered(claim, sentence) == words


@pytest.mark.parametrize(
    "other",
    ["Imaging procedures, including MRI, are not reimbursed.",
     "MRI scans must be paid by members themselves."],
)  # fmt: skip
def test_rules_find_that_a_part_is_not_covered(other: str) -> None:
    """Without a model, and as a limit: it may hold for that part alone."""
    passages = [Passage("p1", "The policy covers outpatient imaging."), Passage("p2", other)]
    answer = "Yes, the policy covers outpatient imaging, including MRI."
    (claim,) = Verifier(RulesJudge()).verify(Exchange("", passages, answer)).claims

    assert claim.status == "cherry_picked"
    assert [(one.relation, one.passage_id) for one in claim.evidence] == [
        ("supports", "p1"),
        ("limits", "p2"),
    ]


@pytest.mark.parametrize(
    ("covered", "other", "answer"),
    [
        ("Physiotherapy prescribed by a doctor is covered.",
         "Massage therapy and osteopathy are not covered, even when prescribed.",
         "Physiotherapy prescribed by a doctor is covered, including osteopathy."),
        ("Hospital stays are covered from the first day.",
         "Private rooms in a hospital are paid by the member.",
         "Hospital stays are covered from the first day, including private rooms."),
    ],
)  # fmt: skip
def test_a_part_of_what_is_covered_is_looked_up_too(covered: str, other: str, answer: str) -> None:
    """The passage that leaves out the part limits the claim; it does not support it."""
    passages = [Passage("p1", covered), Passage("p2", other)]
    (claim,) = Verifier(LocalJudge(threads=1)).verify(Exchange("", passages, answer)).claims

    assert claim.status == "cherry_picked"
    assert [one.relation for one in claim.evidence] == ["supports", "limits"]


@pytest.mark.parametrize(
    ("stated", "other"),
    [
        ("Solo costs 24 euros a month.", "Extra seats cost 4 euros a month each on Solo."),
        ("On Solo it costs 12 euros a month.", "Solo costs 24 euros a month."),
        ("On Solo, an extra seat costs 3 euros a month.", "Solo costs 79 euros a month."),
        (
            "Yearly passes are not refunded for a month that has begun.",
            "Passes bought at a kiosk must be refunded by the kiosk.",
        ),
    ],
    ids=["another subject", "it", "the place of it", "another case"],
)
def test_a_value_of_something_else_denies_nothing(stated: str, other: str) -> None:
    """The words are shared, and stand for two things."""
    assert found_against(stated, other) == []
