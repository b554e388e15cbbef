"""Rates from the completion times of training steps. Pure; times are nanoseconds of CLOCK_MONOTONIC."""

import bisect
import statistics


class StepTimes:
    """The steps of one run of one process. Immutable.

    Progress within a step is taken as even over the last typical step time before its completion, not over the whole
    gap since the step before: in a gap of a turn that belongs to somebody else nothing is computed.

    :param start_ns: when the run began
    :param end_ns: when the device was idle after it
    :param done_ns: completion times, ascending
    """

    def __init__(self, start_ns, end_ns, done_ns):
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.done_ns = list(done_ns)
        gaps = [later - earlier for earlier, later in zip(self.done_ns, self.done_ns[1:])]
        self.typical_ns = statistics.median(gaps) if gaps else max(1, end_ns - start_ns)

    @classmethod
    def of_answer(cls, answer):
        """From a workload's ``ran`` answer."""
        done, now = [], answer["start_ns"]
        for delta_us in answer["deltas_us"]:
            now += delta_us * 1000
            done.append(now)
        return cls(answer["start_ns"], answer["end_ns"], done)

    def steps_between(self, from_ns, to_ns):
        """Steps computed in the window, with fractions at both borders."""
        first = bisect.bisect_right(self.done_ns, from_ns)
        steps = 0.0
        for index in range(first, len(self.done_ns)):
            done = self.done_ns[index]
            earlier = self.done_ns[index - 1] if index else self.start_ns
            begin = max(earlier, done - self.typical_ns)
            if begin >= to_ns:
                break
            length = max(1, done - begin)
            steps += max(0, min(done, to_ns) - max(begin, from_ns)) / length if done > begin else 1.0
        return steps

    def rate(self, from_ns, to_ns):
        """Steps a second in the window."""
        return self.steps_between(from_ns, to_ns) / ((to_ns - from_ns) / 1e9)

    def bins(self, from_ns, to_ns, width_ns):
        """Steps per bin of the window, rounded to hundredths, for the raw record."""
        return [
            round(self.steps_between(at, at + width_ns), 2) for at in range(from_ns, to_ns - width_ns + 1, width_ns)
        ]


def common_window(runs, settle_ns=0):
    """The window in which all runs were under way, less ``settle_ns`` at its begin."""
    begin = max(run.start_ns for run in runs) + settle_ns
    end = min(run.end_ns for run in runs)
    if end <= begin:
        raise ValueError("the runs have no common window")
    return begin, end


def split(from_ns, to_ns, width_ns):
    """Whole windows of ``width_ns`` that fit, in order."""
    return [(at, at + width_ns) for at in range(from_ns, to_ns - width_ns + 1, width_ns)]


def unfairness(first, second):
    """How far the work of two equal tenants lies from equal: 0 is equal, 1 is all to one."""
    total = first + second
    if total == 0:
        raise ValueError("nobody made a step")
    return abs(first - second) / total
