"""The running example of the RT4CHART paper (Figure 1, Table 1): five claims."""

from __future__ import annotations

POLICY = (
    "New users must verify their account. The policy applies only to new users. "
    "Verification is required before the trial starts. The free trial lasts 14 days. "
    "Users may ask for more time. Verified users can ask once. "
    "An extension of the free trial is 7 days."
)
ANSWER = (
    "The policy applies to all users. Verification is not required. The free trial lasts 14 days. "
    "Verified new users can receive a one-time 7-day extension of the free trial. "
    "The trial includes priority email support."
)
