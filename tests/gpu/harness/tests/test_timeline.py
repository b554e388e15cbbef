"""The figures of a time line, from a small one written by hand."""

import unittest

from harness.timeline import figures, moves, parse, since

GIB = 1 << 30
#: One process copies two chunks out, one after the other; another fills and copies in with a pause of 2 ms between them.
LINES = f"""
1000000 7 0 move-out 0 0
1100000 7 0 copy-out a {GIB}
1200000 7 0 copy-out b {GIB}
5000000 7 0 copied a {GIB}
5000000 7 0 empty a {GIB}
5300000 7 0 unmapped a {GIB}
5400000 7 0 emptied a {GIB}
9000000 7 0 copied b {GIB}
9100000 7 0 moved 0 0
5500000 8 0 move-in 0 0
5500000 8 0 fill c {GIB}
5540000 8 0 created c {GIB}
5550000 8 0 mapped c {GIB}
5600000 8 0 filled c {GIB}
6000000 8 0 copy-in c {GIB}
8000000 8 0 copied c {GIB}
10000000 8 0 copy-in d {GIB}
16000000 8 0 copied d {GIB}
16000000 8 0 moved 0 0
17000000 8 0 move-in 0 0
18000000 8 0 moved 0 0
a line that was cut
"""


class TimelineTest(unittest.TestCase):
    def test_each_direction_has_its_rate_pauses_and_page_changes(self):
        found = figures(moves(parse(LINES)))
        self.assertEqual(1, found["in"]["moves"])
        self.assertAlmostEqual(2 * GIB / 0.01 / 1e9, found["in"]["gb_per_s"])
        self.assertEqual(0.5, found["in"]["first_copy_ms"])
        self.assertEqual(2.0, found["in"]["no_copy_ms"])
        self.assertEqual(8.0, found["in"]["one_copy_ms"])
        self.assertEqual(40.0, found["in"]["create"]["median_us"])
        self.assertEqual(50.0, found["in"]["set access"]["p90_us"])
        self.assertAlmostEqual(0.3, found["out"]["unmap"]["sum_ms_a_move"])
        self.assertEqual(100.0, found["out"]["release"]["median_us"])
        self.assertAlmostEqual(0.1, found["out"]["no_copy_ms"])
        self.assertNotIn("create", found["out"])

    def test_what_began_before_can_be_left_out(self):
        found = figures(since(moves(parse(LINES)), 5_000_000))
        self.assertEqual(["in"], list(found))
        self.assertEqual(2 * GIB, found["in"]["bytes"])

    def test_small_moves_and_no_moves_have_no_figures(self):
        self.assertEqual({}, figures(moves(parse(LINES), least_bytes=4 * GIB)))
        self.assertEqual({}, figures(moves(parse(""))))


if __name__ == "__main__":
    unittest.main()
