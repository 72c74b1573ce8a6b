"""The subcommands that need no service."""

from __future__ import annotations

from otel_rt4chart.cli import Command

COMMANDS = (
    Command(
        "verify",
        "verify the answers of a JSON-lines file",
        "otel_rt4chart.cli.verify:configure",
        "otel_rt4chart.commands.verify:execute",
    ),
    Command(
        "check",
        "verify one answer that you give, and show its words marked",
        "otel_rt4chart.cli.check:configure",
        "otel_rt4chart.commands.check:execute",
    ),
    Command(
        "bench",
        "measure a judge on labelled answers, compared with flagging everything",
        "otel_rt4chart.cli.bench:configure",
        "otel_rt4chart.commands.bench:run",
    ),
    Command(
        "judge",
        "list open models for judging, and bring one from the model hub",
        "otel_rt4chart.cli.judge:configure",
        "otel_rt4chart.commands.judge:execute",
        extra="hub",
    ),
    Command(
        "doctor",
        "check the installation and the settings, and suggest fixes",
        "otel_rt4chart.cli.doctor:configure",
        "otel_rt4chart.commands.doctor:execute",
    ),
)
