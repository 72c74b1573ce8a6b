"""Soft membership: how much each failure belongs to each issue of its service.

HDBSCAN clusters the joint vectors of a service's newest failures, of all patterns and routes
together. A failure's share of an issue is the probability that it belongs to a cluster, times the
issue's share of that cluster, over all clusters. The hard assignments stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rt4chart_clustering.description.describe import OnProgress
from rt4chart_clustering.description.embedding import Matrix
from rt4chart_clustering.description.joint_vector import JOINT_VERSION
from rt4chart_clustering.grouping.algorithm import Grouping, SoftGroups
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import aliases
from rt4chart_collector.store.issues.match_failures import DescriptionWindow
from rt4chart_collector.store.issues.memberships import (
    JointFailure,
    Membership,
    insert_memberships,
    joint_failures,
    joint_services,
)

# A smaller share says nothing, and a failure has at most so many.
MIN_SHARE, MAX_ISSUES = 0.05, 8


def measure_memberships(
    client: Client,
    window: DescriptionWindow,
    grouping: Grouping,
    *,
    now_ns: int,
    on_progress: OnProgress,
) -> int:
    """Measure and write the memberships of each service's newest failures; how many."""
    roots, count = aliases(client), 0
    for service in joint_services(client, window, joint_version=JOINT_VERSION):
        on_progress("measured", count)
        rows = joint_failures(
            client,
            window,
            service,
            joint_version=JOINT_VERSION,
            limit=grouping.thresholds.max_soft_rows,
        )
        soft = grouping.soft_groups(np.array([row.vector for row in rows], dtype=np.float32))
        found = memberships(rows, soft, roots, service=service, version=now_ns)
        insert_memberships(client, found)
        count += len(found)
    return count


def memberships(
    rows: Sequence[JointFailure],
    soft: SoftGroups,
    roots: Mapping[int, int],
    *,
    service: str,
    version: int,
) -> list[Membership]:
    """The memberships of rows that were clustered together; `roots` has the issue of each alias."""
    issues = [roots.get(row.issue, row.issue) for row in rows]
    names = sorted(set(issues) - {0})
    shares = issue_shares(soft, np.array([[issue == name for name in names] for issue in issues]))
    found = []
    for row, mine, outlier in zip(rows, shares, soft.outliers, strict=True):
        most = [at for at in np.argsort(-mine, kind="stable")[:MAX_ISSUES] if mine[at] >= MIN_SHARE]
        found.append(
            Membership(
                key=row.key,
                time_ns=row.time_ns,
                service=service,
                issues=tuple(names[at] for at in most),
                shares=tuple(round(float(mine[at]), 4) for at in most),
                outlier=round(float(outlier), 4),
                description_version=row.version,
                version=version,
            )
        )
    return found


def issue_shares(soft: SoftGroups, is_in: Matrix) -> Matrix:
    """Each row's share of each issue (rows x issues), where `is_in` says which rows an issue has.

    Rows in no issue yet count in no issue, and shares of clusters of such rows are lost.
    """
    if not soft.shares.size or not is_in.size:
        return np.zeros((len(soft.shares), is_in.shape[1] if is_in.ndim > 1 else 0), np.float32)
    composition = soft.shares.T @ is_in.astype(np.float32)
    total = soft.shares.sum(axis=0)[:, None]
    composition = np.divide(composition, total, out=np.zeros_like(composition), where=total > 0)
    found: Matrix = soft.shares @ composition
    return found
