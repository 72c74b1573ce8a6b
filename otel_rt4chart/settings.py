"""The application side's settings: read once from the environment, then passed on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.sampling import checked_rate

MODES = ("mark",)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; each field knows its variable and what it is for."""

    mode: str = field(
        default="mark",
        metadata={"name": "RT4CHART_MODE", "help": "mark: decide, mark the spans, and no more"},
    )
    sample_rate: float = field(
        default=1.0,
        metadata={"name": "RT4CHART_SAMPLE_RATE", "help": "share of traces to verify, 0 to 1"},
    )
    salt: str = field(
        default="",
        metadata={"name": "RT4CHART_SALT", "help": "draws another sample at the same rate"},
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.mode not in MODES:
            raise SettingsError(f"mode: expected one of {', '.join(MODES)}, got {self.mode!r}")
        checked_rate(self.sample_rate)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, environment)


def _is_usual(value: str | float) -> bool:
    return isinstance(value, str) or 0 <= value < 1e12


def _named(
    name: str,
    default: T,
    text: str,
    expected: str = "0 or more",
    is_meant: Callable[[Any], bool] = _is_usual,
    *,
    is_shown: bool = True,
) -> T:
    """A setting; `expected` says in words what `is_meant` finds."""
    told = {"name": name, "help": text, "expected": expected, "is_meant": is_meant}
    return field(default=default, repr=is_shown, metadata=told)


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who judges, at which endpoint, and for how much; 0 is without a bound."""

    # Neither is shown: an address may hold a password.
    base_url: str = _named(
        "OPENAI_BASE_URL", "", "the endpoint; OpenAI's own unless set", is_shown=False
    )
    api_key: str = _named(
        "OPENAI_API_KEY", "", "the endpoint's key, where it needs one", is_shown=False
    )
    model: str = _named("RT4CHART_JUDGE_MODEL", "gpt-4o-mini", "the judging model")
    votes: int = _named(
        "RT4CHART_JUDGE_VOTES",
        1,
        "judgements of a disputed claim: 1, 3, 5, …",
        "1 or an odd number from 3 to 99",
        lambda value: value in range(1, 100, 2),
    )
    decomposition: str = _named(
        "RT4CHART_JUDGE_DECOMPOSITION",
        "sentence",
        "sentence by sentence, or holistic: over the whole answer, without ranges",
        "sentence or holistic",
        lambda value: value in ("sentence", "holistic"),
    )
    timeout_s: float = _named(
        "RT4CHART_JUDGE_TIMEOUT_S",
        60.0,
        "seconds an attempt waits for the endpoint's next bytes",
        "more than 0 and at most 86400",
        lambda value: 0 < value <= 86_400,
    )
    retries: int = _named(
        "RT4CHART_JUDGE_RETRIES",
        3,
        "attempts after a 429, a 5xx or a time-out",
        "0 to 100",
        lambda value: 0 <= value <= 100,
    )
    concurrency: int = _named(
        "RT4CHART_JUDGE_CONCURRENCY",
        8,
        "requests under way at once",
        "1 to 1000",
        lambda value: 1 <= value <= 1000,
    )
    input_limit: int = _named(
        "RT4CHART_JUDGE_INPUT_LIMIT",
        24_000,
        "tokens of context that one call may hold",
        "200 or more",
        lambda value: 200 <= value < 1e12,
    )
    cache: str = _named(
        "RT4CHART_JUDGE_CACHE", "", "a file that keeps verdicts between runs; in memory unless set"
    )
    calls_per_answer: int = _named("RT4CHART_JUDGE_CALLS_PER_ANSWER", 0, "calls an answer may cost")
    tokens_per_answer: int = _named(
        "RT4CHART_JUDGE_TOKENS_PER_ANSWER", 0, "tokens an answer may cost"
    )
    calls_per_minute: int = _named("RT4CHART_JUDGE_CALLS_PER_MINUTE", 0, "calls in any minute")
    tokens_per_minute: int = _named("RT4CHART_JUDGE_TOKENS_PER_MINUTE", 0, "tokens in any minute")
    prices: str = _named(
        "RT4CHART_JUDGE_PRICES",
        "",
        "MODEL=INPUT/CACHED/OUTPUT, … in US dollars for a million tokens; adds to the known ones",
    )
    embedding_model: str = _named(
        "RT4CHART_EMBEDDING_MODEL", "", "links claims by meaning too, at the same endpoint"
    )
    cascade_threshold: float = _named(
        "RT4CHART_CASCADE_THRESHOLD",
        0.6,
        "confidence under which a claim goes to the second judge",
        "0 to 1",
        lambda value: 0 <= value <= 1,
    )
    cascade_first: str = _named(
        "RT4CHART_CASCADE_FIRST",
        "local",
        "the judge that sees every claim: local, or onnx:PATH",
        "local or onnx:PATH",
        lambda value: value == "local" or (value.startswith("onnx:") and len(value) > 5),
    )
    onnx_labels: str = _named(
        "RT4CHART_ONNX_LABELS",
        "",
        "labels of an onnx judge's logits in their order, such as entailed,baseless,contradicted",
    )
    onnx_threads: int = _named(
        "RT4CHART_ONNX_THREADS",
        0,
        "threads that an onnx judge computes with; 0: the cores of this process, 4 at most",
        "0 to 256",
        lambda value: 0 <= value <= 256,
    )
    onnx_threshold: float = _named(
        "RT4CHART_ONNX_THRESHOLD",
        0.0,
        "least probability at which an onnx judge's claim is entailed; 0: the likeliest label",
        "0 to 1",
        lambda value: 0 <= value <= 1,
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        for one in fields(self):
            value, told = getattr(self, one.name), one.metadata
            if not told["is_meant"](value):
                raise SettingsError(f"{told['name']}: expected {told['expected']}, got {value!r}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> JudgeSettings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, environment)


def read(cls: type[T], environment: Mapping[str, str] | None) -> T:
    """A settings class from the variables that its fields name."""
    given = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    declared = fields(cls)  # type: ignore[arg-type]
    for one in declared:
        name = one.metadata["name"]
        # OpenTelemetry's rule: an empty variable is one that is not set.
        if given.get(name, "").strip():
            values[one.name] = _converted(name, given[name], type(one.default))
    try:
        return cls(**values)
    except SettingsError as error:
        named = ", ".join(f.metadata["name"] for f in declared if f.name in values)
        raise SettingsError(f"{error} (set: {named})") from error


def _converted(name: str, text: str, kind: type) -> object:
    try:
        return kind(text.strip())
    except ValueError as error:
        raise SettingsError(f"{name}: expected a {kind.__name__}, got {text!r}") from error
