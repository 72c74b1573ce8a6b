"""Callbacks in forked children.

A lock that another thread holds during a fork stays locked in the child for ever, because that
thread does not exist there: every lock must be replaced.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def after_fork(renew: Callable[[], None]) -> None:
    """Call a bound method in every forked child, as long as its object is alive."""
    if not hasattr(os, "register_at_fork"):
        return
    # A weak reference, because `register_at_fork` cannot be undone and would keep objects alive.
    reference = weakref.WeakMethod(renew)

    def call_if_alive() -> None:
        method = reference()
        if method is not None:
            method()

    os.register_at_fork(after_in_child=call_if_alive)
