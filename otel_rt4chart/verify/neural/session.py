"""The one file that runs a model: ONNX Runtime on the CPU, fed by its own tokenizer."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast
from weakref import WeakSet

from otel_rt4chart.errors import JudgeError, SettingsError
from otel_rt4chart.verify.encoding import encodable
from otel_rt4chart.verify.neural.folder import LONGEST, ModelFolder

if TYPE_CHECKING:
    import numpy
    import onnxruntime
    import tokenizers
    from numpy.typing import NDArray

_NEEDED, _OPTIONAL = {"input_ids", "attention_mask"}, {"token_type_ids"}
_OUTPUT = "logits"
_BATCH_TOKENS = 4_096  # bounds the memory that a batch takes, whatever the model
_MOST_THREADS = 4
_DIGITS = 4  # what lies beneath differs with the padding of a batch
_AGAIN = "export it for text classification, with dynamic axes (docs/local-models.md)"

Pair = tuple[str, str]
Logits: TypeAlias = "NDArray[numpy.float64]"


class _Opened(NamedTuple):
    """What a process holds of a model; `limit` is where its tokenizer would have cut a pair."""

    runtime: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    limit: int


class Session:
    """A model that gives probabilities for pairs of premise and hypothesis; threads may share it.

    It is opened once a process: a fork gets its own, at its first use. `width` is the number of
    its logits, `longest` the tokens that a pair may have. The same pair always gets the same
    probabilities, whichever pairs are asked beside it; `one_by_one` is for models whose batches
    share a scale.
    """

    def __init__(self, folder: ModelFolder, *, threads: int = 0, one_by_one: bool = False) -> None:
        """Open the model and try it; `threads` 0 is all cores of this process, 4 at most."""
        self._folder = folder
        self._threads = threads or min(_MOST_THREADS, _cores())
        self._one_by_one = one_by_one
        self._lock = Lock()
        opened = _opened(folder, self._threads)
        self._opened: _Opened | None = opened
        _SESSIONS.add(self)
        self._inputs = _checked_inputs(folder.model, opened.runtime)
        _check_output(folder.model, opened.runtime)
        self.longest = min(LONGEST, folder.positions, opened.limit)
        pad = folder.config.get("pad_token_id")
        self._pad = pad if isinstance(pad, int) else 0
        try:
            self.width = len(self.probabilities([("a", "a")])[0])
        except JudgeError as error:
            raise SettingsError(f"{error}; {_AGAIN}") from error

    def pair_length(self, premise: str, hypothesis: str) -> int:
        """The tokens of a pair, with those that frame it."""
        return len(self._open().tokenizer.encode(encodable(premise), encodable(hypothesis)))

    def probabilities(self, pairs: Sequence[Pair]) -> list[tuple[float, ...]]:
        """One for each logit; of a single logit its sigmoid. JudgeError where the model fails."""
        opened = self._open()
        encoded = [opened.tokenizer.encode(encodable(p), encodable(h)) for p, h in pairs]
        lengths = [len(one) for one in encoded]
        if max(lengths, default=0) > self.longest:
            raise JudgeError(f"expected pairs of {self.longest} tokens, got {max(lengths)}")
        found: dict[int, tuple[float, ...]] = {}
        for batch in self._batches(lengths):
            logits = self._run(opened, [encoded[at] for at in batch])
            found.update(zip(batch, _normalised(logits), strict=True))
        return [found[at] for at in range(len(pairs))]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Pairs of like lengths together, so that little is padded."""
        batch: list[int] = []
        for at in sorted(range(len(lengths)), key=lambda at: lengths[at]):
            is_full = self._one_by_one or (len(batch) + 1) * lengths[at] > _BATCH_TOKENS
            if batch and is_full:
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch

    def _run(self, opened: _Opened, encoded: Sequence[tokenizers.Encoding]) -> Logits:
        import numpy

        shape = (len(encoded), max(map(len, encoded)))
        arrays = {name: numpy.zeros(shape, numpy.int64) for name in _NEEDED | _OPTIONAL}
        arrays["input_ids"].fill(self._pad)
        for row, one in enumerate(encoded):
            arrays["input_ids"][row, : len(one)] = one.ids
            arrays["attention_mask"][row, : len(one)] = one.attention_mask
            arrays["token_type_ids"][row, : len(one)] = one.type_ids
        feed = {name: arrays[name] for name in self._inputs}
        try:
            (logits,) = opened.runtime.run([_OUTPUT], feed)
        except Exception as error:  # the runtime's errors share no narrower class
            raise JudgeError(f"{self._folder.model} failed: {_first_line(error)}") from error
        is_table = logits.ndim == 2 and len(logits) == len(encoded)
        if not is_table or not numpy.isfinite(logits).all():
            found = "a value that is no number" if is_table else f"the shape {logits.shape}"
            raise JudgeError(
                f"{self._folder.model}, output {_OUTPUT}: expected a row of numbers "
                f"for each of {len(encoded)} pairs, got {found}"
            )
        return cast("Logits", logits.astype(numpy.float64))

    def _open(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = _opened(self._folder, self._threads)
                except SettingsError as error:  # it was there when this judge was made
                    raise JudgeError(str(error)) from error
            return self._opened

    def _start_again(self) -> None:
        """After a fork, in the child, where the runtime's threads are missing.

        Its end would wait for them for ever, so it must never come, not even with the process.
        """
        if self._opened is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._opened))
        self._lock, self._opened = Lock(), None


_SESSIONS: WeakSet[Session] = WeakSet()


def _start_again() -> None:
    for session in list(_SESSIONS):
        session._start_again()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)


def _packages() -> tuple[ModuleType, ModuleType]:
    """Loaded where they are used: with numpy they take a third of a second.

    From 1.29 on the runtime tells its makers which models are run, unless it is told not to before
    it is loaded. Its thread for that would also keep a forked process from ending.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    try:
        import numpy  # noqa: F401 the two need it and do not say so
        import onnxruntime
        import tokenizers
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"an onnx judge needs the package {error.name}: pip install 'otel-rt4chart[local]'"
        ) from error
    onnxruntime.disable_telemetry_events()  # where the application had loaded it before
    return onnxruntime, tokenizers


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _opened(folder: ModelFolder, threads: int) -> _Opened:
    onnxruntime, tokenizers = _packages()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what goes wrong is raised; nothing is written to stderr
    # Threads that wait busily would take their cores from the application.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        runtime = onnxruntime.InferenceSession(
            str(folder.model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime's errors share no narrower class
        raise SettingsError(
            f"{folder.model}: expected an ONNX model, got {_first_line(error)}; a download that "
            f"broke off or a Git LFS pointer looks like this: fetch it again, or {_AGAIN}"
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise SettingsError(
            f"{folder.tokenizer}: expected a tokenizer, got {_first_line(error)}; "
            "fetch the file again, or upgrade the package tokenizers"
        ) from error
    limit = int((tokenizer.truncation or {}).get("max_length", LONGEST))
    tokenizer.no_padding()
    tokenizer.no_truncation()  # what is too long is split by us, never cut
    return _Opened(runtime, tokenizer, limit)


def _checked_inputs(model: Path, runtime: onnxruntime.InferenceSession) -> tuple[str, ...]:
    """The names of the model's inputs, where they are those of a classifier of pairs."""
    found = {one.name: one for one in runtime.get_inputs()}
    if not _NEEDED <= set(found) <= _NEEDED | _OPTIONAL:
        raise SettingsError(
            f"{model}: expected the inputs input_ids, attention_mask and perhaps token_type_ids, "
            f"got {', '.join(found)}; {_AGAIN}"
        )
    for name, one in found.items():
        if one.type != "tensor(int64)" or any(isinstance(size, int) for size in one.shape):
            raise SettingsError(
                f"{model}, input {name}: expected int64 numbers in any number of rows and columns, "
                f"got {one.type} {one.shape}; {_AGAIN}"
            )
    return tuple(found)


def _check_output(model: Path, runtime: onnxruntime.InferenceSession) -> None:
    names = [one.name for one in runtime.get_outputs()]
    if _OUTPUT not in names:
        raise SettingsError(
            f"{model}: expected an output {_OUTPUT}, got {', '.join(names)}; {_AGAIN}"
        )


def _normalised(logits: Logits) -> list[tuple[float, ...]]:
    """Softmax, or the sigmoid of a single logit."""
    import numpy

    if logits.shape[1] == 1:
        values = 1.0 / (1.0 + numpy.exp(-numpy.clip(logits, -700, 700)))
    else:
        raised = numpy.exp(logits - logits.max(axis=1, keepdims=True))
        values = raised / raised.sum(axis=1, keepdims=True)
    return [tuple(round(float(value), _DIGITS) for value in row) for row in values]


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
