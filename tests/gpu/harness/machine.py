"""Where the figures come from: the facts that head every table."""

import datetime
import json
import os
import platform
import sys

from harness.child import ChildFailed, run_bounded
from harness.tessera import native_environment

_VERSIONS = (
    "import json, torch\n"
    "facts = {'torch': torch.__version__, 'cuda': torch.version.cuda}\n"
    "try:\n"
    "    import triton\n"
    "    facts['triton'] = triton.__version__\n"
    "except ImportError:\n"
    "    pass\n"
    "print(json.dumps(facts))\n"
)


def facts(installation):
    """Date, GPU, driver, versions, CPUs and the commit; what cannot be found is left out."""
    found = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "commit": installation.commit() if installation else None,
    }
    found.update(_gpu())
    status, out, _ = run_bounded([sys.executable, "-c", _VERSIONS], native_environment(), 60)
    if status == 0:
        found.update(json.loads(out))
    return {key: value for key, value in found.items() if value is not None}


def gpus():
    """GPUs of this machine, whichever of them a program may see; 0 where there is no driver."""
    try:
        status, out, _ = run_bounded(["nvidia-smi", "-L"], native_environment(), 30)
    except FileNotFoundError:
        return 0
    return sum(line.startswith("GPU ") for line in out.splitlines()) if status == 0 else 0


def architecture():
    """The first GPU's, as in sm_90; None where there is no driver."""
    try:
        status, out, _ = run_bounded(
            ["nvidia-smi", "--id=0", "--query-gpu=compute_cap", "--format=csv,noheader"], native_environment(), 30
        )
    except FileNotFoundError:
        return None
    return "sm_" + out.strip().replace(".", "") if status == 0 else None


def used_mib():
    """Memory in use on the first GPU, by whomever, as the vendor's tool says."""
    return _memory_mib("used")


def _memory_mib(what):
    command = ["nvidia-smi", "--id=0", f"--query-gpu=memory.{what}", "--format=csv,noheader,nounits"]
    status, out, err = run_bounded(command, native_environment(), 30)
    if status != 0:
        raise ChildFailed(f"nvidia-smi ended with {status}: {(err or out).strip()[-200:]}")
    return int(out)


def _gpu():
    try:
        status, out, _ = run_bounded(
            ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"],
            native_environment(),
            30,
        )
    except FileNotFoundError:
        return {}
    if status != 0 or not out.strip():
        return {}
    lines = out.strip().splitlines()
    name, driver, memory = (part.strip() for part in lines[0].split(","))
    return {"gpu": f"{len(lines)} × {name} ({memory})", "driver": driver}
