"""The open models that `rt4chart judge get` knows: where each is, how it is read, what it reached.

A revision is pinned where the same commit is on public record in several independent places; the
hub's own answer must confirm it, with every hash, before a byte is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.names import ONNX_PREFIX, SPANS_PREFIX

NEWEST = (
    "main"  # the revision of a model without a pin: what the hub says at the first fetch counts
)

Kind = Literal["pair", "spans"]
# How the weights become ONNX: the classes of `export.py`.
Export = Literal["pair", "spans", "first-token", "yes-no"]


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published figure in words, and where it is published."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model of the hub.

    `architecture` is the class in config.json. `labels` and `template` say how the model is read
    where its config.json does not. `sha256` has hashes of files that are on public record.
    `base` is a second repository with tokenizer and configuration, as REPO@COMMIT. `size` is that
    of the largest file in bytes, roughly.
    """

    name: str
    repo: str
    revision: str
    licence: str
    kind: Kind
    architecture: str
    size: int
    figures: tuple[PublishedFigure, ...]
    labels: str = ""
    template: str = ""
    export: Export = "pair"
    base: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        """What stands before the path in the judge's name."""
        return SPANS_PREFIX if self.kind == "spans" else ONNX_PREFIX


_AGGREFACT = "LLM-AggreFact leaderboard, llm-aggrefact.github.io"
_SBERT_CARD = "model card on the hub"
_LETTUCE = "LettuceDetect release 0.1.0; arXiv 2502.17125"

MODELS: tuple[CatalogueModel, ...] = (
    CatalogueModel(
        name="nli-deberta-v3-small",
        repo="cross-encoder/nli-deberta-v3-small",
        revision="fa2804872c3b4bd748f38c0185cc85775361e735",
        licence="apache-2.0",
        kind="pair",
        architecture="DebertaV2ForSequenceClassification",
        size=567_605_820,
        figures=(),
        sha256={
            "model.safetensors": "ebc79588dd73ccfb6a3f6078519cfbf512c5305384c5ea1845bc71cd32216e86"
        },
    ),
    CatalogueModel(
        name="nli-deberta-v3-base",
        repo="cross-encoder/nli-deberta-v3-base",
        revision="6c749ce3425cd33b46d187e45b92bbf96ee12ec7",
        licence="apache-2.0",
        kind="pair",
        architecture="DebertaV2ForSequenceClassification",
        size=738_000_000,
        figures=(PublishedFigure("accuracy: SNLI test 92.38, MNLI mismatched 90.04", _SBERT_CARD),),
        sha256={
            "model.safetensors": "d8148c6d49e0a7925134294c56326c71fe0ab1dc390e37355e00c7efbb488afa",
            "spm.model": "c679fbf93643d19aab7ee10c0b99e460bdbc02fedf34b92b05af343b4af586fd",
        },
    ),
    CatalogueModel(
        name="factcg-deberta-large",
        repo="yaxili96/FactCG-DeBERTa-v3-Large",
        revision="0430e3509dbd28d2dff7a117c0eae25359ff3e80",
        licence="mit",
        kind="pair",
        architecture="DebertaV2ForSequenceClassification",
        size=1_740_000_000,
        figures=(PublishedFigure("LLM-AggreFact, mean balanced accuracy 75.6", _AGGREFACT),),
        labels="baseless,entailed",
        template=(
            "{premise}\n\nChoose your answer: based on the paragraph above can we conclude that "
            '"{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
        ),
    ),
    CatalogueModel(
        name="minicheck-deberta-large",
        repo="lytang/MiniCheck-DeBERTa-v3-Large",
        revision="2f2d01a54fa022a7ffadb76260e1ea8bc88c82bb",
        licence="mit",
        kind="pair",
        architecture="DebertaV2ForSequenceClassification",
        size=1_740_000_000,
        figures=(
            PublishedFigure("LLM-AggreFact: about 2 points under MiniCheck-Flan-T5", "model card"),
        ),
        labels="baseless,entailed",
    ),
    CatalogueModel(
        name="minicheck-flan-t5-large",
        repo="lytang/MiniCheck-Flan-T5-Large",
        revision="96eafd01cee2d16cf81aaa2fb226b14f422a37b3",
        licence="mit",
        kind="pair",
        architecture="T5ForConditionalGeneration",
        size=3_130_000_000,
        figures=(PublishedFigure("LLM-AggreFact, mean balanced accuracy 75.0", _AGGREFACT),),
        labels="baseless,entailed",
        template="predict: {premise}</s>{claim}",
        export="yes-no",
    ),
    CatalogueModel(
        name="hhem-2.1-open",
        repo="vectara/hallucination_evaluation_model",
        revision="8e4a2e6e96c708cc76c2344f7e4757df2515292c",
        licence="apache-2.0",
        kind="pair",
        architecture="HHEMv2ForSequenceClassification",
        size=439_000_000,
        figures=(
            PublishedFigure(
                "balanced accuracy: AggreFact-SOTA 76.55, RAGTruth summaries 64.42, answers 74.28",
                "model card on the hub",
            ),
        ),
        labels="baseless,entailed",
        template=(
            "<pad> Determine if the hypothesis is true given the premise?\n\n"
            "Premise: {premise}\n\nHypothesis: {claim}"
        ),
        export="first-token",
        base="google/flan-t5-base@7bcac572ce56db69c1ea7c8af255c5d7c9672fc2",
        sha256={
            "model.safetensors": "634de18a38cf1e991c1acd0f7a9e0d30f7ea187fba42bb4798f862d3edd31e72"
        },
    ),
    CatalogueModel(
        name="lettucedetect-base",
        repo="KRLabsOrg/lettucedect-base-modernbert-en-v1",
        revision="bbd77832f52f9bd87546a3924c032467921f5c34",
        licence="mit",
        kind="spans",
        architecture="ModernBertForTokenClassification",
        size=598_000_000,
        figures=(PublishedFigure("RAGTruth: answers F1 76.07, spans F1 55.44", _LETTUCE),),
        labels="entailed,baseless",
        export="spans",
    ),
    CatalogueModel(
        name="lettucedetect-large",
        repo="KRLabsOrg/lettucedect-large-modernbert-en-v1",
        revision=NEWEST,
        licence="mit",
        kind="spans",
        architecture="ModernBertForTokenClassification",
        size=1_580_000_000,
        figures=(PublishedFigure("RAGTruth: answers F1 79.22, spans F1 58.93", _LETTUCE),),
        labels="entailed,baseless",
        export="spans",
    ),
)
NAMES = tuple(model.name for model in MODELS)


def find(name: str) -> CatalogueModel:
    """The model of that name; SettingsError names those that are known."""
    for model in MODELS:
        if model.name == name:
            return model
    raise SettingsError(f"unknown model {name!r}: expected one of {', '.join(NAMES)}")
