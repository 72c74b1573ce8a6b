"""Another network on this machine: a namespace of Linux, joined to ours by a cable of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Addresses for examples, which no network should have (RFC 5737).
HERE, THERE, BITS = "198.51.100.1", "198.51.100.2", 30
DELAY = ("delay", "20ms", "loss", "1%")


@dataclass(frozen=True, slots=True)
class Network:
    """The other network; `is_lossy` where the cable also delays and loses packets."""

    name: str
    cable: str
    is_lossy: bool

    @property
    def within(self) -> tuple[str, ...]:
        """The command that starts another one there."""
        return ("ip", "netns", "exec", self.name)

    def cut(self) -> None:
        """Nothing comes through any more, and neither side is told."""
        _ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        """As before."""
        _ip("link", "set", self.cable, "up")


def lack() -> str:
    """Why there is no other network here; empty where there can be one."""
    if not (shutil.which("ip") and shutil.which("unshare") and os.geteuid() == 0):
        return "another network needs Linux, root and iproute2"
    made = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    if made.returncode != 0:
        return "this machine lets nobody make a network namespace"
    routes = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout
    prefix = HERE.rpartition(".")[0]
    return f"a network here has the addresses {prefix}.*" if prefix in routes else ""


@contextmanager
def another_network() -> Iterator[Network]:
    """A namespace for the block, with the address THERE; ours has HERE.

    The cable delays and loses packets where the kernel can (`netem`).
    """
    name = f"rt4chart-{os.getpid()}"
    cable, end = f"rt4h{os.getpid()}", f"rt4t{os.getpid()}"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", cable, "type", "veth", "peer", "name", end)
        _ip("link", "set", end, "netns", name)
        _ip("address", "add", f"{HERE}/{BITS}", "dev", cable)
        _ip("link", "set", cable, "up")
        _ip("-n", name, "address", "add", f"{THERE}/{BITS}", "dev", end)
        _ip("-n", name, "link", "set", end, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        netem = ["tc", "qdisc", "add", "dev", cable, "root", "netem", *DELAY]
        is_lossy = (
            shutil.which("tc") is not None
            and subprocess.run(netem, capture_output=True, check=False).returncode == 0
        )
        yield Network(name, cable, is_lossy)
    finally:
        # The cable goes with the namespace that has its other end.
        _ip("netns", "delete", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
