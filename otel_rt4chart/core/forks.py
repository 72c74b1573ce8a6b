"""What a process must make anew after a fork: nobody there releases a lock that was held."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def after_fork(renew: Callable[[], None]) -> None:
    """Call a bound method in every forked child, for as long as its object lives."""
    if not hasattr(os, "register_at_fork"):
        return
    known = weakref.WeakMethod(renew)

    def renewed() -> None:
        alive = known()
        if alive is not None:
            alive()

    os.register_at_fork(after_in_child=renewed)
