"""The suite answers, its list of intended differences, and the comparison of traces."""

import os
import tempfile
import unittest

from harness import trace_diff
from harness.answers import Allowance, allowances, compare
from harness.tests.suites import test_suites


class AnswersSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_answers(self):
        for name in ("answers.py", "answer_programs.py", "fft_bits.py"):
            os.symlink(os.path.join(test_suites.HERE, "answers_stand_in.py"), self.path("workloads", name))
        record, text = self.run_suite("answers", TRACED=("fft",))
        self.assertEqual([], record.problems)
        self.assertIn("| turns | 5 | 3 | 0 | 2 | 0 |", text)
        self.assertIn("| space | 5 | 1 | 1 | 2 | 1 |", text)
        self.assertIn("| context flags | space | 4 | 8 |", text)
        self.assertIn("space: 1 because managed memory is not relayed", text)
        self.assertIn("allowed, but equal: ", text)
        self.assertIn("| 5 × 6 | a | a | b | a | b | b |", text)
        self.assertIn("| 8 × 8 | a | a | a | a | a | a |", text)
        for program in ("plans", "fft"):
            self.assertIn(f"| {program} | 5 | 5 | 3 | 1 | launch 0 of 1: add 4,1,1,128,1,1,0 in turns, add 3,1,1,128,1,1,0 here |", text)
        self.assertIn("fft: cuOccupancyMaxActiveBlocksPerMultiprocessor add 128 0: 4 in turns, 3 here", text)


class AllowancesTest(unittest.TestCase):
    def test_every_line_has_a_reason(self):
        self.assertGreater(len(allowances()), 10)

    def test_what_decides_for_libraries_is_not_allowed_by_the_way(self):
        questions = [f"device attribute {number}" for number in (*range(1, 83), 90, 95, 97, 106, 107, 108, 109, 111, 115, 118, 120)]
        questions += ["limit 0", "device pointer +0 attribute 0", "device pointer +0 attribute 3", "pool attribute 4", "stream 0 0 attribute 4"]
        for one in allowances():
            for question in questions:
                self.assertFalse(one.covers("space", question) or one.covers("fenced", question), (one, question))

    def test_a_line_without_a_reason_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("# why\n\nspace\tdevice attribute 1\n")
            file.flush()
            with self.assertRaisesRegex(ValueError, ":3:"):
                allowances(file.name)

    def test_an_answer_that_is_missing_differs(self):
        result = compare("space", ({"a": "1", "b": "2"}, {"a": "1", "b": "2"}), {"a": "1", "c": "3"}, [Allowance(("space",), "c", "new")])
        self.assertEqual([("b", "2", "not asked")], result.different)
        self.assertEqual({"new": 1}, result.allowed)

    def test_an_allowance_is_of_its_ways(self):
        natives = ({"a": "1"}, {"a": "1"})
        known = [Allowance(("fenced",), "a*", "registers")]
        self.assertEqual([("a", "1", "2")], compare("space", natives, {"a": "2"}, known).different)
        self.assertEqual([], compare("fenced", natives, {"a": "2"}, known).different)


class TraceDiffTest(unittest.TestCase):
    def calls(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".calls") as file:
            for entry, result, arguments, told in lines:
                words = (arguments.split() + ["0"] * 8)[:8]
                file.write(f"1 2 {entry} {result} {' '.join(words)} 0 0 {told}".rstrip() + "\n")
            file.flush()
            return trace_diff.read(file.name)

    def test_addresses_and_handles_do_not_count(self):
        one = self.calls(("cuFuncGetAttribute", 0, "aa00000 8 bb0000", "0=49152"), ("cuLaunchKernel", 0, "bb0000 1 1 1 20 1 1 0", ""))
        two = self.calls(("cuFuncGetAttribute", 0, "cc00000 8 dd0000", "0=49152"), ("cuLaunchKernel", 0, "dd0000 1 1 1 20 1 1 0", ""))
        self.assertEqual({"questions": 1, "answers": [], "only": {"in turns": [], "here": []}, "parted": None}, trace_diff.differences(one, two))

    def test_the_first_other_answer_is_the_first_listed(self):
        asked = [("cuDeviceGetAttribute", 0, f"1 {number:x} 0", f"0={number}") for number in (1, 2, 3)]
        others = [("cuDeviceGetAttribute", 0, "1 1 0", "0=1"), ("cuDeviceGetAttribute", 0, "1 2 0", "0=7"), ("cuDeviceGetAttribute", 1, "1 3 0", "")]
        found = trace_diff.differences(self.calls(*asked), self.calls(*others))["answers"]
        self.assertEqual(["cuDeviceGetAttribute 2 0: 2 in turns, 7 here", "cuDeviceGetAttribute 3 0: 3 in turns, error 1 here"], found)

    def test_the_upper_half_of_a_register_means_nothing(self):
        one = self.calls(("cuDeviceGetAttribute", 0, "1 ffff00000010 0", "0=132"))
        two = self.calls(("cuDeviceGetAttribute", 0, "1 10 0", "0=132"))
        self.assertEqual(1, trace_diff.differences(one, two)["questions"])

    def test_what_only_one_asks_is_listed(self):
        one = self.calls(("cuCtxGetLimit", 0, "1 2", "0=8"))
        two = self.calls(("cuCtxGetLimit", 0, "1 5", "0=8"))
        self.assertEqual({"in turns": ["cuCtxGetLimit 2"], "here": ["cuCtxGetLimit 5"]}, trace_diff.differences(one, two)["only"])

    def test_launches_part_where_one_is_another_or_is_missing(self):
        launch = ("cuLaunchKernelEx", 0, "aa bb", "0=1,1,1,32,1,1,0")
        other = ("cuLaunchKernelEx", 0, "aa bb", "0=2,1,1,32,1,1,0")
        self.assertIn("launch 1 of 2", trace_diff.differences(self.calls(launch, launch), self.calls(launch, other))["parted"])
        self.assertIn("after 1 launches: 2 in turns, 1 here", trace_diff.differences(self.calls(launch, launch), self.calls(launch))["parted"])

    def test_a_name_of_hexadecimal_letters_is_a_name(self):
        named = (("cuModuleGetFunction", 0, "1 2 3", "0=beef0 2=fade"), ("cuFuncGetAttribute", 0, "1 0 beef0", "0=5"))
        reading = trace_diff.Reading(self.calls(*named))
        self.assertEqual([("cuModuleGetFunction fade", "done"), ("cuFuncGetAttribute 0 fade", "5")], reading.questions)


if __name__ == "__main__":
    unittest.main()
