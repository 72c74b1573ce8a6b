"""Runs of the gate held against each other."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.gate.compare import (
    MAX_EXACT_PAIRS,
    check_comparable,
    compare,
    permutation_p_value,
)
from rt4chart_clustering.gate.result import (
    CaseResult,
    GateResult,
    load_result,
    result_path,
    save_result,
)

SHARES = st.floats(-1, 1, allow_nan=False).map(lambda one: round(one, 3))


def run(*unfaithful: int, decided: int = 4, judge: str = "rules/7") -> GateResult:
    """A run whose cases have so many unfaithful claims of four."""
    cases = (CaseResult(f"c{at}", "", decided, one) for at, one in enumerate(unfaithful))
    return GateResult("set", judge, tuple(cases))


@given(st.lists(SHARES, max_size=8))
def test_the_chance_of_a_rise_is_what_all_arrangements_say(differences: list[float]) -> None:
    """Counted here over every difference, those that are zero too."""
    signs = itertools.product((-1, 1), repeat=len(differences))
    sums = [sum(s * abs(d) for s, d in zip(one, differences, strict=True)) for one in signs]
    expected = sum(one >= sum(differences) - 1e-9 for one in sums) / len(sums)

    assert permutation_p_value(differences) == pytest.approx(expected)


def test_many_cases_are_drawn_and_the_draw_is_the_same_each_time() -> None:
    """Beyond what can be gone through, near to what the exact count says."""
    rise = [0.5] * (MAX_EXACT_PAIRS + 6) + [-0.5] * 2

    assert permutation_p_value(rise) == permutation_p_value(rise) < 0.001
    assert permutation_p_value([-one for one in rise]) > 0.99


def test_a_rise_in_most_cases_is_worse_and_one_in_a_single_case_is_not() -> None:
    """One bad answer among ten may be chance."""
    before = run(*[0] * 10)

    assert compare(before, run(*[2] * 10)).is_worse
    assert not compare(before, run(4, *[0] * 9)).is_worse
    assert not compare(run(*[2] * 10), before).is_worse


def test_only_cases_decided_both_times_are_held_against_each_other() -> None:
    """The others say nothing about a change."""
    before = GateResult("set", "rules/7", (CaseResult("a", "", 2, 0), CaseResult("b", "", 2, 0)))
    now = GateResult("set", "rules/7", (CaseResult("a", "", 2, 1), CaseResult("b", "", error="x")))

    found = compare(before, now)

    assert (found.pairs, found.worse, found.better) == (1, ("a",), ())


def test_what_cannot_be_compared_is_refused() -> None:
    """Another judge measures another rate; other cases say nothing."""
    with pytest.raises(InputError, match="expected a result of the same judge"):
        compare(run(0), run(0, judge="local/1"))
    with pytest.raises(InputError, match="expected a result over the same cases"):
        compare(GateResult("set", "rules/7", ()), run(0))


def test_a_baseline_s_judge_commands_no_terminal() -> None:
    """Its file may come from anywhere."""
    other = GateResult("s", "j\x1b[2J\n", (), is_checked=True)

    with pytest.raises(InputError, match=r"got one of j \[2J, whose rates"):
        check_comparable(other, "rules/1", Measure.UNFAITHFUL)


def test_a_run_without_misleading_claims_compares_the_others_alone() -> None:
    """Of a version that did not look for them: every one would be a rise."""
    before = replace(run(0, 0), is_checked=False)

    assert compare(before, run(0, 1), Measure.UNFAITHFUL).worse == ("c1",)
    with pytest.raises(InputError, match="make a new baseline, or pass --count unfaithful"):
        compare(before, run(0, 1))


def test_the_compared_share_is_that_of_the_counted_claims() -> None:
    """A case may be better in one measure and worse in the other."""
    before = GateResult("set", "rules/7", (CaseResult("a", "", 4, 2),))
    now = GateResult("set", "rules/7", (CaseResult("a", "", 4, 0, misleading=1),))

    found = {measure: compare(before, now, measure).now for measure in Measure}

    assert found == {"unfaithful": 0.0, "misleading": 0.25, "either": 0.25}


def test_a_saved_run_comes_back_and_other_files_are_refused(tmp_path: Path) -> None:
    """With every case as it was."""
    path = tmp_path / "runs" / "main.json"
    case = CaseResult(
        "a", "i", 2, 1, 1, "", ("baseless: x",), 1, ("stale: y",), {"stale": 1}, ("stale",)
    )
    result = GateResult("set", "j", (case,), release="2.4.0")

    save_result(result, path)
    saved = path.read_text()

    assert load_result(path) == result
    for text in (
        "{",
        "[]",
        '{"format": 1}',
        '{"format": true, "evalset": "s", "judge": "j", "cases": []}',
        '{"format": 1, "cases": [{}]}',
        '{"format": 1, "cases": ["x"]}',
        saved.replace('"release": "2.4.0"', '"release": 2'),
        saved.replace('"decided": 2', '"decided": null'),
        saved.replace('"decided": 2', '"decided": 1'),
        saved.replace('"stale": 1', '"stale": null'),
        saved.replace('"issue": "i"', '"issue": null'),
        saved.replace('"issue": "i"', '"issue": "i", "issue": "i"'),
        json.dumps({**json.loads(saved), "cases": json.loads(saved)["cases"] * 2}),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match="--baseline"):
            load_result(path)
    path.write_text('{"format": 1, "evalset": "s", "judge": "j", "cases": []}')
    assert load_result(path) == GateResult("s", "j", (), is_checked=False)
    with pytest.raises(InputError, match="expected a result that --save has written"):
        load_result(tmp_path / "none.json")


def test_a_bare_name_is_kept_in_the_working_directory() -> None:
    """A path stays what it is."""
    assert result_path("main") == Path(".rt4chart/gate/main.json")
    assert result_path("runs/main.json") == Path("runs/main.json")
    assert result_path("main.json") == Path("main.json")
    assert result_path("release-1.2") == Path(".rt4chart/gate/release-1.2.json")
