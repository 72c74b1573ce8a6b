from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.hub.catalogue import MODELS, NAMES, NEWEST, CatalogueModel, find
from otel_rt4chart.verify.neural.pair_classifier import read_labels

PAGE = (Path(__file__).parents[3] / "docs/deploy/open-models.md").read_text("utf-8")


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_pin_is_a_commit_and_every_hash_a_hash(model: CatalogueModel) -> None:
    """A model without a pin says so."""
    assert model.revision == NEWEST or re.fullmatch(r"[0-9a-f]{40}", model.revision)
    assert all(re.fullmatch(r"[0-9a-f]{64}", one) for one in model.sha256.values())
    assert not model.base or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", model.base)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_model_can_be_read(model: CatalogueModel) -> None:
    """Its labels have a meaning, and its template holds both texts in their order."""
    if model.labels:
        assert str(read_labels(model.labels, {})) == model.labels
    if model.template:
        assert 0 <= model.template.index("{premise}") < model.template.index("{claim}")


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_the_page_says_what_the_catalogue_says(model: CatalogueModel) -> None:
    """Name, repository, licence, pin and every figure with its source."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{model.name}`"))
    pin = "none" if model.revision == NEWEST else f"`{model.revision[:7]}`"

    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == [f"`{model.repo}`", pin, model.licence]
    for figure in model.figures:
        assert any(figure.text in line and figure.source in line for line in PAGE.splitlines())


def test_an_unknown_name_is_told_the_known_ones() -> None:
    """All of them."""
    with pytest.raises(SettingsError, match=f"unknown model 'x': expected one of {NAMES[0]}, "):
        find("x")
    assert find(NAMES[0]) is MODELS[0]
