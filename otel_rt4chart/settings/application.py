"""The application side's settings: read once from the environment, then passed on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.variables import (
    check,
    is_pattern,
    is_share,
    most,
    named,
    names,
    read,
    table,
)
from otel_rt4chart.sampling.address import is_source
from otel_rt4chart.sampling.policy import Policy, Risk, rates_from_text, risks_from_text
from otel_rt4chart.settings.content_switches import ContentSwitches, switches_from

MODES = ("mark", "inline")
EMITTED = ("carrier", "event", "metrics")
REDACTIONS = ("drop", "mask", "hash")
PREFIX = "RT4CHART_"
# Of the service, and alike one of ours: no misspelling.
SERVICE = frozenset({"TOKEN"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; each field knows its variable and what it is for."""

    mode: str = named(
        "RT4CHART_MODE",
        "mark",
        "mark: decide and mark the spans; inline: verify in this process",
        f"one of {', '.join(MODES)}",
        lambda value: value in MODES,
    )
    sample_rate: float = named(
        "RT4CHART_SAMPLE_RATE",
        1.0,
        "share of traces to verify, 0 to 1",
        "a number from 0 to 1",
        is_share,
    )
    route_rates: Mapping[str, float] = table(
        "RT4CHART_ROUTE_RATES",
        "rates of single routes, or of all that begin alike",
        "ROUTE=RATE, … with rates from 0 to 1, such as support/*=0.5,checkout=1",
        lambda value: all(map(is_share, value.values())),
        rates_from_text,
    )
    salt: str = named("RT4CHART_SALT", "", "draws another sample at the same rate")
    # None unless asked for: a rule chooses all that it meets, which a low rate was to prevent.
    risks: frozenset[Risk] = named(
        "RT4CHART_RISKS",
        frozenset(),
        "answers that are chosen whatever the rate",
        f"all, none, or some of {', '.join(Risk)}",
        lambda value: value <= frozenset(Risk),
        convert=risks_from_text,
    )
    low_score: float | None = named(
        "RT4CHART_LOW_SCORE",
        None,
        "the best document's score under which the rule low_score chooses",
        "a number such as 0.5",
        lambda value: value is None or abs(value) < 1e12,
        convert=float,
    )
    max_per_minute: int | None = most("RT4CHART_MAX_PER_MINUTE", "answers to choose a minute")
    max_per_day: int | None = most("RT4CHART_MAX_PER_DAY", "answers to choose a day of UTC")
    # Neither is shown: an address may hold a password.
    rates: str = named(
        "RT4CHART_RATES",
        "",
        "a file or an address that tells the rates while the process runs",
        "a file, an https address, or http at the loopback",
        lambda value: value == "" or is_source(value),
        is_shown=False,
    )
    rates_token: str = named(
        "RT4CHART_RATES_TOKEN",
        "",
        "the bearer token for that address",
        "printable ASCII without spaces",
        lambda value: all("!" <= char <= "~" for char in value),
        is_shown=False,
    )
    emit: tuple[str, ...] = named(
        "RT4CHART_EMIT",
        EMITTED,
        "what the inline mode emits for a verdict",
        f"some of {', '.join(EMITTED)}",
        lambda value: bool(value) and set(value) <= set(EMITTED),
        convert=names,
    )
    queue_size: int = named(
        "RT4CHART_QUEUE_SIZE",
        4096,
        "spans that the inline mode holds at most",
        "1 to 1000000",
        lambda value: 1 <= value <= 1_000_000,
    )
    redact: str = named(
        "RT4CHART_REDACT",
        "",
        "what becomes of texts before they leave: drop, mask or hash",
        f"one of {', '.join(REDACTIONS)}",
        lambda value: value in ("", *REDACTIONS),
    )
    redact_pattern: str = named(
        "RT4CHART_REDACT_PATTERN",
        "",
        "what in the texts: a regular expression, or some of email, phone, card, iban, ip",
        "a regular expression, or some of email, phone, card, iban, ip",
        is_pattern,
    )
    record_unsampled: bool = named(
        "RT4CHART_RECORD_UNSAMPLED", False, "see the spans that a head sampler drops"
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, and what would do nothing, in silence."""
        check(self)
        if self.redact_pattern and not self.redact:
            raise SettingsError(
                "RT4CHART_REDACT_PATTERN: expected RT4CHART_REDACT beside it "
                f"({', '.join(REDACTIONS)}), got none: nothing would be redacted"
            )
        is_wanted, is_known = Risk.LOW_SCORE in self.risks, self.low_score is not None
        if is_wanted != is_known and self.risks != frozenset(Risk):
            raise SettingsError(
                "RT4CHART_LOW_SCORE: expected a number together with low_score among "
                "RT4CHART_RISKS, got one without the other"
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, os.environ if environment is None else environment)

    def policy(self) -> Policy:
        """Which answers to choose."""
        return Policy(
            rate=self.sample_rate,
            route_rates=self.route_rates,
            salt=self.salt,
            risks=self.risks,
            low_score=self.low_score,
            per_minute=self.max_per_minute,
            per_day=self.max_per_day,
        )


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who judges, at which endpoint, and for how much; None is without a bound."""

    # Neither is shown: an address may hold a password.
    base_url: str = named(
        "OPENAI_BASE_URL", "", "the endpoint; OpenAI's own unless set", is_shown=False
    )
    api_key: str = named(
        "OPENAI_API_KEY", "", "the endpoint's key, where it needs one", is_shown=False
    )
    model: str = named("RT4CHART_JUDGE_MODEL", "gpt-4o-mini", "the judging model")
    votes: int = named(
        "RT4CHART_JUDGE_VOTES",
        1,
        "judgements of a disputed claim: 1, 3, 5, …",
        "1 or an odd number from 3 to 99",
        lambda value: value in range(1, 100, 2),
    )
    decomposition: str = named(
        "RT4CHART_JUDGE_DECOMPOSITION",
        "sentence",
        "sentence by sentence, or holistic: over the whole answer, without ranges",
        "sentence or holistic",
        lambda value: value in ("sentence", "holistic"),
    )
    timeout_s: float = named(
        "RT4CHART_JUDGE_TIMEOUT_S",
        60.0,
        "seconds an attempt waits for the endpoint's next bytes",
        "more than 0 and at most 86400",
        lambda value: 0 < value <= 86_400,
    )
    retries: int = named(
        "RT4CHART_JUDGE_RETRIES",
        3,
        "attempts after a 429, a 5xx or a time-out",
        "0 to 100",
        lambda value: 0 <= value <= 100,
    )
    concurrency: int = named(
        "RT4CHART_JUDGE_CONCURRENCY",
        8,
        "requests under way at once",
        "1 to 1000",
        lambda value: 1 <= value <= 1000,
    )
    input_limit: int = named(
        "RT4CHART_JUDGE_INPUT_LIMIT",
        24_000,
        "tokens of context that one call may hold",
        "200 or more",
        lambda value: 200 <= value < 1e12,
    )
    cache: str = named(
        "RT4CHART_JUDGE_CACHE", "", "a file that keeps verdicts between runs; in memory unless set"
    )
    calls_per_answer: int | None = most("RT4CHART_JUDGE_CALLS_PER_ANSWER", "calls an answer takes")
    tokens_per_answer: int | None = most("RT4CHART_JUDGE_TOKENS_PER_ANSWER", "tokens of an answer")
    calls_per_minute: int | None = most("RT4CHART_JUDGE_CALLS_PER_MINUTE", "calls in any minute")
    tokens_per_minute: int | None = most("RT4CHART_JUDGE_TOKENS_PER_MINUTE", "tokens in any minute")
    prices: str = named(
        "RT4CHART_JUDGE_PRICES",
        "",
        "MODEL=INPUT/CACHED/OUTPUT, … in US dollars for a million tokens; adds to the known ones",
    )
    embedding_model: str = named(
        "RT4CHART_EMBEDDING_MODEL",
        "",
        "links claims by meaning too: local, or a model at the same endpoint",
    )
    cascade_threshold: float = named(
        "RT4CHART_CASCADE_THRESHOLD",
        0.7,
        "confidence under which a claim goes to the second judge",
        "0 to 1",
        lambda value: 0 <= value <= 1,
    )
    cascade_first: str = named(
        "RT4CHART_CASCADE_FIRST",
        "local",
        "the judge that sees every claim: local, rules, or onnx:PATH",
        "local, rules or onnx:PATH",
        lambda value: value in ("local", "rules") or (value.startswith("onnx:") and len(value) > 5),
    )
    onnx_labels: str = named(
        "RT4CHART_ONNX_LABELS",
        "",
        "labels of an onnx judge's logits in their order, such as entailed,baseless,contradicted",
    )
    onnx_threads: int = named(
        "RT4CHART_ONNX_THREADS",
        0,
        "threads that a model in process computes with; 0: the cores of this process, 4 at most",
        "0 to 256",
        lambda value: 0 <= value <= 256,
    )
    onnx_threshold: float = named(
        "RT4CHART_ONNX_THRESHOLD",
        0.0,
        "least probability at which an onnx judge's claim is entailed; 0: the likeliest label",
        "0 to 1",
        lambda value: 0 <= value <= 1,
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> JudgeSettings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, os.environ if environment is None else environment)


def wants_redaction(environment: Mapping[str, str] | None = None) -> bool:
    """True where the environment asks for redaction, be it in words that cannot be meant."""
    given = os.environ if environment is None else environment
    return any(given.get(f"{PREFIX}{name}", "").strip() for name in ("REDACT", "REDACT_PATTERN"))


def chosen_judge(environment: Mapping[str, str] | None = None) -> str:
    """The judge that the service is set to use; empty where none is named."""
    return (os.environ if environment is None else environment).get("RT4CHART_JUDGE", "").strip()


@cache
def content_switches() -> ContentSwitches:
    """What this process may not write into telemetry; read once."""
    return switches_from(os.environ)


def doubtful(environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """A warning for each variable that looks like a misspelt one of ours, or has no effect."""
    given = os.environ if environment is None else environment
    if given.get("RT4CHART_RATES_TOKEN") and not given.get("RT4CHART_RATES"):
        yield "RT4CHART_RATES_TOKEN is not used: RT4CHART_RATES names no address"
    known = [one.metadata["name"] for kind in (Settings, JudgeSettings) for one in fields(kind)]
    ours = {name.removeprefix(PREFIX): name for name in known if name.startswith(PREFIX)}
    for name in sorted(given):
        short = name.removeprefix(PREFIX)
        if name == short or short in ours or short in SERVICE:
            continue
        ends = [one for one in ours if one.endswith(f"_{short}")]
        meant = ends or get_close_matches(short, ours, n=1, cutoff=0.8)
        if meant:
            yield f"{name} is not known: is {' or '.join(ours[one] for one in meant)} meant?"
