from __future__ import annotations

import pytest

from rt4chart_collector.demo.progress import DemoProgress


def test_without_a_terminal_each_step_is_a_line_when_it_begins_and_at_its_quarters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Somebody who pipes the output sees from the first second that it works."""
    with DemoProgress(is_terminal=False) as progress:
        show = progress.step("loading")
        begun = capsys.readouterr().err
        for done in (1, 3, 4, 8):
            show(done, 8)
        progress.step("grouping")(1, 1)
        progress.note("done")

    assert begun == "loading …\n"
    assert capsys.readouterr().err == "loading 3/8\nloading 4/8\nloading 8/8\ngrouping …\ndone\n"
