"""JVM programs under the agent: what starting it and recording cost, and two services sharing the GPU with a training.

The programs are those of tests/jvm, on the kit's own runtime. Services answer HTTP requests with scores that the GPU computes; each
checks every answer.
"""

import contextlib
import glob
import json
import os
import statistics
import time

from harness.java import java_caffe, java_recording, java_samples
from harness.bench import SETTLE_S, Bench, measure, native, under_relay, under_tessera
from harness.caffe_cache import caches
from harness.child import Child, ChildFailed, run_bounded
from harness.figures import number, summary, verdict, with_spread
from harness.steps import common_window
from harness.table import Table
from harness.tessera import Manager

CASES = ("samples", "starts", "launches", "recording", "services", "caffe")
STARTS = 15
#: Largest time that the agent may add to a start, from the issue that asked for it.
START_BOUND_MS = 150.0
#: Largest slowdown of a loop of launches by mode of the recording, from the same issue.
LAUNCH_BOUNDS = {"sampled": 1.01, "off": 1.002}
#: Many short rounds: what disturbs the machine then hits few of them, and the ways of a round alike.
LAUNCH_ROUNDS = 45
#: About a quarter of a second natively.
LAUNCHES = 100_000
#: What recording is compared with: the same gate, without the agent.
LAUNCH_BASE = "tessera run"
SERVICES = ("first service", "second service")
TRAINING = "mlp"
CLIENTS = 8
ROUNDS = 4
ALONE_S = 1.2
WINDOW_S = 3.0
READY_TIMEOUT_S = 60.0
ANSWER_TIMEOUT_S = 60.0
WAYS = ("native", "in turns", "relay")
NS = 1_000_000_000


def run(setting, record):
    """Starts and launches first, on a GPU that nobody else uses; then the crowd."""
    kit = _Kit(setting)
    if kit.missing:
        record.problem("jvm", f"the kit has no {kit.missing}: build it with tests/gpu/kit --jvm")
        return
    chosen = setting.chosen(CASES)
    slow = setting.installation.share_classes()
    if slow:
        record.problem("class archive", slow)
    with contextlib.ExitStack() as stack:
        if "caffe" in chosen:
            stack.enter_context(caches())
        manager = stack.enter_context(Manager(setting.installation, setting.directory))
        if "samples" in chosen:
            record.attempt("samples", lambda: _samples(kit, record, manager), 60)
        if "starts" in chosen:
            for program in ("Idle", "VectorAdd"):
                record.attempt(f"starts of {program}", lambda: _starts(kit, record, manager, program), 30)
        if "launches" in chosen:
            record.attempt("launches", lambda: _launches(kit, record, manager), 90)
        if "recording" in chosen:
            record.attempt("recording", lambda: java_recording.run(kit, record, native().environment, setting.directory), 70)
        if "services" in chosen:
            record.attempt("services", lambda: _services(kit, setting, record, manager), 90)
        if "caffe" in chosen:
            record.attempt("caffe", lambda: java_caffe.run(kit, setting, record, manager), 60)


class _Kit:
    """Java, agent and samples of an installation."""

    def __init__(self, setting):
        installation = setting.installation
        self.java = installation.path("jre", "bin", "java")
        self.agent = installation.path("agent", "tessera-agent.jar")
        self.classes = installation.path("jvm", "classes")
        jars = sorted(glob.glob(installation.path("jvm", "app", "*.jar")))
        self.jars = jars
        self.bench = installation.path("bench", "agent")
        self._class_path = ":".join([self.classes, *jars])
        self._directory = setting.directory
        self._unpacked = 0
        needed = {"runtime (jre)": self.java, "agent (agent/tessera-agent.jar)": self.agent, "samples (jvm)": self.classes}
        self.missing = next((name for name, path in needed.items() if not os.path.exists(path)), None)

    def unpacked(self):
        """A new folder. The bindings unpack their libraries to fixed names: no two programs may share one."""
        self._unpacked += 1
        folder = os.path.join(self._directory, f"unpacked-{self._unpacked}")
        os.makedirs(folder, exist_ok=True)
        return folder

    def command(self, program, *arguments, agent=None):
        """A sample's command; ``agent`` are the options of the agent, None runs without it."""
        return [
            self.java,
            "--enable-native-access=ALL-UNNAMED",
            f"-Djava.io.tmpdir={self.unpacked()}",
            *([] if agent is None else [f"-javaagent:{self.agent}={agent}"]),
            "-cp",
            self._class_path,
            f"io.tessera.samples.{program}",
            *arguments,
        ]

    def child(self, stack, name, environment, program, *arguments, agent=None, wrap=lambda command: command):
        """A sample that stays; ended with the stack. ``wrap`` puts something before its command."""
        label = name.replace(" ", "-")
        command = wrap(self.command(program, *arguments, agent=agent))
        child = Child(label, command, environment, os.path.join(self._directory, f"{label}.log"))
        stack.callback(child.close)
        return child


def _samples(kit, record, manager):
    with contextlib.ExitStack() as stack:

        def start(name, program, arguments, agent):
            child = kit.child(stack, name, manager.environment, program, *arguments, agent=agent)
            child.read(READY_TIMEOUT_S)
            _be_tenant(manager, child)
            return child

        java_samples.run(kit, record, manager, start, _ask)


def _starts(kit, record, manager, program):
    """Pairs of starts without and with the agent, in turn; the first pair warms the file cache."""
    for turn in range(STARTS + 1):
        ways = ("without", "with")
        for way in ways if turn % 2 == 0 else ways[::-1]:
            agent = None if way == "without" else "share=time"
            environment = manager.environment if agent else native().environment
            command = kit.command(program, agent=agent)
            begun = time.monotonic()
            status, out, err = run_bounded(command, environment, READY_TIMEOUT_S)
            ms = (time.monotonic() - begun) * 1000
            if status != 0 or ": correct" not in out:
                raise ValueError(f"{program} {way} the agent ended with {status}: {(err or out)[-400:]}")
            if "tessera-agent:" in err:  # it runs natively then, and the figure would be of something else
                raise ValueError(f"{program}: {err[-400:]}")
            if turn > 0:
                record.add("start", program=program, way=way, ms=ms)


def _launches(kit, record, manager):
    """One loop for each way stays; they are measured in turn, each idle while another runs."""
    agents = {"off": "share=time,record=off", "sampled": "share=time", "on": "share=time,record=on"}
    with contextlib.ExitStack() as stack:
        loops = {"without": kit.child(stack, "launches without", native().environment, "LaunchLoop", "bench")}
        loops[LAUNCH_BASE] = kit.child(stack, "launches run", manager.environment, "LaunchLoop", "bench", wrap=manager.wrap)
        for way, agent in agents.items():
            loops[way] = kit.child(stack, f"launches {way}", manager.environment, "LaunchLoop", "bench", agent=agent)
        for loop in loops.values():
            json.loads(loop.read(READY_TIMEOUT_S))
        for way in (LAUNCH_BASE, *agents):
            _be_tenant(manager, loops[way])
        names = list(loops)
        for repeat in range(LAUNCH_ROUNDS + 1):
            for way in names[repeat % len(names) :] + names[: repeat % len(names)]:
                answer = _ask(loops[way], LAUNCHES)
                if repeat > 0:  # the first round is for the compilers
                    record.add("launches", way=way, round=repeat, ns=1e6 * answer["ms"] / answer["launches"])


def _be_tenant(manager, child):
    """Raises where a program that should be the manager's client runs natively: its figures would be of something else."""
    try:
        manager.client(child.pid)
    except ChildFailed as failed:
        raise child.failure(f"is no tenant ({failed})") from failed


def _ask(child, amount):
    child.write(f"go {amount}")
    return _answer(child)


def _answer(child):
    answer = json.loads(child.read(ANSWER_TIMEOUT_S))
    if not answer["right"]:
        raise child.failure("computed something wrong")
    return answer


def _places(manager):
    """For each way: environment of the services, the agent's options, and the training's placement."""
    return {
        "native": (native().environment, None, native()),
        "in turns": (manager.environment, "share=time", under_tessera(manager)),
        "relay": (manager.environment, "share=space", under_relay(manager)),
    }


def _services(kit, setting, record, manager):
    with contextlib.ExitStack() as stack:
        bench = stack.enter_context(Bench(setting.workloads, setting.directory))
        crowds = {}
        for way, (environment, agent, place) in _places(manager).items():
            services = [
                kit.child(stack, f"{way} {name}", environment, "ScoringService", "bench", str(CLIENTS), agent=agent)
                for name in SERVICES
            ]
            training = bench.start(place, TRAINING, name=f"{way} training".replace(" ", "-"))
            crowds[way] = (services, training)
        for way in list(crowds):
            services, training = crowds[way]
            try:
                for service in services:
                    json.loads(service.read(READY_TIMEOUT_S))
                    if way != "native":
                        _be_tenant(manager, service)
                training.ready()
                for service in services:
                    _ask(service, 500)  # for the compilers
            except Exception as failed:  # the other ways are still worth measuring
                record.problem(f"services {way}", f"{type(failed).__name__}: {failed}")
                del crowds[way]
        for repeat in range(ROUNDS):
            record.attempt(f"services, round {repeat + 1}", lambda: _round(record, crowds, repeat), 20)


def _round(record, crowds, repeat):
    if "native" in crowds:
        services, training = crowds["native"]
        for name, service in zip(SERVICES, services):
            answer = _ask(service, int(ALONE_S * 1000))
            record.add("alone", program=name, rate=_rate(answer))
        record.add("alone", program=TRAINING, rate=measure([training], ALONE_S)[0][0])
    ways = list(crowds)
    for way in ways[repeat % len(ways) :] + ways[: repeat % len(ways)]:
        services, training = crowds[way]
        training.go()
        time.sleep(SETTLE_S)
        for service in services:
            service.write(f"go {int(WINDOW_S * 1000)}")
        answers = [_answer(service) for service in services]
        training.stop()
        steps = training.collect()
        begin, end = common_window([steps], int(SETTLE_S * NS))
        rates = {name: _rate(answer) for name, answer in zip(SERVICES, answers)}
        rates[TRAINING] = steps.rate(begin, end)
        record.add("crowd", way=way, rates=rates)


def _rate(answer):
    return 1000.0 * answer["requests"] / answer["ms"]


def _start_rows(results):
    for program in ("Idle", "VectorAdd"):
        ms = {
            way: [one["ms"] for one in results if one["kind"] == "start" and one["program"] == program and one["way"] == way]
            for way in ("without", "with")
        }
        if all(ms.values()):
            longer = summary(ms["with"])["median"] - summary(ms["without"])["median"]
            asked = f"≤ {START_BOUND_MS:.0f}: {verdict(longer, START_BOUND_MS, at_least=False)}"
            yield (program, with_spread(ms["without"]), with_spread(ms["with"]), longer, asked)


def _launch_rows(results):
    ns = {}
    for one in results:
        if one["kind"] == "launches":
            ns.setdefault(one["way"], []).append(one["ns"])
    for way in ("without", LAUNCH_BASE, "off", "sampled", "on"):
        if way in ns and "without" in ns and LAUNCH_BASE in ns:
            slower = _paired(ns[way], ns[LAUNCH_BASE])
            asked = f"≤ {LAUNCH_BOUNDS[way]}: {verdict(slower, LAUNCH_BOUNDS[way], False)}" if way in LAUNCH_BOUNDS else "–"
            yield (way, with_spread(ns[way]), _paired(ns[way], ns["without"]), slower, asked)


def _paired(values, base):
    """Median of the ratios of each round: what slows a whole round falls out."""
    return statistics.median(value / below for value, below in zip(values, base))


def _service_rows(results):
    programs = (*SERVICES, TRAINING)
    alone = {
        program: [one["rate"] for one in results if one["kind"] == "alone" and one["program"] == program]
        for program in programs
    }
    for way in WAYS:
        windows = [one["rates"] for one in results if one["kind"] == "crowd" and one["way"] == way]
        if not windows or not all(alone.values()):
            continue
        base = {program: statistics.median(rates) for program, rates in alone.items()}
        shares = [{program: rates[program] / base[program] for program in programs} for rates in windows]
        yield (
            way,
            *(statistics.median(rates[program] for rates in windows) for program in programs),
            *(statistics.median(share[program] for share in shares) for program in programs),
            statistics.median(sum(share.values()) for share in shares),
        )


def tables(results):
    """Costs of the agent, and throughput of the crowd against each program alone."""
    found = java_samples.tables(results)
    starts = tuple(_start_rows(results))
    if starts:
        note = f"milliseconds from start to end of the process; median (lowest–highest) of {STARTS}, in turn"
        columns = ("program", "without the agent, ms", "with it, ms", "longer, ms", "asked")
        found.append(Table("Start of a JVM with the agent", columns, starts, (note,)))
    launches = tuple(_launch_rows(results))
    if launches:
        note = (
            f"{LAUNCH_ROUNDS} rounds of {LAUNCHES} launches, the ways in turn; ratios are medians of each round's; the preload library's "
            f"gate is in all ways but the first, the agent in the last three"
        )
        columns = ("recording", "ns a launch", "of without", f"of {LAUNCH_BASE}", "asked")
        found.append(Table("A loop of launches from Java with the agent", columns, launches, (note,)))
    services = tuple(_service_rows(results))
    if services:
        note = (
            f"requests and steps a second, medians of {ROUNDS} windows of {number(WINDOW_S)} s, the ways in turn; {CLIENTS} clients a "
            f"service; alone: the same program natively with the GPU to itself"
        )
        columns = (
            "way", *SERVICES, TRAINING, *(f"{program}, of alone" for program in (*SERVICES, TRAINING)), "sum",
        )  # fmt: skip
        found.append(Table("Two JVM services and a PyTorch training at once", columns, services, (note,)))
    return found + java_recording.tables(results) + java_caffe.tables(results)
