"""The grounding-check card: its reply, its votes, its two labels, and passages in parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.build import build_judge
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify import (
    Exchange,
    Label,
    OpenAIJudge,
    Passage,
    Report,
    SingleJudge,
    Verifier,
)
from tests.endpoint_server import Answer, Seen, error, text
from tests.otel_rt4chart.verify.llm.served import CON, ENT, NIC, ORACLE, POOL, RUNNING, served

CONTEXT = (
    "The Hubble Space Telescope was deployed from Space Shuttle Discovery on April 25, 1990, "
    "during STS-31. It has since been serviced five times."
)
HUBBLE = Exchange(
    "When did the Hubble Space Telescope launch and what mission deployed it?",
    [Passage("p1", CONTEXT)],
    "Hubble launched on April 24, 1990 from Space Shuttle Atlantis as part of mission STS-31, "
    "and is the largest space telescope ever built.",
)
# The card's own worked example, as it expects it.
EXPECTED: dict[str, Any] = {
    "claims": [
        {"text": "Hubble launched on April 24, 1990", "label": "contradicted",
         "evidence_phrase": ""},
        {"text": "Hubble launched from Space Shuttle Atlantis", "label": "contradicted",
         "evidence_phrase": ""},
        {"text": "Hubble was deployed as part of mission STS-31", "label": "supported",
         "evidence_phrase": "during STS-31"},
        {"text": "Hubble is the largest space telescope ever built", "label": "unsupported",
         "evidence_phrase": ""},
    ],
    "hallucination_rate": 0.75,
    "decision_basis": "Date and shuttle are contradicted by the context, the largest-telescope "
    "claim is not in the context, and only the mission ID is supported.",
}  # fmt: skip


def audited(
    reply: dict[str, Any] | Callable[[Seen], Answer],
    exchange: Exchange = HUBBLE,
    **options: Any,  # noqa: ANN401 - those of the judge
) -> tuple[Report, list[Seen]]:
    """The report of `single` on these replies, and what was asked."""
    script = reply if callable(reply) else lambda seen: text(json.dumps(reply))
    with served(script) as (server, endpoint):
        report = Verifier(SingleJudge(endpoint, **options)).verify(exchange)
        return report, list(server.seen)


@pytest.mark.parametrize("form", ["card", "sentences"])
def test_the_cards_example_gives_its_numbers(form: str) -> None:
    """In one call, whether its reply was asked for or not."""
    report, seen = audited(EXPECTED, form=form)

    assert [(claim.text, claim.label) for claim in report.claims] == [
        (one["text"], label)
        for one, label in zip(EXPECTED["claims"], (CON, CON, ENT, NIC), strict=True)
    ]
    assert report.hallucination_rate == EXPECTED["hallucination_rate"]
    assert len(seen) == 1
    assert [one.text for one in report.claims[2].evidence] == [CONTEXT[:102]]
    assert report.claims[3].evidence == ()


def test_the_card_can_be_asked_for() -> None:
    """The prompt and the schema have its fields, and its limits."""
    _, (seen,) = audited(EXPECTED, form="card")

    schema = seen.body["response_format"]["json_schema"]["schema"]["properties"]
    assert set(schema) == {"claims", "hallucination_rate", "decision_basis"}
    assert "evidence_phrase" in seen.system
    assert "at most 40 words" in seen.system
    assert HUBBLE.question in seen.user


def test_what_decided_is_told_as_the_judges_own_words() -> None:
    """It was not checked, and more than forty words are cut."""
    long = EXPECTED | {"decision_basis": "word " * 60}

    told = {one.name: one.detail for one in audited(EXPECTED)[0].findings}
    cut = {one.name: one.detail for one in audited(long)[0].findings}

    assert told["decision_basis"] == f"the judge, not checked: {EXPECTED['decision_basis']}"
    assert cut["decision_basis"].count("word") == 40


def reply_of(phrase: str, label: str = "supported") -> dict[str, Any]:
    """The card's reply with one claim about the pool."""
    return {"claims": [{"text": "The pool is warm.", "label": label, "evidence_phrase": phrase}]}


def test_a_supported_claim_needs_words_of_the_passages() -> None:
    """A phrase that stands nowhere, as from what the model knows, is asked again, then baseless."""
    report, seen = audited(reply_of("pools are warm in general"), POOL)
    held, _ = audited(reply_of("POOL is  heated."), POOL)
    part, _ = audited(reply_of("eat"), POOL)

    assert (report.claims[0].label, report.claims[0].reason) == (NIC, "no_evidence")
    assert len(seen) == 2
    assert part.claims[0].label is NIC  # “eat” is a part of “heated”
    assert held.claims[0].label is ENT


def test_a_phrase_may_go_across_sentences() -> None:
    """Both of them are the evidence."""
    report, _ = audited(reply_of("is heated. Dogs are"), POOL)

    assert [one.text for one in report.claims[0].evidence] == [
        "The pool is heated.",
        "Dogs are welcome.",
    ]


def test_a_compound_claim_of_the_card_is_asked_again() -> None:
    """The card says to reject it, and to ask for single facts."""
    joined = {"text": "The pool is warm, and it is open.", "label": "unsupported",
              "evidence_phrase": ""}  # fmt: skip
    exchange = Exchange("", POOL.passages, "The pool is warm, and it is open.")

    report, seen = audited({"claims": [joined]}, exchange)

    assert "joins 2 facts: split it" in seen[1].body["messages"][-1]["content"]
    assert report.claims[0].label is Label.UNDECIDED


def test_a_sentence_that_the_card_skips_claims_nothing() -> None:
    """Framing may be left out; a sentence with a number may not."""
    framed = Exchange("", POOL.passages, "Here is what I found. The pool is warm.")
    numbered = Exchange("", POOL.passages, "The pool is warm. It has 3 lanes.")

    skipped, once = audited(reply_of("is heated"), framed)
    asked, twice = audited(reply_of("is heated"), numbered)

    assert [one.label for one in skipped.claims] == [Label.NOT_A_CLAIM, ENT]
    assert (len(once), len(twice)) == (1, 2)
    assert asked.claims[-1].label is Label.UNDECIDED


def test_a_card_with_thousands_of_claims_is_no_reply() -> None:
    """Each is compared with the answer and with the passages, which could take minutes."""
    one = {"label": "supported", "evidence_phrase": "is heated"}
    claims = [{"text": f"The pool is warm {n}."} | one for n in range(2_000)]

    report, _ = audited({"claims": claims}, POOL)

    assert report.claims[0].label is Label.UNDECIDED


def changing(*labels: str) -> Callable[[Seen], Answer]:
    """A model that audits the pool as entailed, and then says these labels of it in turn."""
    left = iter(labels)

    def script(seen: Seen) -> Answer:
        if "Audit these" in seen.user:
            return text(json.dumps(reply_of("is heated")))
        verdict = {"claim": 1, "label": next(left), "sentences": [1]}
        return text(json.dumps({"verdicts": [verdict]}))

    return script


@pytest.mark.parametrize(
    ("votes", "labels", "found", "confidence", "calls"),
    [
        (3, ("entailed",), ENT, 1.0, 2),
        (3, ("contradicted", "contradicted"), CON, 2 / 3, 3),
        (3, ("baseless", "entailed"), ENT, 2 / 3, 3),
    ],
)
def test_votes_decide_for_the_one_call_judge_too(
    votes: int, labels: tuple[str, ...], found: Label, confidence: float, calls: int
) -> None:
    """Two that agree settle a claim; the majority's share is the confidence."""
    report, seen = audited(changing(*labels), POOL, votes=votes)

    assert report.claims[0].label is found
    assert report.claims[0].confidence == pytest.approx(confidence)
    assert len(seen) == calls


def test_the_setting_of_votes_reaches_the_one_call_judge() -> None:
    """It was ignored without a word; its id tells."""
    settings = JudgeSettings(api_key="k", votes=3, form="card", labels="two")

    assert build_judge("single", settings).id == "single/gpt-4o-mini/card1.1-votes3-two1"
    assert build_judge("openai", settings).id == "openai/gpt-4o-mini/1.1.1.1-votes3-two1"


def test_an_even_number_of_votes_is_refused() -> None:
    """It has no majority."""
    with served(ORACLE) as (_, endpoint), pytest.raises(SettingsError, match="odd number from 3"):
        SingleJudge(endpoint, votes=2)


def test_with_two_labels_a_claim_is_grounded_or_not() -> None:
    """What a model contradicts all the same is not grounded."""
    with served(ORACLE) as (server, endpoint):
        single = Verifier(SingleJudge(endpoint, labels="two")).verify(RUNNING)
        steps = Verifier(OpenAIJudge(endpoint, labels="two")).verify(RUNNING)
        schemas = [json.dumps(seen.body["response_format"]) for seen in server.seen]

    assert [claim.label for claim in single.claims] == [NIC, NIC, ENT, ENT, NIC]
    assert [claim.label for claim in steps.claims] == [NIC, NIC, ENT, ENT, NIC]
    labelled = [schema for schema in schemas if '"label"' in schema]
    assert all('["grounded", "not_grounded"]' in schema for schema in labelled)
    assert "contradicted" not in server.seen[0].system
    assert "not_grounded" in server.seen[0].system


FILLER = " ".join(f"Room {n} of the old house is painted in blue." for n in range(900))
LONG = Exchange(
    "",
    [
        Passage("p1", "The pool is heated."),
        Passage("p2", FILLER),
        Passage("p3", "The pool is cold in winter. The bar is open."),
    ],
    "The pool is warm. The bar is open.",
)


def parts_script(seen: Seen) -> Answer:
    """A model that audits on the first part and labels the given claims on the others."""
    if "Audit these" in seen.user:
        entries = [
            {"sentence": 1, "claim": "The pool is warm.", "label": "entailed", "sentences": [1]},
            {"sentence": 2, "claim": "The bar is open.", "label": "baseless", "sentences": []},
        ]
        return text(json.dumps({"claims": entries}))
    told = seen.user.partition("Claims:")[0]
    number = next(
        (line.partition(".")[0] for line in told.splitlines() if "bar is open" in line), "0"
    )
    has_bar = number != "0"
    verdicts = [
        {"claim": 1, "label": "contradicted" if has_bar else "baseless",
         "sentences": [int(number) - 1] if has_bar else []},
        {"claim": 2, "label": "entailed" if has_bar else "baseless",
         "sentences": [int(number)] if has_bar else []},
    ]  # fmt: skip
    return text(json.dumps({"verdicts": verdicts}))


def test_passages_above_ten_thousand_tokens_are_read_in_parts() -> None:
    """No passage is cut unless it is too long itself; a contradiction in any part counts."""
    report, seen = audited(parts_script, LONG)

    assert [claim.label for claim in report.claims] == [CON, ENT]
    assert [one.passage_id for claim in report.claims for one in claim.evidence] == ["p3", "p3"]
    assert len(seen) == 3
    assert [seen[0].user.count(name) for name in ('"p1"', '"p2"', '"p3"')] == [1, 0, 0]
    assert all(len(one.user) < 3 * 10_000 for one in seen)
    assert "context_compressed" not in {one.name for one in report.findings}


def test_a_claim_is_not_baseless_where_a_part_was_not_read() -> None:
    """That part may support it."""

    def script(seen: Seen) -> Answer:
        is_other = '"p3"' in seen.user
        return error(500, "down") if is_other else parts_script(seen)

    report, _ = audited(script, LONG)

    assert [claim.label for claim in report.claims] == [ENT, Label.UNDECIDED]
    assert "500" in report.claims[1].reason


def test_a_card_of_the_whole_answer_is_read_where_one_sentence_was_asked_for() -> None:
    """Claims of the other sentences were forced onto it, and it became undecided."""
    first, second = "The pool is heated.", "Dogs are welcome."
    exchange = Exchange("", POOL.passages, f"{first} {second}")
    whole = {
        "claims": [
            {"text": first, "label": "supported", "evidence_phrase": first},
            {"text": second, "label": "supported", "evidence_phrase": second},
        ]
    }
    invented = whole["claims"][1] | {"text": "14 dogs are welcome."}
    replies = iter([{"claims": [whole["claims"][0], invented]}, whole])

    report, seen = audited(lambda seen: text(json.dumps(next(replies))), exchange)

    assert "sentence 2: the claim" in seen[1].body["messages"][-1]["content"]
    assert [claim.label for claim in report.claims] == [ENT, ENT]
