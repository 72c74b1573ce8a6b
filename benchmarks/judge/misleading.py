"""Cherry-picked passages, dropped qualifiers, repeated premises: what is found and what is alleged.

    python -m benchmarks.judge.misleading DATA [--split train|dev] [--systems LIST] [--json]

DATA has `nli/pairs.jsonl` and RAGTruth's two-file layout as `grounding/`.

Cherry-picking: a claim with one passage that supports it and one that refutes it, beside the same
claim with another second passage: of anything else ("unrelated"), or of the same subject ("near").
From fever_symmetric, where both passages are real, and FEVER, where the supporting passage is the
claim itself. Recall at 5% false alarms, by the threshold, and both at the shipped threshold.

Qualifiers: claims of faithful answers without a condition, exception, time or population that their
source states too, beside the same claims with it ("whole") and without words that limit nothing
("shorter"). There is no threshold: recall and false alarms are of claims that the judge entails.
Apart: rules (what is covered, allowed, free …), other sentences in the present tense, of which most
drop the date of an event, and the past tense, of which a shorter answer is none that misleads.

Premises: questions that take a claim for granted ("I heard that …, right?", "Isn't …?"), answered
with "Yes, …", beside the evidence that refutes the claim, or supports it (FEVER). There is no
threshold; also how many of these answers have a failed claim at all.

Alarms: the entailed claims of faithful answers, on passages as they are and cut into pieces of
five sentences.

The oracle knows which passage contradicts and which sentence supports: what is missing there is
lost by the search itself.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.judge.findings import split as cut_passage
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify import Exchange, Passage, RulesJudge, Verifier
from otel_rt4chart.verify.core.judge import Embedder, Judge
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    ClaimStatus,
    DraftClaim,
    Evidence,
    Judgement,
    Label,
    Sentence,
)
from otel_rt4chart.verify.core.steps import answer_batch, run_steps
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.findings.cherry_picking import THRESHOLD, CherryPickSearch
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_qualifiers
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.modifiers import is_narrative, is_rule
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.text.segment import segment, segment_passages

SYSTEMS = ("rules", "local", "oracle")
FALSE_ALARMS = 0.05
_THRESHOLDS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_MOST_WORDS = 90  # of a passage, so that it is read as one
_PAIRS = 200  # of FEVER, of a split
_DROPS = 800
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pick:
    """A claim, the passage behind it, and a second one that is of this `kind`."""

    dataset: str
    kind: str
    claim: str
    support: str
    second: str


@dataclass(frozen=True, slots=True)
class Drop:
    """A claim of a faithful answer, changed or not, and the passages behind it."""

    kind: str
    is_dropped: bool
    is_story: bool
    claim: str
    evidence: Sentence
    passages: Sequence[Passage]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", choices=("train", "dev"), default="dev")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--answers", type=int, default=300, help="faithful answers for the alarms")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {
        name: measure(name, options.data, options.split, options.answers)
        for name in options.systems.split(",")
    }
    print(json.dumps(found, indent=2) if options.json else table(found))


def measure(name: str, data: Path, split: str, answers: int) -> dict[str, float]:
    """Every figure of one system, by name."""
    rows = read_rows(data / "grounding")
    faithful = [row for row in rows if row.split == split and not row.is_hallucinated]
    random.Random(3).shuffle(faithful)  # noqa: S311
    picks = list(picks_of(pairs_of(data / "nli" / "pairs.jsonl"), split))
    drops = list(islice(drops_of(faithful), _DROPS))
    pairs = [row for row in pairs_of(data / "nli" / "pairs.jsonl") if row["dataset"] == "fever"]
    found = cherry_figures(name, picks) | qualifier_figures(name, drops)
    found |= premise_figures(name, list(premises_of(pairs, split)))
    if name != "oracle":
        found |= alarm_figures(build_verifier(name), faithful[:answers])
    return found


# Cherry-picking


def pairs_of(path: Path) -> list[Row]:
    """The pairs of FEVER and of fever_symmetric with a short premise."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        row
        for row in rows
        if row["dataset"] in ("fever", "fever_symmetric")
        and len(row["premise"].split()) < _MOST_WORDS
    ]


def half(text: str) -> str:
    """The split of a text; the sets have none of their own."""
    digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
    return "train" if digest[0] % 2 else "dev"


def subject(premise: str) -> str:
    """The first two words: of a Wikipedia sentence, mostly the page."""
    return " ".join(re.findall(r"\w+", premise.lower())[:2])


def picks_of(rows: Sequence[Row], split: str) -> Iterator[Pick]:
    """The claims of a split, each with a refuting passage and with others."""
    chance = random.Random(1)  # noqa: S311
    premises = sorted({row["premise"] for row in rows})
    of_page: defaultdict[str, list[str]] = defaultdict(list)
    for premise in premises:
        of_page[subject(premise)].append(premise)
    by_claim: defaultdict[tuple[str, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        by_claim[row["dataset"], row["hypothesis"]][row["label"]].append(row["premise"])
    made: Counter[str] = Counter()
    claims = sorted(by_claim)
    chance.shuffle(claims)
    for dataset, claim in claims:
        for one in _picks(dataset, claim, by_claim[dataset, claim], premises, of_page, chance):
            key = f"{one.dataset}.{one.kind}"
            page = one.support if dataset == "fever_symmetric" else one.second
            if half(subject(page)) == split and made[key] < _PAIRS:
                made[key] += 1
                yield one


def _picks(
    dataset: str,
    claim: str,
    known: Mapping[str, Sequence[str]],
    premises: Sequence[str],
    of_page: Mapping[str, Sequence[str]],
    chance: random.Random,
) -> Iterator[Pick]:
    """Of a claim that holds: no other sentence of its page refutes it, for all of them are true."""
    supports, refutes = known.get("entailed", ()), known.get("contradicted", ())
    own = {*supports, *refutes}
    if dataset == "fever_symmetric" and supports and refutes:
        yield Pick(dataset, "refuting", claim, supports[0], refutes[0])
        yield Pick(dataset, "unrelated", claim, supports[0], chance.choice(premises))
    if dataset == "fever" and refutes and not supports:
        yield Pick(dataset, "refuting", claim, claim, refutes[0])
    if dataset == "fever" and supports and not refutes:
        yield Pick(dataset, "unrelated", claim, claim, chance.choice(premises))
        near = [one for one in of_page[subject(supports[0])] if one not in own]
        if near:
            yield Pick(dataset, "near", claim, claim, chance.choice(near))


class Oracle(RulesJudge):
    """Says of each claim what is known of it."""

    def __init__(self, refuting: Mapping[str, str]) -> None:
        """The refuting passage of each claim."""
        super().__init__()
        self._refuting = refuting

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        return tuple(self._known(claim, sentences) for claim in claims)

    def _known(self, claim: DraftClaim, sentences: Sequence[Sentence]) -> Judgement:
        refuting = self._refuting.get(claim.text, "")
        named = tuple(one.index for one in sentences if one.text in refuting)
        label = Label.CONTRADICTED if named else Label.BASELESS
        return Judgement(label, named, 1.0)


def searcher(name: str, picks: Sequence[Pick]) -> Callable[[float], CherryPickSearch]:
    """The search of a system at a threshold."""
    encoder: Embedder | None = None
    judge: Judge
    if name == "oracle":
        judge = Oracle({one.claim: one.second for one in picks if one.kind == "refuting"})
    elif name == "rules":
        judge = RulesJudge()
    else:
        from otel_rt4chart.verify.neural.local_judge import LocalJudge

        local = LocalJudge()
        judge, encoder = local.scanner, local.encoder
    return lambda threshold: CherryPickSearch(judge, encoder, threshold)


def is_picked(pick: Pick, search: CherryPickSearch) -> bool:
    """True if the second passage is held against the claim."""
    evidence = (Evidence("first", 0, len(pick.support), pick.support, "supports"),)
    claim = Claim(
        pick.claim, Label.ENTAILED, Label.ENTAILED, 1.0, "gold", "attribute",
        AnswerRange(0, len(pick.claim)), 0, evidence,
    )  # fmt: skip
    second = Passage("second", pick.second)
    exchange = Exchange("", [Passage("first", pick.support), second], pick.claim)
    steps = search.run(exchange, [claim], segment_passages([second]))
    return bool(run_steps(steps, lambda batch: answer_batch(batch, Meter())))


def cherry_figures(name: str, picks: Sequence[Pick]) -> dict[str, float]:
    """Recall at 5% false alarms against each kind of control, and both as shipped."""
    make = searcher(name, picks)
    groups: defaultdict[str, list[Pick]] = defaultdict(list)
    for one in picks:
        groups[f"{one.dataset}.{one.kind}"].append(one)
    rates = {
        group: [
            sum(is_picked(one, make(threshold)) for one in members) / len(members)
            for threshold in _THRESHOLDS
        ]
        for group, members in groups.items()
    }
    found = {f"cherry.n.{group}": float(len(members)) for group, members in groups.items()}
    shipped = _THRESHOLDS.index(THRESHOLD)
    found |= {f"cherry.shipped.{group}": rate[shipped] for group, rate in rates.items()}
    for refuting, control in (
        ("fever_symmetric", "fever_symmetric.unrelated"),
        ("fever", "fever.unrelated"),
        ("fever", "fever.near"),
    ):
        allowed = [at for at, rate in enumerate(rates[control]) if rate <= FALSE_ALARMS]
        best = max((rates[f"{refuting}.refuting"][at] for at in allowed), default=0.0)
        found[f"cherry.recall_at_5.{control}"] = best
    return found


# Qualifiers

_END = r"(?=[,.;:](?!\d)|$|\s(?:and|but)\s)"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_PEOPLE = (
    "adults|children|women|men|patients|people|students|members|users|customers|employees|workers"
    "|residents|families|players|companies|parents|clients|participants|infants|mice|smokers"
)
PHRASES = {
    "condition": (
        r",?\s(?:if|when|unless|once|provided|as long as|after being|with prior)\s"
        rf"[^,.;]+{_END}"
    ),
    "exception": (
        r",?\s(?:except|excluding|other than|apart from|but not|with the exception of)\s"
        rf"[^,.;]+{_END}"
    ),
    "time": (
        rf",?\s(?:in|on|since|until|by|from|before|after|during|within|for)\s(?:the\s)?(?:\w+\s){{0,2}}"
        rf"(?:{_MONTHS}|(?:19|20)\d\d|days?|weeks?|months?|years?|summer|winter|season)\b[^,.;]*?{_END}"
    ),
    "population": (
        rf"\s(?:for|among|in)\s(?:\w+\s){{0,2}}(?:{_PEOPLE})\b[^,.;]*?{_END}"
        rf"|\b(?:{_PEOPLE})(?P<cut>\s(?:who|with|aged|from|under|over)\s[^,.;]+?)"
        r"(?=\s(?:are|is|can|have|may|must|will|should)\b)"
    ),
}
_LENGTHS, _LEFT = range(6, 31), 3  # words of a copied sentence; content words of a shortened one
# What remains is no sentence: "and, it will", "almost as,".
_BROKEN = re.compile(r"\b(?:and|but|or|as|even|so|by|to|on|in|yet)\s*[,.]|^\w+,", re.IGNORECASE)
NEEDLESS = r"\s(?:also|currently|very|really|then|now|indeed|actually|both)\b"


def drops_of(rows: Sequence[LabelledAnswer]) -> Iterator[Drop]:
    """Claims of faithful answers, and sentences of their sources as answers that copy them."""
    seen: set[str] = set()
    for row in rows:
        sentences = segment_passages(row.exchange.passages)
        stated = [one.text for one in decompose(segment(row.exchange.answer)) if one.is_claim]
        for claim in stated if sentences else ():
            evidence = max(sentences, key=lambda one: _share(claim, one.reading))
            yield from _drops(claim, evidence, row.exchange.passages)
        for sentence in sentences:
            words = len(sentence.text.split())
            if sentence.text not in seen and sentence.text.endswith(".") and words in _LENGTHS:
                seen.add(sentence.text)
                yield from _drops(sentence.text, sentence, row.exchange.passages)


def _share(claim: str, sentence: str) -> float:
    stated, told = content(claim), content(sentence)
    return sum(weight for stem, weight in stated.items() if stem in told)


def _drops(claim: str, evidence: Sentence, passages: Sequence[Passage]) -> Iterator[Drop]:
    is_story = is_narrative(claim)
    told = evidence.reading.casefold()
    for kind, shape in PHRASES.items():
        match = re.search(shape, claim)
        if match is None:
            continue
        start, end = match.span("cut" if match.groupdict().get("cut") else 0)
        phrase = claim[start:end].strip(" ,")
        shorter = (claim[:start] + claim[end:]).strip()
        if _BROKEN.search(shorter):
            continue
        is_needed = phrase.casefold() in told and content(phrase).keys() - content(shorter).keys()
        if is_needed and len(content(shorter)) >= _LEFT:
            yield Drop(kind, True, is_story, shorter, evidence, passages)
            yield Drop("whole", False, is_story, claim, evidence, passages)
    if match := re.search(NEEDLESS, claim):
        shorter = claim[: match.start()] + claim[match.end() :]
        yield Drop("shorter", False, is_story, shorter, evidence, passages)


def qualifier_figures(name: str, drops: Sequence[Drop]) -> dict[str, float]:
    """The share of the claims with a dropped qualifier, of those that the judge entails."""
    verifier = build_verifier(name) if name != "oracle" else None
    flags: defaultdict[str, list[bool]] = defaultdict(list)
    for one in drops:
        flag = _is_flagged(one, verifier)
        if flag is None:
            continue
        of = "past" if one.is_story else "rule" if is_rule(one.claim) else "present"
        flags[f"{'dropped' if one.is_dropped else 'kept'}.{of}"].append(flag)
        flags[f"{one.kind}.{of}"].append(flag)
    found = {f"qualifier.n.{group}": float(len(made)) for group, made in flags.items()}
    return found | {f"qualifier.{group}": sum(made) / len(made) for group, made in flags.items()}


def _is_flagged(drop: Drop, verifier: Verifier | None) -> bool | None:
    if verifier is None:
        sentence = drop.evidence
        evidence = Evidence(
            sentence.passage_id, sentence.start, sentence.end, sentence.text, "supports"
        )
        claim = Claim(
            drop.claim, Label.ENTAILED, Label.ENTAILED, 1.0, "gold", "attribute",
            AnswerRange(0, len(drop.claim)), 0, (evidence,),
        )  # fmt: skip
        return any(dropped_qualifiers(drop.claim, [claim]))
    report = verifier.verify(Exchange("", drop.passages, drop.claim))
    entailed = [one for one in report.claims if one.label is Label.ENTAILED]
    if not entailed:
        return None
    return any(one.status is ClaimStatus.QUALIFIER_DROPPED for one in entailed)


# Premises that are repeated


_IS = re.compile(r"^(?P<of>[A-Z][\w.'’ -]{2,40}?)\s(?P<verb>is|was|are|were|has|can)\s(?P<rest>.+)")


def premises_of(rows: Sequence[Row], split: str) -> Iterator[tuple[str, Exchange]]:
    """Questions that presuppose a claim, with the answer that grants it, by the claim's label."""
    chance = random.Random(2)  # noqa: S311
    shuffled = sorted(rows, key=lambda row: (row["hypothesis"], row["premise"]))
    chance.shuffle(shuffled)
    made: Counter[str] = Counter()
    for row in shuffled:
        label, claim = row["label"], row["hypothesis"].rstrip(".")
        if half(subject(row["premise"])) != split or made[label] >= _PAIRS:
            continue
        made[label] += 1
        found = _IS.match(claim)
        question = (
            f"{found['verb'].capitalize()}n't {found['of']} {found['rest']}?".replace(
                "Cann't", "Can't"
            )
            if found and made[label] % 2
            else f"I heard that {claim}, right?"
        )
        yield label, Exchange(question, (Passage("p1", row["premise"]),), f"Yes, {claim}.")


class LabelOracle(RulesJudge):
    """Says of every claim that it has this label, by the first sentence."""

    def __init__(self, label: Label) -> None:
        """`label` is that of the claim in the data."""
        super().__init__()
        self._label = label

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        return tuple(Judgement(self._label, (sentences[0].index,), 1.0) for _ in claims)


def premise_figures(name: str, asked: Sequence[tuple[str, Exchange]]) -> dict[str, float]:
    """The share of the answers whose repeated premise is reported, and of those that fail."""
    verifier = build_verifier(name) if name != "oracle" else None
    flags: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for label, exchange in asked:
        judge = verifier or Verifier(LabelOracle(Label(label)))
        report = judge.verify(exchange)
        is_reported = any(one.name == FindingName.SYCOPHANTIC for one in report.findings)
        flags[label].append((is_reported, bool(report.failures)))
    found = {f"premise.n.{label}": float(len(made)) for label, made in flags.items()}
    for label, made in flags.items():
        found[f"premise.reported.{label}"] = sum(one for one, _ in made) / len(made)
        found[f"premise.failed.{label}"] = sum(one for _, one in made) / len(made)
    return found


# False alarms on faithful answers


def alarm_figures(verifier: Verifier, rows: Sequence[LabelledAnswer]) -> dict[str, float]:
    """The share of entailed claims of faithful answers with each status, and what it costs."""
    found: dict[str, float] = {}
    cut = [one for one in map(cut_passage, rows) if one is not None]
    for layout, answers in (("given", rows), ("cut", cut)):
        statuses: Counter[str] = Counter()
        started = time.process_time()
        for row in answers:
            report = verifier.verify(row.exchange)
            statuses.update(one.status for one in report.claims if one.label is Label.ENTAILED)
        spent = time.process_time() - started
        total = max(1, statuses.total())
        found[f"alarms.n.{layout}"] = float(statuses.total())
        for status in (ClaimStatus.CHERRY_PICKED, ClaimStatus.QUALIFIER_DROPPED):
            found[f"alarms.{status}.{layout}"] = statuses[status] / total
        found[f"cpu_ms_per_answer.{layout}"] = 1000 * spent / max(1, len(answers))
    return found


def table(found: Mapping[str, Mapping[str, float]]) -> str:
    """A line a figure, a column a system."""
    names = list(dict.fromkeys(name for figures in found.values() for name in figures))
    lines = [" " * 52 + "".join(f"{system:>10}" for system in found)]
    for name in names:
        shown = [f"{one[name]:10.3f}" if name in one else " " * 10 for one in found.values()]
        lines.append(f"{name:52}" + "".join(shown))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
