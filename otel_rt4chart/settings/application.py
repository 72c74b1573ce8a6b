"""The application side's settings: read once from the environment, then passed on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.core.settings import (
    PREFIX,
    Environment,
    check,
    load,
    misspelt,
    reference,
    setting,
    settings_of,
)
from otel_rt4chart.core.settings_parsers import (
    Parser,
    bearer_token,
    boolean,
    count,
    integer,
    matching,
    one_of,
    share,
    split_names,
    text,
)
from otel_rt4chart.core.urls import is_source
from otel_rt4chart.sampling.layers import Layers, layers_parser
from otel_rt4chart.sampling.policy import Policy, Risk
from otel_rt4chart.settings.content_switches import ContentSwitches, switches_from
from otel_rt4chart.verify.llm.spending import BudgetLimit, parse_budgets

MODES = ("mark", "inline")
EMITTED = ("carrier", "event", "metrics")
REDACTIONS = ("drop", "mask", "hash")


def parse_rates(written: str) -> dict[str, float]:
    """Parse `support/*=0.5,checkout=1`; a route may contain `=`. ValueError for other texts."""
    rates = {}
    for entry in split_names(written):
        route, _, rate = entry.rpartition("=")
        if not route.strip():
            raise ValueError(entry)
        rates[route.strip()] = share(rate)
    return rates


def parse_risks(written: str) -> frozenset[Risk]:
    """Parse `all`, `none`, or names of rules; ValueError for other texts."""
    if written in ("all", "none"):
        return frozenset(Risk if written == "all" else ())
    return frozenset(Risk(name) for name in split_names(written))


def is_pattern(value: str) -> bool:
    """True for names of the redactor's patterns, or a regular expression."""
    from otel_rt4chart.redaction.patterns import patterns_from

    try:
        patterns_from(value)
    except SettingsError:
        return False
    return True


def layers_setting() -> Layers:
    """The setting RT4CHART_LAYERS, of the service and of the inline mode."""
    return setting(
        Layers(), "what runs on a verified answer beside its judge, by route", layers_parser
    )


def carrier_setting() -> CarrierPlace:
    """The setting RT4CHART_CARRIER, of the service and of the inline mode."""
    return setting(
        CarrierPlace.TRACE,
        "where the span with a verdict stands: trace (below the answer's span) or own (alone in a "
        "trace of its own)",
        Parser("trace or own", CarrierPlace),
    )


@dataclass(frozen=True, slots=True)
class ApplicationSettings:
    """Settings of the application: `RT4ChartInstrumentor` and `opentelemetry-instrument`."""

    mode: str = setting(
        "mark", "mark: decide and mark the spans; inline: verify in this process", one_of(*MODES)
    )
    sample_rate: float = setting(1.0, "share of traces to verify", share)
    route_rates: Mapping[str, float] = setting(
        dict[str, float](),
        "rates of routes, or of all routes with a prefix",
        Parser(
            "ROUTE=RATE, … with rates from 0 to 1, such as support/*=0.5,checkout=1", parse_rates
        ),
    )
    layers: Layers = layers_setting()
    salt: str = setting("", "a different salt draws a different sample", text)
    # None by default: a rule selects every answer that it matches, which a low rate is to prevent.
    risks: frozenset[Risk] = setting(
        frozenset[Risk](),
        "rules that select answers regardless of the rate",
        Parser(f"all, none, or some of {', '.join(Risk)}", parse_risks),
    )
    low_score: float | None = setting(
        None,
        "the rule low_score selects answers whose best document scores below this",
        Parser("a number such as 0.5", float, lambda value: abs(value) < 1e12),
    )
    max_per_minute: int | None = setting(None, "limit of selected answers per minute", count)
    max_per_day: int | None = setting(None, "limit of selected answers per day (UTC)", count)
    # A secret: the address may hold a key.
    rates: str = setting(
        "",
        "a file or URL from which rates are read periodically",
        Parser("a file, an https address, or http at the loopback", str, is_source),
        secret=True,
    )
    rates_token: str = setting("", "the bearer token for that URL", bearer_token, secret=True)
    emit: tuple[str, ...] = setting(
        EMITTED,
        "the signals that the inline mode emits for a verdict",
        Parser(
            f"some of {', '.join(EMITTED)}",
            split_names,
            lambda value: bool(value) and set(value) <= set(EMITTED),
        ),
    )
    carrier: CarrierPlace = carrier_setting()
    queue_size: int = setting(
        4096, "limit of spans that wait in the inline mode", integer(1, 1_000_000)
    )
    redact: str = setting(
        "", "how texts are redacted before they leave the process", one_of(*REDACTIONS)
    )
    redact_pattern: str = setting(
        "",
        "the patterns that are redacted",
        Parser(
            "a regular expression, or some of email, phone, card, iban, ip, secret", str, is_pattern
        ),
    )
    # Off by default: whoever sends a request may send baggage with it.
    baggage: bool = setting(
        False, "take rt4chart.route and rt4chart.force from the baggage of requests", boolean
    )
    record_unsampled: bool = setting(False, "also record spans that a head sampler drops", boolean)

    def __post_init__(self) -> None:
        """Reject values that are invalid or would have no effect."""
        check(self)
        if self.redact_pattern and not self.redact:
            raise SettingsError(
                "RT4CHART_REDACT_PATTERN: expected RT4CHART_REDACT beside it "
                f"({', '.join(REDACTIONS)}); got none: nothing would be redacted"
            )
        has_rule, has_bound = Risk.LOW_SCORE in self.risks, self.low_score is not None
        if has_rule != has_bound and self.risks != frozenset(Risk):
            raise SettingsError(
                "RT4CHART_LOW_SCORE: expected a number together with low_score among "
                "RT4CHART_RISKS; got one without the other"
            )

    def policy(self) -> Policy:
        """The sampling policy of these settings."""
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
    """Settings of the judges: model, endpoint and limits."""

    PREFIX: ClassVar[str] = "RT4CHART_JUDGE_"

    # Both are secrets: the URL may contain a password.
    base_url: str = setting(
        "", "the endpoint (default: OpenAI)", text, secret=True, variable="OPENAI_BASE_URL"
    )
    api_key: str = setting("", "the endpoint's key", text, secret=True, variable="OPENAI_API_KEY")
    model: str = setting("gpt-4o-mini", "the judging model", text)
    votes: int = setting(
        1,
        "judgements of a disputed claim",
        Parser("1 or an odd number from 3 to 99", int, lambda value: value in range(1, 100, 2)),
    )
    labels: str = setting(
        "three",
        "three labels, or two: grounded or not, for models that confuse the two kinds of error",
        one_of("three", "two"),
    )
    form: str = setting(
        "sentences",
        "the reply that the judge single asks for: ours by sentences, or that of the prompt card",
        one_of("sentences", "card"),
    )
    decomposition: str = setting(
        "sentence",
        "sentence by sentence, or holistic: over the whole answer, without ranges",
        one_of("sentence", "holistic"),
    )
    window: int = setting(25, "sentences of a chunk in local verification", integer(1, 1_000))
    overlap: int = setting(
        10, "sentences that a chunk shares with the next one; fewer than its own", integer(0, 999)
    )
    exhaustive: bool = setting(
        False,
        "ask every chunk about every claim, as published, also where no word is shared",
        boolean,
    )
    timeout_s: float = setting(
        60.0,
        "seconds to wait for the endpoint's next bytes",
        Parser("more than 0 and at most 86400", float, lambda value: 0 < value <= 86_400),
    )
    retries: int = setting(3, "retries after a 429, a 5xx or a broken connection", integer(0, 100))
    concurrency: int = setting(8, "concurrent requests", integer(1, 1000))
    input_limit: int = setting(
        24_000,
        "limit of context tokens in a call",
        Parser("200 or more", int, lambda value: 200 <= value < 1e12),
    )
    cache: str = setting("", "a file that caches verdicts between runs (default: memory)", text)
    calls_per_answer: int | None = setting(None, "limit of calls for an answer", count)
    tokens_per_answer: int | None = setting(None, "limit of tokens for an answer", count)
    question_characters: int | None = setting(
        500_000, "limit of characters in a question; its answer is undecided beyond it", count
    )
    answer_characters: int | None = setting(
        50_000, "limit of characters in an answer; a longer one is undecided", count
    )
    passage_characters: int | None = setting(
        500_000, "the same for all passages of an answer together", count
    )
    passages_per_answer: int | None = setting(1_000, "the same for their number", count)
    sentences_per_answer: int | None = setting(20_000, "the same for their sentences", count)
    claims_per_answer: int | None = setting(
        300, "limit of claims in an answer; the rest of the answer is undecided", count
    )
    comparisons_per_answer: int | None = setting(
        5_000, "limit of pairs of a claim and a chunk that rules compare for an answer", count
    )
    model_comparisons_per_answer: int | None = setting(
        600, "the same for pairs that a model in this process reads", count
    )
    seconds_per_answer: float | None = setting(
        300.0,
        "limit of seconds that judges in this process take for an answer",
        Parser("more than 0 and at most 86400", float, lambda value: 0 < value <= 86_400),
    )
    calls_per_minute: int | None = setting(None, "limit of calls in any minute", count)
    tokens_per_minute: int | None = setting(None, "limit of tokens in any minute", count)
    budget: tuple[BudgetLimit, ...] = setting(
        (),
        "the most that an hour or a day may cost, in all or for each route or tenant that matches, "
        "over all processes that share a database",
        Parser(
            "NUMBER calls, tokens or usd, /hour or /day, with commas between them and ROUTE= or "
            "tenant:NAME= before those of routes and tenants, such as 20usd/day, "
            "support/*=500000tokens/hour, tenant:*=2usd/day",
            parse_budgets,
        ),
    )
    prices: str = setting(
        "",
        "prices in US dollars for a million tokens, in addition to the known ones",
        Parser("MODEL=INPUT/CACHED/OUTPUT, …", str),
    )
    embedding_model: str = setting(
        "",
        "also link claims by meaning: local, or a model at the same endpoint",
        text,
        variable="RT4CHART_EMBEDDING_MODEL",
    )
    cascade_threshold: float = setting(
        0.7,
        "confidence below which a claim goes to the second judge",
        share,
        variable="RT4CHART_CASCADE_THRESHOLD",
    )
    cascade_first: str = setting(
        "local",
        "the judge that sees every claim",
        matching(r"local|rules|onnx:.+", "local, rules or onnx:PATH"),
        variable="RT4CHART_CASCADE_FIRST",
    )
    cascade_second: str = setting(
        "openai",
        "the judge that sees what the first one is not sure of",
        matching(r"openai|onnx:.+", "openai or onnx:PATH"),
        variable="RT4CHART_CASCADE_SECOND",
    )
    models: str = setting(
        "~/.local/share/rt4chart/models",
        "the folder of the models that `rt4chart judge get` fetches",
        text,
        variable="RT4CHART_MODELS",
    )
    cherry_pick_threshold: float = setting(
        0.6,
        "confidence from which a judge's word counts that a passage contradicts a claim",
        share,
        variable="RT4CHART_CHERRY_PICK_THRESHOLD",
    )
    onnx_labels: str = setting(
        "",
        "labels of an onnx judge's logits in order, such as entailed,baseless,contradicted",
        text,
        variable="RT4CHART_ONNX_LABELS",
    )
    onnx_threads: int = setting(
        0,
        "threads of a model in this process; 0: the available cores, at most 4",
        integer(0, 256),
        variable="RT4CHART_ONNX_THREADS",
    )
    onnx_threshold: float = setting(
        0.0,
        "minimum probability of entailed for an onnx judge; 0: the most probable label",
        share,
        variable="RT4CHART_ONNX_THRESHOLD",
    )

    def __post_init__(self) -> None:
        """Reject invalid values."""
        check(self)
        if self.overlap >= self.window:
            raise SettingsError(
                f"RT4CHART_JUDGE_OVERLAP: expected less than RT4CHART_JUDGE_WINDOW "
                f"({self.window}), got {self.overlap}"
            )


@dataclass(frozen=True, slots=True)
class _ServiceJudge:
    """The one setting of the service that the inline mode also reads."""

    judge: str = setting("", "who verifies the claims", text)


SECTIONS = (ApplicationSettings, JudgeSettings)
KNOWN = tuple(item.variable for item in settings_of(*SECTIONS))
SERVICE_TOKENS = {"RT4CHART_TOKEN", "RT4CHART_INGEST_TOKEN", "RT4CHART_READ_TOKEN"}


def wants_redaction(environ: Environment | None = None) -> bool:
    """True if the environment asks for redaction, even with an invalid value.

    A typing error there must not export the texts that the user wanted to hide.
    """
    variables = os.environ if environ is None else environ
    names = (f"{PREFIX}REDACT", f"{PREFIX}REDACT_PATTERN")
    return any(variables.get(name) for name in names)


def chosen_judge(environ: Environment | None = None) -> str:
    """RT4CHART_JUDGE, a setting of the service that the inline mode also uses; empty if unset.

    SettingsError if it is blank.
    """
    return load(_ServiceJudge, environ=environ).judge


@cache
def content_switches() -> ContentSwitches:
    """The texts that this process must not write into telemetry; read once."""
    return switches_from(os.environ)


def setting_warnings(environ: Environment | None = None) -> Iterator[str]:
    """A warning for each variable that is probably misspelt or has no effect."""
    variables = os.environ if environ is None else environ
    if variables.get("RT4CHART_RATES_TOKEN") and not variables.get("RT4CHART_RATES"):
        yield "RT4CHART_RATES_TOKEN is not used: RT4CHART_RATES names no address"
    # The service's tokens are not misspellings of the token for rates.
    others = variables.keys() - SERVICE_TOKENS
    yield from misspelt(others, KNOWN, cutoff=0.8, with_ends=True)


if __name__ == "__main__":
    sys.stdout.write(reference(*SECTIONS))
