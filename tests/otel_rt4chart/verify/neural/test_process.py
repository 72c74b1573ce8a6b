from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
START = """
import os, signal, sys, warnings
from otel_rt4chart.verify import Exchange, OnnxJudge, Passage, Verifier

warnings.simplefilter("ignore", DeprecationWarning)
passages = [Passage("p", "The pool is heated. " * 40)]
exchange = Exchange("", passages, "The pool is heated.")
denied = Exchange("", passages, "The pool is not heated.")
verifier = Verifier(OnnxJudge(sys.argv[1], threads=int(sys.argv[2])))
print(verifier.verify(exchange).label)
"""
FORK = """
for verifies in (True, False):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        if verifies:
            print(verifier.verify(denied).label, flush=True)
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
print(verifier.verify(denied).label)
"""
THREADS = "print(len(os.listdir('/proc/self/task')))"


def told(code: str, model: Path, threads: int, **variables: str) -> list[str]:
    """What a process of its own prints; nothing goes to stderr, and it ends."""
    run = [sys.executable, "-u", "-c", START + code, str(model), str(threads)]
    environment = os.environ | variables
    out = subprocess.run(
        run, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (out.returncode, out.stderr) == (0, "")
    return out.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_opens_the_model_again_and_ends(model: Path) -> None:
    """The child verifies, one that does not verify ends as well, and the parent goes on."""
    assert told(FORK, model, 2) == [
        "entailed",
        *("contradicted", "0"),
        "0",
        "contradicted",
    ]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads cannot be counted here")
def test_nothing_reports_to_anybody(model: Path, tmp_path: Path) -> None:
    """The runtime's own telemetry has no thread, and leaves nothing in the user's folders."""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}

    assert told(THREADS, model, 1, ORT_DISABLE_TELEMETRY="", CI="", **home) == ["entailed", "1"]
    assert list(tmp_path.iterdir()) == []
