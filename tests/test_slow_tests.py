"""The list of slow tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.slow_tests import seconds_by_test, slow_tests

REPORT = """<testsuites><testsuite>
<testcase classname="tests.deploy.test_helm" name="test_it[a]" time="2.5"/>
<testcase classname="tests.deploy.test_helm" name="test_it[b]" time="1.0"/>
<testcase classname="tests.deploy.test_helm" name="test_quick" time="0.1"/>
</testsuite></testsuites>"""


@pytest.mark.parametrize("name", sorted(slow_tests()))
def test_a_slow_test_exists(name: str) -> None:
    """One that was renamed would run among the fast ones."""
    file, _, function = name.partition("::")

    assert re.search(rf"^(async )?def {function}\(", Path(file).read_text(), re.MULTILINE)


def test_the_parameters_of_a_test_count_together(tmp_path: Path) -> None:
    """The list names functions."""
    report = tmp_path / "report.xml"
    report.write_text(REPORT)

    assert seconds_by_test(report) == {
        "tests/deploy/test_helm.py::test_it": 3.5,
        "tests/deploy/test_helm.py::test_quick": 0.1,
    }
