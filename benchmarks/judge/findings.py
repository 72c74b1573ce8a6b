"""Which findings fire on human-labelled answers, and whether failure kinds meet people's words.

    python -m benchmarks.judge.findings DIR [--split train|dev] [--json]

DIR has RAGTruth's two-file layout. First the share of the answers with each finding, in three
layouts; on answers that people call faithful, cherry_picked, dropped_qualifier and citation are
false alarms.

- given: the passages as they are. A single passage is mostly used: none is left to scan;
- several: the answers to two or more passages;
- split: single passages cut into passages of five sentences. All are of one document, so almost
  none can take back what a faithful answer says.

Then the failure kinds of the unfaithful claims that overlap a marked span, for the answers whose
`kinds` names one edit. Beside the share that the edit leads one to expect stand two baselines:
always the kind that agrees most often, and our kinds dealt out at random.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from otel_rt4chart.bench.dataset import RESPONSES, LabelledAnswer, read_rows
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Passage, Report
from otel_rt4chart.verify.text.segment import segment

FINDINGS = ("cherry_picked", "dropped_qualifier", "citation", "sycophantic", "stale", "overreach")
PASSAGE_SENTENCES = 5
WAYS = ("expected", "constant", "random")
# The failure kinds that an edit should lead to; the mapping is ours and was made before measuring.
# Antonyms that no rule knows are `other` or, as words that the source lacks, `overreach`.
EXPECTED = {
    "entity_modification": {"entity_swap", "numeric_slip", "temporal_shift"},
    "antonym_swap": {"negation_flip", "unsupported_generalisation", "other", "overreach"},
    "negation_insertion_removal": {"negation_flip"},
    "hallucinated_fact_insertion": {
        "overreach",
        "prior_knowledge",
        "inference_as_fact",
        "unsupported_generalisation",
    },
}
# By data set, by what people call the answer, by finding.
Shares = dict[str, dict[str, dict[str, float]]]
Kinds = Mapping[str, Counter[str]]
# An answer with the names of what was found in it.
Told = tuple[LabelledAnswer, frozenset[str]]


def main() -> None:
    """Verify the answers of the folder, print what fires."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", choices=("train", "dev"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for row in read_rows(options.folder) if options.split in (None, row.split)]
    layouts, kinds = measure(rows, edits(options.folder / RESPONSES))
    if options.json:
        print(json.dumps({"shares": layouts, "kinds": kinds, "agreement": agreement(kinds)}))
        return
    for name, shares in layouts.items():
        print(f"share of answers with a finding, {name}\n{share_table(shares)}\n")
    print(f"failure kinds of marked claims, by the edit that people name\n{kind_table(kinds)}")


def measure(
    rows: Sequence[LabelledAnswer], edited: Mapping[str, str]
) -> tuple[dict[str, Shares], dict[str, Counter[str]]]:
    """The shares of each layout, and the failure kinds of each edit; `edited` goes by answer."""
    verifier = Verifier(RulesJudge())
    kinds: dict[str, Counter[str]] = {edit: Counter() for edit in EXPECTED}
    given: list[Told] = []
    for row in rows:
        report = verifier.verify(row.exchange)
        given.append((row, names(report)))
        if edited.get(row.id) in kinds:
            kinds[edited[row.id]].update(marked_kinds(row, report))
    cut = [(row, names(verifier.verify(row.exchange))) for row in map(split, rows) if row]
    several = [told for told in given if len(told[0].exchange.passages) > 1]
    layouts = {"given": given, "several": several, "split": cut}
    return {name: shares_of(told) for name, told in layouts.items()}, kinds


def edits(path: Path) -> dict[str, str]:
    """The edit of each answer that has exactly one, by the answer's id."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {str(row["id"]): row["kinds"][0] for row in rows if len(row.get("kinds") or ()) == 1}


def split(row: LabelledAnswer) -> LabelledAnswer | None:
    """The row with its one passage cut between sentences; None where there is nothing to cut."""
    if len(row.exchange.passages) != 1:
        return None
    text = row.exchange.passages[0].text
    sentences = segment(text)
    if len(sentences) <= PASSAGE_SENTENCES:
        return None
    starts = range(0, len(sentences), PASSAGE_SENTENCES)
    groups = [sentences[at : at + PASSAGE_SENTENCES] for at in starts]
    passages = tuple(
        Passage(f"p{number}", text[group[0].start : group[-1].end])
        for number, group in enumerate(groups, start=1)
    )
    return replace(row, exchange=replace(row.exchange, passages=passages))


def names(report: Report) -> frozenset[str]:
    """The names of the findings, each also with its kind where it has one."""
    found = [one for one in report.findings if one.name in FINDINGS]
    return frozenset(
        name for one in found for name in (one.name, f"{one.name}.{one.kind}".rstrip("."))
    )


def marked_kinds(row: LabelledAnswer, report: Report) -> Iterator[str]:
    """The failure kind of each unfaithful claim that overlaps what a person marked."""
    for finding in report.findings:
        if finding.name != "failure_kind" or finding.claim is None:
            continue
        claim = report.claims[finding.claim]
        start, end = claim.answer_range
        is_marked = any(start < span.range.end and span.range.start < end for span in row.spans)
        if claim.label.is_unfaithful and is_marked:
            yield finding.kind


def shares_of(told: Sequence[Told]) -> Shares:
    """The share of the answers with each finding; `n` counts the answers."""
    shares: Shares = {}
    for part in (*sorted({row.dataset for row, _ in told}), "all"):
        mine = [one for one in told if part in (one[0].dataset, "all")]
        shares[part] = {
            "faithful": _shares([found for row, found in mine if not row.is_hallucinated]),
            "unfaithful": _shares([found for row, found in mine if row.is_hallucinated]),
        }
    return shares


def _shares(found: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(name for one in found for name in one)
    return {"n": len(found)} | {name: counts[name] / len(found) for name in sorted(counts)}


def agreement(kinds: Kinds) -> dict[str, dict[str, float]]:
    """By edit, over all claims and over all edits alike: ours and what the baselines reach."""
    named: Counter[str] = sum(kinds.values(), Counter())
    found: dict[str, dict[str, float]] = {}
    for edit in kinds:
        if count := kinds[edit].total():
            found[edit] = {
                "claims": count,
                "expected": sum(kinds[edit][kind] for kind in EXPECTED[edit]) / count,
                "constant": float(_constant(kinds) in EXPECTED[edit]),
                "random": sum(named[kind] for kind in EXPECTED[edit]) / named.total(),
            }
    edits = list(found.values())
    found["all claims"] = {"claims": named.total()} | {
        way: sum(one["claims"] * one[way] for one in edits) / max(named.total(), 1) for way in WAYS
    }
    found["all edits alike"] = {"claims": named.total()} | {
        way: sum(one[way] for one in edits) / max(len(edits), 1) for way in WAYS
    }
    return found


def _constant(kinds: Kinds) -> str:
    """The failure kind that would agree most often if it were always named."""
    return max(
        sorted(set().union(*EXPECTED.values())),
        key=lambda kind: sum(kinds[edit].total() for edit in kinds if kind in EXPECTED[edit]),
    )


def share_table(shares: Shares) -> str:
    """A line a finding, two columns a data set; what fires nowhere is left out."""
    columns = [(part, side) for part in shares for side in shares[part]]
    fired = {name for part, side in columns for name in shares[part][side]} - {"n"}
    lines = [
        " " * 28 + "".join(f"{part:>12}" for part, _ in columns),
        " " * 28 + "".join(f"{side:>12}" for _, side in columns),
        f"{'answers':28}" + "".join(f"{shares[p][s]['n']:12.0f}" for p, s in columns),
    ]
    for name in sorted(fired, key=lambda name: (FINDINGS.index(name.split(".")[0]), name)):
        values = "".join(f"{shares[p][s].get(name, 0.0):12.3f}" for p, s in columns)
        lines.append(f"{name:28}{values}")
    return "\n".join(lines)


def kind_table(kinds: Kinds) -> str:
    """Counts of each failure kind by edit, then the agreement."""
    named: Counter[str] = sum(kinds.values(), Counter())
    lines = [" " * 28 + "".join(f"{edit.split('_')[0]:>14}" for edit in kinds)]
    for name, _ in named.most_common():
        lines.append(f"{name:28}" + "".join(f"{kinds[edit][name]:14}" for edit in kinds))
    lines.append(f"\n{'':28}{'claims':>14}" + "".join(f"{way:>14}" for way in WAYS))
    for edit, found in agreement(kinds).items():
        shown = "".join(f"{found[way]:14.3f}" for way in WAYS)
        lines.append(f"{edit:28}{found['claims']:14.0f}{shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
