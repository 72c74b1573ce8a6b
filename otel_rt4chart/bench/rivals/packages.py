"""Faithfulness of RAGAS and of DeepEval, by their own packages over the configured endpoint.

The packages bring the method and its prompts; the calls go through our endpoint, so that they are
counted, bounded and timed like those of every other judge. Both report usage to their makers unless
they are told not to, which is done before they are imported.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

from otel_rt4chart.bench.rivals.asking import SEED, Asker
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict, no_verdict, verdict_of
from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.core.settings import tell_package
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.conversation import UnusableReplyError
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage

# What RAGAS needs where a task has no question.
NO_QUESTION = "Summarise the passages."
_REPLY_TOKENS, _LARGEST_REPLY = 400, 4_000


class Conversation(NamedTuple):
    """The calls of one answer."""

    asker: Asker
    meter: Meter

    def ask(self, prompt: str, model: Any) -> Any:  # noqa: ANN401 - a class of pydantic's
        """An instance of that pydantic model, as the reply to the package's own prompt."""
        schema = model.model_json_schema()
        tokens = min(_REPLY_TOKENS + estimate_tokens(prompt), _LARGEST_REPLY)
        one = Prompt((PromptMessage("user", prompt),), model.__name__, schema, tokens, SEED)
        try:
            return model.model_validate(self.asker.object(one, self.meter))
        except ValueError as error:  # pydantic's own errors are ValueErrors
            said = " ".join(str(error).split())[:200]
            raise UnusableReplyError(f"the model's reply was not usable: {said}") from error


class PackageRival:
    """A metric of another package, from 0 (nothing is faithful) to 1."""

    def __init__(
        self,
        asker: Asker,
        budget: Budget,
        name: str,
        measure: Callable[[Conversation, Exchange], float],
        lowest: float,
    ) -> None:
        """An answer whose metric is below `lowest` is unfaithful; `name` is the id's beginning."""
        self._asker = asker
        self._budget = budget
        self._name = name
        self._measure = measure
        self._lowest = lowest

    @property
    def id(self) -> str:
        """The package with its version, and the model."""
        return f"{self._name}/{self._asker.model}"

    def verify(self, exchange: Exchange) -> HolisticVerdict:
        """The package's verdict; what it raises is the reason where there is none."""
        meter = Meter(self._budget)
        if not exchange.answer.strip() or not exchange.passages:
            return no_verdict("the package needs an answer and passages", meter.usage())
        try:
            value = self._measure(Conversation(self._asker, meter), exchange)
        except Exception as error:  # noqa: BLE001 - each package has errors of its own
            return no_verdict(_words(error), meter.usage())
        if not math.isfinite(value):
            return no_verdict("the package gives no number: it found no statement", meter.usage())
        return verdict_of(1.0 - value, 1.0 - self._lowest, meter.usage())


def _words(error: BaseException) -> str:
    """Our endpoint's reason where a package wraps it, else the package's own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, JudgeError):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def ragas(asker: Asker, budget: Budget) -> PackageRival:
    """RAGAS (Es et al., EACL 2024): the share of the answer's statements that follow.

    The package names no threshold: one statement that does not follow is an unfaithful answer, as
    by the AND-join of RT4CHART.
    """
    tell_package("RAGAS_DO_NOT_TRACK", "true")
    metrics, base = _modules("ragas", "ragas.metrics.collections", "ragas.llms.base")

    def measure(conversation: Conversation, exchange: Exchange) -> float:
        class Model(base.InstructorBaseRagasLLM):  # type: ignore[misc,name-defined]
            """Our endpoint as RAGAS calls it."""

            def generate(self, prompt: str, response_model: Any) -> Any:  # noqa: ANN401
                return conversation.ask(prompt, response_model)

            async def agenerate(self, prompt: str, response_model: Any) -> Any:  # noqa: ANN401
                return conversation.ask(prompt, response_model)

        scored = metrics.Faithfulness(llm=Model()).ascore(
            user_input=exchange.question or NO_QUESTION,
            response=exchange.answer,
            retrieved_contexts=[passage.text for passage in exchange.passages],
        )
        return float(asyncio.run(scored).value)

    return PackageRival(asker, budget, f"ragas-{version('ragas')}", measure, lowest=1.0)


def deepeval(asker: Asker, budget: Budget) -> PackageRival:
    """DeepEval's faithfulness: the share of the answer's claims that no passage contradicts.

    A claim of which the passages say nothing counts as faithful. The threshold is the package's.
    """
    tell_package("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    names = ("deepeval.metrics", "deepeval.test_case", "deepeval.models")
    metrics, cases, models = _modules("deepeval", *names)

    def measure(conversation: Conversation, exchange: Exchange) -> float:
        class Model(models.DeepEvalBaseLLM):  # type: ignore[misc,name-defined]
            """Our endpoint as DeepEval calls it."""

            def load_model(self) -> object:
                return conversation

            def generate(self, prompt: str, schema: Any) -> Any:  # noqa: ANN401
                return conversation.ask(prompt, schema)

            async def a_generate(self, prompt: str, schema: Any) -> Any:  # noqa: ANN401
                return conversation.ask(prompt, schema)

            def get_model_name(self) -> str:
                return conversation.asker.model

        metric = metrics.FaithfulnessMetric(
            model=Model(), include_reason=False, async_mode=False, threshold=_DEEPEVAL_THRESHOLD
        )
        case = cases.LLMTestCase(
            input=exchange.question or NO_QUESTION,
            actual_output=exchange.answer,
            retrieval_context=[passage.text for passage in exchange.passages],
        )
        return float(metric.measure(case, _show_indicator=False))

    name = f"deepeval-{version('deepeval')}"
    return PackageRival(asker, budget, name, measure, lowest=_DEEPEVAL_THRESHOLD)


_DEEPEVAL_THRESHOLD = 0.5


def _modules(package: str, *names: str) -> list[Any]:
    """Modules of a package; SettingsError where it is missing or cannot be imported."""
    if find_spec(package) is None:
        raise SettingsError(
            f"--judge {package}: the package {package} is not installed: pip install {package}"
        )
    try:
        return [import_module(name) for name in names]
    except ImportError as error:
        raise SettingsError(
            f"--judge {package}: the package cannot be imported: {error}: install {package} with "
            "the versions of its dependencies that it was made for"
        ) from error
