"""One module per suite: ``run(setting, record)`` measures, ``tables(results)`` makes tables of what was recorded.

They are in folders by what they ask. To add one: write the module with both functions in one of ``FOLDERS``, name it in ``NAMES``,
and describe it in tests/gpu/README.md.
"""

import dataclasses
import importlib
import importlib.util

from harness.tessera import Installation

FOLDERS = ("cost", "together", "correct", "memory", "offenders")
NAMES = (
    "smoke", "alone", "counts", "pairs", "sweep", "fairness", "shares", "handover", "overhead", "costs", "relay", "starts", "waits",
    "spaces", "flooding", "families", "programs", "conformance", "fences", "attacks", "barriers", "descriptors", "fuzz", "caffe", "mixes", "lone",
    "oversub", "moves", "jvm", "traces", "devices", "placement", "overlap", "sharing", "standing", "suspend", "checkpoints", "policies",
    "ops", "answers", "fullsize", "preallocated", "reach", "endless", "strays", "machine_faults", "odd_calls", "beside", "grids",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a suite works with.

    :param installation: the Tessera under test
    :param workloads: folder of the workload programs
    :param directory: where logs and extra files go
    :param only: names that limit a suite to some of its cases; empty: all
    :param options: what ``--set NAME=VALUE`` said
    """

    installation: Installation
    workloads: str
    directory: str
    only: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)

    def option(self, name, default):
        """The value given for a name, in the default's type."""
        return type(default)(self.options.get(name, default))

    def chosen(self, names):
        """The names that were asked for, in the suite's order."""
        unknown = set(self.only) - set(names)
        if unknown:
            raise ValueError(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        return [name for name in names if not self.only or name in self.only]


def load(name):
    """The module of a suite."""
    if name not in NAMES:
        raise ValueError(f"no such suite: {name}; there are {', '.join(NAMES)}")
    modules = (f"harness.suites.{folder}.{name}" for folder in FOLDERS)
    return importlib.import_module(next(module for module in modules if importlib.util.find_spec(module)))
