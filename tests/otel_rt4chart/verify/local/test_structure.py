"""Structural doubt: which claims that share their words with a passage are left undecided."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Judgement, Label, Passage
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.comparison import StructuralDoubt
from otel_rt4chart.verify.local.features import ClaimReading, read_claim
from otel_rt4chart.verify.local.structure import doubt_entailed, find_doubt
from otel_rt4chart.verify.text.segment import segment_passages

PASSAGES = (
    "You must register your trip at least three days before you travel.",
    "Novak voted against the closure.",
    "The plan pays up to $200 for glasses each year.",
    "All countries except Norway are served.",
    "A is faster than B.",
    "Savings accounts earn more interest than current accounts.",
    "Anna sold her car to Ben.",
    "The store opens at 9 am and closes at 6 pm.",
    "The deductible is $500 for one person and $1,200 for a family.",
    "Alice founded it in 1999.",
    "Bob became CEO in 2010.",
    "Shipping costs 5 dollars.",
    "It was not the first in space, but it is one of the largest telescopes.",
    "Keys of service accounts do not expire.",
    "The dealer sends the device to the manufacturer.",
)


def read(claim: str, *passages: str) -> ClaimReading:
    """A claim beside some sentences."""
    return read_claim(read_slots(claim), read_context(passages))


def doubt(claim: str, *passages: str) -> tuple[str, str] | None:
    """The two phrases of the doubt, the claim's first."""
    found = find_doubt(read(claim, *passages))
    return (found.claimed, found.found) if found else None


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        (
            "Your trip must be registered at least three days after you travel.",
            "You must register your trip at least three days before you travel.",
            ("after you travel", "before you travel"),
        ),
        (
            "Novak voted for the closure.",
            "Novak voted against the closure.",
            ("for the closure", "against the closure"),
        ),
        (
            "The dealer gets the device from the manufacturer.",
            "The dealer sends the device to the manufacturer.",
            ("from the manufacturer", "to the manufacturer"),
        ),
        (
            "You get at least $200 a year for glasses.",
            "The plan pays up to $200 for glasses each year.",
            ("at least $200", "up to $200"),
        ),
        (
            "Norway is served.",
            "All countries except Norway are served.",
            ("Norway", "except Norway"),
        ),
        (
            "Implants are covered.",
            "All dental treatment is covered, with the exception of implants.",
            ("Implants", "with the exception of implants"),
        ),
        ("B is faster than A.", "A is faster than B.",
         ("B is faster than A", "A is faster than B")),
        (
            "Current accounts earn more interest than savings accounts.",
            "Savings accounts earn more interest than current accounts.",
            (
                "Current accounts earn more interest than savings accounts",
                "Savings accounts earn more interest than current accounts",
            ),
        ),
        ("Ben sold his car to Anna.", "Anna sold her car to Ben.",
         ("Ben sold his car to Anna", "Anna sold her car to Ben")),
        (
            "Tesla was acquired by SolarCity.",
            "Tesla acquired SolarCity.",
            ("Tesla was acquired by SolarCity", "Tesla acquired SolarCity"),
        ),
        (
            "YouTube bought Google in 2006.",
            "In 2006, YouTube was acquired by Google for 1.65 billion dollars.",
            ("YouTube bought Google", "YouTube was acquired by Google"),
        ),
        (
            "The population tripled between 1990 and 2010.",
            "The population rose from 1.2 million in 1990 to 2.4 million in 2010.",
            ("tripled", "1.2 million in 1990 to 2.4 million"),
        ),
        (
            "A backup is made every hour.",
            "A backup is made daily at 2 am.",
            ("every hour", "daily"),
        ),
        (
            "Waiting times have halved.",
            "Waiting times fell from 40 to 30 minutes.",
            ("halved", "40 to 30 minutes"),
        ),
        (
            "The store opens at 6 pm.",
            "The store opens at 9 am and closes at 6 pm.",
            ("store opens at 6 pm", "closes at 6 pm"),
        ),
        (
            "A family has a deductible of $500.",
            "The deductible is $500 for one person and $1,200 for a family.",
            ("family has a deductible of $500", "$500 for one person"),
        ),
        (
            "The guarantee on the paint runs for 10 years.",
            "The engine is guaranteed for 10 years and the paint for 3.",
            ("paint runs for 10 years", "engine is guaranteed for 10 years"),
        ),
        (
            "Keys of service accounts expire after 180 days.",
            "Keys of service accounts do not expire.",
            ("expire", "not expire"),
        ),
        ("Shipping is free.", "Shipping costs 5 dollars.", ("is free", "5 dollars")),
        ("Mia borrowed Tom's bike.", "Mia lent her bike to Tom.", ("borrowed", "lent")),
        ("Tom is younger than Lea.", "Tom is older than Lea.", ("younger", "older")),
        (
            "First pour in the milk, then warm the cup.",
            "Warm the cup before you pour in the milk.",
            ("First pour in the milk, then warm the cup",
             "Warm the cup before you pour in the milk"),
        ),
        ("At least 6 people fit in.", "No more than 6 people fit in.",
         ("At least 6 people", "No more than 6 people")),
        ("The store opens at 7:30 pm.", "The store opens at 9:15 am and closes at 7:30 pm.",
         ("store opens at 7:30 pm", "closes at 7:30 pm")),
        (
            "It is the largest space telescope ever built.",
            "It was not the first telescope in space, but it is one of the largest.",
            ("largest", "one of the largest"),
        ),
        (
            "The free trial lasts 30 days.",
            "Index: trial, free, lasts, days, refund, 30, support.",
            ("free trial", "free"),
        ),
        (
            "Anna Weber met Jonas Braun.",
            "Anna Schmidt met Peter Braun and Maria Weber met Jonas Klein.",
            ("Anna Weber", "Anna Schmidt"),
        ),
    ],
)  # fmt: skip
def test_a_structure_between_claim_and_passage_is_named(
    claim: str, passage: str, expected: tuple[str, str]
) -> None:
    """The doubt has the two phrases that show it."""
    assert doubt(claim, passage) == expected


def test_a_predicate_of_another_subject_is_named() -> None:
    """Bob stands in one sentence, and what the claim says of him in Alice's."""
    found = doubt(
        "Bob founded the company in 1999.", "Alice founded it in 1999.", "Bob became CEO in 2010."
    )

    assert found == ("Bob founded", "Alice founded")


@pytest.mark.parametrize(
    ("claim", "passages", "expected"),
    [
        (
            "A downgrade takes effect at once.",
            [
                "An upgrade takes effect at once.",
                "A downgrade takes effect at the next renewal.",
            ],
            ("A downgrade takes effect at once", "An upgrade takes effect at once"),
        ),
        (
            "Version 5 runs on Java 11.",
            ["Version 5 needs Java 17; version 4 runs on Java 11."],
            ("Version 5 runs on Java 11", "version 4 runs on Java 11"),
        ),
        (
            "Members with a gold card reach a named adviser by chat from 7:00.",
            [
                "Members with a gold card reach a named adviser by phone from 7:00.",
                "The chat is open at noon.",
            ],
            ("by chat", "by phone"),
        ),
        (
            "Only owners and viewers can make an export of all files.",
            [
                "Only owners and admins can make an export of all files.",
                "Viewers can read all files.",
            ],
            ("and viewers", "and admins"),
        ),
        (
            "The second payment is returned automatically within 10 working days.",
            [
                "The second payment is returned automatically within 3 working days.",
                "Bank transfers take 10 working days.",
            ],
            ("within 10 working days", "within 3 working days"),
        ),
    ],
)
def test_words_of_another_subject_are_named_beside_those_of_this_one(
    claim: str, passages: list[str], expected: tuple[str, str]
) -> None:
    """The passages have all of the claim's words, and say something else of its subject."""
    assert doubt(claim, *passages) == expected


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        (
            "The firm sells shoes to shops.",
            ["The company sells shoes to shops.", "The firm was founded in 1990."],
        ),
        (
            "The unused months are refunded.",
            ["Annual plans are refunded.", "The unused months of a plan are refunded at once."],
        ),
        (
            "Seats can be booked by phone.",
            ["Seats can be booked by phone.", "Tables can be booked by phone."],
        ),
        (
            "On Sundays members get a discount.",
            ["Members get a discount on Sundays.", "Guests get a discount on Mondays."],
        ),
    ],
)
def test_what_the_passages_say_of_the_subject_is_not_doubted(
    claim: str, passages: list[str]
) -> None:
    """In another order, by another name for it, or of another subject too."""
    assert doubt(claim, *passages) is None


def test_a_value_of_another_subject_is_named_across_sentences() -> None:
    """The two sentences are built alike, so that each value belongs to its own subject."""
    found = doubt(
        "Basic members get 10% off.",
        "Premium members get free delivery and 10% off.",
        "Basic members get 5% off.",
    )

    assert found == ("Basic members get 10%", "delivery and 10%")


def test_a_value_under_another_label_is_named() -> None:
    """A label before a colon owns the value behind it."""
    passages = ["Adults: 2 tablets every 6 hours.", "Children: 1 tablet every 8 hours."]

    assert doubt("The dose for children is 2 tablets.", *passages) is not None
    assert doubt("The dose for adults is 2 tablets.", *passages) is None


def test_names_that_no_part_of_the_passages_brings_together_are_named() -> None:
    """A list of people joins none of them; a pronoun some sentences on may stand for a name."""
    between = tuple(f"Shelf {number} is empty." for number in range(8))
    passages = ("Anna Schmidt met Peter Braun.", *between, "Maria Weber met Jonas Klein.")
    claim = "Anna Schmidt met Maria Weber."

    assert doubt(claim, *passages) == ("Anna Schmidt met Maria Weber", "Anna Schmidt")
    assert doubt(claim, passages[0].upper(), *between, "Maria Weber met Jonas Klein.")
    assert doubt(claim, passages[0].lower(), *between, "Maria Weber met Jonas Klein.")
    assert doubt(claim, passages[0], *between[:3], "There she saw Maria Weber.") is None


def test_another_default_is_named() -> None:
    """An example value is no default, and two things may have defaults of one unit."""
    passages = ["# 20 seconds (default is 10 minutes)", "By default, requests take 10 minutes."]
    claim = "The default for all requests is 20 seconds."

    assert doubt(claim, *passages) == ("20 seconds", "10 minutes")
    assert doubt(claim, *passages, "Uploads default to 20 seconds.") is None
    assert doubt("The default is 10 minutes.", *passages) is None


def test_an_opposite_of_the_same_thing_is_named_across_sentences() -> None:
    """What is said of the other ones does not make up for it."""
    passages = ["The id property is public.", "All other properties are private."]

    assert doubt("The id property is private.", *passages) == ("private", "public")
    assert doubt("The id property is private.", *passages, "Is the id property private?") is None
    assert doubt("The id property is public.", *passages) is None


def test_a_correlation_with_its_sign_turned_is_named() -> None:
    """The more of one, the more of the other, not the less."""
    passage = "Higher scores represent more outlier like objects."

    assert doubt("The lower the scores, the more outlier like the objects.", passage) == (
        "lower",
        "Higher",
    )


def test_an_opposite_behind_another_negated_word_is_not_denied() -> None:
    """ "Not supported and strongly discouraged" says nothing for it."""
    passage = "Using pickles for long storage is not supported and strongly discouraged."

    assert doubt("Pickles is recommended for long storage.", passage) == (
        "recommended",
        "discouraged",
    )


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        ("The trip must be registered three days before you travel.", PASSAGES[:1]),
        ("The flour is not added before the butter has melted.",
         ["Add the flour only after the butter has melted."]),
        ("Novak opposed the closure in the vote.", PASSAGES[1:2]),
        ("Ben bought the car from Anna.", ["Anna sold the car to Ben."]),
        ("SolarCity was acquired by Tesla.", ["Tesla acquired SolarCity."]),
        ("B is slower than A.", PASSAGES[4:5]),
        ("The electric version needed more maintenance than the diesel one.",
         ["The diesel version needed less maintenance than the electric one."]),
        ("HR gets the signed form from the managers.", ["Managers send the signed form to HR."]),
        ("The store closes at 6 pm.", PASSAGES[7:8]),
        ("A family has a deductible of $1,200.", PASSAGES[8:9]),
        ("The panel takes two hours.", ["The panel starts at 10:00 and lasts exactly two hours."]),
        ("At 33, Maya got married.",
         ["Maya, born in August 1970, got married in September 2003, aged 33."]),
        ("Pro costs $20 when paid yearly and $24 when paid month to month.",
         ["Pro costs $20 per user per month, billed annually, or $24 billed monthly."]),
        ("The clip has been viewed on YouTube.",
         ["The clip is short.", "Video has been viewed 50,000 times on YouTube."]),
        ("The tower survived the fire.", ["Apart from the tower, nothing survived the fire."]),
        ("Norway is not served.", PASSAGES[3:4]),
        ("The museum is closed on Sunday.", ["The museum is open every day except Sunday."]),
        ("The ointment is free of alcohol.", ["The ointment does not contain alcohol."]),
        ("No more than 200 rows are returned.", ["Each request returns up to 200 rows."]),
        ("Delivery is free for orders over $50.",
         ["Delivery is free for all orders over $50, and returns cost $5."]),
        ("It is one of the largest telescopes.", PASSAGES[12:13]),
        ("Tom borrowed a bike from Mia.", ["Mia lent a bike to Tom."]),
        ("The hill road is shorter than the lake road.",
         ["The lake road is longer than the hill road."]),
        ("First warm the cup, then pour in the milk.",
         ["Warm the cup before you pour in the milk."]),
        ("At most 6 people fit in.", ["No more than 6 people fit in."]),
        ("Anna Weber met Peter.", ["Anna met Peter Braun.", "Weber came with Maria Weber."]),
        ("Anna Weber met Peter.", ["Maria Weber, her mother, called.", "Anna B. Weber met Peter."]),
        ("The plan includes support by phone.",
         ["The plan includes mail, chat, and support by phone."]),
        ("Simon Wood was 38 years old.", ["Simon Wood, old and ill, was 38 years, or so, of age."]),
        ("Phone support is included.", ["Included: mail, chat, phone support."]),
        ("The population doubled.", ["The population rose from 1.2 million to 2.4 million."]),
        ("Prices have tripled.", ["Prices rose from 10 to 20 dollars.", "Then prices tripled."]),
        ("Google bought YouTube.", ["YouTube was acquired by Google."]),
        ("Our stores are closed on public holidays.",
         ["Our stores in Lyon and Turin are closed on public holidays."]),
    ],
)  # fmt: skip
def test_the_same_in_other_words_is_not_doubted(claim: str, passages: list[str]) -> None:
    """Passives, converses, denied opposites and values with their own words are what they were."""
    assert doubt(claim, *passages) is None


def test_a_sentence_that_says_the_claim_removes_the_doubt() -> None:
    """A doubt needs all of the nearest sentences."""
    passages = ("Novak voted against the closure.", "In May, Novak voted for the closure.")

    assert doubt("Novak voted for the closure.", *passages) is None


@given(st.lists(st.sampled_from(PASSAGES), min_size=1, unique=True), st.data())
def test_a_copy_is_never_doubted(passages: list[str], data: st.DataObject) -> None:
    """Whatever else stands in the passages."""
    claim = data.draw(st.sampled_from(passages))

    assert find_doubt(read(claim, *passages)) is None


CLAIMS = (
    "Your trip must be registered three days after you travel.",
    "Novak voted for the closure.",
    "The store opens at 6 pm.",
    "Ben sold his car to Anna.",
    "Norway is served.",
    "Bob founded it in 1999.",
    "A family has a deductible of $500.",
)


@given(
    st.sampled_from(CLAIMS),
    st.lists(st.sampled_from(PASSAGES), min_size=1, unique=True),
    st.randoms(use_true_random=False),
)
def test_the_order_of_passages_does_not_matter(
    claim: str, passages: list[str], chance: Random
) -> None:
    """The same doubt, with the same phrases, is found in the same sentence."""
    shuffled = list(passages)
    chance.shuffle(shuffled)

    found, again = find_doubt(read(claim, *passages)), find_doubt(read(claim, *shuffled))

    assert _with_text(found, passages) == _with_text(again, shuffled)


def _with_text(found: StructuralDoubt | None, passages: list[str]) -> tuple[str, ...]:
    if found is None:
        return ()
    return (found.claimed, found.found, passages[found.sentence])


def test_an_entailed_claim_becomes_undecided_with_both_phrases() -> None:
    """The reason quotes the passage and the claim."""
    sentences = segment_passages([Passage("terms", "Novak voted against the closure.")])
    reading = read("Novak voted for the closure.", *(one.reading for one in sentences))
    entailed = Judgement(Label.ENTAILED, (0,), 0.92, "its words are in the passage")

    assert doubt_entailed(entailed, reading, sentences) == Judgement(
        Label.UNDECIDED,
        reason="not sure: passage terms says “against the closure”, the claim “for the closure”",
    )


@pytest.mark.parametrize("label", [Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED])
def test_other_verdicts_stay(label: Label) -> None:
    """Doubt is about claims that are called entailed."""
    sentences = segment_passages([Passage("", "Novak voted against the closure.")])
    reading = read("Novak voted for the closure.", *(one.reading for one in sentences))
    judgement = Judgement(label, (0,), 0.92, "why")

    assert doubt_entailed(judgement, reading, sentences) is judgement


@pytest.mark.parametrize(("confidence", "label"), [(0.69, Label.UNDECIDED), (0.7, Label.ENTAILED)])
def test_a_word_that_stands_only_apart_from_the_rest_unsettles_a_verdict(
    confidence: float, label: Label
) -> None:
    """Not one that the judge is certain of; a sentence before or after may belong to it."""
    passages = ("The server logs requests.", "Start it.", "The test client requires httpx.")
    sentences = segment_passages((Passage("p1", " ".join(passages)),))
    supported = Judgement(Label.ENTAILED, (0, 2), confidence, "its words are in the passage")
    claim = "The test client requires requests."

    found = doubt_entailed(supported, read(claim, *passages), sentences)
    beside = doubt_entailed(supported, read(claim, passages[0], passages[2]), sentences)

    assert found.label is label
    assert beside == supported
    assert "“requests” only apart" in found.reason or label is Label.ENTAILED
