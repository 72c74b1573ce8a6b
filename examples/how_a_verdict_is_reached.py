"""Walks one answer through every stage of verification and prints what each one gives.

`python examples/how_a_verdict_is_reached.py`: no key, no network.
"""

from __future__ import annotations

from otel_rt4chart.verify import Exchange, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.core.evidence import or_join
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.link.chunks import split_into_chunks
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.text.segment import segment, segment_passages

PASSAGES = [
    Passage(
        "terms",
        "New users must verify their account. The policy applies only to new users. "
        "Verification is required before the trial starts. The free trial lasts 14 days. "
        "Users may ask for more time.",
    ),
    Passage(
        "extension",
        "Verified users can ask once. An extension of the free trial is 7 days.",
    ),
    Passage("plan.json", '{"name": "Free trial", "seats": 3, "single_sign_on": false}'),
]
ANSWER = (
    "Sure! The policy applies to all users. Verification is not required. "
    "The free trial lasts 14 days. "
    "Verified new users can receive a one-time 7-day extension of the free trial. "
    "The trial includes priority email support."
)
WINDOW, OVERLAP = 4, 1


def main() -> None:
    """The stages one by one, then the report that a `Verifier` makes of them."""
    judge = RulesJudge()
    context = segment_passages(PASSAGES)
    print("1 sentences of the passages")
    for one in context:
        print(f"  S{one.index} {one.passage_id}[{one.start}:{one.end}] {one.reading}")

    chunks = split_into_chunks(context, window=WINDOW, overlap=OVERLAP)
    print(f"\n2 chunks of {WINDOW} sentences that share {OVERLAP}")
    for part in chunks:
        print(f"  C{part.index} " + " ".join(f"S{one.index}" for one in part.sentences))

    drafts = decompose(segment(ANSWER))
    claims = [draft for draft in drafts if draft.is_claim]
    print("\n3 claims")
    for draft in drafts:
        kind = f"({draft.kind})" if draft.is_claim else "(not a claim)"
        print(f"  {kind:13} {draft.text}")

    linker = Linker(context)
    print("\n4 links: candidate sentences, with the share of the claim's words they hold")
    for draft in claims:
        found = linker.candidates(draft.text, limit=3)
        shown = " ".join(f"S{link.sentence} {link.score:.2f}" for link in found)
        print(f"  {shown:24}  {draft.text}")

    print("\n5 local verification, chunk by chunk, and the OR-join")
    rows = [judge.assess(claims, part, question="") for part in chunks]
    for number, draft in enumerate(claims):
        labels = [row[number].label for row in rows]
        shown = " ".join(f"{label[:3]}" for label in labels)
        print(f"  {shown} → {or_join(labels):12}  {draft.text}")

    print("\n6 global verification: the whole context, the deciding chunk as a hint")
    for number, draft in enumerate(claims):
        label = or_join(row[number].label for row in rows)
        deciding = (c for c, row in zip(chunks, rows, strict=True) if row[number].label is label)
        hint = Hint(label, next(deciding, None))
        (final,) = judge.resolve([draft], context, hint=hint, question="")
        named = " ".join(f"S{index}" for index in final.sentences)
        print(f"  {final.label:12} {named:6}  {draft.text}")

    report = Verifier(judge, window=WINDOW, overlap=OVERLAP).verify(
        Exchange("What does the trial offer?", PASSAGES, ANSWER)
    )
    print(f"\n7 the report: {report.label}, {report.hallucination_rate:.0%} of the claims")
    for claim in report.claims:
        start, end = claim.answer_range
        print(f"  {claim.label:12} {claim.confidence:.2f}  “{ANSWER[start:end]}”")
        for evidence in claim.evidence:
            print(f"{'':20}{evidence.relation} {evidence.passage_id}: {evidence.text}")
        if claim.label.is_unfaithful:
            print(f"{'':20}because {claim.reason}")
    print("\n8 findings")
    for finding in report.findings:
        number_ = "" if finding.claim is None else f" of claim {finding.claim}"
        print(f"  {finding.name}{number_}: {finding.detail}")


if __name__ == "__main__":
    main()
