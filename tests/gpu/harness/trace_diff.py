"""Compares what one program asked of the driver, and was answered, in two ways: two files of ``TESSERA_TRACE``.

    python3 -m harness.trace_diff TURNS.calls RELAY.calls

In turns the driver itself answers, so the first trace says what is right. Addresses and handles are not compared: what is asked
of a function is told by its name where the trace has it, else by the order in which functions were first asked about.
"""

import dataclasses
import re
import sys

#: Entries that ask, and the arguments that say what: numbers, or "f" and a place for a function, "h" for a handle not compared.
QUESTIONS = {
    "cuDriverGetVersion": (), "cuDeviceGetCount": (), "cuDeviceGetAttribute": (1, 2), "cuDeviceTotalMem_v2": (1,),
    "cuDeviceComputeCapability": (2,), "cuDeviceGetTexture1DLinearMaxWidth": (1, 2, 3), "cuDeviceCanAccessPeer": (1, 2),
    "cuDeviceGetP2PAttribute": (1, 2, 3), "cuCtxGetFlags": (), "cuCtxGetLimit": (1,), "cuCtxGetCacheConfig": (),
    "cuCtxGetSharedMemConfig": (), "cuCtxGetStreamPriorityRange": (), "cuCtxGetApiVersion": (), "cuStreamGetPriority": (),
    "cuStreamGetFlags": (), "cuStreamIsCapturing": (), "cuMemGetInfo_v2": (), "cuMemGetAllocationGranularity": (2,),
    "cuMemPoolGetAttribute": (1,), "cuPointerGetAttribute": (1,), "cuMemHostGetFlags": (), "cuModuleGetLoadingMode": (),
    "cuModuleGetFunctionCount": (), "cuLibraryGetKernelCount": (), "cuModuleGetFunction": (), "cuModuleGetGlobal_v2": (),
    "cuLibraryGetKernel": (), "cuLibraryGetGlobal": (), "cuKernelGetAttribute": (1, "f2"), "cuKernelGetParamInfo": ("f0", 1),
    "cuFuncGetAttribute": (1, "f2"), "cuFuncGetParamInfo": ("f0", 1), "cuFuncIsLoaded": ("f1",),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": ("f1", 2, 3), "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": ("f1", 2, 3, 4),
    "cuOccupancyMaxPotentialBlockSize": ("f2", 4, 5), "cuOccupancyMaxPotentialBlockSizeWithFlags": ("f2", 4, 5, 6),
    "cuOccupancyAvailableDynamicSMemPerBlock": ("f1", 2, 3), "cuOccupancyMaxActiveClusters": ("f1",),
    "cuOccupancyMaxPotentialClusterSize": ("f1",), "cuGetProcAddress": (2, 3), "cuGetProcAddress_v2": (2, 3),
    "cuStreamGetCaptureInfo_v2": (), "cuStreamGetCaptureInfo_v3": (),
    "cuFuncSetAttribute": ("f0", 1, 2), "cuKernelSetAttribute": (0, 1, "f2"), "cuFuncSetCacheConfig": ("f0", 1),
}  # fmt: skip
#: They depend on what else there is on the device.
UNSTEADY = {"cuMemGetInfo_v2"}
#: Of entries that look something up by its name: the argument that holds it.
NAMES = {
    "cuModuleGetFunction": "2", "cuLibraryGetKernel": "2", "cuModuleGetGlobal_v2": "3", "cuLibraryGetGlobal": "3", "cuGetProcAddress": "0",
    "cuGetProcAddress_v2": "0",
}  # fmt: skip
#: What they make is the handle of a function, as argument 0.
MAKERS = ("cuModuleGetFunction", "cuLibraryGetKernel", "cuKernelGetFunction")
LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel")
FIRST_ARGUMENT, ARGUMENTS, FIRST_ANSWER = 4, 8, 14
LISTED = 200


@dataclasses.dataclass(frozen=True)
class Call:
    """One line: the entry without the suffix for per-thread streams, its result, eight arguments, and answers by their place."""

    entry: str
    result: int
    arguments: tuple
    answers: dict


def read(path):
    """The calls of a file, in its order; half-written lines are left out."""
    calls = []
    with open(path, encoding="ascii", errors="replace") as lines:
        for line in lines:
            fields = line.split()
            if len(fields) < FIRST_ANSWER or not line.endswith("\n"):
                continue
            arguments = tuple(int(word, 16) for word in fields[FIRST_ARGUMENT : FIRST_ARGUMENT + ARGUMENTS])
            answers = dict(word.split("=", 1) for word in fields[FIRST_ANSWER:] if "=" in word)
            calls.append(Call(re.sub(r"_ptsz$", "", fields[2]), int(fields[3]), arguments, answers))
    return calls


class Reading:
    """Questions and launches of one trace, with functions by name."""

    def __init__(self, calls):
        self._names = {}
        self._numbered = 0
        #: Question and what was answered, in order.
        self.questions = []
        self.launches = []
        for call in calls:
            self._learn(call)
            if call.entry in QUESTIONS:
                self.questions.append((self._question(call), self._answer(call)))
            elif call.entry in LAUNCHES:
                self.launches.append(self._launch(call))

    def _learn(self, call):
        if call.entry in MAKERS and call.result == 0 and "0" in call.answers:
            named = call.answers.get(NAMES.get(call.entry)) or self._function(call.arguments[1])
            self._names[int(call.answers["0"], 16)] = named

    def _function(self, handle):
        if handle not in self._names:
            self._numbered += 1
            self._names[handle] = f"function {self._numbered}"
        return self._names[handle]

    def _question(self, call):
        words = [call.entry]
        for place in QUESTIONS[call.entry]:
            if isinstance(place, str):
                words.append(self._function(call.arguments[int(place[1:])]))
            else:
                words.append(str(_signed(call.arguments[place])))
        if NAMES.get(call.entry) in call.answers:
            words.append(call.answers[NAMES[call.entry]])
        return " ".join(words)

    @staticmethod
    def _answer(call):
        if call.result:
            return f"error {call.result}"
        left_out = {NAMES.get(call.entry), "0" if call.entry in MAKERS else None}
        return " ".join(value for place, value in call.answers.items() if place not in left_out) or "done"

    def _launch(self, call):
        if call.entry == "cuLaunchKernelEx":
            name, shape = self._function(call.arguments[1]), call.answers.get("0", "?")
        else:
            # Of a launch eight arguments are noted, which ends with the bytes of shared memory.
            name, shape = self._function(call.arguments[0]), ",".join(str(_signed(word)) for word in call.arguments[1:8])
        return f"{name} {shape}" + (f" error {call.result}" if call.result else "")


def _signed(word):
    """A register's low 32 bits: what lies above them in one that holds an int means nothing."""
    word &= 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word


def differences(right, other):
    """What two traces differ in: how many questions were asked in both, those that were answered otherwise, in the order of the
    second, and the launch at which they part."""
    right, other = Reading(right), Reading(other)
    expected = {}
    for question, answer in right.questions:
        expected.setdefault(question, []).append(answer)
    asked, both, found = {}, 0, {}
    for question, answer in other.questions:
        order = asked[question] = asked.get(question, -1) + 1
        answers = expected.get(question)
        if answers is None:
            continue
        both += 1
        # Asked more often than there: the last answer holds.
        native = answers[min(order, len(answers) - 1)]
        if native != answer and question.split()[0] not in UNSTEADY:
            found.setdefault(f"{question}: {native} in turns, {answer} here", None)
    return {"questions": both, "answers": list(found)[:LISTED], "only": _only(right, other), "parted": _parted(right, other)}


def _only(right, other):
    """Questions that were asked in one of the two alone: how often."""
    left, here = {question for question, _ in right.questions}, {question for question, _ in other.questions}
    return {"in turns": sorted(left - here)[:LISTED], "here": sorted(here - left)[:LISTED]}


def _parted(right, other):
    for order, (one, two) in enumerate(zip(right.launches, other.launches)):
        if one != two:
            return f"launch {order} of {len(right.launches)}: {one} in turns, {two} here"
    if len(right.launches) != len(other.launches):
        return f"after {min(len(right.launches), len(other.launches))} launches: {len(right.launches)} in turns, {len(other.launches)} here"
    return None


def main(paths):
    """Prints the differences of two files."""
    if len(paths) != 2:
        sys.exit("usage: python3 -m harness.trace_diff TURNS.calls RELAY.calls")
    found = differences(read(paths[0]), read(paths[1]))
    print(f"{found['questions']} questions in both; launches part: {found['parted'] or 'nowhere'}")
    for line in found["answers"]:
        print(f"answered otherwise: {line}")
    for where, questions in found["only"].items():
        for question in questions:
            print(f"asked only {where}: {question}")


if __name__ == "__main__":
    main(sys.argv[1:])
