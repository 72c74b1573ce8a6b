"""What is logged of an exception: its type and where it arose, for its message may quote texts."""

from __future__ import annotations

import traceback


def redacted_error(error: BaseException) -> str:
    """The type and the frames, the innermost first; no message."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return " < ".join([type(error).__name__, *reversed(places)])
