"""Passages that the answer did not use are searched for what takes its claims back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify import (
    AnswerRange,
    Chunk,
    Claim,
    Clash,
    DraftClaim,
    Evidence,
    Exchange,
    Finding,
    Judgement,
    Label,
    LocalJudge,
    Passage,
    RulesJudge,
    Sentence,
    Verifier,
)
from otel_rt4chart.verify.core.judge import Assess, Judge, Question, Reply
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import CheckPlan, ClaimStatus
from otel_rt4chart.verify.core.steps import answer_batch, run_steps
from otel_rt4chart.verify.findings.cherry_picking import (
    MOST_CALLS,
    MOST_COMPARED,
    MOST_SENTENCES,
    CherryPickSearch,
    conflicts,
)
from otel_rt4chart.verify.findings.citations import BoundedScanner
from otel_rt4chart.verify.findings.statuses import with_statuses
from otel_rt4chart.verify.text.segment import segment_passages

COVERED = "The policy covers outpatient MRI."
TRIAL = "The free trial lasts 14 days."


def picked(answer: str, *passages: str) -> list[Finding]:
    """The cherry-picked findings of an answer on those passages."""
    retrieved = [Passage(f"p{number}", text) for number, text in enumerate(passages, 1)]
    report = Verifier(RulesJudge()).verify(Exchange("What is covered?", retrieved, answer))
    return [one for one in report.findings if one.name == "cherry_picked"]


def claim(text: str = COVERED, label: Label = Label.ENTAILED) -> Claim:
    """A claim with that verdict."""
    return Claim(text, label, label, 1.0, "hand", "attribute", AnswerRange(0, len(text)), 0)


def searched(
    scanner: Judge, claims: Sequence[Claim], passages: Sequence[Passage], answer: str = COVERED
) -> list[Finding]:
    """The findings of a search with that scanner, without an encoder."""
    steps = CherryPickSearch(scanner).run(
        Exchange("", passages, answer), claims, segment_passages(passages)
    )
    return list(run_steps(steps, lambda batch: answer_batch(batch, Meter())))


def test_a_passage_that_was_left_out_and_denies_the_claim_is_named() -> None:
    """The passage, the sentence and the claim."""
    denial = "The policy does not cover outpatient MRI."

    (finding,) = picked(COVERED, COVERED, f"Employees may use the gym. {denial}")

    assert finding.kind == "contradiction"
    assert (finding.claim, finding.passage_ids) == (0, ("p2",))
    assert [(one.text, one.relation) for one in finding.evidence] == [(denial, "contradicts")]


@pytest.mark.parametrize(
    ("kind", "passage"),
    [
        ("exclusion", "The policy covers outpatient MRI except for children."),
        ("contradiction", "The policy excludes outpatient MRI for cosmetic procedures."),
        ("condition", "Outpatient MRI is covered when prior authorization has been obtained."),
        ("condition", "Outpatient MRI requires prior auth."),
        ("condition", "Outpatient MRI is covered by the policy unless the scan is cosmetic."),
        ("eligibility", "Outpatient MRI coverage is only for members aged 18 and above."),
        ("time_limit", "Coverage of outpatient MRI expires after 30 days."),
        ("quantifier", "Some policies cover outpatient MRI."),
    ],
)
def test_each_kind_of_restriction_is_found_in_an_unused_passage(kind: str, passage: str) -> None:
    """A contradiction counts first."""
    assert [one.kind for one in picked(COVERED, COVERED, passage)] == [kind]


@pytest.mark.parametrize(
    "passage",
    [
        "Employees may use the gym in the cellar.",
        "Outpatient MRI scans are loud.",
        "Cosmetic procedures are excluded from coverage.",
        "Outpatient MRI coverage does not require prior authorization.",
        "The clinic said the policy did not cover outpatient MRI.",
        "",
    ],
    ids=["other topic", "same topic", "other exclusion", "not required", "story", "empty"],
)
def test_a_passage_that_takes_nothing_back_is_no_finding(passage: str) -> None:
    """It was left out with reason."""
    assert picked(COVERED, COVERED, passage) == []


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        (
            "Refunds go back to the payment method that was used.",
            "You can ask for a full refund within 30 days of your first payment.",
        ),
        (
            "Only the tenant can ask for the deposit.",
            "You can ask for the deposit within 30 days of moving out.",
        ),
        (
            "An account that was closed for fraud gets no deposit.",
            "Only the account owner can ask for a deposit.",
        ),
    ],
    ids=["another act", "who alone", "not done"],
)
def test_a_rule_about_something_else_limits_nothing(answer: str, other: str) -> None:
    """It shares the claim's words, but not what is allowed."""
    assert picked(answer, answer, other) == []


def test_a_replaced_passage_says_nothing_against_the_claim() -> None:
    """Its successor supports it; without versions, the two passages disagree."""
    texts = ("Solo costs 9 euros a month.", "Solo costs 7 euros a month.")

    def found(*versions: str) -> list[Finding]:
        passages = [
            Passage(name, text, metadata={"document_id": "prices", "version": version})
            for name, text, version in zip(("new", "old"), texts, versions, strict=True)
        ]
        report = Verifier(RulesJudge()).verify(Exchange("", passages, texts[0]))
        return [one for one in report.findings if one.name == "cherry_picked"]

    assert found("2", "1") == []
    assert [one.passage_ids for one in found("", "")] == [("old",)]


def test_another_value_for_the_same_thing_denies_the_claim() -> None:
    """14 days against 30 days of one trial."""
    assert [one.kind for one in picked(TRIAL, TRIAL, "The free trial lasts 30 days.")] == [
        "contradiction"
    ]


@pytest.mark.parametrize(
    ("answer", "used", "other"),
    [
        (TRIAL, TRIAL, "The paid plan lasts 30 days and the free tea is hot."),
        # SummEdits, Apache-2.0
        (
            "The regular price is $80/month.",
            "Regular Price: $80/month (up to 20 users).",
            "Special Introductory Offer: $65/month (up to 20 users).",
        ),
    ],
)
def test_another_value_of_another_thing_denies_nothing(answer: str, used: str, other: str) -> None:
    """Two sentences of one topic mostly tell of two things."""
    assert picked(answer, used, other) == []


def test_siblings_with_names_of_their_own_deny_nothing() -> None:
    """Another number behind the noun, another ordinal or name is another thing."""
    stock = [f"Warehouse {number} holds {3 * number} pallets." for number in range(1, 40)]

    assert picked("Warehouse 17 holds 51 pallets.", *stock) == []
    assert picked("Ben earns 20 euros.", "Ben earns 20 euros.", "Anna earns 30 euros.") == []
    rooms = ("The first floor has 12 rooms.", "The third floor has 10 rooms.")
    assert picked(rooms[0], *rooms) == []


def test_another_value_under_the_same_name_denies_the_claim() -> None:
    """The numeral is the same, the count is not."""
    stock = ("Warehouse 17 holds 51 pallets.", "Warehouse 17 holds 60 pallets.")

    assert [one.kind for one in picked(stock[0], *stock)] == ["contradiction"]


def test_a_restriction_that_the_answer_says_elsewhere_is_not_left_out() -> None:
    """The whole answer is read, not the claim alone."""
    restricting = "Outpatient MRI is covered when prior authorization has been obtained."
    answer = f"{COVERED} Prior auth must be obtained."

    assert picked(answer, COVERED, restricting) == []


def test_a_claim_that_is_not_entailed_was_not_cherry_picked() -> None:
    """And nothing is scanned for it."""
    denial = Passage("p", "The policy does not cover outpatient MRI.")
    claims = [claim(label=label) for label in Label if label is not Label.ENTAILED]

    assert searched(Never(), claims, [denial]) == []


class Never(RulesJudge):
    """A scanner that must not be asked."""

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Fails the test."""
        raise AssertionError([sentence.text for sentence in chunk.sentences])


def test_sentences_off_topic_are_not_scanned() -> None:
    """A call costs; most passages speak of something else."""
    gym = Passage("gym", "Employees may use the gym. It opens at nine.")

    assert searched(Never(), [claim()], [gym]) == []


class Scripted(RulesJudge):
    """A scanner that says one thing of everything, or fails."""

    def __init__(self, *told: Judgement) -> None:
        """What to say; nothing to fail."""
        super().__init__()
        self.told = told
        self.read: list[str] = []

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """As told."""
        self.read += [sentence.text for sentence in chunk.sentences]
        if not self.told:
            raise JudgeError("the model did not answer")
        return self.told


def scanned(scanner: RulesJudge, text: str) -> list[str]:
    """The kinds of what is found in one unused passage."""
    return [one.kind for one in searched(scanner, [claim()], [Passage("p", text)])]


@pytest.mark.parametrize("told", [(), (Judgement(Label.CONTRADICTED),) * 2], ids=["none", "two"])
def test_a_scanner_that_fails_leaves_the_restrictions(told: tuple[Judgement, ...]) -> None:
    """They need no judge."""
    assert scanned(Scripted(*told), "Outpatient MRI requires prior auth.") == ["condition"]
    assert scanned(Scripted(*told), "The policy does cover outpatient MRI.") == []


def test_why_a_scanner_failed_is_told() -> None:
    """Its verdict is undecided, never made up."""
    sentence = Sentence(0, 0, len(COVERED), COVERED)

    judgement = BoundedScanner(Scripted()).judge_one(claim(), [sentence], "")

    assert judgement == Judgement(Label.UNDECIDED, reason="the model did not answer")


def test_a_clash_of_values_is_believed_only_of_the_same_thing() -> None:
    """Whatever the scanner says."""
    clash = Clash("number", "14 days", "30 days")
    scanner = Scripted(Judgement(Label.CONTRADICTED, (0,), 1.0, clashes=(clash,)))

    other = "Outpatient visits to the policy office take 30 days."
    assert scanned(scanner, other) == []
    assert scanned(
        Scripted(Judgement(Label.CONTRADICTED, confidence=0.6)), "Outpatient MRI scans differ."
    ) == ["contradiction"]


@given(st.lists(st.text(max_size=60), max_size=4), st.text(max_size=60))
def test_no_text_breaks_the_scan(texts: list[str], stated: str) -> None:
    """And evidence is always a slice of its passage."""
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]

    for finding in searched(RulesJudge(), [claim(stated)], passages, stated):
        for one in finding.evidence:
            assert texts[int(one.passage_id)][one.start : one.end] == one.text


def test_a_part_that_the_claim_names_is_searched_for_on_its_own() -> None:
    """ "Including MRI" asserts MRI, and the exclusion is of MRI alone."""
    exclusion = "Exclusions: outpatient MRI is not covered unless pre-authorized."
    answer = "Yes, the policy covers outpatient imaging, including MRI."

    (finding,) = picked(answer, "The policy covers outpatient imaging.", exclusion)

    assert (finding.kind, finding.passage_ids) == ("contradiction", ("p2",))
    assert [one.text for one in finding.evidence] == [exclusion]


def test_a_sentence_that_takes_a_claim_back_does_not_support_it() -> None:
    """A judge may name it among the evidence, for it is on the topic."""
    exclusion = "Exclusions: outpatient MRI is not covered unless pre-authorized."
    answer = "The policy covers outpatient imaging, including MRI."
    retrieved = [Passage("p1", "The policy covers outpatient imaging."), Passage("p2", exclusion)]

    report = Verifier(RulesJudge()).verify(Exchange("", retrieved, answer))

    (stated,) = report.claims
    assert stated.status is ClaimStatus.CHERRY_PICKED
    assert [(one.passage_id, one.relation) for one in stated.evidence] == [
        ("p1", "supports"),
        ("p2", "contradicts"),
    ]
    assert report.findings[0].passage_ids == ("p1",)  # of the passages that support a claim


def test_a_contradicted_claim_that_another_passage_says_has_both_sides() -> None:
    """The label is that of the join; the status says that the sources disagree."""
    said, denied = Passage("a", COVERED), Passage("b", "The policy does not cover outpatient MRI.")
    evidence = Evidence("b", 0, len(denied.text), denied.text, "contradicts")
    contradicted = replace(claim(label=Label.CONTRADICTED), evidence=(evidence,))

    found = tuple(conflicts([contradicted], segment_passages([said, denied])))

    (result,) = with_statuses([contradicted], found, CheckPlan())
    assert (result.label, result.status) == (Label.CONTRADICTED, ClaimStatus.CHERRY_PICKED)
    assert [(one.passage_id, one.relation) for one in result.evidence] == [
        ("b", "contradicts"),
        ("a", "supports"),
    ]


def test_values_of_two_things_deny_nothing() -> None:
    """One time is that of opening, the other that of closing."""
    opens = "The library opens at 9 a.m."

    assert picked(opens, opens, "The library closes at 8 p.m.") == []


@pytest.mark.parametrize(("confidence", "count"), [(0.59, 0), (0.6, 1)])
def test_a_judge_must_be_certain_enough(confidence: float, count: int) -> None:
    """The threshold is the constructor's."""
    scanner = Scripted(Judgement(Label.CONTRADICTED, confidence=confidence))

    assert len(scanned(scanner, "Outpatient MRI scans differ.")) == count


class Endpoint:
    """A batch judge that calls every passage contradicting, and counts its questions."""

    id, input_limit, one_call, is_remote = "endpoint/1", 10_000, False, True

    def __init__(self) -> None:
        """Nothing asked yet."""
        self.asked: list[Question] = []

    def answers(self, questions: Sequence[Question], meter: Meter) -> list[Reply | Exception]:
        """One judgement for each claim."""
        self.asked += questions
        return [
            [Judgement(Label.CONTRADICTED, confidence=1.0) for _ in question.claims]
            for question in questions
            if isinstance(question, Assess)
        ]

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> list[Reply | Exception]:
        """The same."""
        return self.answers(questions, meter)


def test_a_judge_at_an_endpoint_is_asked_once_for_each_of_eight_passages() -> None:
    """All claims of a passage are in one call; what was not asked is said."""
    judge = Endpoint()
    texts = [f"Outpatient MRI scans differ in room {n} of the policy." for n in range(12)]
    passages = [Passage(f"p{n}", text) for n, text in enumerate(texts)]
    claims = [claim(), claim("The policy covers outpatient MRI scans.")]
    search = CherryPickSearch(judge)

    steps = search.run(Exchange("", passages, COVERED), claims, segment_passages(passages))
    found = run_steps(steps, lambda batch: answer_batch(batch, Meter()))

    assert [len(one.claims) for one in judge.asked if isinstance(one, Assess)] == [2] * MOST_CALLS
    assert {one.claim for one in found} == {0, 1}


def test_the_search_says_when_it_ended_early() -> None:
    """Three passages against a claim are enough; more comparisons than the limit are not made."""
    search = CherryPickSearch(RulesJudge())
    passages = [
        Passage(f"p{n}", f"Outpatient MRI of the policy is in room {n}. " * 3)
        for n in range(MOST_SENTENCES // 3)
    ]
    claims = [claim()] * (MOST_COMPARED // len(passages) + 1)

    steps = search.run(Exchange("", passages, COVERED), claims, segment_passages(passages))
    run_steps(steps, lambda batch: answer_batch(batch, Meter()))

    assert search.problem == ("too_large: more than 1,000 comparisons for cherry-picked passages")


def test_of_too_many_sentences_the_nearest_are_searched() -> None:
    """What contradicts the claim is found among twenty thousand, and the report says so."""
    search = CherryPickSearch(RulesJudge())
    many = "The policy is old. " * (50 * MOST_SENTENCES)
    passages = [Passage("p1", many), Passage("p2", "Outpatient MRI is not covered by the policy.")]

    steps = search.run(Exchange("", passages, COVERED), [claim()], segment_passages(passages))
    found = run_steps(steps, lambda batch: answer_batch(batch, Meter()))

    assert [one.passage_ids for one in found] == [("p2",)]
    assert search.problem == "only the 400 nearest sentences were searched"


@pytest.mark.parametrize("judge", ["rules", "local"])
@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Savings accounts earn interest.", "Checking accounts do not earn interest."),
        ("The hotel is open all year.", "The restaurant is not open all year."),
        ("Employees can work from home.", "Contractors cannot work from home."),
        ("Full members may vote.", "Associate members may not vote."),
        ("The plan covers dogs.", "Cats are not covered."),
        ("Fire damage is covered.", "Flood damage is not covered."),
        ("The premium plan includes phone support.", "The basic plan does not include it."),
        ("The plan covers water damage.", "Exclusions: earthquake damage is not covered."),
    ],
)
def test_what_is_denied_of_another_thing_leaves_a_claim_alone(
    judge: str, said: str, denied: str
) -> None:
    """Two things of one kind: the passage about one says nothing of the other."""
    passages = (Passage("p1", said), Passage("p2", denied))

    report = build_verifier(judge).verify(Exchange("", passages, said))

    assert [claim.status for claim in report.claims] == [ClaimStatus.SUPPORTED]


@pytest.mark.parametrize(
    ("stated", "support", "other"),
    [
        # SummEdits, Apache-2.0
        (
            "Hundreds of girls have fallen ill in schools in Iran in the recent weeks, with some "
            "hospitalized.",
            "Hundreds of schoolgirls have fallen sick and scores have been hospitalized in Iran's "
            "holy city of Qom in recent months, with some parents and officials suspecting they "
            "were poisoned.",
            "Since then, hundreds of students in Qom, mostly girls, have fallen ill with similar "
            "symptoms in a number of public schools, which are segregated by gender.",
        ),
        (
            "The James Webb Space Telescope observed Pandora's Cluster, a megacluster of galaxies "
            "that permitted astronomers to peer into the distant universe and observe "
            "never-before-seen details.",
            "Webb's latest observation of the cluster has revealed never-before-seen details in "
            "infrared light, which is invisible to the human eye.",
            "The James Webb Space Telescope just peered into a celestial Pandora's box to see what "
            "lies beyond a megacluster of galaxies.",
        ),
        (
            "The conclusion of the discussion was that the industrial designer focuses solely on "
            "designing the product, while the user interface designer focuses on designing the "
            "interface through which users will interact with the product.",
            "User Interface: user interface design d industrial design ?",
            "Industrial Designer: I I think the user the user interface design is  he will design "
            "how the user will you know  the relation between the user and you know the remote "
            "control so",
        ),
        *(
            (stated, stated, other)
            for stated, other in (
                ("The museum is not open on Mondays.", "The museum is closed on Mondays."),
                ("The river flows into the sea.", "The river flows into the Baltic."),
                ("The dish contains shellfish.", "The dish contains prawns."),
                ("The tour starts at the harbour.", "The tour starts at the docks."),
                ("The bench is 200 cm long.", "The length of the bench is 2 metres."),
                ("Guests cannot smoke in the rooms.", "Smoking is forbidden in the rooms."),
            )
        ),
    ],
)
def test_a_network_alone_contradicts_nothing(stated: str, support: str, other: str) -> None:
    """It calls these paraphrases and on-topic sentences contradictions; nothing agrees with it."""
    local = LocalJudge(threads=1)
    search = CherryPickSearch(local.scanner, local.encoder)
    passages = [Passage("p1", support), Passage("p2", other)]
    steps = search.run(
        Exchange("", passages, stated), [claim(stated)], segment_passages(passages[1:])
    )

    assert run_steps(steps, lambda batch: answer_batch(batch, Meter())) == ()
