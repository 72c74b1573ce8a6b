"""What checking citations costs an unsampled answer: `python -m benchmarks.application.citations`.

CPU time of a thread for one answer with ten passages of 750 characters, the median of many.
"""

from __future__ import annotations

import time
from statistics import median

from otel_rt4chart.judges.answer_verdicts import unverified_verdict, with_citations
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify import Exchange, Passage

REPEATS = 1_000
PASSAGES = tuple(
    Passage(f"doc-{number}", "The policy covers outpatient imaging with prior authorization. " * 12)
    for number in range(10)
)
PLAIN = "Members may request an appointment by phone within 14 days. " * 12
CITED = "[1] [2] [doc-3] [12]"
ANSWERS = {
    "no citation, 700 characters": PLAIN,
    "four citations": f"{PLAIN}{CITED}",
    "four citations and a quotation": f"{PLAIN}{CITED} “outpatient imaging with prior”",
    "no citation, 50,000 characters": PLAIN * 70,
}


def main() -> None:
    """Print the table."""
    for name, answer in ANSWERS.items():
        print(f"{name:32}{microseconds(answer):8.0f} µs")


def microseconds(answer: str) -> float:
    """The time that the check takes for the answer."""
    candidate = Candidate(Exchange("q?", PASSAGES, answer), "a" * 32, "b" * 16, 5, "shop", "r")
    made = unverified_verdict(candidate, Decision.NOT_SAMPLED, verifier="j", rate=0.1, now_ns=1)
    spent = []
    for _ in range(REPEATS):
        begun = time.thread_time_ns()
        with_citations(made)
        spent.append(time.thread_time_ns() - begun)
    return median(spent) / 1000


if __name__ == "__main__":
    main()
