"""What to do about an alert: one line a rule, for messages, the console and Prometheus' rules."""

from __future__ import annotations

from rt4chart_collector.core.alerts.alert import Rule

NEXT = {
    Rule.ROUTE_DRIFT: (
        "Undo what changed when the rise began, if anything did. Else read the worst answers and "
        "the issues that grew: rt4chart alerts show, or the alert in the console."
    ),
    Rule.NEW_ISSUE: (
        "Read three of its claims beside their passages, then assign, ignore or resolve the issue."
    ),
    Rule.REGRESSED_ISSUE: (
        "What resolved the issue does not hold: compare its newest claims with that change."
    ),
    Rule.GROWING_ISSUE: (
        "See which releases, prompts and documents its newest claims come from, and undo what grew."
    ),
    Rule.UNDECIDED: (
        "The route's rate is of few claims. Look whether the passages reach the verifier."
    ),
    Rule.BACKLOG: (
        "See on the console's health page why answers wait or were given up, and mend that: those "
        "that wait are tried again."
    ),
    Rule.NO_DATA: (
        "A week ago there were some at this time. Is the application sending, or sampled out?"
    ),
    Rule.JUDGE_FAILING: (
        "Look at the judge's last error on the console's health page: its key, its quota, its "
        "address. Answers wait meanwhile, and are tried again."
    ),
    Rule.TEST: "Nothing: it is a test.",
}


def next_step(rule: str) -> str:
    """What to do where that rule fires; "" for a rule that there is none of."""
    return NEXT[Rule(rule)] if rule in NEXT else ""
