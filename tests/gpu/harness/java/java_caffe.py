"""Caffe 1.0 trained from Java under the agent, beside the same training from C++. Needs tests/gpu/caffe/kit, unpacked."""

import contextlib
import glob
import json
import os

from harness.bench import native
from harness.caffe_cache import fill
from harness.child import Child
from harness.figures import ratio, summary
from harness.table import Table

#: For each way the agent's options; None is without it.
WAYS = {"native": None, "in turns": "share=time", "relay": "share=space"}
REFERENCE = "native, C++"
NET = "lenet"
#: What it calls.
LIBRARIES = r"lib(caffe|cublas|cublasLt|curand)\.so"
ROUNDS = 5
#: Some tenths of a second on a large GPU.
ITERATIONS = 300
READY_TIMEOUT_S = 200.0
ANSWER_TIMEOUT_S = 60.0


def run(kit, setting, record, manager):
    """Starts the training in each way once and measures the ways in turn; each gets the same iterations."""
    home = os.environ.get("TESSERA_CAFFE", "/tmp/tessera-caffe")
    if not os.path.isdir(os.path.join(home, "java")):
        record.problem("caffe", f"no Caffe for Java in {home}: unpack the parts of tests/gpu/caffe/kit, or name it in TESSERA_CAFFE")
        return
    fill(setting, record, home, LIBRARIES)
    with contextlib.ExitStack() as stack:
        programs = {REFERENCE: _start(stack, setting, home, REFERENCE, native().environment, [os.path.join(home, "train")])}
        for way, agent in WAYS.items():
            environment = manager.environment if agent else native().environment
            programs[way] = _start(stack, setting, home, way, environment, _java(kit, home, agent))
        for way in list(programs):
            try:
                record.add("caffe ready", way=way, **json.loads(programs[way].read(READY_TIMEOUT_S)))
            except Exception as failed:  # the other ways are still worth measuring
                record.problem(f"caffe {way}", f"{type(failed).__name__}: {failed}")
                del programs[way]
        names = list(programs)
        for turn in range(ROUNDS):
            for way in names[turn % len(names) :] + names[: turn % len(names)]:
                programs[way].write(f"train {ITERATIONS}")
                record.add("caffe", way=way, **json.loads(programs[way].read(ANSWER_TIMEOUT_S)))


def _java(kit, home, agent):
    folder = os.path.join(home, "java")
    return [
        kit.java,
        "--enable-native-access=ALL-UNNAMED",
        "-Dorg.bytedeco.javacpp.platform=linux-x86_64",
        f"-Djava.library.path={os.path.join(home, 'lib')}",
        f"-Dorg.bytedeco.javacpp.cachedir={kit.unpacked()}",
        *([] if agent is None else [f"-javaagent:{kit.agent}={agent}"]),
        "-cp",
        ":".join([os.path.join(folder, "classes"), *sorted(glob.glob(os.path.join(folder, "*.jar")))]),
        "CaffeTraining",
    ]


def _start(stack, setting, home, way, environment, command):
    label = "caffe-" + way.replace(", ", "-").replace(" ", "-")
    environment = {
        **environment,
        "LD_LIBRARY_PATH": os.path.join(home, "lib"),
        "OPENBLAS_NUM_THREADS": "1",
        "GLOG_minloglevel": "1",
    }
    child = Child(
        label, [*command, os.path.join(home, "nets", f"{NET}.prototxt")], environment, os.path.join(setting.directory, f"{label}.log"), home
    )
    stack.callback(child.close)
    return child


def tables(results):
    """Time of an iteration in each way, and whether the losses are the C++ program's."""
    windows = {}
    for one in results:
        if one["kind"] == "caffe":
            windows.setdefault(one["way"], []).append(one)
    if not windows:
        return []
    ms = {way: [one["ms"] / one["iterations"] for one in found] for way, found in windows.items()}
    right = [one["loss"] for one in windows.get(REFERENCE, [])]
    rows = tuple(
        (
            way, summary(ms[way])["median"], ratio(ms[way], ms.get("native")),
            [one["loss"] for one in windows[way]] == right if right and way != REFERENCE else None,
        )
        for way in (REFERENCE, *WAYS) if way in windows
    )  # fmt: skip
    note = f"milliseconds an iteration of training, medians of {ROUNDS} rounds of {ITERATIONS}, the ways in turn"
    return [Table("Caffe's LeNet from Java", ("way", "ms", "of native", "losses as from C++"), rows, (note,))]
