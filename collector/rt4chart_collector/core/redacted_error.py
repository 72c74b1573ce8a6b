"""What is logged of an exception: type, engine's code and place; its message may quote texts."""

from __future__ import annotations

import traceback

from otel_rt4chart.core.errors import StoreError


def redacted_error(error: BaseException) -> str:
    """The type, the engine's code in brackets, and the frames, the innermost first; no message."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    code = error.engine_code if isinstance(error, StoreError) else ""
    kind = f"{type(error).__name__} ({code})" if code else type(error).__name__
    return " < ".join([kind, *reversed(places)])
