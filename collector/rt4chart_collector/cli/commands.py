"""The subcommands of the service."""

from __future__ import annotations

from otel_rt4chart.cli import Command

COMMANDS = (
    Command(
        "up",
        "run the service: receive spans, verify and store answers",
        "rt4chart_collector.cli.up:configure",
        "rt4chart_collector.commands.up:execute",
        "collector",
    ),
    Command(
        "work",
        "run a worker: verify answers from a Kafka topic of spans",
        "rt4chart_collector.cli.work:configure",
        "rt4chart_collector.commands.work:execute",
        "collector",
    ),
    Command(
        "backfill",
        "verify stored answers, with this judge or another",
        "rt4chart_collector.cli.backfill:configure",
        "rt4chart_collector.commands.backfill:execute",
        "collector",
    ),
    Command(
        "replay",
        "retry answers whose verification was given up",
        "rt4chart_collector.cli.replay:configure",
        "rt4chart_collector.commands.replay:execute",
        "collector",
    ),
    Command(
        "agreement",
        "compare the verdicts of judges on the same answers",
        "rt4chart_collector.cli.agreement:configure",
        "rt4chart_collector.commands.agreement:execute",
        "collector",
    ),
    Command(
        "console",
        "show rates, alerts and answers in a browser",
        "rt4chart_collector.cli.console:configure",
        "rt4chart_collector.commands.console:execute",
        "collector",
    ),
    Command(
        "migrate",
        "apply or show schema migrations",
        "rt4chart_collector.cli.migrate:configure",
        "rt4chart_collector.commands.migrate:execute",
        "collector",
    ),
    Command(
        "repair",
        "find damaged parts of tables, and set them aside",
        "rt4chart_collector.cli.repair:configure",
        "rt4chart_collector.commands.repair:execute",
        "collector",
    ),
    Command(
        "export",
        "export tables to files",
        "rt4chart_collector.cli.export:configure",
        "rt4chart_collector.commands.export:execute",
        "collector",
    ),
    Command(
        "sql",
        "run one read-only query on the database",
        "rt4chart_collector.cli.sql:configure",
        "rt4chart_collector.commands.sql:execute",
        "collector",
    ),
    Command(
        "answers",
        "list answers by a filter: words, route, verdict, release, …",
        "rt4chart_collector.cli.answers:configure",
        "rt4chart_collector.commands.rates.answers:execute",
        "collector",
    ),
    Command(
        "trail",
        "show in which step of its chain an answer went wrong",
        "rt4chart_collector.cli.answers:configure_trail",
        "rt4chart_collector.commands.answers.trail:execute",
        "collector",
    ),
    Command(
        "alerts",
        "open alerts, their history, silences, and test messages",
        "rt4chart_collector.cli.alerts:configure",
        "rt4chart_collector.commands.alerts.read:list_open",
        "collector",
    ),
    Command(
        "report",
        "report on a period: rates, issues and alerts",
        "rt4chart_collector.cli.report:configure",
        "rt4chart_collector.commands.report:execute",
        "collector",
    ),
    Command(
        "compare",
        "compare two versions: release, prompt, model, judge, time",
        "rt4chart_collector.cli.compare:configure",
        "rt4chart_collector.commands.rates.compare:execute",
        "collector",
    ),
    Command(
        "label",
        "label claims drawn by chance, for corrected rates",
        "rt4chart_collector.cli.label:configure",
        "rt4chart_collector.commands.label:execute",
        "collector",
    ),
    Command(
        "calibrate",
        "how far a judge's confidence can be trusted, and putting it right",
        "rt4chart_collector.cli.calibrate:configure",
        "rt4chart_collector.commands.calibrate:execute",
        "collector",
    ),
    Command(
        "demo",
        "load two applications with a bad release, and show what is found",
        "rt4chart_collector.cli.demo:configure",
        "rt4chart_collector.demo.command:execute",
        "clustering",
    ),
)
