"""What to do about an alert: one line a rule, for messages, the console and Prometheus' rules."""

from __future__ import annotations

from rt4chart_collector.core.alerts.alert import Rule

NEXT = {
    Rule.ROUTE_DRIFT: (
        "Revert the change that was made when the rise began, if there was one. Otherwise read the "
        "worst answers and the issues that grew, in the console or with rt4chart alerts show."
    ),
    Rule.MISLEADING_DRIFT: (
        "Revert the change that was made when the rise began, if there was one. Otherwise read the "
        "worst answers beside the passages that they leave out, and the issues that grew."
    ),
    Rule.NEW_ISSUE: (
        "Read three of its claims beside their passages, then assign, ignore or resolve the issue."
    ),
    Rule.REGRESSED_ISSUE: (
        "The fix did not hold. Compare the issue's newest claims with the change that resolved it."
    ),
    Rule.GROWING_ISSUE: (
        "Find the releases, prompts and documents that its newest claims come from, and revert the "
        "one that grew."
    ),
    Rule.UNDECIDED: (
        "The route's rate rests on few claims. Check that the passages reach the verifier."
    ),
    Rule.BACKLOG: (
        "The console's health page shows why answers wait or were given up. Fix the cause: answers "
        "that wait are retried."
    ),
    Rule.NO_DATA: (
        "There were answers at this time a week ago. Check that the application sends traces and "
        "that sampling keeps some of them."
    ),
    Rule.JUDGE_FAILING: (
        "The console's health page shows the judge's last error. Check its key, its quota and its "
        "address. Answers wait until then and are retried."
    ),
    Rule.JUDGE_DRIFT: (
        "Read the labelled claims on which judge and labels disagree. The provider may have "
        "changed the model. The corrected rate allows for it; the raw rate and its drift alerts do "
        "not."
    ),
    Rule.CORRECTED_RATE: (
        "Read the route's worst answers and its largest issues. More labels narrow the interval: "
        "rt4chart label."
    ),
    Rule.TEST: "Nothing. This is a test.",
}


def next_step(rule: str) -> str:
    """What to do about an alert of that rule; "" for an unknown rule."""
    return NEXT[Rule(rule)] if rule in NEXT else ""
