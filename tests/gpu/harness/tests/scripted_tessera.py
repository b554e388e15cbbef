"""A stand-in for ``tools/tessera`` and the manager, so that every suite can be run without a GPU and without a JVM.

It keeps the harness honest about order, protocol and clean-up; what it answers proves nothing about Tessera. Programs
under ``run`` become clients with a segment file; launches in it are set by the program itself.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys

from harness import segment


def _runtime():
    return os.environ["TESSERA_RUNTIME_DIR"]


def _clients():
    folder = os.path.join(_runtime(), "clients")
    found = []
    for name in sorted(os.listdir(folder), key=int):
        if os.path.exists(f"/proc/{name}"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                client = {"pid": int(name), "id": int(name), "plan": file.read()}
            with contextlib.suppress(FileNotFoundError), open(os.path.join(_runtime(), f"placed-{name}"), encoding="utf-8") as file:
                client["placement"] = {"device": file.read()}
            found.append(client)
    return found


class ScriptedManager:
    """Answers the control socket until it is told to stop."""

    def __init__(self):
        self._mode = "auto"
        self._quantum_ns = 100_000_000
        self._asked = 0
        self._suspended = False

    def serve(self):
        """Accepts one connection after the other."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(os.path.join(_runtime(), "control.sock"))
        listener.listen(8)
        going = True
        while going:
            connection, _ = listener.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as stream:
                request = json.loads(stream.readline())
                answer, going = self._answer(request)
                stream.write(json.dumps(answer) + "\n")

    def _answer(self, request):
        name = request["request"]
        if name == "status":
            return self._status(), True
        if name == "scheduler":
            self._mode = request["mode"]
        elif name == "quantum":
            self._quantum_ns = request["ns"]
        elif name == "evict":
            self._suspended = request.get("suspend", False)
        elif name in ("policy", "tenant"):
            pass
        elif name not in ("ping", "stop"):
            return {"ok": False, "error": f"no request {name}"}, True
        return {"ok": True}, name != "stop"

    def _status(self):
        self._asked += 1
        clients = _clients()
        for client in clients:
            counted = segment.read(segment.segment_path(client["id"]))
            figures = dict.fromkeys(("drainNs", "turns", "heldNs", "waitedNs"), 0)
            figures.update(drains=self._asked, drainLastNs=1_500_000, drainMaxNs=2_000_000)
            residency = {"state": "suspended" if self._suspended else "steady", "residentBytes": 0}
            if self._suspended:
                residency["suspension"] = "scripted"
            client["devices"] = [{"launches": counted["submitted"][segment.KIND_LAUNCH], "residency": residency, **figures}]
        device = {
            "uuid": "GPU-0",
            "mode": self._mode,
            "effective": "exclusive" if self._mode == "on" else "free",
            "reason": "scripted",
            "quantumNs": self._quantum_ns,
            "handovers": self._asked,
            "handoverMedianNs": 700_000,
            "clients": [client["id"] for client in clients],
        }
        relayed = [{"client": client["id"], "unfenced": 3} for client in clients if client["plan"] == "relay"]
        answer = {"ok": True, "manager": {"pid": os.getpid()}, "devices": [device], "clients": clients}
        return {**answer, "executors": [{"clients": relayed}]} if relayed else answer


def _start():
    os.makedirs(os.path.join(_runtime(), "clients"))
    with open(os.path.join(_runtime(), "manager.log"), "ab") as log:
        manager = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "serve"], stdout=log, stderr=log, start_new_session=True
        )
    with open(os.path.join(_runtime(), "manager.pid"), "w", encoding="ascii") as file:
        file.write(f"{manager.pid}\n")
    manager.returncode = 0  # left running on purpose: it is ended by 'manager stop'


def _stop():
    with open(os.path.join(_runtime(), "manager.pid"), encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGTERM)


def _run(words):
    split = words.index("--")
    options = dict(zip(words[:split:2], words[1:split:2]))
    if options.get("--unfenced") == "refuse":
        sys.exit("tessera: scripted: kernels without PTX are refused")
    path = segment.segment_path(os.getpid())
    content = bytearray(segment.SEGMENT_BYTES)
    struct.pack_into("<QI", content, 0, segment.MAGIC, segment.VERSION)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    if os.path.isdir(os.path.join(_runtime(), "clients")):
        with open(os.path.join(_runtime(), "clients", str(os.getpid())), "w", encoding="utf-8") as file:
            relayed = options.get("--share") == "space" and options.get("--unfenced") != "time"
            file.write("relay" if relayed else options.get("--plan", "plain"))
    os.environ["SCRIPTED_SEGMENT"] = path
    os.execvp(words[split + 1], words[split + 1 :])


def main(words):
    """The commands that the harness uses."""
    if words == ["serve"]:
        ScriptedManager().serve()
    elif words == ["manager", "start"]:
        _start()
    elif words == ["manager", "stop"]:
        _stop()
    elif words[:1] == ["run"]:
        _run(words[1:])
    elif words[:1] == ["jvm"]:
        os.kill(int(words[1]), 0)
        with open(f"/proc/{words[1]}/cmdline", encoding="utf-8") as file:
            leaks = "LeakingService" in file.read()
        sites = [{"site": "Leaker.java:1", "verdict": "grows"}] if leaks else []
        print(json.dumps({"leaks": [*sites, {"site": "Model.java:2", "verdict": "old"}]}))
    elif words[:2] == ["fence", "--trust"]:
        os.makedirs(os.environ["TESSERA_STATE_DIR"], exist_ok=True)
        with open(os.path.join(os.environ["TESSERA_STATE_DIR"], "trusted"), "a", encoding="utf-8") as trusted:
            trusted.write(words[2] + "\n")
        print(f"{words[2]}: 5 images are trusted")
        for path in words[3:]:
            print(f"{path}: no image with machine code")
        sys.exit(4 if words[3:] else 0)
    elif words[:1] == ["fence"]:
        print('{"part": ".nv_fatbin", "offset": 64, "ptxBytes": 1000}')
        print('{"totals": {"images": 1, "kernels": 2, "ptxBytes": 1000000, "bytesPerSecondAndCore": 5000000}}')
    elif words == ["status"]:
        print("scripted status")
    elif words in (["doctor", "--json"], ["status", "--json"]):
        print('{"ok": true}')
    else:
        sys.exit(f"scripted tessera: unknown words {words}")


if __name__ == "__main__":
    main(sys.argv[1:])
