"""The application side's settings: read once from the environment, then passed on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, TypeVar

from otel_rt4chart.errors import SettingsError

MODES = ("mark",)
PREFIX = "RT4CHART_"
T = TypeVar("T")


def _is_usual(value: str | float) -> bool:
    return isinstance(value, str) or 0 <= value < 1e12


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


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
    return field(default=default, repr=is_shown, metadata=told | {"kind": type(default)})


def _most(name: str, text: str) -> int | None:
    """A bound that is not there unless it is set; 0 would forbid everything."""
    told = {"name": name, "help": text, "expected": "1 or more", "kind": int}
    is_meant = {"is_meant": lambda value: value is None or 1 <= value < 1e12}
    return field(default=None, metadata=told | is_meant)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; each field knows its variable and what it is for."""

    mode: str = _named(
        "RT4CHART_MODE",
        "mark",
        "mark: decide, mark the spans, and no more",
        f"one of {', '.join(MODES)}",
        lambda value: value in MODES,
    )
    sample_rate: float = _named(
        "RT4CHART_SAMPLE_RATE",
        1.0,
        "share of traces to verify, 0 to 1",
        "a number from 0 to 1",
        _is_share,
    )
    salt: str = _named("RT4CHART_SALT", "", "draws another sample at the same rate")

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        _check(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, environment)


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who judges, at which endpoint, and for how much; None is without a bound."""

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
    calls_per_answer: int | None = _most(
        "RT4CHART_JUDGE_CALLS_PER_ANSWER", "calls an answer may cost"
    )
    tokens_per_answer: int | None = _most(
        "RT4CHART_JUDGE_TOKENS_PER_ANSWER", "tokens an answer may cost"
    )
    calls_per_minute: int | None = _most("RT4CHART_JUDGE_CALLS_PER_MINUTE", "calls in any minute")
    tokens_per_minute: int | None = _most(
        "RT4CHART_JUDGE_TOKENS_PER_MINUTE", "tokens in any minute"
    )
    prices: str = _named(
        "RT4CHART_JUDGE_PRICES",
        "",
        "MODEL=INPUT/CACHED/OUTPUT, … in US dollars for a million tokens; adds to the known ones",
    )
    embedding_model: str = _named(
        "RT4CHART_EMBEDDING_MODEL",
        "",
        "links claims by meaning too: local, or a model at the same endpoint",
    )
    cascade_threshold: float = _named(
        "RT4CHART_CASCADE_THRESHOLD",
        0.7,
        "confidence under which a claim goes to the second judge",
        "0 to 1",
        lambda value: 0 <= value <= 1,
    )
    cascade_first: str = _named(
        "RT4CHART_CASCADE_FIRST",
        "local",
        "the judge that sees every claim: local, rules, or onnx:PATH",
        "local, rules or onnx:PATH",
        lambda value: value in ("local", "rules") or (value.startswith("onnx:") and len(value) > 5),
    )
    onnx_labels: str = _named(
        "RT4CHART_ONNX_LABELS",
        "",
        "labels of an onnx judge's logits in their order, such as entailed,baseless,contradicted",
    )
    onnx_threads: int = _named(
        "RT4CHART_ONNX_THREADS",
        0,
        "threads that a model in process computes with; 0: the cores of this process, 4 at most",
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
        _check(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> JudgeSettings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, environment)


def read(cls: type[T], environment: Mapping[str, str] | None) -> T:
    """A settings class from the variables that its fields name."""
    given = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for one in fields(cls):  # type: ignore[arg-type]
        name = one.metadata["name"]
        # OpenTelemetry's rule: an empty variable is one that is not set.
        if given.get(name, "").strip():
            values[one.name] = _converted(name, given[name], one.metadata["kind"])
    return cls(**values)


def chosen_judge(environment: Mapping[str, str] | None = None) -> str:
    """The judge that the service is set to use; empty where none is named."""
    return (os.environ if environment is None else environment).get("RT4CHART_JUDGE", "").strip()


def doubtful(environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """A warning for each variable that looks like a misspelt one of ours."""
    given = os.environ if environment is None else environment
    known = [one.metadata["name"] for kind in (Settings, JudgeSettings) for one in fields(kind)]
    ours = {name.removeprefix(PREFIX): name for name in known if name.startswith(PREFIX)}
    for name in sorted(given):
        short = name.removeprefix(PREFIX)
        if name == short or short in ours:
            continue
        ends = [one for one in ours if one.endswith(f"_{short}")]
        meant = ends or get_close_matches(short, ours, n=1, cutoff=0.8)
        if meant:
            yield f"{name} is not known: is {' or '.join(ours[one] for one in meant)} meant?"


def _check(settings: Settings | JudgeSettings) -> None:
    for one in fields(settings):
        value, told = getattr(settings, one.name), one.metadata
        if not told["is_meant"](value):
            raise SettingsError(f"{told['name']}: expected {told['expected']}, got {value!r}")


def _converted(name: str, text: str, kind: type) -> object:
    try:
        return kind(text.strip())
    except ValueError as error:
        expected = "an integer such as 3" if kind is int else "a number such as 0.5"
        raise SettingsError(f"{name}: expected {expected}, got {text!r}") from error
