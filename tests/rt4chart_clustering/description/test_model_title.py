"""Names of issues in a model's words, and the template where these do not hold."""

from __future__ import annotations

import json

import pytest

from rt4chart_clustering.description.model_writer import FailureText, IssueName, Writer, write_title
from tests.endpoint_server import error, text
from tests.otel_rt4chart.verify.llm.served import served

TEMPLATE = "Exclusion ignored: “out-of-network clinics” · billing"
EXAMPLES = [
    FailureText(
        "The Gold plan covers all 12 clinics of Berlin.",
        "contradicted",
        ("The Gold plan covers clinics except those out of network.",),
    )
]
TITLE = "Exclusions of the plan are told as covered"
SUMMARY = "Answers leave out what the source excludes. The source covers part of it only."


def named(reply: str) -> IssueName:
    """The name that comes of that reply."""
    with served(lambda seen: text(reply)) as (_, endpoint):
        return write_title(Writer(endpoint), TEMPLATE, "billing", EXAMPLES)


def test_a_models_title_and_summary_name_the_issue() -> None:
    """With the route behind it, as the template has it."""
    reply = json.dumps({"title": f'"{TITLE}."', "summary": SUMMARY})

    assert named(reply) == IssueName(f"{TITLE} · billing", SUMMARY.rstrip("."))


@pytest.mark.parametrize(
    "title",
    [
        "Gold exclusions are told as covered",
        "Clinics of berlin are told as covered",
        "All 12 clinics are told as covered",
        "Exclusions \x1b[31mignored",
        "Exclusions [bold]ignored[/bold]",
        "<script>alert</script>",
        "Exclusions ignored @channel",
        "[see](https://example.org)",
        "word " * 40,
        "",
    ],
)
def test_a_title_with_names_numbers_or_markup_is_the_templates(title: str) -> None:
    """It would name one failure, or be more than text where it is shown."""
    assert named(json.dumps({"title": title, "summary": SUMMARY})) == IssueName(TEMPLATE)


def test_a_summary_that_does_not_hold_is_left_out() -> None:
    """The title stands by itself."""
    reply = json.dumps({"title": TITLE, "summary": "Berlin has 12 of them."})

    assert named(reply) == IssueName(f"{TITLE} · billing")


@pytest.mark.parametrize("reply", ["", "{}", '{"title": null, "summary": []}', "[[[["])
def test_an_unusable_reply_is_the_template(reply: str) -> None:
    """Names never wait for a model."""
    assert named(reply) == IssueName(TEMPLATE)


def test_without_a_model_or_examples_nothing_is_asked() -> None:
    """The template is the name."""
    with served(lambda seen: error(500, "never asked")) as (server, endpoint):
        assert write_title(None, TEMPLATE, "billing", EXAMPLES) == IssueName(TEMPLATE)
        assert write_title(Writer(endpoint), TEMPLATE, "billing", []) == IssueName(TEMPLATE)

    assert server.seen == []
