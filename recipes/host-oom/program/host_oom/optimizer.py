"""Gradient descent in float32 on parameters whose values and gradients are kept in float16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from host_oom.comm import ProcessGroup
from host_oom.model import Parameter

SLICE = 1 << 16

Groups = Sequence[Sequence[Parameter]]


class DistributedOptimizer:
    """Updates the float32 main copy of this rank's shards, then the float16 model values.

    ``groups`` are lists of model parameters. The main copy of each is flat.
    """

    def __init__(self, groups: Groups, process_group: ProcessGroup, rate: float) -> None:
        self.rate = rate
        self.process_group = process_group
        self.model_float16_groups = groups
        self.shard_fp32_groups = [
            [Parameter(param.data.reshape(-1).astype(np.float32)) for param in group] for group in groups
        ]

    def step(self) -> float:
        """Update all parameters from the model's gradients; return the norm over all ranks."""
        self.prepare_grads()
        grad_norm = self.get_grad_norm()
        self.step_with_ready_grads()
        return grad_norm

    def prepare_grads(self) -> None:
        """Make the float32 gradients that the update works on."""
        self._copy_model_grads_to_main_grads()

    def _copy_model_grads_to_main_grads(self) -> None:
        """Give every main parameter a float32 copy of the model's gradient."""

        def copy_group_grads(model_groups: Groups, shard_main_groups: Groups) -> None:
            for model_param, shard_main_param in pairs(model_groups, shard_main_groups):
                assert model_param.grad is not None
                shard_model_grad = model_param.grad.reshape(-1)
                shard_main_param.grad = shard_model_grad.astype(np.float32)

        copy_group_grads(self.model_float16_groups, self.shard_fp32_groups)

    def get_grad_norm(self) -> float:
        """The length of the whole gradient, all ranks together."""
        squares = 0.0
        for group in self.shard_fp32_groups:
            for main_param in group:
                assert main_param.grad is not None
                squares += sum_of_squares(main_param.grad)
        return float(np.sqrt(self.process_group.all_reduce_sum(np.array([squares]))[0]))

    def step_with_ready_grads(self) -> None:
        """Descend along the main gradients and drop them."""
        for model_param, main_param in pairs(self.model_float16_groups, self.shard_fp32_groups):
            assert main_param.grad is not None
            main_param.grad *= self.rate
            main_param.data -= main_param.grad
            main_param.grad = None
            np.copyto(model_param.data.reshape(-1), main_param.data, casting="same_kind")


def pairs(model_groups: Groups, main_groups: Groups) -> Iterator[tuple[Parameter, Parameter]]:
    """Each model parameter with its main parameter."""
    for model_group, main_group in zip(model_groups, main_groups, strict=True):
        yield from zip(model_group, main_group, strict=True)


def sum_of_squares(values: NDArray[np.floating]) -> float:
    """Add up squares slice by slice: no large temporary, and little rounding."""
    total = 0.0
    for start in range(0, values.size, SLICE):
        part = values[start : start + SLICE]
        total += float(np.einsum("i,i->", part, part))
    return total
