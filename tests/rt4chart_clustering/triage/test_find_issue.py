"""Issues by what people type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.triage.find_issue import find_issue, hex_id, short_ids
from rt4chart_collector.store.issues.issues import Issue

ONE = Issue(0xAB12, "t", "f", "s", "r", 0, 0, 1, (), "1", aliases=(0xFF << 56,))
OTHER = replace(ONE, id=0xAB13, aliases=())


@pytest.mark.parametrize(
    "wanted", ["000000000000ab12", "000000000000AB12", "ff", "ff00000000000000"]
)
def test_an_id_its_beginning_or_an_alias_finds_the_issue(wanted: str) -> None:
    """In capitals too."""
    assert find_issue([ONE, OTHER], wanted) is ONE


@pytest.mark.parametrize("wanted", ["", "0", "ab12", "000000000000ab121", "0x", "١", "ff "])
def test_what_finds_none_or_several_is_an_error(wanted: str) -> None:
    """Digits of other scripts are none; a part that is not the beginning is none."""
    with pytest.raises(InputError):
        find_issue([ONE, OTHER], wanted)


def test_shown_ids_are_as_long_as_they_need_to_be() -> None:
    """Eight digits where these tell them apart."""
    apart = replace(ONE, id=0xAB << 56)

    assert short_ids([apart]) == {apart.id: "ab000000"}
    assert short_ids([ONE, OTHER]) == {ONE.id: hex_id(ONE.id), OTHER.id: hex_id(OTHER.id)}
    assert short_ids([]) == {}
