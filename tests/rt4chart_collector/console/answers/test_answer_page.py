from __future__ import annotations

import re
from dataclasses import replace

import pytest

from otel_rt4chart.core.guard import guard
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerLabel,
    AnswerRange,
    Claim,
    ClaimStatus,
    Edit,
    Evidence,
    Finding,
    Label,
)
from rt4chart_collector.console.answers.answer_view import MAX_PASSAGES, AnswerView, answer_document
from rt4chart_collector.store.answers.feedback import Opinion, feedback_on
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verifications import SeenPassage, verifications_of
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.console.pages.answer_data import (
    ANSWER,
    ANSWER_SPAN,
    PATH,
    TRACE,
    candidate,
    claims,
    console,
    spans,
    stored,
    verdict,
)
from tests.rt4chart_collector.records import VERIFIER

CSRF = re.compile(r'name="csrf" value="([^"]+)"')
HOSTILE = "<script>alert(1)</script> \" onmouseover='x' & \u202edrow\u202c שלום\x00\x1b 👩‍👩‍👧"


def text_of(html: str) -> str:
    """The page's text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def test_the_answer_s_claims_are_underlined_by_label(client: Client) -> None:
    """Each on its words, with what says more; the text itself is as it was."""
    stored(client)

    with console(client) as browser:
        page = browser.get(PATH).text

    shown = page.partition('id="answer" dir="auto">')[2].partition("</div>")[0]
    assert re.sub(r"<[^>]*>", "", shown) == ANSWER
    assert re.findall(r'mark-(\w+)[^>]*data-claims="(\d)"><a href="(#claim-\d)"', shown) == [
        ("contradicted", "0", "#claim-0"),
        ("entailed", "1", "#claim-1"),
        ("baseless", "2", "#claim-2"),
    ]
    assert 'aria-describedby="says-0"' in shown
    assert 'id="says-0"' in page


def test_the_evidence_stands_in_the_passages(client: Client) -> None:
    """Marked where it lies and linked from the claim; the passages say what became of them."""
    stored(client)

    with console(client) as browser:
        page = browser.get(PATH).text

    aside = page.partition("<aside")[2].partition("</aside>")[0]
    told = text_of(aside)
    assert 'id="evidence-0-0"' in aside
    assert 'href="#evidence-0-0"' in page
    assert "kb-1 ✗ contradicts the answer".replace("✗ ", "") in told
    assert "kb-2 not used" in told
    assert "kb-3 dropped: retrieved, but not in the context" in told
    assert "The trial lasts 14 days." in told
    assert "claimed 30 days, found 14 days" in text_of(page)


def free(status: ClaimStatus = ClaimStatus.CHERRY_PICKED, *more: Evidence) -> Claim:
    """The entailed claim of the answer with this status, and more evidence."""
    claim = claims()[1]
    return replace(claim, status=status, evidence=(*claim.evidence, *more))


LIMIT = Evidence("kb-2", 0, 23, "Our office is in Lisbon", "limits")


def misleading(
    claim: Claim,
    *findings: Finding,
    advice: Advice | None = None,
    answer: AnswerLabel | None = None,
) -> Verdict:
    """A verdict in which that is the only claim."""
    made = verdict(given=(claim,))
    assert made.report is not None
    report = replace(
        made.report,
        label=answer or AnswerLabel.ENTAILED,
        findings=findings,
        advice=advice or Advice(),
    )
    return replace(made, report=report)


def shown(client: Client, made: Verdict) -> str:
    """The page of that verdict."""
    stored(client, made)
    with console(client) as browser:
        return browser.get(PATH).text


def test_an_undecided_claim_has_no_confidence(client: Client) -> None:
    """It has no verdict that the judge could be sure of."""
    claim = replace(claims()[1], label=Label.UNDECIDED, confidence=0.0)
    told = text_of(shown(client, verdict(given=(claim,))))

    assert "undecided" in told
    assert "% confidence" not in told


def test_a_cherry_picked_claim_has_both_passages_side_by_side(client: Client) -> None:
    """The quotation is marked in each passage; the answer is called misleading, not entailed."""
    page = shown(client, misleading(free(ClaimStatus.CHERRY_PICKED, LIMIT)))

    compared = page.partition('<div class="compared">')[2].partition("</li>")[0]
    told = text_of(page)
    assert "◐ misleading 1 of 1 decided claim is supported but misleading" in told
    assert "✓ entailed ◐ misleading: cherry-picked 75% confidence" in told
    assert re.findall(r'<mark class="mark mark-(\w+)">([^<]+)</mark>', compared) == [
        ("supports", "It is free."),
        ("limits", "Our office is in Lisbon"),
    ]
    assert "Supports itThe trial lasts 14 days. It is free." in text_of(compared)
    assert "Limits itOur office is in Lisbon, near the river." in text_of(compared)
    assert re.findall(r'mark mark-(\w+)[^"]*" data-claims="0"', page) == [
        "misleading",
        "limits",
        "supports",
    ]


def test_each_passage_says_what_it_is_to_the_answer(client: Client) -> None:
    """It limits, supports, is not used, or was dropped; with the claims it concerns."""
    page = shown(client, misleading(free(ClaimStatus.CHERRY_PICKED, LIMIT)))

    told = text_of(page.partition("<aside")[2].partition("</aside>")[0])
    assert "kb-2 limits the answer" in told
    assert "limits #0" in told
    assert "kb-1 supports the answer" in told
    assert "kb-3 dropped: retrieved, but not in the context" in told


def test_evidence_of_a_finding_is_shown_as_the_claims_own(client: Client) -> None:
    """Once, and not as support, if the judge read the same words as support."""
    against = replace(LIMIT, relation="contradicts")
    finding = Finding(
        "cherry_picked", "passage kb-2 restricts it", kind="exclusion", claim=0, evidence=(against,)
    )
    claim = free(ClaimStatus.CHERRY_PICKED, replace(LIMIT, relation="supports"))

    page = shown(client, misleading(claim, finding))

    compared = page.partition('<div class="compared">')[2].partition("</li>")[0]
    assert re.findall(r'class="evidence evidence-(\w+)"', compared) == ["supports", "limits"]
    assert "passage kb-2 restricts it" in text_of(page)
    assert 'href="#evidence-0-2"' in compared
    assert 'id="evidence-0-2"' in page


def test_a_dropped_restriction_is_marked_in_its_source(client: Client) -> None:
    """The words that the finding quotes, where the passage has them."""
    finding = Finding(
        "dropped_qualifier", "the passage says “is free”, the answer does not", claim=0
    )

    page = shown(client, misleading(free(ClaimStatus.QUALIFIER_DROPPED), finding))

    assert 'It <mark class="named">is free</mark>.' in page
    assert "misleading: restriction left out" in text_of(page)


def test_a_revision_is_shown_as_a_difference(client: Client) -> None:
    """Struck and underlined words, the reason of each edit, and the text to copy."""
    start = ANSWER.index("It is free")
    edit = Edit(start, start + 10, "It is free for members", 0, "puts the <population> back")
    advice = Advice(Action.REVISE, "1 claim: restriction left out", (edit,))

    page = shown(client, misleading(free(), advice=advice))

    card = page.partition('<section class="card advice todo todo-revise"')[2]
    card = card.partition("</section>")[0]
    assert "<ins> for members</ins>. Bananas" in card
    assert "#0 puts the &lt;population&gt; back" in text_of(card)
    revised = ANSWER.replace("It is free", "It is free for members")
    assert f'<pre id="revised" class="text" dir="auto">{revised}</pre>' in card
    assert 'data-copy="#revised"' in card


@pytest.mark.parametrize(
    ("advice", "text"),
    [
        (Advice(Action.ACCEPT, "1 claim supported"), "Accept: 1 claim supported"),
        (Advice(Action.ESCALATE, "2 claims"), "Escalate to a person: 2 claims"),
        (
            Advice(Action.REVISE, "1 claim", (Edit(0, 10_000, "x", 0, ""),)),
            "The edits do not fit the stored answer text.",
        ),
    ],
)
def test_what_to_do_is_told_with_its_reason(client: Client, advice: Advice, text: str) -> None:
    """An answer without advice says nothing of it."""
    assert text in text_of(shown(client, misleading(free(), advice=advice)))


def test_claims_are_listed_by_what_they_are(client: Client) -> None:
    """A misleading claim is entailed too, and is not unfaithful."""
    stored(client, verdict(given=(claims()[0], free(), claims()[2])))

    def listed(label: str) -> list[str]:
        with console(client) as browser:
            return re.findall(r'id="claim-(\d)"', browser.get(f"{PATH}?label={label}").text)

    assert listed("misleading") == ["1"]
    assert listed("entailed") == ["1"]
    assert listed("unfaithful") == ["0", "2"]


def test_findings_trace_and_decision_are_told(client: Client) -> None:
    """In words, with a link to the claim; the spans of the request as a tree."""
    stored(client)

    with console(client) as browser:
        page = browser.get(PATH).text

    told = text_of(page)
    assert "Number not as in the source" in told
    assert "Says more than the source: says more than kb-1 #2" in told
    assert "Trace 4 spans" in told
    assert "llm this answer" in told
    assert "2 of 3 decided claims are not supported" in told


def test_texts_that_are_gone_are_said_to_be_gone(client: Client) -> None:
    """The quotations are kept with the claims."""
    stored(client, with_spans=False)

    with console(client) as browser:
        told = text_of(browser.get(PATH).text)

    assert "the spans of this trace were deleted" in told
    assert "The spans of this trace were deleted after" in told
    assert "The trial lasts 14 days." in told


def test_what_users_wrote_is_text_and_nothing_else(client: Client) -> None:
    """In the question, the answer, passages, claims, names and notes; NUL is made visible."""
    found = candidate()
    exchange = replace(found.exchange, question=HOSTILE, answer=HOSTILE)
    bad = replace(
        claims()[0],
        text=HOSTILE,
        reason=HOSTILE,
        answer_range=AnswerRange(0, 12),
        evidence=(Evidence(HOSTILE, 0, 5, HOSTILE, "contradicts"),),
        nearest=HOSTILE,
        clashes=(),
    )
    told = replace(found, exchange=exchange, route=HOSTILE, model=HOSTILE, session=HOSTILE)
    insert_spans(client, spans(HOSTILE, HOSTILE))
    stored(client, verdict(told, (bad,)), with_spans=False)

    with console(client) as browser:
        answer = browser.get(PATH)
        listed = browser.get("/answers").text

    for page in (answer.text, listed):
        assert "<script>alert" not in page
        assert " onmouseover='x'" not in re.sub(r">[^<]*<", "><", page)
        assert page.count("\x00") == 0
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text
    assert "␀␛" in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=\"", answer.text)


def test_ranges_that_do_not_fit_the_answer_are_told(client: Client) -> None:
    """They are not underlined somewhere else."""
    wrong = replace(claims()[0], answer_range=AnswerRange(50, 500))
    stored(client, verdict(given=(wrong, claims()[1])))

    with console(client) as browser:
        page = browser.get(PATH).text

    assert "1 claim has a range outside the stored answer text" in text_of(page)
    assert (
        'class="mark mark-contradicted'
        not in page.partition('id="answer"')[2].partition("</div>")[0]
    )


def test_ten_thousand_claims_are_paged_and_marked_within_bounds(client: Client) -> None:
    """A page has fifty of them, the heaviest five hundred are underlined, and any can be had."""
    text = "word " * 50_000
    found = candidate()
    told = replace(found, exchange=replace(found.exchange, answer=text))
    many = tuple(
        replace(
            claims()[1 if n % 10 else 0],
            text=f"claim {n}",
            answer_range=AnswerRange(n * 5, n * 5 + 4),
        )
        for n in range(10_000)
    )
    stored(client, verdict(told, many))

    with console(client) as browser:
        page = browser.get(f"{PATH}?claim=7777").text
        bad = browser.get(f"{PATH}?label=contradicted&page=20").text
        whole = browser.get(f"{PATH}?format=json").json()

    shown = page.partition('id="answer" dir="auto">')[2].partition("</div>")[0]
    assert re.sub(r"<[^>]*>", "", shown) == text
    assert shown.count("<mark") == 500
    assert "500 of 10,000 claims are underlined" in text_of(page)
    assert page.count('<li class="claim ') == 50
    assert 'id="claim-7777"' in page
    assert "claim=7777" not in shown.partition("#claim-7777")[0][-12:]
    assert len(page) < 3_000_000
    assert re.findall(r'id="claim-(\d+)"', bad)[-1] == "9990"
    assert [one["index"] for one in whole["claims"]] == list(range(10_000))


def test_the_json_has_what_the_page_leaves_out(client: Client) -> None:
    """All passages and all spans, however many."""
    names = tuple(SeenPassage(f"p{n}", frozenset(), True) for n in range(300))
    stored(client)
    (one,) = verifications_of(client, TRACE, ANSWER_SPAN)
    many = replace(one, passages=names)

    view = AnswerView(many, [], [], None)
    told = answer_document(many, [], view, [], [], None, None)

    assert len(view.passages) == MAX_PASSAGES
    assert told["passages"] == [
        {"id": f"p{n}", "role": "unused", "stages": "", "text": None} for n in range(300)
    ]


def test_passages_that_cannot_be_read_again_leave_the_quotations(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the reading of spans costs their texts, not the page."""

    def failing(*_: object) -> None:
        raise ValueError("a span that nobody thought of")

    stored(client)
    monkeypatch.setattr(guard, "strict", False)
    monkeypatch.setattr("rt4chart_collector.console.answers.answer_page.read_answers", failing)

    with console(client) as browser:
        page = browser.get(PATH)

    assert page.status_code == 200
    assert "The passage texts are not available" in page.text
    assert "<blockquote" in page.text


def test_other_verifiers_verdicts_stand_beside_it(client: Client) -> None:
    """With where they differ, and a way to see the page with theirs."""
    milder = (replace(claims()[0], label=Label.ENTAILED), *claims()[1:])
    stored(client, verdict(), verdict(given=milder, verifier="other/1"))

    with console(client) as browser:
        told = text_of(browser.get(f"{PATH}?verifier={VERIFIER}").text)
        theirs = text_of(browser.get(f"{PATH}?verifier=other/1").text)
        none = browser.get(f"{PATH}?verifier=nobody")

    assert "Claims that other/1 labels differently #0 ✗ contradicted here, ✓ entailed there" in told
    assert "1 of 3 decided claims is not supported" in theirs
    assert none.status_code == 400


def test_an_answer_without_a_verdict_says_why_and_what_to_do(client: Client) -> None:
    """Every decision has words, and none says that the answer was faithful."""
    insert_spans(client, spans())

    for decision in [one for one in Decision if one is not Decision.VERIFIED]:
        stored(client, verdict(decision=decision, verifier=decision), with_spans=False)
        with console(client) as browser:
            told = text_of(browser.get(f"{PATH}?verifier={decision}").text)

        assert f"Not verified: {decision.replace('_', ' ')}" in told
        assert "Why there is no verdict" in told
        assert ANSWER in told
        if decision is Decision.NOT_SAMPLED:
            assert "rt4chart backfill --since 24h --route support" in told


def test_an_answer_that_is_not_stored_is_not_found(client: Client) -> None:
    """With what may be the reason; an address that is none is refused."""
    with console(client) as browser:
        gone = browser.get(PATH)
        wrong = browser.get("/answers/%3Cscript%3E/b")

    assert (gone.status_code, wrong.status_code) == (404, 400)
    assert "RT4CHART_VERDICTS_TTL_DAYS" in gone.text


def test_opinions_are_taken_shown_and_taken_back(client: Client) -> None:
    """By a form that works without a script; the page comes back at the claim."""
    stored(client)
    (one,) = verifications_of(client, TRACE, ANSWER_SPAN)

    with console(client) as browser:
        form = {"csrf": CSRF.findall(browser.get(PATH).text)[0], "verifier": VERIFIER, "claim": "0"}
        said = {**form, "opinion": "disagree", "correct": "entailed", "note": HOSTILE[:30]}
        answer = browser.post(f"{PATH}/feedback", data=said, follow_redirects=False)
        (given,) = feedback_on(client, one)
        page = browser.get(PATH).text
        part = browser.post(
            f"{PATH}/feedback", data={**form, "opinion": "agree"}, headers={"x-partial": "1"}
        ).text
        browser.post(f"{PATH}/feedback", data={**form, "claim": "-1", "opinion": "agree"})
        browser.post(f"{PATH}/feedback", data={**form, "opinion": "none"})

    assert answer.status_code == 303
    assert answer.headers["location"].endswith("claim=0#feedback-0")
    assert (given.opinion, given.correct, given.label) == (
        Opinion.DISAGREE,
        "entailed",
        "contradicted",
    )
    assert given.actor == "local"
    assert "0 agree, 1 disagrees" in text_of(page)
    assert part.lstrip().startswith('<div class="feedback" id="feedback-0">')
    assert [(left.claim, left.label) for left in feedback_on(client, one)] == [(-1, "contradicted")]


def test_a_label_has_a_button_beside_it_that_saves_it(client: Client) -> None:
    """Open where a person disagreed; it keeps the opinion, whatever it is."""
    stored(client)
    block = re.compile(r'id="feedback-0">.*?</form>', re.DOTALL)

    with console(client) as browser:
        form = {"csrf": CSRF.findall(browser.get(PATH).text)[0], "verifier": VERIFIER, "claim": "0"}
        pages = [browser.get(PATH).text]
        for opinion in ("disagree", "agree"):
            browser.post(f"{PATH}/feedback", data={**form, "opinion": opinion})
            pages.append(browser.get(PATH).text)
    before, disagreed, agreed = (block.findall(page)[0] for page in pages)

    assert '<details class="say"><summary>' in before
    assert 'value="disagree">Disagree and save</button>' in before
    assert '<details class="say" open><summary>' in disagreed
    assert 'value="disagree">Save</button>' in disagreed
    assert 'value="agree">Save</button>' in agreed


def test_opinions_need_the_form_s_token(client: Client) -> None:
    """Another site's form changes nothing; nor does one where the console is read only."""
    stored(client)
    form = {"verifier": VERIFIER, "claim": "0", "opinion": "agree"}

    with console(client) as browser:
        browser.get(PATH)
        assert browser.post(f"{PATH}/feedback", data=form).status_code == 403
    with console(client, console_readonly=True) as browser:
        page = browser.get(PATH).text
        assert '<button class="secondary small" name="opinion"' not in page
        assert browser.post(f"{PATH}/feedback", data=form).status_code == 403


def test_an_opinion_on_nothing_is_refused(client: Client) -> None:
    """It says what was expected."""
    stored(client)

    with console(client) as browser:
        token = CSRF.findall(browser.get(PATH).text)[0]
        form = {"csrf": token, "verifier": VERIFIER, "claim": "0", "opinion": "agree"}
        for wrong in (
            {"opinion": "maybe"},
            {"claim": "99"},
            {"claim": "70000"},
            {"claim": "x"},
            {"claim": ""},
            {"verifier": "nobody"},
            {"opinion": "disagree", "correct": "wrong"},
        ):
            answer = browser.post(f"{PATH}/feedback", data={**form, **wrong})
            assert answer.status_code == 400, wrong
            assert "expected" in answer.text
