"""Progress of the demo on stderr: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

OnProgress = Callable[[int, int], None]


class DemoProgress:
    """The steps of a run, each shown from the moment when it begins; a context manager."""

    def __init__(self, *, is_terminal: bool | None = None) -> None:
        """Bars where stderr is a terminal."""
        self._bars: Progress | None = None
        if sys.stderr.isatty() if is_terminal is None else is_terminal:
            self._bars = Progress(
                TextColumn("{task.description:28}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
            )

    def __enter__(self) -> Self:
        """Show the bars."""
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop the bars."""
        self.stop()

    def stop(self) -> None:
        """Leave the bars as they are; what is printed then comes below them."""
        if self._bars:
            self._bars.stop()

    def note(self, line: str) -> None:
        """Show a line beside the steps."""
        if self._bars:
            self._bars.console.print(line, highlight=False)
        else:
            _write(line)

    def step(self, name: str) -> OnProgress:
        """Show the step; the function takes how much of it is done, and of how much."""
        if self._bars:
            bars, task = self._bars, self._bars.add_task(name, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)
        _write(f"{name} …")
        return _quarters(name)


def _quarters(name: str) -> OnProgress:
    """Writes a line for each quarter of the step."""
    written = 0

    def show(done: int, total: int) -> None:
        nonlocal written
        quarter = 4 * done // max(total, 1)
        if quarter > written and total > 1:
            written = quarter
            _write(f"{name} {done}/{total}")

    return show


def _write(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
