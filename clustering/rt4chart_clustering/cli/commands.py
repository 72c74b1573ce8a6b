"""The subcommands over failures and issues."""

from __future__ import annotations

from otel_rt4chart.cli import Command

COMMANDS = (
    Command(
        "cluster",
        "group the failures into named issues",
        "rt4chart_clustering.cli.cluster:configure",
        "rt4chart_clustering.commands.cluster:execute",
        "clustering",
    ),
    Command(
        "issues",
        "list, explain and manage issues, file tickets",
        "rt4chart_clustering.cli.issues:configure",
        "rt4chart_clustering.cli.issues:execute",
        "clustering",
    ),
    Command(
        "gate",
        "check new answers to an eval set against limits",
        "rt4chart_clustering.cli.gate:configure",
        "rt4chart_clustering.commands.gate:execute",
    ),
    Command(
        "evalset",
        "make, review, release and export eval sets",
        "rt4chart_clustering.cli.evalset:configure",
        "rt4chart_clustering.commands.evalset:execute",
        "clustering",
    ),
)
