"""A model's matrices in int8, each token's activations with a scale of its own.

ONNX Runtime's dynamic quantization has one scale for all tokens of a batch: one large value makes
all others coarse, and a text's numbers depend on its neighbours. Here they do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

_MIDDLE = 128  # what 0 is as uint8
_STEPS = 127
# Weights keep all eight bits: where a processor without VNNI clips a sum, the error is as large as
# that of seven bits would be everywhere (.016 and .020 of the outputs' deviation).
_LOCAL = "com.microsoft"  # the runtime's own operations


def quantize(full: Path, out: Path) -> None:
    """Write the model at `full` with int8 matrices, one scale a column."""
    quantize_dynamic(full, out, per_channel=True, weight_type=QuantType.QInt8)
    model = onnx.load(out)
    _ByRows(model).rewrite()
    for node in model.graph.node:  # exporters name the folders of their sources there
        node.doc_string = ""
        del node.metadata_props[:]
    onnx.save(model, out)


class _ByRows:
    """Puts row by row what `quantize_dynamic` has put in for a whole tensor.

    There: DynamicQuantizeLinear, then for each matrix MatMulInteger, Cast, and Mul by the product
    of both scales.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.graph = model.graph
        self.shapes = {one.name: one.dims for one in self.graph.initializer}
        self.maker = {name: node for node in self.graph.node for name in node.output}
        self.users: dict[str, list[NodeProto]] = {}
        for node in self.graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)

    def rewrite(self) -> None:
        self._constant("rows_least", np.array(1e-12, np.float32))
        self._constant("rows_step", np.array(1 / _STEPS, np.float32))
        self._constant("rows_one", np.array(1, np.float32))
        self._constant("rows_middle", np.array(_MIDDLE, np.uint8))
        self._constant("rows_column", np.array([1], np.int64))
        nodes: list[NodeProto] = []
        gone: set[str] = set()
        for node in self.graph.node:
            if node.op_type == "DynamicQuantizeLinear":
                nodes.extend(self._activations(node))
                for product in self.users[node.output[0]]:
                    old = self._chain(product, node.output[1])
                    gone.update(name for one in old for name in one.output)
                    nodes.extend(self._product(node, product, old))
            else:
                nodes.append(node)
        kept = [one for one in nodes if not gone & set(one.output) or one.name.endswith("_rows")]
        del self.graph.node[:]
        self.graph.node.extend(kept)
        self.model.opset_import.append(helper.make_opsetid(_LOCAL, 1))

    def _constant(self, name: str, value: np.ndarray) -> None:
        self.graph.initializer.append(numpy_helper.from_array(value, name))

    def _activations(self, node: NodeProto) -> Iterator[NodeProto]:
        """Rows as uint8 and their scales: the largest value of a row is 127 steps from 0."""
        source, (quantized, scale, _) = node.input[0], node.output
        depth = self.shapes[self.users[quantized][0].input[1]][0]
        flat, at = f"{quantized}_flat", f"{quantized}_{{}}".format
        self._constant(flat, np.array([-1, depth], np.int64))
        middle = numpy_helper.from_array(np.array([_MIDDLE], np.uint8))
        make = helper.make_node
        yield make("Reshape", [source, flat], [at("rows")])
        yield make("Abs", [at("rows")], [at("sizes")])
        yield make("ReduceMax", [at("sizes")], [at("most")], axes=[1], keepdims=0)
        yield make("Max", [at("most"), "rows_least"], [at("some")])
        yield make("Mul", [at("some"), "rows_step"], [scale])
        yield make("Shape", [scale], [at("count")])
        yield make("ConstantOfShape", [at("count")], [at("middles")], value=middle)
        yield make("QuantizeLinear", [at("rows"), scale, at("middles")], [quantized], axis=0)
        yield make("Unsqueeze", [scale, "rows_column"], [at("column")])
        yield make("Shape", [source], [at("lead")], end=-1)

    def _chain(self, product: NodeProto, scale: str) -> tuple[NodeProto, ...]:
        """MatMulInteger, its Cast, the product of both scales, and the Mul that ends it."""
        (cast,) = self.users[product.output[0]]
        (last,) = self.users[cast.output[0]]
        (scales,) = (self.maker[one] for one in last.input if one != cast.output[0])
        if scale not in scales.input:
            raise ValueError(f"{product.name}: expected the scale {scale}, got {scales.input}")
        return product, cast, scales, last

    def _product(
        self, node: NodeProto, product: NodeProto, old: tuple[NodeProto, ...]
    ) -> Iterator[NodeProto]:
        quantized, scale, _ = node.output
        *_, scales, last = old
        (columns,) = (one for one in scales.input if one != scale)
        name, weights, zero = product.output[0], product.input[1], product.input[3]
        self._constant(f"{name}_width", np.array([self.shapes[weights][1]], np.int64))
        make = helper.make_node
        yield make(
            "MatMulIntegerToFloat",
            [quantized, weights, "rows_one", columns, "rows_middle", zero],
            [f"{name}_float"],
            domain=_LOCAL,
        )
        yield make("Mul", [f"{name}_float", f"{quantized}_column"], [f"{name}_scaled"])
        yield make("Concat", [f"{quantized}_lead", f"{name}_width"], [f"{name}_shape"], axis=0)
        yield make(
            "Reshape", [f"{name}_scaled", f"{name}_shape"], list(last.output), name=f"{name}_rows"
        )
