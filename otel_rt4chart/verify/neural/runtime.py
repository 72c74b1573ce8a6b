"""The one file that runs a model: ONNX Runtime on the CPU, its tokenizer, a cache of results."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar
from weakref import WeakSet

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.core.text import encodable

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentCache(Generic[K, V]):
    """A cache that drops the least recently used values; threads may share it.

    It has no lock, which a forked process could inherit locked: each step is one atomic operation
    of a dict. A lost race costs a computation, never a wrong value.
    """

    def __init__(self, max_entries: int) -> None:
        """An empty cache."""
        self._max_entries = max_entries
        self._values: dict[K, V] = {}

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value of the key; None where it was never stored, or was dropped."""
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: K, value: V) -> V:
        """Store a value and return it; a full cache first drops its oldest eighth."""
        if len(self._values) >= self._max_entries:
            # An eighth at once: a full cache does not copy its keys for every new value.
            for old in list(self._values)[: max(1, self._max_entries // 8)]:
                self._values.pop(old, None)
        self._values[key] = value
        return value


if TYPE_CHECKING:
    import onnxruntime
    import tokenizers
    from numpy.typing import NDArray

_NEEDED, _OPTIONAL = {"input_ids", "attention_mask"}, {"token_type_ids"}
_MAX_THREADS = 4

Encoded: TypeAlias = "tokenizers.Encoding"
Rows = list[list[float]]


class ModelInput(NamedTuple):
    """A text, or a pair of texts, as token ids."""

    ids: Sequence[int]
    types: Sequence[int]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model on disk, the outputs to compute, and the words of its errors.

    `owner` names the part that needs the packages, `remedy` says how to get a usable model.
    """

    owner: str
    model: Path
    tokenizer: Path
    outputs: tuple[str, ...]
    remedy: str
    pad: int = 0


class _OpenModel(NamedTuple):
    """A model as one process has opened it; `limit` is where its tokenizer would truncate.

    `pool` runs several inputs at once; None where the runtime spreads one input over its threads.
    """

    session: onnxruntime.InferenceSession
    tokenizer: tokenizers.Tokenizer
    limit: int | None
    pool: ThreadPoolExecutor | None


class Runtime:
    """An open model of texts or pairs of texts; threads may share it.

    A forked process opens the model again at its first use. `limit` is the length in tokens at
    which the tokenizer's file says to truncate; this class never truncates.
    """

    def __init__(self, source: ModelSource, *, threads: int = 0, is_small: bool = False) -> None:
        """Open the model; `threads` 0 stands for all cores of this process, 4 at most.

        A small model runs each input on one thread: two inputs at once take 15 ms each, while one
        input spread over two threads takes 23 ms (29 ms on one).
        """
        self._source, self._is_small = source, is_small
        self._threads = threads or min(_MAX_THREADS, _cores())
        self._lock = Lock()
        opened = self._open_anew()
        self._opened: _OpenModel | None = opened
        _RUNTIMES.add(self)
        self._inputs = _checked_inputs(source, opened.session)
        _check_outputs(source, opened.session)
        self.limit = opened.limit

    def encode(self, text: str, second: str | None = None) -> Encoded:
        """The tokens of a text or a pair, special tokens included, of any length."""
        other = None if second is None else encodable(second)
        return self._open().tokenizer.encode(encodable(text), other)

    def run_each(self, inputs: Sequence[ModelInput]) -> list[list[list[float]]]:
        """Run each input alone; for each, one row per output. JudgeError where one fails."""
        pool = self._open().pool
        spread = map if pool is None else pool.map
        return [[rows[0] for rows in one] for one in spread(self.run, [[one] for one in inputs])]

    def run(self, batch: Sequence[ModelInput]) -> list[Rows]:
        """Run a batch; for each output, one row per input. JudgeError where it fails."""
        import numpy

        given = self._compute(batch)
        for name, rows in zip(self._source.outputs, given, strict=True):
            is_table = rows.ndim == 2 and len(rows) == len(batch)
            if not is_table or not numpy.isfinite(rows).all():
                found = "a value that is no number" if is_table else f"the shape {rows.shape}"
                raise JudgeError(
                    f"{self._source.model}, output {name}: expected a row of numbers "
                    f"for each of {len(batch)} inputs, got {found}"
                )
        return [rows.tolist() for rows in given]

    def run_tokens(self, one: ModelInput) -> Rows:
        """Run one input through a model of tokens: one row for each token of the only output."""
        import numpy

        (given,) = self._compute([one])
        is_table = given.ndim == 3 and given.shape[:2] == (1, len(one.ids))
        if not is_table or not numpy.isfinite(given).all():
            found = "a value that is no number" if is_table else f"the shape {given.shape}"
            raise JudgeError(
                f"{self._source.model}, output {self._source.outputs[0]}: expected a row of "
                f"numbers for each of {len(one.ids)} tokens, got {found}"
            )
        rows: Rows = given[0].tolist()
        return rows

    def _compute(self, batch: Sequence[ModelInput]) -> Sequence[NDArray[Any]]:
        """The outputs for a batch, padded to its longest input. JudgeError where it fails."""
        import numpy

        shape = (len(batch), max(len(one.ids) for one in batch))
        arrays = {name: numpy.zeros(shape, numpy.int64) for name in _NEEDED | _OPTIONAL}
        arrays["input_ids"].fill(self._source.pad)
        for row, one in enumerate(batch):
            arrays["input_ids"][row, : len(one.ids)] = one.ids
            arrays["attention_mask"][row, : len(one.ids)] = 1
            arrays["token_type_ids"][row, : len(one.ids)] = one.types
        feed = {name: arrays[name] for name in self._inputs}
        try:
            given: Sequence[NDArray[Any]] = self._open().session.run(
                list(self._source.outputs), feed
            )
        except JudgeError:
            raise
        except Exception as error:  # the runtime's errors share no narrower class
            raise JudgeError(f"{self._source.model} failed: {_first_line(error)}") from error
        return given

    def _open(self) -> _OpenModel:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = self._open_anew()
                except SettingsError as error:  # it could be opened when the process started
                    raise JudgeError(str(error)) from error
            return self._opened

    def _open_anew(self) -> _OpenModel:
        if not self._is_small:
            return _open_model(self._source, self._threads, None)
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="rt4chart-model")
        return _open_model(self._source, 1, pool)

    def reset_after_fork(self) -> None:
        """Forget the parent's session: its threads do not exist in the child.

        Destroying the session would wait for those threads for ever, so an extra reference keeps
        it alive until the process ends.
        """
        if self._opened is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._opened))
        self._lock, self._opened = Lock(), None


_RUNTIMES: WeakSet[Runtime] = WeakSet()


def _reset_after_fork() -> None:
    for runtime in list(_RUNTIMES):
        runtime.reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def _packages(owner: str) -> tuple[ModuleType, ModuleType]:
    """The packages, imported late: with numpy they take a third of a second.

    From version 1.29 on, onnxruntime reports usage to its makers unless that is disabled before the
    import. Its telemetry thread would also keep a forked process from ending.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    try:
        import numpy  # noqa: F401 the two need it without declaring it
        import onnxruntime
        import tokenizers
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{owner} needs the package {error.name}: pip install 'otel-rt4chart[local]'"
        ) from error
    onnxruntime.disable_telemetry_events()  # where the application imported it earlier
    return onnxruntime, tokenizers


def _cores() -> int:
    """The cores that this process may use, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open_model(source: ModelSource, threads: int, pool: ThreadPoolExecutor | None) -> _OpenModel:
    onnxruntime, tokenizers = _packages(source.owner)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # errors are raised; nothing is written to stderr
    # Spinning threads would take cores from the application.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(
            str(source.model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime's errors share no narrower class
        raise SettingsError(
            f"{source.model}: expected an ONNX model, got {_first_line(error)}; a download that "
            f"broke off or a Git LFS pointer looks like this: fetch it again, or {source.remedy}"
        ) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(source.tokenizer))
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise SettingsError(
            f"{source.tokenizer}: expected a tokenizer, got {_first_line(error)}; "
            "fetch the file again, or upgrade the package tokenizers"
        ) from error
    limit = (tokenizer.truncation or {}).get("max_length")
    tokenizer.no_padding()
    tokenizer.no_truncation()  # callers split what is too long
    return _OpenModel(session, tokenizer, limit if limit is None else int(limit), pool)


def _checked_inputs(source: ModelSource, session: onnxruntime.InferenceSession) -> tuple[str, ...]:
    """The names of the model's inputs; SettingsError where they are not those of a text model."""
    found = {one.name: one for one in session.get_inputs()}
    if not _NEEDED <= set(found) <= _NEEDED | _OPTIONAL:
        raise SettingsError(
            f"{source.model}: expected the inputs input_ids, attention_mask and perhaps "
            f"token_type_ids, got {', '.join(found)}; {source.remedy}"
        )
    for name, one in found.items():
        if one.type != "tensor(int64)" or any(isinstance(size, int) for size in one.shape):
            raise SettingsError(
                f"{source.model}, input {name}: expected int64 numbers in any number of rows and "
                f"columns, got {one.type} {one.shape}; {source.remedy}"
            )
    return tuple(found)


def _check_outputs(source: ModelSource, session: onnxruntime.InferenceSession) -> None:
    names = [one.name for one in session.get_outputs()]
    for wanted in source.outputs:
        if wanted not in names:
            raise SettingsError(
                f"{source.model}: expected an output {wanted}, got {', '.join(names)}; "
                f"{source.remedy}"
            )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]
