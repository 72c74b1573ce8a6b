"""Modifiers are found by where they stand in a sentence that says the rest of the claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.findings.modifiers import modifiers_left_out


@pytest.mark.parametrize(
    ("sentence", "claim", "kind", "text"),
    [
        ("In adults, the drug is safe.", "The drug is safe.", "population", "In adults"),
        ("And in adults, the drug is safe.", "The drug is safe.", "population", "And in adults"),
        ("Parking is free until noon.", "Parking is free.", "time_limit", "until noon"),
        (
            "Assuming a doctor ordered it, MRI is covered.",
            "MRI is covered.",
            "condition",
            "Assuming a doctor ordered it",
        ),
        ("MRI is covered, scans of the knee aside.", "MRI is covered.", "exclusion",
         "scans of the knee aside"),
        ("Parts are covered save the battery.", "Parts are covered.", "exclusion",
         "save the battery"),
        ("Sessions are paid to a ceiling of 500 euros.", "Sessions are paid.", "bound",
         "to a ceiling of 500 euros"),
        ("The plan pays for glasses for small children.", "The plan pays for glasses.",
         "population", "for small children"),
        ("Employees in Berlin can stay home.", "Employees can stay home.", "population",
         "Employees in Berlin"),
        ("Retired members get dental care.", "Members get dental care.", "population",
         "Retired members"),
        ("A small majority of customers prefer email.", "Customers prefer email.", "quantifier",
         "A small majority of customers"),
        ("The merger is expected to close.", "The merger will close.", "hedge", "is expected to"),
        ("An aide alleged that the mayor took bribes.", "The mayor took bribes.", "source",
         "An aide alleged that"),
        ("According to its maker, it is the fastest phone.", "It is the fastest phone.", "source",
         "According to its maker"),
        ("It is the fastest phone, according to the maker.", "It is the fastest phone.", "source",
         "according to the maker"),
        ("Theft of bicycles from a locked garage is covered.", "Theft of bicycles is covered.",
         "population", "Theft of bicycles from a locked garage"),
        ("Theft of bicycles from a locked garage is covered.", "Bicycle theft is covered.",
         "population", "Theft of bicycles from a locked garage"),
        ("Damage from floods is covered.", "Damage is covered.", "population",
         "Damage from floods"),
        ("Items bought on sale can be returned.", "Items can be returned.", "population",
         "Items bought on sale"),
        ("Members over 65 can use the pool.", "Members can use the pool.", "population",
         "Members over 65"),
        ("Admission is free for members over 65.", "Admission is free.", "population",
         "for members over 65"),
        ("Roaming is free in the EU.", "Roaming is free.", "place", "in the EU"),
        ("Delivery is free inside the EU.", "Delivery is free.", "place", "inside the EU"),
        ("Braces are covered at 50 percent for members under 18.",
         "Braces are covered at 50 percent.", "population", "for members under 18"),
        ("Breakfast is included for guests in suites.", "Breakfast is included.", "population",
         "for guests in suites"),
        ("New Gold and Silver members get a free lesson.", "New members get a free lesson.",
         "population", "New Gold and Silver members"),
        ("Seats can be chosen at booking on Flex fares only.", "Seats can be chosen at booking.",
         "eligibility", "on Flex fares only"),
        ("The export is open to administrators only.", "The export is open.", "eligibility",
         "to administrators only"),
        ("Overtime is paid at 125 percent on weekdays and 150 percent on Sundays.",
         "Overtime is paid at 150 percent.", "population", "on Sundays"),
        ("Help comes within 1 hour for outages and within 4 hours for other questions.",
         "Help comes within 1 hour.", "population", "for outages"),
        ("In Germany, roaming is free.", "Roaming is free.", "place", "In Germany"),
        ("The policy covers theft in Germany.", "The policy covers theft.", "place", "in Germany"),
        ("Dogs are allowed on the beach.", "Dogs are allowed.", "place", "on the beach"),
        ("Dental care is covered up to $500 a year.", "Dental care is covered.", "bound",
         "up to $500 a year"),
        ("Hotels are reimbursed at 80 percent.", "Hotels are reimbursed.", "bound",
         "at 80 percent"),
        ("Parking is free on weekdays.", "Parking is free.", "time_limit", "on weekdays"),
        ("The discount applies until March 31.", "The discount applies.", "time_limit",
         "until March 31"),
        ("Returns are accepted with a receipt.", "Returns are accepted.", "condition",
         "with a receipt"),
        ("MRI is not covered without a referral.", "MRI is not covered.", "condition",
         "without a referral"),
    ],
)  # fmt: skip
def test_each_place_of_a_modifier_is_known(sentence: str, claim: str, kind: str, text: str) -> None:
    """The words are those of the sentence."""
    assert (kind, text) in [(one.kind, one.text) for one in modifiers_left_out(sentence, claim)]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("The museum, which stands by the river, opened in 1985.", "The museum opened in 1985."),
        ("In 1998, Anna founded the company.", "Anna founded the company."),
        ("The trial lasts 14 days and includes support.", "The trial lasts 14 days."),
        ("In addition, the trial lasts 14 days.", "The trial lasts 14 days."),
        ("The store closes in May.", "The store closes."),
        ("The route may be long, and it is safe.", "The route is safe."),
        ("The gym opens at nine in the old mill.", "The gym opens at nine."),
        ("Anna Berg of Oslo leads the firm.", "Anna Berg leads the firm."),
        ("In adults, the drug is safe.", "The pool is heated."),
        (
            "Flow keeps plans and files in one place, making it the ideal partner for Elm Designs.",
            "Flow keeps plans and files in one place, making it the ideal partner.",
        ),
        (
            "Flow keeps plans in one place, making it a perfect partner for small shops.",
            "Flow keeps plans in one place, making it a perfect partner.",
        ),
        (
            "The lodge has six rooms, which makes it a quiet retreat for large families.",
            "The lodge has six rooms, which makes it a quiet retreat.",
        ),
        ("The plan pays for glasses for Elm Stores.", "The plan pays for glasses."),
        ("The kit is a fine present for small children.", "The kit is a fine present for anyone."),
        # Events: a date or a place is a detail.
        ("The crossing will be opened on 9 June.", "The crossing will be opened."),
        ("The minister has been in Wales since May.", "The minister has been in Wales."),
        ("The new store is open in Leeds.", "The new store is open."),
        ("Employees get a bonus in December.", "Employees get a bonus."),
        ("The player is eligible to face Elm United on Saturday.",
         "The player is eligible to face Elm United."),
        # There are some: it stays true of more.
        ("Braces are covered at 50 percent only.", "Braces are covered at 50 percent only."),
        ("Adults take 2 tablets for fever.", "Adults take 2 tablets."),
        ("Overtime is paid at 125 percent on weekdays and 150 percent on Sundays.",
         "Overtime is paid at 150 percent on Sundays."),
        ("Overtime is paid at 125 percent on weekdays and 150 percent on Sundays.",
         "Overtime is paid at 125 or 150 percent."),
        ("Rooms are available for families.", "Rooms are available."),
        ("Cells can be stored for a few days.", "Cells can be stored."),
        ("The boxes can be used for babies to sleep in.", "The boxes can be used."),
        # What the passage is about anyway.
        ("Customers of the bank get a free upgrade.", "Customers get a free upgrade."),
        ("The museum on the river bank is open daily.", "The museum is open daily."),
        ("MRI is covered under the policy.", "MRI is covered."),
        # Wider, not narrower.
        ("Massages are free without an appointment.", "Massages are free."),
        ("Parking is free on weekdays and weekends.", "Parking is free."),
        ("Travel is free, even on weekends.", "Travel is free."),
        ("Entry is free at all times.", "Entry is free."),
        ("Admission is free for members and non-members.", "Admission is free."),
        # Reasons, means, other senses.
        ("The drug is effective for several reasons.", "The drug is effective."),
        ("Orders are paid by card.", "Orders are paid."),
        ("The roof is covered with snow.", "The roof is covered."),
        ("The warranty covers labour but not shipping.", "Labour is covered by the warranty."),
        # A permission is no doubt, a public source no interested one.
        ("Employees may work from home.", "Working from home is allowed."),
        ("According to the agency, the flu shot is safe.", "The flu shot is safe."),
        ("Residents accuse the mill of theft.", "Residents say that the mill is guilty of theft."),
    ],
)  # fmt: skip
def test_a_detail_is_no_restriction(sentence: str, claim: str) -> None:
    """An answer may be shorter than its source."""
    assert list(modifiers_left_out(sentence, claim)) == []


@given(st.text(max_size=120), st.text(max_size=60))
def test_no_text_breaks_the_search(sentence: str, claim: str) -> None:
    """What is left out is in the sentence; a sentence leaves nothing of itself out."""
    assert all(one.text in sentence for one in modifiers_left_out(sentence, claim))
    assert list(modifiers_left_out(sentence, sentence)) == []
