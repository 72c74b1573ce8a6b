"""May, can, should, must and tenses: a claim that says more than its passage is not supported."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import LocalJudge, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Passage

ENTAILED = AnswerLabel.ENTAILED
RULES = Verifier(RulesJudge())


@pytest.fixture(scope="module", params=["rules", "local"])
def verifier(request: pytest.FixtureRequest) -> Verifier:
    """Each judge that works without a key."""
    return Verifier(LocalJudge(threads=1)) if request.param == "local" else RULES


def label(verifier: Verifier, passage: str, claim: str) -> AnswerLabel:
    """The verdict on a claim beside one passage."""
    return verifier.verify(Exchange("", [Passage("p", passage)], claim)).label


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("You may receive a bonus.", "You will receive a bonus."),
        ("We may share your data with partners.", "We share your data with partners."),
        ("The account could be suspended.", "The account is suspended."),
        ("Guests should carry an ID.", "Guests must carry an ID."),
        ("We recommend a helmet.", "We require a helmet."),
        ("Parents are advised to stay.", "Parents are required to stay."),
        ("Members can invite a friend.", "Members must invite a friend."),
        ("Drivers can refuse a trip.", "Drivers have to refuse a trip."),
        ("Subscribers can pause the plan.", "Subscribers will pause the plan."),
        ("Students are allowed to use a map.", "Students are required to use a map."),
        ("The library plans to open on Sundays.", "The library opens on Sundays."),
        ("The shop used to accept cheques.", "The shop accepts cheques."),
        ("Your deposit will be returned.", "Your deposit has been returned."),
        ("The store will close on June 1.", "The store closed on June 1."),
        ("Your order is ready to be shipped.", "Your order has been shipped."),
        ("Your claim is being reviewed.", "Your claim has been reviewed."),
        ("The concert was postponed.", "The concert will be postponed."),
        ("You were insured.", "You are insured."),
        ("The reunion is planned for June.", "The reunion took place in June."),
        ("The new portal will open soon.", "The new portal is open now."),
        ("Your luggage should arrive on Friday.", "Your luggage arrived on Friday."),
    ],
)
def test_a_stronger_claim_is_never_supported(verifier: Verifier, passage: str, claim: str) -> None:
    """What may be is not yet so, what one should do is no duty, and a plan is no event."""
    assert label(verifier, passage, claim) is not ENTAILED
    assert label(verifier, passage, passage) is ENTAILED


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("You may receive a bonus.", "You might receive a bonus."),
        ("We may share your data with partners.", "Your data may be shared with partners."),
        ("Guests must carry an ID.", "Guests have to carry an ID."),
        ("Guests must carry an ID.", "Guests are required to carry an ID."),
        ("We recommend a helmet.", "A helmet is recommended."),
        ("Members can invite a friend.", "Members are allowed to invite a friend."),
        ("Members may invite a friend.", "Members can invite a friend."),
        ("Tickets can be exchanged until Friday.", "You can exchange tickets until Friday."),
        ("The fee will be charged at the end.", "The fee is charged at the end."),
        ("Interest is paid monthly.", "Interest will be paid monthly."),
        ("The store will close on June 1.", "The store is going to close on June 1."),
        ("The vote was held in May.", "The vote took place in May."),
        ("The concert was postponed.", "The concert has been postponed."),
        ("The app works offline.", "You can use the app offline."),
        ("Back up your files.", "You should back up your files."),
    ],
)
def test_the_same_force_in_other_words_is_not_doubted(passage: str, claim: str) -> None:
    """A weaker claim, and another word for the same, follow from the passage."""
    assert label(RULES, passage, claim) is ENTAILED
