"""A classifier of premise and hypothesis, exported to ONNX by the user, as a judge in process."""

from otel_rt4chart.verify.neural.nli_judge import OnnxJudge

__all__ = ["OnnxJudge"]
