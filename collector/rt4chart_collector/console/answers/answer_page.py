"""The page of an answer: its text, passages, verdicts, findings, feedback and trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from otel_rt4chart.core.guard import guard
from otel_rt4chart.spans.graph.chain import TraceChain
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify.core.model import Action, ClaimStatus, Label, Passage
from rt4chart_collector.console.answers import wording
from rt4chart_collector.console.answers.answer_view import (
    ANSWER_LENGTH,
    MISLEADING_LABEL,
    AnswerView,
    answer_document,
    shown_label,
)
from rt4chart_collector.console.answers.chain_view import ChainView, chain_view
from rt4chart_collector.console.answers.differences import LabelDifference, differences
from rt4chart_collector.console.answers.revision import RevisedAnswer, revision
from rt4chart_collector.console.answers.trace_rows import trace_rows
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.page_threads import check_awaited
from rt4chart_collector.console.view.params import (
    bad_request,
    choice_param,
    id_param,
    integer_param,
    text_param,
)
from rt4chart_collector.console.view.urls import answer_url, with_query
from rt4chart_collector.pipeline.additions.earlier_turns import earlier_passages
from rt4chart_collector.pipeline.additions.trails import chain_of
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.claims import (
    ClaimOutline,
    ClaimRow,
    claim_outlines,
    claims_in,
    first_claims,
    outline_of,
)
from rt4chart_collector.store.answers.criteria import criteria_of
from rt4chart_collector.store.answers.dead_letters import DeadLetter, letters_of
from rt4chart_collector.store.answers.feedback import (
    WHOLE_ANSWER,
    Feedback,
    Opinion,
    feedback_on,
    record_feedback,
    withdraw_feedback,
)
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.trace_tree import MAX_SPANS, TraceTree, build_tree
from rt4chart_collector.store.answers.trails import TrailRow, trails_of
from rt4chart_collector.store.answers.verifications import Verification, verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import issues_of_answer

CLAIMS_A_PAGE = 50
# Where a verdict has at most a page of claims, so many rows are read whole and at once. An index
# has 16 bits.
MAX_ROWS_READ, MAX_INDEX = 200, 2**16 - 1
# Of a trace with more spans than the first, a page shows these, and reads no text: it is one of the
# two parts of a page, and all there is up to the second is the other. No format has more.
FIRST_SPANS, MAX_SPANS_READ = 500, 50_000
FIRST, WHOLE_TRACE = "", "whole"
# Verdicts with more claims, and further verifiers, are not compared.
MAX_COMPARED_CLAIMS, MAX_COMPARED_VERIFIERS = 2_000, 3
UNFAITHFUL = "unfaithful"
LABEL_FILTERS = ("", UNFAITHFUL, MISLEADING_LABEL, *(label.value for label in Label))
OPINIONS = (*map(str, Opinion), "none")


@dataclass(frozen=True, slots=True)
class ClaimPages:
    """The listed claims: `indexes` of those with `label`; `counts` by value of that filter."""

    indexes: tuple[int, ...]
    label: str
    page: int
    pages: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _ReadTrace:
    """What was read of a trace; `is_part` without texts and with the first spans alone."""

    spans: Sequence[SpanRecord]
    texts: Mapping[str, Passage] | None
    tree: TraceTree | None
    is_part: bool = False


def show_answer(console: Console, request: Request) -> Response:
    """Render the page, or all of its data as JSON.

    Of a large trace, a page has the texts and all spans with `?part=whole` only.
    """
    own = _actor(console, request)
    form = choice_param(request, "format", ("html", "json"), "html")
    part = choice_param(request, "part", (FIRST, WHOLE_TRACE), FIRST)
    with console.store() as client:
        found = _verifications(client, request)
    # Not within the block: finding the main verifier may take another client.
    verification = _selected_verification(console, request, found)
    with console.store() as client:
        outline, pages, listed = _read_claims(client, request, verification, form)
        read = _read_trace(client, verification, form, part)
        issues, feedback = issues_of_answer(client, verification), feedback_on(client, verification)
        others = [
            (other, _differences_to(client, verification, outline, other))
            for other in found[: MAX_COMPARED_VERIFIERS + 1]
        ]
        trails, criteria = trails_of(client, verification), criteria_of(client, verification)
        check_awaited()
        chain = _chain(client, verification, trails, () if read.is_part else read.spans)
        letter = _dead_letter(client, verification)
    trace, view = read.tree, AnswerView(verification, outline, listed, read.texts)
    own_opinions = [opinion for opinion in feedback if opinion.verifier == verification.verifier]
    if form == "json":
        parts = (issues, feedback, read.texts, trace, trails, criteria)
        return JSONResponse(answer_document(verification, listed, view, *parts))
    spans, cut = trace_rows(trace, verification.span_id) if trace else ((), 0)
    return console.page(
        request,
        "answer.html",
        title=f"Answer {verification.trace_id[:8]}",
        verification=verification,
        is_stored=True,
        view=view,
        chain=chain,
        claims=list(view.claims(issues, own_opinions)),
        on_answer=[opinion for opinion in own_opinions if opinion.claim == WHOLE_ANSWER],
        issues=issues,
        criteria=criteria,
        pages=pages,
        actor=own,
        texts_gone=read.texts is None and not read.is_part,
        is_part=read.is_part,
        trace=trace,
        rows=spans,
        rows_cut=cut,
        found=found,
        others=[(other, where) for other, where in others if other is not verification],
        letter=letter,
        no_verdict=wording.DECISIONS.get(verification.decision),
        action=wording.ACTIONS.get(verification.advice.action),
        revised=shown_revision(verification),
        words=wording,
        WHOLE=WHOLE_ANSWER,
        labels=[label.value for label in Label if label is not Label.NOT_A_CLAIM],
    )


def _read_claims(
    client: Client, request: Request, verification: Verification, form: str
) -> tuple[list[ClaimOutline], ClaimPages, list[ClaimRow]]:
    """All claims in outline, and whole those that are listed, which are all of the document."""
    most = MAX_INDEX + 1 if form == "json" else MAX_ROWS_READ
    # There may be any number of sentences beside the claims that are no claim.
    if form == "json" or verification.counts.claims <= CLAIMS_A_PAGE:
        rows = first_claims(client, verification, most + 1)
        if len(rows) <= most:
            outline = list(map(outline_of, rows))
            pages = claim_pages(request, outline)
            return (
                outline,
                pages,
                [row for row in rows if form == "json" or row.index in pages.indexes],
            )
    outline = claim_outlines(client, verification)
    pages = claim_pages(request, outline)
    return outline, pages, claims_in(client, verification, pages.indexes)


def _read_trace(client: Client, verification: Verification, form: str, part: str) -> _ReadTrace:
    """The trace, or of a large one the first spans where a page asks for its first part."""
    is_page, trace = form == "html", [verification.trace_id]
    if is_page and part == FIRST:
        first = spans_of(client, trace, limit=FIRST_SPANS + 1)
        if len(first) > FIRST_SPANS:
            return _ReadTrace(first, None, build_tree(first, limit=FIRST_SPANS), is_part=True)
        spans = first
    else:
        spans = _spans(client, verification, is_page=is_page)
    check_awaited()
    texts = _passages_from_spans(client, verification, spans)
    check_awaited()
    limit = MAX_SPANS if is_page else len(spans)
    return _ReadTrace(spans, texts, build_tree(spans, limit=limit))


def _spans(client: Client, verification: Verification, *, is_page: bool) -> list[SpanRecord]:
    """The first spans of the trace: for a page those of its tree, if the answer is among them."""
    trace = [verification.trace_id]
    if is_page:
        spans = spans_of(client, trace, limit=MAX_SPANS + 1)
        if len(spans) <= MAX_SPANS or any(s.span_id == verification.span_id for s in spans):
            return spans
        check_awaited()
    return spans_of(client, trace, limit=MAX_SPANS_READ)


def post_feedback(console: Console, request: Request) -> Response:
    """Record or withdraw a person's feedback."""
    actor = console.require_actor(request)
    form = console.form(request)
    trace_id, span_id = id_param(request, "trace"), id_param(request, "span")
    opinion, claim = form.get("opinion", ""), _claim_number(form.get("claim", ""))
    if opinion not in OPINIONS:
        raise bad_request("opinion", " or ".join(OPINIONS), opinion)
    with console.store() as client:
        found = _verifications(client, request)
        verification = next(
            (decision for decision in found if decision.verifier == form.get("verifier", "")), None
        )
        if verification is None:
            raise bad_request(
                "verifier", "a verifier that decided on this answer", form.get("verifier", "")
            )
        seen = _label_seen(client, verification, claim)
        if opinion == "none":
            withdraw_feedback(
                client,
                verification,
                verifier=verification.verifier,
                claim=claim,
                actor=actor.name,
                at_ns=console.clock(),
            )
        else:
            feedback = Feedback(
                verification.verifier,
                claim,
                seen,
                Opinion(opinion),
                form.get("correct", "") if opinion == Opinion.DISAGREE else "",
                actor.name,
                form.get("note", "").strip(),
                console.clock(),
            )
            record_feedback(client, verification, [feedback])
        opinions = [f for f in feedback_on(client, verification) if f.claim == claim]
    if request.headers.get("x-partial"):
        return console.page(
            request,
            "answer_feedback.html",
            title="",
            verification=verification,
            claim=claim,
            given=[f for f in opinions if f.verifier == verification.verifier],
            actor=actor.name,
            labels=[label.value for label in Label if label is not Label.NOT_A_CLAIM],
        )
    anchor = f"feedback-{claim}" if claim >= 0 else "feedback"
    query = {"verifier": verification.verifier, "claim": str(claim) if claim >= 0 else ""}
    return RedirectResponse(f"{with_query(answer_url(trace_id, span_id), **query)}#{anchor}", 303)


def claim_pages(request: Request, outline: Sequence[ClaimOutline]) -> ClaimPages:
    """The claims to list: those of `?label=` on `?page=`, or on the page with `?claim=`."""
    selected = choice_param(request, "label", LABEL_FILTERS, "")
    # A verdict may have thousands of claims, and they have few labels.
    states = Counter((claim.label, claim.status) for claim in outline)
    counts: Counter[str] = Counter()
    for state, number in states.items():
        counts.update(dict.fromkeys(_filters_of(*state), number))
    listed = {state for state in states if selected in _filters_of(*state)}
    fitting = [claim.index for claim in outline if (claim.label, claim.status) in listed]
    pages = max(-(-len(fitting) // CLAIMS_A_PAGE), 1)
    claim = integer_param(request, "claim", default=-1, low=-1, high=2**32)
    default = fitting.index(claim) // CLAIMS_A_PAGE + 1 if claim in fitting else 1
    page = min(integer_param(request, "page", default=default, low=1, high=2**32), pages)
    begin = (page - 1) * CLAIMS_A_PAGE
    return ClaimPages(tuple(fitting[begin : begin + CLAIMS_A_PAGE]), selected, page, pages, counts)


def shown_revision(verification: Verification) -> RevisedAnswer | None:
    """The revised answer, if that is the advice, and a page can show it whole."""
    advice = verification.advice
    if advice.action is not Action.REVISE or len(verification.answer) > ANSWER_LENGTH:
        return None
    return revision(verification.answer, advice.edits)


def _filters_of(label: Label, status: ClaimStatus) -> set[str]:
    """The values of `?label=` that list a claim with these."""
    found = {"", label.value, shown_label(label, status)}
    return found | {UNFAITHFUL} if label.is_unfaithful else found


def _verifications(client: Client, request: Request) -> list[Verification]:
    trace_id, span_id = id_param(request, "trace"), id_param(request, "span")
    found = verifications_of(client, trace_id, span_id)
    if not found:
        raise HTTPException(
            404,
            f"expected a stored answer, found none for trace {trace_id}, span {span_id}: it may "
            "have been deleted (RT4CHART_VERDICTS_TTL_DAYS), or not be decided yet",
        )
    return found


def _selected_verification(
    console: Console, request: Request, found: Sequence[Verification]
) -> Verification:
    """The verdict to show: that of `?verifier=`, of the main verifier, or the latest one.

    The main verifier is looked up only where there is a choice.
    """
    by_name = {verification.verifier: verification for verification in found}
    if requested := text_param(request, "verifier"):
        if requested not in by_name:
            raise bad_request("verifier", "a verifier that decided on this answer", requested)
        return by_name[requested]
    if len(found) == 1:
        return found[0]
    verification = by_name.get(console.main_verifier())
    return (
        verification
        if verification is not None and verification.decision is Decision.VERIFIED
        else found[0]
    )


def _passages_from_spans(
    client: Client, verification: Verification, spans: Sequence[SpanRecord]
) -> dict[str, Passage] | None:
    """The passages, read from the spans as verification does.

    None if the spans were deleted or cannot be read; the verdict still has its quotations.
    """
    found: Sequence[Candidate] = ()
    with guard("reading the passages of an answer"):
        found = read_answers(client, spans)
    for candidate in found:
        if candidate.span_id == verification.span_id:
            staged = [seen.passage for seen in candidate.staged]
            names = [seen.id for seen in verification.passages]
            earlier = earlier_passages(client, candidate, spans, names)
            found_texts = (*staged, *candidate.exchange.passages, *earlier)
            return {passage.id: passage for passage in found_texts}
    return None


def _chain(
    client: Client,
    verification: Verification,
    trails: Sequence[TrailRow],
    spans: Sequence[SpanRecord],
) -> ChainView:
    """The steps that made the answer; without their texts if the spans were deleted."""
    found: TraceChain | None = None
    if trails and any(span.span_id == verification.span_id for span in spans):
        with guard("reading the chain of an answer"):
            found = chain_of(client, verification.service, verification.span_id, spans)
    return chain_view(trails, found, verification.span_id)


def _differences_to(
    client: Client, verification: Verification, outline: Sequence[ClaimOutline], other: Verification
) -> list[LabelDifference] | None:
    """The claims that the other verdict labels differently; None if they are not compared."""
    is_verified = verification.decision is other.decision is Decision.VERIFIED
    if other is verification or not is_verified or len(outline) > MAX_COMPARED_CLAIMS:
        return None
    return differences(outline, claim_outlines(client, other))


def _dead_letter(client: Client, verification: Verification) -> DeadLetter | None:
    """What is to be told of an answer's failed verification; a verified answer has none."""
    if verification.decision is Decision.VERIFIED:
        return None
    letters = letters_of(client, [verification.trace_id], verification.verifier)
    return letters.get(verification.key)


def _actor(console: Console, request: Request) -> str:
    session = request.scope.get("rt4chart.session")
    return session.actor.name if session is not None else ""


def _claim_number(text: str) -> int:
    if text == str(WHOLE_ANSWER):
        return WHOLE_ANSWER
    if not text.isdecimal() or len(text) > 6:
        raise bad_request("claim", "the number of a claim, or -1 for the answer", text)
    return int(text)


def _label_seen(client: Client, verification: Verification, claim: int) -> str:
    if claim == WHOLE_ANSWER:
        return verification.label
    found = claims_in(client, verification, [claim]) if claim <= MAX_INDEX else []
    if not found:
        raise bad_request("claim", "the number of a claim of this answer", str(claim))
    return found[0].claim.label.value


ANSWER_PAGES = (
    ("GET", "/answers/{trace}/{span}", show_answer),
    ("POST", "/answers/{trace}/{span}/feedback", post_feedback),
)
