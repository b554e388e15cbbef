"""A stand-in for workloads/operators/operators.py: a few cases whose results depend on the way, so that each verdict occurs."""

import argparse
import hashlib
import json
import os
import struct
import sys
import time

CASES = ("same", "unsteady", "wrong", "inexact", "fails", "hangs", "loses", "slow")


def _relayed():
    """Whether the scripted Tessera started this process by relay."""
    try:
        with open(os.path.join(os.environ["TESSERA_RUNTIME_DIR"], "clients", str(os.getpid())), encoding="utf-8") as file:
            return file.read() == "relay"
    except (KeyError, FileNotFoundError):
        return False


def _value(name, relayed, run):
    if name == "unsteady":
        # Runs differ in the last bits of a float32. Pids can be equal modulo 97; the sums of the names that the suite gives are not.
        return 1.0 + (sum(run.encode()) % 97) * 1.2e-7
    return {"wrong": 2.0, "inexact": 1.0 + 1e-6}.get(name, 1.0) if relayed else 1.0


def main(words):
    """Prints what the real one would print of these cases."""
    parser = argparse.ArgumentParser()
    for name in ("--values", "--only", "--samples", "--dtypes", "--shard", "--device"):
        parser.add_argument(name, default="")
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--reverse", action="store_true")
    options = parser.parse_args(words)
    relayed = _relayed()
    names = [name for name in CASES if not options.only or f"ops/{name}/float32" in options.only.split(",")][: options.count]
    names = names[::-1] if options.reverse else names
    print(json.dumps({"cases": len(names)}), flush=True)
    print("a library says something", flush=True)
    with open(options.values, "wb") as values:
        for order, name in list(enumerate(names))[options.first :]:
            case = f"ops/{name}/float32"
            print(json.dumps({"begin": order, "case": case}), flush=True)
            if name == "hangs" and (relayed or options.samples == "stand still"):
                time.sleep(60)
            raw = struct.pack("<2f", 3.0, _value(name, relayed, os.path.basename(options.values)))
            line = ["out0", "float32", [2], hashlib.sha256(raw).hexdigest()[:32], values.tell(), len(raw)]
            values.write(raw)
            values.flush()
            answer = {"outputs": [[line]], "errors": [], "inputs": ["1"], "first_ms": 1000.0 if relayed and name == "slow" else 1.0, "ms": 2.0}
            if name == "fails":
                answer.update(outputs=[[]], errors=[[0, "ValueError" if relayed else "RuntimeError", "no"]])
            if relayed and name == "loses":
                answer["lost"] = True
            print(json.dumps({"end": order, "case": case, **answer}), flush=True)
            if answer.get("lost"):
                os._exit(3)


if __name__ == "__main__":
    main(sys.argv[1:])
