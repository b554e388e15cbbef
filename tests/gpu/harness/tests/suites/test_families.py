"""The suite families and the program that it runs agree on the cases."""

import unittest

from harness.suites.correct import families
from workloads.families import CASES


class FamiliesTest(unittest.TestCase):
    """The suite declares the needs of a case of its process, so each has to be named there."""

    def test_every_case_is_run(self):
        self.assertEqual(sorted(CASES), sorted((*families.TOGETHER, *families.APART)))


if __name__ == "__main__":
    unittest.main()
