"""The chain of an answer on its page: steps, texts, and where the failed claim entered."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from otel_rt4chart.core.semconv import SCOPE_NAME
from otel_rt4chart.spans.graph.chain import ChainStep, TraceChain
from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.verify import Label, Node
from rt4chart_collector.console.answers.chain_view import MAX_STEPS, chain_view
from rt4chart_collector.store.answers.trails import TrailRow, TrailWay
from rt4chart_collector.store.answers.verifications import Verification
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import ANSWER, run
from tests.rt4chart_collector.console.pages.answer_data import console
from tests.rt4chart_collector.traced import WRONG_ANSWER, WRONG_SUMMARY, research, verify


def page_of(client: Client, answer: Verification) -> str:
    """The page of an answer."""
    with console(client) as browser:
        reply = browser.get(f"/answers/{answer.trace_id}/{answer.span_id}")
    assert reply.status_code == 200
    return str(reply.text)


def text_of(html: str) -> str:
    """The text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def step_with(page: str, role: str) -> str:
    """The step of the picture that is drawn with this role."""
    (found,) = re.findall(rf'<li class="step step-{role}".*?</li>', page, re.DOTALL)
    return str(found)


def test_guilty_step_is_marked_and_linked_with_the_claim(client: Client) -> None:
    """From the claim to the step, and back; the words are marked in both texts."""
    page = page_of(client, research(client))

    guilty = step_with(page, "guilty")
    number = re.findall(r'id="step-(\d+)"', guilty)[0]
    claim = page.partition('id="claim-0"')[2].partition("</li>")[0]
    assert "✗ claim #0 entered here" in text_of(guilty)
    assert 'href="?claim=0#claim-0"' in guilty
    assert f'href="#step-{number}"' in claim
    assert "Entered in step 3 summarise" in text_of(claim)
    assert "Orders can be returned within 60 days of delivery." in text_of(
        guilty.partition("<mark")[2].partition("</mark>")[0].partition(">")[2]
    )
    assert "contradicts claim #0" in text_of(step_with(page, "contradicts"))


def test_answer_itself_may_be_the_guilty_step(client: Client) -> None:
    """Its text is above, and not shown a second time."""
    guilty = step_with(page_of(client, research(client, WRONG_ANSWER)), "guilty")

    assert "this answer" in guilty
    assert "made from 3 summarise" in text_of(guilty)
    assert "<details" not in guilty


def test_without_its_spans_the_stored_trail_is_shown(client: Client) -> None:
    """The steps are those of the trail; the page says why there are no texts."""
    answer = research(client)
    client.command(
        "ALTER TABLE otel_traces DELETE WHERE ScopeName != {scope:String} "
        "SETTINGS mutations_sync = 2",
        {"scope": SCOPE_NAME},
    )

    page = page_of(client, answer)

    assert "entered here" in text_of(step_with(page, "guilty"))
    assert "The texts of the steps are not available" in page


def test_chain_with_a_problem_says_why_no_step_is_named(client: Client) -> None:
    """In the claim's card and in the place of the picture."""
    spans = [
        replace(span, dropped_attributes=3) if span.name == "summarise" else span
        for span in run(WRONG_ANSWER)
    ]

    page = page_of(client, verify(client, spans))

    why = "The text of the step “summarise” was cut."
    assert f"In which step it entered is not known: {why}" in text_of(page)
    assert f"The steps are not known: {why}" in text_of(page)
    assert 'class="step ' not in page


HOSTILE = "<script>alert(1)</script> \" onmouseover='x' \u202edrow\x00"


def test_hostile_names_are_shown_as_text(client: Client) -> None:
    """No element, no reordering."""
    names = (HOSTILE, "rerank", HOSTILE, "answer")
    page = page_of(client, research(client, replace(WRONG_SUMMARY, names=names)))

    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "alert(1)" in text_of(step_with(page, "guilty")).replace("&lt;", "<")


def test_document_has_the_trails(client: Client) -> None:
    """With the interim verdicts, for machines."""
    answer = research(client)
    with console(client) as browser:
        found = browser.get(f"/answers/{answer.trace_id}/{answer.span_id}?format=json").json()

    (trail,) = found["trails"]
    assert trail["blamed"][0]["stage"] == "summarise"
    assert [one["label"] for one in trail["way"]] == ["entailed", "contradicted"]


def test_answer_without_trails_has_no_picture(client: Client) -> None:
    """Of an answer whose claims are all entailed nothing is shown."""
    page = page_of(client, research(client, replace(WRONG_ANSWER, answer=ANSWER)))

    assert 'id="chain"' not in page


def test_step_that_left_out_a_limit_is_marked(client: Client) -> None:
    """The claim is true as far as it goes: it did not enter anywhere."""
    page = page_of(client, research(client, replace(WRONG_ANSWER, answer="Refunds are paid.")))

    guilty = text_of(step_with(page, "guilty"))
    claim = text_of(page.partition('id="claim-0"')[2].partition("</li>")[0])
    assert "✗ left out what limits claim #0" in guilty
    assert "this answer" in guilty
    assert "Its limit was left out in step" in claim
    assert "the step had read what limits it, and left that out" in claim
    assert "entered" not in text_of(page.partition('id="chain"')[2])


def row(blame: ClaimBlame) -> TrailRow:
    """The row of a trail of the answer `a`."""
    return TrailRow(
        *(1, "t" * 32, "a", "shop", "research", "rules", "", "", blame.claim, Label.BASELESS, 1.0),
        *("", "", "", "", "", False, 1, blame.problem),
        TrailWay(blame.blamed, blame.way, blame.lost),
        1,
    )


@pytest.mark.parametrize("many", [3, 500])
def test_a_large_chain_is_cut_to_what_claims_rest_on(many: int) -> None:
    """The steps that trails name stay, and the others are counted."""
    names = [f"n{at}" for at in range(many)]
    nodes = [Node(name, "Text.", (), "read") for name in names]
    nodes.append(Node("a", "Claim.", tuple(names), "answer"))
    steps = {
        node.id: ChainStep(node.id, node.id, node.stage, OperationKind.LLM, node.stage)
        for node in nodes
    }
    place = ChainPlace(names[-1], names[-1], "read", "LLM", "read")

    found = chain_view([row(ClaimBlame(0, (place,)))], TraceChain(tuple(nodes), "a", steps), "a")

    assert len(found.steps) == min(many + 1, MAX_STEPS)
    assert found.hidden == many + 1 - len(found.steps)
    assert [step.added for step in found.steps if step.role == "guilty"] == [(0,)]
    assert found.steps[-1].is_answer
