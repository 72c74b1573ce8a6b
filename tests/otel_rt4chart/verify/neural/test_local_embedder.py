from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from operator import mul
from pathlib import Path
from threading import Thread

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.judge import Embedder
from otel_rt4chart.verify.neural import local_embedder
from otel_rt4chart.verify.neural.local_embedder import WIDTH, LocalEmbedder
from rt4chart_models import folder

ROOT = Path(__file__).parents[4]
TEXTS = [
    "The free trial lasts 14 days.",
    "You can try it for two weeks without paying.",
    "The pool on the roof is heated.",
    "Refunds are paid within 30 days of the purchase, if the customer asks for them in writing.",
    "",
    "日本語の文 — and an \ud800 half character.",
]
FORK = """
import os, signal, sys, warnings
from otel_rt4chart.judges.embedded_models import build_embedder

warnings.simplefilter("ignore", DeprecationWarning)
embedder = build_embedder(2)
first = embedder.embed(["The pool is heated."])
child = os.fork()
if child == 0:
    signal.alarm(30)
    other = embedder.embed(["The pool is not heated.", "The pool is heated."])
    print(other[1:] == first, len(other[0]), flush=True)
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    """The embedded one, on one thread."""
    return LocalEmbedder(folder(), threads=1)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Of unit vectors."""
    return float(sum(map(mul, first, second)))


def test_it_gives_one_unit_vector_a_text(embedder: LocalEmbedder) -> None:
    """Empty texts and ones that no tokenizer takes have one, too."""
    vectors = embedder.embed(TEXTS)

    assert isinstance(embedder, Embedder)
    assert {len(vector) for vector in vectors} == {WIDTH} == {embedder.width}
    assert [math.hypot(*vector) for vector in vectors] == [pytest.approx(1, abs=1e-5)] * len(TEXTS)
    assert embedder.embed([]) == []
    assert embedder.id.startswith("minilm-l6-v2/")


def test_a_text_has_the_same_vector_whatever_is_asked_beside_it(embedder: LocalEmbedder) -> None:
    """Alone, in any order, from another embedder, with other threads."""
    together = embedder.embed(TEXTS)

    assert LocalEmbedder(folder(), threads=2).embed(TEXTS[::-1]) == together[::-1]
    assert [LocalEmbedder(folder()).embed([text])[0] for text in TEXTS] == together


def test_a_paraphrase_is_nearer_than_a_stranger(embedder: LocalEmbedder) -> None:
    """In other words altogether."""
    trial, weeks, pool = embedder.embed(TEXTS[:3])

    assert cosine(trial, weeks) > 0.4 > 0.2 > cosine(trial, pool)


def test_a_long_text_is_read_to_its_end(embedder: LocalEmbedder) -> None:
    """What stands far behind the first 256 tokens moves its vector to what it is about."""
    pool, museum = "The pool on the roof is heated. ", "The museum shows old paintings. "

    about_pool, late, topic = embedder.embed([pool * 100, pool * 60 + museum * 40, museum])

    assert math.hypot(*late) == pytest.approx(1, abs=1e-5)
    assert cosine(late, topic) > cosine(about_pool, topic) + 0.2


def test_what_it_remembers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten is computed again, to the same numbers."""
    monkeypatch.setattr(local_embedder, "_CACHED_TEXTS", 4)
    embedder = LocalEmbedder(folder(), threads=1)
    first = embedder.embed(["pool"])

    embedder.embed([f"room {number}" for number in range(20)])

    assert len(embedder._known) <= 4
    assert embedder.embed(["pool"]) == first


def test_threads_may_share_it(embedder: LocalEmbedder) -> None:
    """All get what one alone gets."""
    expected, given = embedder.embed(TEXTS), []
    fresh = LocalEmbedder(folder(), threads=1)
    threads = [Thread(target=lambda: given.append(fresh.embed(TEXTS))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert given == [expected] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_opens_it_again_and_ends() -> None:
    """With the parent's numbers."""
    out = subprocess.run(
        [sys.executable, "-u", "-c", FORK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (out.returncode, out.stderr) == (0, "")
    assert out.stdout.split() == ["True", "384", "0"]


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "numpy"])
def test_a_package_that_is_not_installed(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comes with the command that installs it."""
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(SettingsError) as failure:
        LocalEmbedder(folder())

    assert str(failure.value) == (
        f"the embedded encoder needs the package {package}: pip install 'otel-rt4chart[local]'"
    )
