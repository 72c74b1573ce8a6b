"""Calls, tokens and time of an endpoint judge: RT4CHART as published beside ours, at equal labels.

    python -m benchmarks.judge.calls DIR [--limit N] [--latency-ms 50] [--claims atomic|rules]

DIR has RAGTruth's two-file layout. Both pipelines ask the same model over real HTTP: an oracle that
decides by the words of the prompt alone. Counts are over all rows without latency; wall time is of
a fixed sample, the published pipeline one call after the other, ours as it ships. The server counts
a token as four characters. The targets: at most 0.20 of the calls, 0.33 of the prompt tokens.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.judge.published import Cost, Naive, Outcome, Verdict
from otel_rt4chart.bench.dataset import LabelledAnswer, choose_split, read_rows
from otel_rt4chart.verify import Endpoint, OpenAIJudge, Report, Verifier
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.decompose.coordination import verbs
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.chunks import split_into_chunks
from otel_rt4chart.verify.text.segment import segment, segment_passages
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Split, Truth, by_rule

CALLS, PROMPT_TOKENS = 0.20, 0.33
TIMED = 60
HELD, NEAR, MOST = 0.8, 0.5, 3  # shares of a claim's words; sentences that may hold them together

_WORD = re.compile(r"[\w'’-]+")
# A comma, a conjunction before what can stand by itself, an adjunct with a number, date or name.
_CUT = re.compile(
    r""",\s+(?:and\s+|but\s+|or\s+)?|;\s+
    | \s+(?:and|but)\s+(?=(?:the|an?|its|their|his|her|to|in|on|at|from|by|for
        |[A-Z][\w'’-]+|[a-z]+(?:s|ed|ing))\b)
    | \s+(?=(?:in|on|at|from|by|for|since|until|after|before|during|within|near|under|over|per|via)
        \s+(?:[a-z]+\s+){0,2}?[$£€]?(?:[A-Z]|\d))""",
    re.VERBOSE,
)
_VERB_GROUP = frozenset(["been", "be", "being", "not", "also", "already", "have"])


class Compared(NamedTuple):
    """One answer, verified by both; `fresh` has no verdict in its cache, `shared` all before it.

    `agreeing` and `agreeing_locally` count claims of the same words and label, of `claims`.
    """

    row: LabelledAnswer
    sentences: int
    chunks: int
    claims: int
    naive: Cost
    fresh: Cost
    shared: Cost
    asked_again: int
    agreeing: int
    agreeing_locally: int
    answer_agrees: bool
    labels: Counter[Label]


class Timed(NamedTuple):
    """Milliseconds that one answer took."""

    naive: float
    fresh: float
    shared: float


def main() -> None:
    """Count on all rows, time on some, print the tables and what the targets come to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--claims", choices=("atomic", "rules"), default="atomic")
    options = parser.parse_args()
    split_name, every = choose_split(read_rows(options.folder), None)
    rows = spread(every, options.limit or len(every))
    split = atoms if options.claims == "atomic" else by_rule
    print(f"{len(rows)} answers of {split_name}, {options.claims} claims")
    compared = compare(rows, split)
    print_costs(compared)
    print_labels(compared)
    print_times(measure(spread(rows, TIMED), split, options.latency_ms), options.latency_ms)
    print_targets("all answers", compared)
    print_targets("answers of 3 claims or more", [one for one in compared if one.claims >= 3])


def spread(rows: Sequence[LabelledAnswer], most: int) -> Sequence[LabelledAnswer]:
    """At most so many rows, evenly from all of them."""
    return rows[:: max(1, len(rows) // most)][:most]


def atoms(sentence: str) -> list[str]:
    """The sentence's atomic claims: clauses, conjuncts, phrases with a number, date or name.

    Each stands behind the words up to its clause's verb; all words are the sentence's own.
    """
    return [atom for clause in by_rule(sentence) for atom in _cut(clause)]


def _cut(clause: str) -> Iterator[str]:
    words = list(_WORD.finditer(clause))
    verb = _verb(words)
    if verb is None:
        yield clause
        return
    subject, stem = clause[: words[verb].start()], clause[: words[_end_of(words, verb)].end()]
    starts = [len(stem)]
    ends: list[int] = []
    for found in _CUT.finditer(clause, len(stem) + 1):
        if all(_says(part) for part in (clause[starts[-1] : found.start()], clause[found.end() :])):
            ends.append(found.start())
            starts.append(found.end())
    first_end, *later_ends = [*ends, len(clause)]
    yield clause[:first_end]
    for start, end in zip(starts[1:], later_ends, strict=True):
        part = clause[start:end].strip()
        first = _WORD.match(part)
        is_predicate = first is not None and first.group().lower() in verbs()
        yield f"{(subject if is_predicate else stem).strip()} {part}".strip()


def _verb(words: Sequence[re.Match[str]]) -> int | None:
    """The first word that is a finite verb for sure, else the first that may be one."""
    forms = [(at, verbs().get(word.group().lower())) for at, word in enumerate(words)]
    finite = [(at, form) for at, form in forms if at and form is not None]
    sure = [at for at, form in finite if form.is_sure]
    return next(iter(sure or [at for at, _ in finite]), None)


def _end_of(words: Sequence[re.Match[str]], verb: int) -> int:
    """The last word of the verb's group: "has not been delayed"."""
    end = verb
    while end + 1 < len(words) and words[end + 1].group().lower() in _VERB_GROUP:
        end += 1
    following = words[end + 1].group().lower() if end + 1 < len(words) else ""
    return end + following.endswith(("ed", "en", "ing"))


def _says(part: str) -> bool:
    """True for what holds a word of substance and is no bare number."""
    return bool(content(part)) and re.search(r"[^\W\d]", part) is not None


def truth(claim: str, sentences: Sequence[str]) -> Truth:
    """The oracle's label, by the words that up to three sentences together hold.

    Most of the claim's words and all of its numbers: entailed. Half of them, and another number
    than the claim's: contradicted. Its evidence are those sentences. Hints are not heeded.
    """
    wanted = stems(claim)
    best: list[str] = []
    held: set[str] = set()
    while len(best) < MOST and wanted - held:
        gains = [len((wanted - held) & stems(sentence)) for sentence in sentences]
        gain = max(gains, default=0)
        if gain == 0:
            break
        best.append(sentences[gains.index(gain)])
        held |= wanted & stems(best[-1])
    share = len(held) / len(wanted) if wanted else 0.0
    numbers = {stem for stem in wanted if _is_number(stem)}
    if share >= HELD and numbers <= held:
        return Truth("entailed", tuple(best))
    others = any(_is_number(stem) for one in best for stem in stems(one) - wanted)
    is_denied = share >= NEAR and others and not numbers <= held
    return Truth("contradicted", tuple(best)) if is_denied else Truth("baseless")


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(content(text))


def _is_number(stem: str) -> bool:
    return any(map(str.isdigit, stem))


@contextmanager
def served(split: Split, latency_ms: float = 0.0) -> Iterator[tuple[EndpointServer, Endpoint]]:
    """The oracle behind HTTP, and our client for it as it ships, but for repeats."""
    oracle = Oracle(split=split, judge=truth)
    with EndpointServer(oracle, latency_s=latency_ms / 1000) as server:
        endpoint = Endpoint(base_url=server.base_url, max_retries=0)
        try:
            yield server, endpoint
        finally:
            endpoint.close()
    if server.errors:
        raise RuntimeError(server.errors[0])


def compare(rows: Iterable[LabelledAnswer], split: Split) -> list[Compared]:
    """Both pipelines over all rows."""
    with served(split) as (server, endpoint):
        naive = Naive(endpoint, is_sequential=False)
        shared = Verifier(OpenAIJudge(endpoint))
        return [_compared(row, server, endpoint, naive, shared) for row in rows]


def _compared(
    row: LabelledAnswer, server: EndpointServer, endpoint: Endpoint, naive: Naive, shared: Verifier
) -> Compared:
    theirs = naive.verify(row.exchange)
    server.seen.clear()
    fresh = Verifier(OpenAIJudge(endpoint)).verify(row.exchange)
    if len(server.seen) != fresh.usage.calls:
        raise RuntimeError(f"{row.id}: {fresh.usage.calls} calls told, {len(server.seen)} made")
    asked_again = sum(len(one.body["messages"]) > 2 for one in server.seen)
    later = shared.verify(row.exchange)
    server.seen.clear()
    ours = [_verdicts(fresh), _verdicts(later)]
    return Compared(
        row,
        len(segment(row.exchange.answer)),
        len(split_into_chunks(segment_passages(row.exchange.passages))),
        max(len(theirs.verdicts), *map(len, ours)),
        theirs.cost,
        _cost(fresh),
        _cost(later),
        asked_again,
        min(_in_common(theirs, one, lambda v: v.final) for one in ours),
        min(_in_common(theirs, one, lambda v: v.local) for one in ours),
        theirs.label is fresh.label is later.label,
        Counter(one.final for one in theirs.verdicts),
    )


def _verdicts(report: Report) -> tuple[Verdict, ...]:
    return tuple(
        # A context of one chunk has no local step: the global one reads that chunk.
        Verdict(claim.sentence, claim.text, claim.local_label or claim.label, claim.label)
        for claim in report.claims
        if claim.label is not Label.NOT_A_CLAIM
    )


def _in_common(theirs: Outcome, ours: Iterable[Verdict], label: Callable[[Verdict], Label]) -> int:
    left, right = (
        Counter((one.sentence, one.text, label(one)) for one in side)
        for side in (theirs.verdicts, ours)
    )
    return (left & right).total()


def _cost(report: Report) -> Cost:
    used = report.usage
    return Cost(used.calls, used.input_tokens, used.output_tokens)


def measure(rows: Sequence[LabelledAnswer], split: Split, latency_ms: float) -> list[Timed]:
    """Wall time a row: published and sequential, ours with an empty cache, ours with a shared one.

    What the rules and the words need is loaded by a first answer that is not timed.
    """
    with served(split, latency_ms) as (_, endpoint):
        naive = Naive(endpoint, is_sequential=True)
        shared = Verifier(OpenAIJudge(endpoint))
        Verifier(OpenAIJudge(endpoint)).verify(rows[0].exchange)
        return [
            Timed(
                _ms(partial(naive.verify, row.exchange)),
                _ms(partial(Verifier(OpenAIJudge(endpoint)).verify, row.exchange)),
                _ms(partial(shared.verify, row.exchange)),
            )
            for row in rows
        ]


def _ms(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def groups(compared: Sequence[Compared]) -> Iterator[tuple[str, list[Compared]]]:
    """By data set, by the answer's length, by its claims, and all."""
    for name in sorted({one.row.dataset for one in compared}):
        yield name, [one for one in compared if one.row.dataset == name]
    for name, low, high in (("1", 1, 1), ("2", 2, 2), ("3-4", 3, 4), ("5+", 5, 10**6)):
        yield f"{name} sentences", [one for one in compared if low <= one.sentences <= high]
    for name, low, high in (("0-1", 0, 1), ("2", 2, 2), ("3-5", 3, 5), ("6+", 6, 10**6)):
        yield f"{name} claims", [one for one in compared if low <= one.claims <= high]
    yield "all", list(compared)


def print_costs(compared: Sequence[Compared]) -> None:
    """A line a group for calls, prompt tokens and completion tokens: means an answer, ratios."""
    counted = (
        ("calls", "calls"),
        ("prompt tokens", "prompt_tokens"),
        ("completion tokens", "completion_tokens"),
    )
    for title, name in counted:
        print(f"\n{title + ' an answer':26}{'answers':>8}{'claims':>8}{'chunks':>8}", end="")
        print(f"{'naive':>10}{'ours':>9}{'ratio':>8}{'cached':>9}{'ratio':>8}")
        for group, part in groups(compared):
            size = len(part)
            if not size:
                print(f"{group:26}{0:8}")
                continue
            claims, chunks = sum(o.claims for o in part) / size, sum(o.chunks for o in part) / size
            naive, fresh, shared = (
                _mean(part, side, name) for side in ("naive", "fresh", "shared")
            )
            print(f"{group:26}{size:8}{claims:8.2f}{chunks:8.2f}{naive:10.1f}{fresh:9.1f}", end="")
            print(f"{fresh / naive:8.3f}{shared:9.1f}{shared / naive:8.3f}")


def _mean(part: Sequence[Compared], side: str, name: str) -> float:
    return sum(int(getattr(getattr(one, side), name)) for one in part) / len(part)


def print_labels(compared: Sequence[Compared]) -> None:
    """How many labels are the same, and the answers where one is not."""
    claims = sum(one.claims for one in compared)
    final, local = (
        sum(getattr(one, name) for one in compared) for name in ("agreeing", "agreeing_locally")
    )
    same = sum(one.answer_agrees for one in compared)
    labels = sum((one.labels for one in compared), Counter[Label]())
    told = ", ".join(f"{count} {label}" for label, count in labels.most_common())
    print(f"\nthe oracle's labels: {told}")
    print(f"same label: {same} of {len(compared)} answers, {final} of {claims} claims;", end=" ")
    print(f"after the local step {local} of {claims}")
    again = sum(one.asked_again for one in compared)
    print(f"asked again by a guard: {again} of {sum(o.fresh.calls for o in compared)} calls")
    different = [o for o in compared if o.agreeing < o.claims or not o.answer_agrees]
    for one in different[:10]:
        print(f"  differs: {one.row.id} ({one.agreeing} of {one.claims} claims the same)")


def print_times(timed: Sequence[Timed], latency_ms: float) -> None:
    """Milliseconds an answer: mean, median and the slowest twentieth."""
    print(f"\nms an answer, {latency_ms:g} ms a call, {len(timed)} answers", end="")
    print(f"{'mean':>9}{'p50':>9}{'p95':>9}")
    for title, times in zip(
        ("naive", "ours", "ours, cached"), zip(*timed, strict=True), strict=True
    ):
        ranked = sorted(times)
        mean, p50 = sum(ranked) / len(ranked), ranked[len(ranked) // 2]
        print(f"{title:45}{mean:8.0f}{p50:9.0f}{ranked[int(len(ranked) * 0.95)]:9.0f}")


def print_targets(title: str, part: Sequence[Compared]) -> None:
    """What the targets come to, without the cache between answers."""
    if not part:
        return
    print(f"\n{title} ({len(part)}):")
    for name, target in (("calls", CALLS), ("prompt_tokens", PROMPT_TOKENS)):
        ratio = _mean(part, "fresh", name) / _mean(part, "naive", name)
        met = "met" if ratio <= target else "not met"
        print(f"  {name.replace('_', ' ')} {ratio:.3f} of naive, target {target:.2f}: {met}")


if __name__ == "__main__":
    main()
