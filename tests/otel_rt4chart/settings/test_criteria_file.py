from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.settings.criteria_file import chosen_criteria
from otel_rt4chart.verify.criteria.model import (
    KINDS,
    KNOWN,
    CitationCheck,
    Criteria,
    Criterion,
    JudgedCheck,
    RegexCheck,
    SchemaCheck,
)

WHOLE = """
[[criteria]]
name = "Completeness"
rate = 0.2

[[criteria]]
name = "cancellation_fee"
kind = "judged"
instruction = "The answer mentions the cancellation fee."
applies_when = "The user asks about refunds."
passages = false
routes = ["support/*", "chat"]

[[criteria]]
name = "no_phone"
kind = "regex"
must_not_match = '\\d{3}-\\d{4}'
when_question = "(?i)phone"

[[criteria]]
name = "shape"
kind = "json_schema"
schema = { type = "object" }

[[criteria]]
name = "cites"
kind = "must_cite"
least = 2
"""


def read(path: Path, text: str, name: str = "criteria.toml") -> Criteria:
    """The criteria of a file with that text."""
    file = path / name
    file.write_text(text, "utf-8")
    return chosen_criteria({"RT4CHART_CRITERIA": str(file)})


def test_every_kind_is_read(tmp_path: Path) -> None:
    """With routes, rate and condition."""
    assert read(tmp_path, WHOLE) == Criteria(
        (
            Criterion("Completeness", KNOWN["Completeness"], rate=0.2),
            Criterion(
                "cancellation_fee",
                JudgedCheck(
                    "The answer mentions the cancellation fee.",
                    "The user asks about refunds.",
                    reads_passages=False,
                ),
                routes=("support/*", "chat"),
            ),
            Criterion("no_phone", RegexCheck("", r"\d{3}-\d{4}"), when_question="(?i)phone"),
            Criterion("shape", SchemaCheck('{"type": "object"}')),
            Criterion("cites", CitationCheck(2)),
        )
    )


def test_json_says_the_same(tmp_path: Path) -> None:
    """And a schema may stand in a file beside it."""
    (tmp_path / "answer.json").write_text('{"type": "object"}', "utf-8")
    item = {"name": "shape", "kind": "json_schema", "schema": "answer.json"}

    found = read(tmp_path, json.dumps({"criteria": [item]}), "criteria.json")

    assert found.all == (Criterion("shape", SchemaCheck('{"type": "object"}')),)


def test_without_the_variable_there_is_none() -> None:
    """Nothing is judged then."""
    assert not chosen_criteria({})
    assert str(chosen_criteria({})) == ""


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_criteria_need_only_their_name(tmp_path: Path, name: str) -> None:
    """Completeness, ContextAdherence and FactualAccuracy."""
    (found,) = read(tmp_path, f'[[criteria]]\nname = "{name}"').all

    assert found.is_judged
    assert found.check == KNOWN[name]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("criteria = 3", "a list of 1 to 50 criteria"),
        ("[[criteria]]", "criterion 1' expected a table with a name"),
        ("[[criterion]]\nname = 'a'", "only the list criteria in it, got criterion"),
        ("[[criteria]\n", "TOML in it, got an error"),
        ("[[criteria]]\nname = '1a'\nkind = 'must_cite'", "begins with a letter, got '1a'"),
        ("[[criteria]]\nname = 'a'", "kind to be one of judged, regex, json_schema, must_cite"),
        ("[[criteria]]\nname = 'a'\nkind = 'judge'", "got 'judge'"),
        ("[[criteria]]\nname = 'a'\nkind = 'judged'", "instruction to be text"),
        ("[[criteria]]\nname = 'a'\nkind = 'regex'", "must_match or must_not_match"),
        ("[[criteria]]\nname = 'a'\nkind = 'regex'\nmust_match = '('", "a regular expression"),
        ("[[criteria]]\nname = 'a'\nkind = 'json_schema'", "a JSON Schema, or its file"),
        (
            "[[criteria]]\nname = 'a'\nkind = 'json_schema'\nschema = { format = 'date' }",
            "'format' is not checked here",
        ),
        (
            "[[criteria]]\nname = 'a'\nkind = 'json_schema'\nschema = 'none.json'",
            "there is no file of that name",
        ),
        ("[[criteria]]\nname = 'a'\nkind = 'must_cite'\nleast = 0", "an integer from 1 to 100"),
        ("[[criteria]]\nname = 'a'\nkind = 'must_cite'\nrate = 0", "rate to be above 0"),
        ("[[criteria]]\nname = 'a'\nkind = 'must_cite'\nrate = 20", "at most 1, got 20"),
        ("[[criteria]]\nname = 'a'\nkind = 'must_cite'\nroutes = 'a'", "routes to be a list"),
        ("[[criteria]]\nname = 'a'\nkind = 'must_cite'\nroute = ['a']", "got 'route'"),
        (
            "[[criteria]]\nname = 'a'\nkind = 'must_cite'\n" * 2,
            "each name once, got a twice",
        ),
        ("[[criteria]]\nname = 'Completeness'\ninstruction = 'x'", "got 'instruction'"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    """With the variable, the criterion, what was expected, and what to change."""
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)

    message = str(caught.value)
    assert message.startswith("RT4CHART_CRITERIA: in ")
    assert told in message
    assert "\n" not in message


def test_a_file_that_is_not_there_is_named() -> None:
    """So is one of another kind."""
    with pytest.raises(SettingsError, match=r"none\.toml.*there is no file of that name"):
        chosen_criteria({"RT4CHART_CRITERIA": "none.toml"})


def test_a_file_is_toml_or_json(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(SettingsError, match=r"FILE\.toml or FILE\.json; name the file so"):
        read(tmp_path, WHOLE, "criteria.yaml")


def test_a_huge_file_is_not_parsed(tmp_path: Path) -> None:
    """It is none of criteria."""
    with pytest.raises(SettingsError, match="at most 256 KiB"):
        read(tmp_path, "#" * 300_000)


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    """Each kind is in it."""
    page = Path(__file__).parents[3] / "docs/operate/criteria.md"
    (example,) = re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)

    found = read(tmp_path, example)

    assert {one.check.kind for one in found.all} == set(KINDS)
