"""The local judge: no key, no network, no model; words, slots and a fitted head."""

from otel_rt4chart.verify.local.judge import RulesJudge

__all__ = ["RulesJudge"]
