"""PyTorch, whose kernels have no PTX for this GPU, under each policy for such kernels: what runs, as what, and the messages."""

import glob
import importlib.util
import os
import re

from harness.bench import Bench, Placement, native
from harness.child import ChildFailed
from harness.table import Table
from harness.tessera import Manager

#: What `tessera run --unfenced` takes; `own` is what all other suites run by.
POLICIES = ("time", "trusted", "refuse")
WORKLOAD = "gpt"
LOSS_STEPS = 20
#: Some gigabytes of libraries are read, and the hash of every image is taken.
TRUST_TIMEOUT_S = 180.0
#: `tessera fence --trust` where a file has nothing to trust, as most libraries have.
NOTHING_THERE = 4
#: What it says of the others.
TRUSTED = re.compile(r": (\d+) images? (?:is|are) trusted\b")
#: Packages beside PyTorch's own libraries, in site-packages.
VENDOR = "nvidia"


def run(setting, record):
    """Natively first: the others' losses must be these."""
    policies = setting.chosen(POLICIES)
    # The list of trusted images is a user's: not that of the user who runs the suite.
    state = {"TESSERA_STATE_DIR": os.path.join(setting.directory, "state")}
    with Manager(setting.installation, setting.directory, state) as manager:
        record.attempt("native", lambda: _losses(setting, record, manager, native()), 20)
        if "trusted" in policies:
            record.attempt("trust", lambda: _trust(record, manager), 60)
        for policy in policies:
            record.attempt(policy, lambda: _losses(setting, record, manager, _under(manager, policy)), 25)


def _under(manager, policy):
    options = ("--unfenced", policy)
    return Placement(
        policy, manager.environment, lambda command, name: manager.wrap(command, name=name, share="space", options=options)
    )


def libraries():
    """PyTorch's shared libraries, and those of the vendor that it brings."""
    found = importlib.util.find_spec("torch")
    if found is None:
        raise ChildFailed("there is no PyTorch whose libraries could be trusted")
    torch = found.submodule_search_locations[0]
    patterns = (os.path.join(torch, "lib", "*.so*"), os.path.join(os.path.dirname(torch), VENDOR, "**", "*.so*"))
    return sorted({os.path.realpath(path) for pattern in patterns for path in glob.glob(pattern, recursive=True)})


def _trust(record, manager):
    files = libraries()
    status, out, err = manager.tessera("fence", "--trust", *files, timeout_s=TRUST_TIMEOUT_S)
    images = [int(count) for count in TRUSTED.findall(out)]
    if status not in (0, NOTHING_THERE) or not images:
        raise ChildFailed(f"tessera fence --trust ended with {status}: {(err or out).strip()[-400:]}")
    record.add("trust", files=len(files), trusted=len(images), images=sum(images))


def _losses(setting, record, manager, place):
    """What a program under the policy computes, what it counts as while it does, and its messages."""
    found = {"policy": place.name, "losses": None, "state": None, "plan": None, "unfenced": None, "said": ""}
    label = f"policy-{place.name}"
    with Bench(setting.workloads, setting.directory) as bench:
        worker = bench.start(place, WORKLOAD, "--deterministic", name=label)
        try:
            worker.ready()
            done = worker.steps(LOSS_STEPS)
            found.update(losses=done["losses"], state=done["state"])
            if place.name != "native":
                client = manager.client(worker.pid)
                found.update(plan=client["plan"], unfenced=_unfenced(manager, client["id"]))
            ended = ""
        except ChildFailed as failed:
            ended = str(failed)
        found["said"] = _said(os.path.join(setting.directory, f"{label}.log")) or ended[-200:]
    record.add("policy", **found)


def _unfenced(manager, number):
    """Kernels of a client that run without fences, by the status; executors tell it once a second."""
    entries = (client for executor in manager.control.status().get("executors", ()) for client in executor.get("clients", ()))
    return sum(client.get("unfenced", 0) for client in entries if client["client"] == number)


def _said(log_path):
    """Tessera's own lines of a program's log."""
    with open(log_path, encoding="utf-8", errors="replace") as log:
        return " ".join(line.strip() for line in log if line.startswith("tessera:"))[:400]


def _as_it_should(one, right):
    if one["policy"] == "refuse":
        return one["losses"] is None and "tessera:" in one["said"]
    equal = right is not None and (one["losses"], one["state"]) == (right["losses"], right["state"])
    if one["policy"] == "time":
        return equal and one["plan"] != "relay"
    return equal and one["plan"] == "relay" and bool(one["unfenced"])


def tables(results):
    """A row for each policy."""
    found = [one for one in results if one["kind"] == "policy"]
    right = next((one for one in found if one["policy"] == "native" and one["losses"]), None)
    rows = tuple(
        (
            one["policy"],
            (one["losses"], one["state"]) == (right["losses"], right["state"]) if right and one["losses"] else None,
            one["plan"], one["unfenced"], _as_it_should(one, right), one["said"],
        )
        for one in found if one["policy"] != "native"
    )  # fmt: skip
    if not rows:
        return []
    columns = ("policy", "losses and model equal to native", "plan by the status", "kernels without fences", "as it should be", "what was said")
    notes = [f"{WORKLOAD}, {LOSS_STEPS} steps; every digit of every loss, and every bit of the model after the last step"]
    notes += [f"trusted: {one['images']} images of {one['trusted']} of {one['files']} libraries" for one in results if one["kind"] == "trust"]
    return [Table("Kernels without PTX, by policy", columns, rows, tuple(notes))]
