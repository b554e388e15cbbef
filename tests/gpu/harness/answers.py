"""Compares answers that one program got in several ways with those that it got natively, less those that are meant to differ."""

import dataclasses
import fnmatch
import os

ALLOWED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers_allowed.txt")


@dataclasses.dataclass(frozen=True)
class Allowance:
    """Answers that may differ: in which ways, to which questions, and why."""

    ways: tuple
    questions: str
    reason: str

    def covers(self, way, question):
        """Whether it is about this answer."""
        return (self.ways == ("*",) or way in self.ways) and fnmatch.fnmatchcase(question, self.questions)


def allowances(path=ALLOWED):
    """The list of a file; raises ValueError for a line without a reason."""
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split("\t")]
            if len(parts) != 3 or not all(parts):
                raise ValueError(f"{path}:{number}: ways, questions and a reason are wanted, apart by tabs")
            found.append(Allowance(tuple(parts[0].split(",")), parts[1], parts[2]))
    return found


@dataclasses.dataclass
class Compared:
    """What came of one way.

    :param questions: how many were asked
    :param equal: how many answers are equal
    :param allowed: how many differ as they are meant to, by reason
    :param different: question, native answer and this one's, for all others
    :param unsteady: questions whose answer differs from one native run to the next
    """

    questions: int = 0
    equal: int = 0
    allowed: dict = dataclasses.field(default_factory=dict)
    different: list = dataclasses.field(default_factory=list)
    unsteady: list = dataclasses.field(default_factory=list)
    used: set = dataclasses.field(default_factory=set)


def compare(way, natives, other, known):
    """Compares the answers of a way with those of two native runs."""
    result = Compared()
    first, second = natives
    for question in sorted(set(first) | set(other)):
        result.questions += 1
        native, answer = first.get(question, "not asked"), other.get(question, "not asked")
        if native == answer:
            result.equal += 1
        elif native != second.get(question, "not asked"):
            result.unsteady.append(question)
        else:
            allowance = next((one for one in known if one.covers(way, question)), None)
            if allowance is None:
                result.different.append((question, native, answer))
            else:
                result.used.add(allowance)
                result.allowed[allowance.reason] = result.allowed.get(allowance.reason, 0) + 1
    return result
