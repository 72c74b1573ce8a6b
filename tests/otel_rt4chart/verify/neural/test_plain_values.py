"""Values, limits, arithmetic and converses: true claims in plain sentences and wrong twins."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Exchange, LocalJudge, Passage, Verifier
from otel_rt4chart.verify.core.model import Claim, Label

# A passage, a claim that follows from it, and one that does not.
TWINS = (
    (
        "The library closes at noon on 24 and 31 December.",
        "On 24 December, the library closes at noon.",
        "On 25 December, the library closes at noon.",
    ),
    (
        "The pool is open on 3 and 9 May.",
        "The pool is open on 9 May.",
        "The pool is open on 6 May.",
    ),
    (
        "If a login fails, the door stays locked for 30 seconds.",
        "After a failed login, the door stays locked for 30 seconds.",
        "After a failed login, the door stays locked for 90 seconds.",
    ),
    (
        "The battery is covered for 24 months and the charger for 6.",
        "The charger is covered for 6 months.",
        "The charger is covered for 24 months.",
    ),
    (
        "Adults pay $18 and students pay 9.",
        "Students pay $9.",
        "Students pay $18.",
    ),
    (
        "Night nurses work 36 hours a week and day nurses work 40.",
        "Day nurses have a 40-hour week.",
        "Day nurses have a 36-hour week.",
    ),
    (
        "Parcels of less than 4 kg go by bike.",
        "A parcel of 3 kg goes by bike.",
        "A parcel of 6 kg goes by bike.",
    ),
    (
        "You can return unworn shoes within three weeks of delivery.",
        "Unworn shoes can be returned 12 days after delivery.",
        "Unworn shoes can be returned 30 days after delivery.",
    ),
    (
        "You can return unworn shoes within three weeks of delivery.",
        "Unworn shoes can be returned up to 21 days after delivery.",
        "You have 12 days to return unworn shoes.",
    ),
    (
        "Contracts signed before 1 March 2020 are exempt from the new fee.",
        "A contract signed in May 2019 is exempt from the new fee.",
        "A contract signed in May 2021 is exempt from the new fee.",
    ),
    (
        "Orders placed by 11:30 am are shipped the same day.",
        "An order placed at 10:00 is shipped the same day.",
        "An order placed at 13:00 is shipped the same day.",
    ),
    (
        "Loans of up to 5,000 euros need no guarantor. Bigger loans need one.",
        "A loan of 3,000 euros needs no guarantor.",
        "A loan of 3,000 euros needs a guarantor.",
    ),
    (
        "Loans of up to 5,000 euros need no guarantor. Bigger loans need one.",
        "A loan of 8,000 euros needs a guarantor.",
        "A loan of 8,000 euros needs no guarantor.",
    ),
    (
        "The plan pays up to 90 euros for lenses.",
        "You get at most 90 euros for lenses.",
        "The plan pays 60 euros for lenses.",
    ),
    (
        "Delivery takes 3 to 5 days.",
        "Delivery takes at most 5 days.",
        "Delivery takes 4 days.",
    ),
    (
        "Delivery takes 3 to 5 days.",
        "A parcel arrives within 5 days.",
        "Delivery takes 7 days.",
    ),
    (
        "Take two drops four times a day.",
        "The daily dose is eight drops.",
        "The daily dose is ten drops.",
    ),
    (
        "The tour starts at 13:20 and takes 50 minutes.",
        "The tour ends at 14:10.",
        "The tour ends at 14:40.",
    ),
    (
        "Members earn 2.5 points of credit a month.",
        "Members earn 30 points of credit a year.",
        "Members earn 25 points of credit a year.",
    ),
    (
        "Each crate holds 12 bottles, and a pallet has 40 crates.",
        "A pallet has 480 bottles.",
        "A pallet has 520 bottles.",
    ),
    (
        "The kit costs $30, and delivery costs another $6.",
        "With delivery, the kit costs $36 in total.",
        "With delivery, the kit costs $46 in total.",
    ),
    (
        "Mia lent her bike to Tom.",
        "Tom borrowed Mia's bike.",
        "Mia borrowed Tom's bike.",
    ),
    (
        "The museum sold the painting to a collector.",
        "A collector bought the painting from the museum.",
        "The museum bought the painting from a collector.",
    ),
    (
        "The lake is deeper than the pond.",
        "The pond is shallower than the lake.",
        "The pond is deeper than the lake.",
    ),
    (
        "The Solo plan is cheaper than the Team plan.",
        "Team costs more than Solo.",
        "Solo costs more than Team.",
    ),
    (
        "The gym opens at 7. The pool opens two hours later.",
        "The gym opens earlier than the pool.",
        "The pool opens earlier than the gym.",
    ),
    (
        "Parking is free of charge.",
        "Parking costs nothing.",
        "Parking costs 4 euros.",
    ),
    (
        "The lamp blinks after the cable is plugged in.",
        "The cable is plugged in first, then the lamp blinks.",
        "The lamp blinks first, then the cable is plugged in.",
    ),
    (
        "The shop is open from 9 am to 6:30 pm.",
        "The shop closes at 18:30.",
        "The shop closes at 17:30.",
    ),
    (
        "Each bottle contains 1.5 litres of juice.",
        "A bottle holds 1,500 ml of juice.",
        "A bottle holds 150 ml of juice.",
    ),
    (
        "The train to Basel leaves at 7:40.",
        "The train to Basel departs at 7:40 am.",
        "The train to Basel arrives at 7:40.",
    ),
    (
        "The desk is staffed from Monday to Friday.",
        "On Wednesday the desk is staffed.",
        "On Sunday the desk is staffed.",
    ),
    (
        "No more than 6 people fit into the lift.",
        "At most 6 people fit into the lift.",
        "At least 6 people fit into the lift.",
    ),
    (
        "Children under 12 need a helmet.",
        "A child of 9 needs a helmet.",
        "A child of 14 needs a helmet.",
    ),
    (
        "Children under 12 may not use the slide.",
        "A child of 9 may not use the slide.",
        "A child of 9 may use the slide.",
    ),
    (
        "The fee is $12 per month.",
        "The fee is $144 a year.",
        "The fee is $12 a year.",
    ),
    (
        "The museum won the case against the city.",
        "The city lost the case against the museum.",
        "The city won the case against the museum.",
    ),
    (
        "Premium users can store up to 50 GB.",
        "Premium users can store 20 GB.",
        "Premium users can store 80 GB.",
    ),
    (
        "Backups run nightly at 02:00 UTC and are kept for 30 days.",
        "Backups are deleted after 30 days.",
        "Backups are deleted after 90 days.",
    ),
    (
        "Take one tablet twice a day after meals for seven days.",
        "Take one tablet two times a day after eating, for a week.",
        "Take one tablet twice a day after meals for a month.",
    ),
    (
        "Python 3.8 is no longer supported; use 3.9 or later.",
        "You need at least Python 3.9.",
        "Python 3.8 is supported.",
    ),
    (
        "The train leaves at 8:15 and arrives at 10:45.",
        "The train arrives at 10:45.",
        "The train arrives at 8:15.",
    ),
    (
        "Revenue grew from $4.0 million in 2023 to $5.0 million in 2024.",
        "Revenue was $5.0 million in 2024.",
        "Revenue was $5.0 million in 2023.",
    ),
    (
        "In 2022 the firm had a loss of 2 million euros and in 2023 a profit of 1 million euros.",
        "In 2022 the firm had a loss of 2 million euros.",
        "In 2022 the firm had a profit of 2 million euros.",
    ),
    (
        "Damaged goods are replaced instead of refunded.",
        "Damaged goods are replaced.",
        "Damaged goods are refunded.",
    ),
    (
        "Lithium batteries are not allowed in checked luggage but can be carried in hand luggage.",
        "Lithium batteries can be carried in hand luggage.",
        "Lithium batteries can be packed in checked luggage.",
    ),
    (
        "The battery is built in and cannot be removed.",
        "The battery is not removable.",
        "The battery is removable.",
    ),
    (
        "Claims must be filed within 30 days of the accident.",
        "A claim filed 10 days after the accident is in time.",
        "A claim may be filed 45 days after the accident.",
    ),
)


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    """With the embedded judge, on one thread."""
    return Verifier(LocalJudge(threads=1))


def judged(verifier: Verifier, passage: str, claim: str) -> Claim:
    """The claim as a whole answer."""
    (found,) = verifier.verify(Exchange("", [Passage("p", passage)], claim)).claims
    return found


@pytest.mark.parametrize(("passage", "claim", "_"), TWINS)
def test_what_follows_is_never_called_wrong(
    verifier: Verifier, passage: str, claim: str, _: str
) -> None:
    """Entailed, or undecided where the judge cannot know."""
    found = judged(verifier, passage, claim)

    assert not found.label.is_unfaithful, found.reason


@pytest.mark.parametrize(("passage", "_", "claim"), TWINS)
def test_what_does_not_follow_is_never_called_supported(
    verifier: Verifier, passage: str, claim: str, _: str
) -> None:
    """Its twin differs from it in one value, one word or the order."""
    assert judged(verifier, passage, claim).label is not Label.ENTAILED
