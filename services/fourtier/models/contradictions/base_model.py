"""The bundled embedding model's graph and weights, which the adapter changes.

Its linear maps are stored as 8-bit integers with a scale for each output, as (inputs, outputs);
the graph makes floats of them before it multiplies.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from fourtier.models.contradictions.adapter import Array, linear_maps

_PREFIX = "inner."


@dataclass(frozen=True)
class BaseModel:
    """The model as ONNX.

    Attributes:
        weights: which value of the graph is the weight of each linear map.
    """

    proto: onnx.ModelProto
    weights: dict[str, str]

    @classmethod
    def load(cls, path: Path) -> "BaseModel":
        """Read the file of the model."""
        proto = onnx.load(str(path))
        stored = [each.name for each in proto.graph.initializer]
        # In the order of their nodes, which is that of the layers.
        integers = [
            name.removesuffix("_q")
            for name in stored
            if name.endswith("_q") and not name.startswith(_PREFIX)
        ]
        order = {
            name: number for number, node in enumerate(proto.graph.node) for name in node.input
        }
        integers.sort(key=lambda name: order[name])
        return cls(proto, dict(zip(linear_maps(), integers, strict=True)))

    def weight(self, linear_map: str) -> Array:
        """The weight of a linear map, (outputs, inputs)."""
        return self._floats(self.weights[linear_map]).T

    def parameter(self, name: str) -> Array:
        """Another parameter by its name in BERT, such as `embeddings.word_embeddings.weight`."""
        here = {each.name for each in self.proto.graph.initializer}
        full = f"{_PREFIX}{name}"
        return self._array(full) if full in here else self._floats(full)

    def replaced(self, weights: dict[str, Array], parameters: dict[str, Array]) -> bytes:
        """The model with other linear maps, (outputs, inputs), and other parameters."""
        changed = onnx.ModelProto()
        changed.CopyFrom(self.proto)
        new = {self.weights[name]: array.T for name, array in weights.items()}
        new |= {f"{_PREFIX}{name}": array for name, array in parameters.items()}
        gone = {f"{name}{part}" for name in new for part in ("_q", "_scale", "_f")} | set(new)
        nodes = [each for each in changed.graph.node if not gone & set(each.output)]
        retained = [each for each in changed.graph.initializer if each.name not in gone]
        del changed.graph.node[:], changed.graph.initializer[:]
        changed.graph.node.extend(nodes)
        changed.graph.initializer.extend(retained)
        changed.graph.initializer.extend(
            numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name)
            for name, array in new.items()
        )
        return changed.SerializeToString()

    def _floats(self, name: str) -> Array:
        floats: Array = self._array(f"{name}_q").astype(np.float32) * self._array(f"{name}_scale")
        return floats

    def _array(self, name: str) -> Array:
        stored = next(each for each in self.proto.graph.initializer if each.name == name)
        array: Array = numpy_helper.to_array(stored)
        return array
