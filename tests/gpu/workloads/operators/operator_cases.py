"""The cases of PyTorch's own databases: operators, modules and optimizers, each with a type and sample inputs.

Inputs are made on the CPU from a seed that the case's name gives, so they are the same in every process, and moved then.
"""

import dataclasses
import itertools
import sys
import types
import unittest
import zlib
from collections.abc import Callable

#: With gradients: the first.
DTYPES = ("float32", "bfloat16", "float16", "float64", "complex64", "int64", "int32", "bool")
GRADIENTS = ("float32",)
#: Their contents are whatever the memory held: shapes and types alone can be compared.
UNDEFINED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_", "resize_as_",
}  # fmt: skip
#: An optimizer's configurations stand for its samples, and it has more of them.
OPTIMIZER_SAMPLES = 6
OPTIMIZER_STEPS = 3


@dataclasses.dataclass(frozen=True)
class Case:
    """One operator, module or optimizer with one type.

    :param name: ``ops/NAME/DTYPE`` or the like, unique
    :param make: ``make(place, count)`` gives up to ``count`` sample inputs made on the place, on the CPU as far as it can be done there
    :param call: ``call(sample, device, seed)`` runs one and gives a pair: results and gradients
    :param defined: whether the results' contents are
    """

    name: str
    make: Callable
    call: Callable
    defined: bool = True

    @property
    def seed(self):
        """A seed of its own."""
        return zlib.crc32(self.name.encode())


def stand_in_for_expecttest():
    """PyTorch's test code imports the module expecttest for its base class alone; it is not always installed."""
    try:
        import expecttest  # noqa: F401
    except ImportError:
        module = types.ModuleType("expecttest")
        module.TestCase = unittest.TestCase
        module.ACCEPT = False
        module.assert_expected_inline = None
        sys.modules["expecttest"] = module


class Mover:
    """Moves nested inputs to a device; a tensor that occurs twice stays one tensor."""

    def __init__(self, torch, device):
        self._torch = torch
        self._device = device
        self._moved = {}

    def __call__(self, value):
        from torch.utils._pytree import tree_map

        return tree_map(self._one, value)

    def named(self, kwargs):
        """Keyword arguments; a device among them becomes this one."""
        moved = self(dict(kwargs))
        if moved.get("device") is not None:
            moved["device"] = self._device
        return moved

    def _one(self, value):
        torch = self._torch
        if isinstance(value, torch.Tensor):
            if id(value) not in self._moved:
                copy = value.detach().to(self._device)
                # The original is kept too: another object must not get its number.
                self._moved[id(value)] = (copy.requires_grad_(value.requires_grad), value)
            return self._moved[id(value)][0]
        if isinstance(value, torch.Generator):
            return torch.Generator(self._device).manual_seed(value.initial_seed())
        return torch.device(self._device) if isinstance(value, torch.device) else value


def _differentiable(torch, values):
    from operator_values import leaves

    return [one for one in leaves(torch, values) if isinstance(one, torch.Tensor) and one.requires_grad]


def _gradients(torch, results, inputs, device, seed):
    """Gradients of the inputs, for incoming ones that a seed gives."""
    outs = [one for one in _differentiable(torch, results) if one.is_floating_point() or one.is_complex()]
    ins = _differentiable(torch, inputs)
    if not outs or not ins:
        return []
    torch.manual_seed(seed)
    incoming = [torch.randn(one.shape, dtype=one.dtype).to(device) for one in outs]
    return list(torch.autograd.grad(outs, ins, incoming, allow_unused=True))


def _operator(torch, op, dtype):
    kind = str(dtype).replace("torch.", "")
    variant = f".{op.variant_test_name}" if op.variant_test_name else ""
    backward = op.supports_autograd and dtype in op.supported_backward_dtypes("cuda")
    gradients = kind in GRADIENTS and backward

    def make(place, count):
        return list(itertools.islice(iter(op.sample_inputs(place, dtype, requires_grad=gradients)), count))

    def call(sample, device, seed):
        move = Mover(torch, device)
        # The operator's own arguments stay as they were made: some operators change theirs.
        first, args, kwargs = move(sample.input), move(sample.args), move.named(sample.kwargs)
        torch.manual_seed(seed)
        results = op(first, *args, **kwargs)
        if not gradients:
            return results, []
        differentiated = sample.output_process_fn_grad(results) if sample.output_process_fn_grad else results
        return results, _gradients(torch, differentiated, (first, args, kwargs), device, seed)

    return Case(f"ops/{op.name}{variant}/{kind}", make, call, op.name not in UNDEFINED)


def _module(torch, info, dtype, training):
    kind = str(dtype).replace("torch.", "")
    gradients = kind in GRADIENTS
    mode = "" if training else "/eval"

    def make(place, count):
        made = info.module_inputs_func(info, device=place, dtype=dtype, requires_grad=gradients, training=training)
        return list(itertools.islice(iter(made), count))

    def call(sample, device, seed):
        move = Mover(torch, device)
        torch.manual_seed(seed)
        made = info.module_cls(*move(sample.constructor_input.args), **move.named(sample.constructor_input.kwargs))
        made = made.to(device, dtype).train(training)
        args, kwargs = move(sample.forward_input.args), move.named(sample.forward_input.kwargs)
        torch.manual_seed(seed)
        results = made(*args, **kwargs)
        inputs = (args, kwargs, list(made.parameters()))
        return results, _gradients(torch, results, inputs, device, seed) if gradients else []

    return Case(f"modules/{info.name}/{kind}{mode}", make, call)


def _optimizer(torch, info, dtype, configurations):
    kind = str(dtype).replace("torch.", "")

    def make(place, count):
        # These depend on where the parameters will be, and hold no random numbers.
        return list(itertools.islice(iter(configurations(dtype, info)), OPTIMIZER_SAMPLES * count))

    def call(sample, device, seed):
        torch.manual_seed(seed)
        start = [torch.randn(shape, dtype=dtype) for shape in ((6, 5), (5, 6))]
        parameters = [one.to(device).requires_grad_(True) for one in start]
        slopes = [torch.randn(one.shape, dtype=dtype).to(device) for one in start]
        optimizer = info.optim_cls(parameters, **sample.kwargs)

        def loss():
            optimizer.zero_grad()
            value = sum(((one - slope) ** 2).sum() for one, slope in zip(parameters, slopes))
            value.backward()
            if info.only_supports_sparse_grads:
                for one in parameters:
                    one.grad = one.grad.to_sparse()
            return value

        for _ in range(OPTIMIZER_STEPS):
            if info.step_requires_closure:
                optimizer.step(loss)
            else:
                loss()
                optimizer.step()
        return [one.detach() for one in parameters], []

    return Case(f"optimizers/{info.name}/{kind}", make, call)


def _optimizers(torch, dtypes, device):
    try:
        from torch.testing._internal import common_optimizers as database
    except ImportError:
        return  # PyTorch has it since 2.2

    def configurations(dtype, info):
        return database._get_optim_inputs_including_global_cliquey_kwargs(device, dtype, info, skip=("differentiable",))

    for info in database.optim_db:
        for kind in ("float32", "float64"):
            if kind in dtypes:
                yield _optimizer(torch, info, getattr(torch, kind), configurations)


def cases(torch, dtypes, device):
    """All cases of this PyTorch with these types, in an order that every process has."""
    stand_in_for_expecttest()
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    kinds = [getattr(torch, kind) for kind in dtypes]
    found = {}
    for op in op_db:
        for dtype in (one for one in kinds if one in op.supported_dtypes("cuda")):
            case = _operator(torch, op, dtype)
            found.setdefault(case.name, case)
    for info in module_db:
        supported = info.supported_dtypes("cuda") if hasattr(info, "supported_dtypes") else info.dtypes
        for dtype in (one for one in kinds if one in supported or str(one) in ("torch.bfloat16", "torch.float16")):
            for training in (True, False) if info.train_and_eval_differ else (True,):
                case = _module(torch, info, dtype, training)
                found.setdefault(case.name, case)
    for case in _optimizers(torch, dtypes, device):
        found.setdefault(case.name, case)
    return list(found.values())
