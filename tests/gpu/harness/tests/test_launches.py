"""Counting launches in a trace."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads"))

from launches import count_launches, plain_name  # noqa: E402


def call(category, name, begin, length, correlation, thread=1):
    """One API record of a trace."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "ts": begin,
        "dur": length,
        "tid": thread,
        "args": {"correlation": correlation},
    }


class CountLaunchesTest(unittest.TestCase):
    def test_runtime_and_driver_launches_count_once_each(self):
        counts = count_launches(
            [
                call("cuda_runtime", "cudaLaunchKernel", 10, 5, 1),
                call("cuda_driver", "cuLaunchKernel", 20, 5, 2),
                call("cuda_driver", "cuLaunchKernelEx", 30, 5, 3),
                call("kernel", "gemm", 40, 5, 1),
                call("kernel", "gemm", 50, 5, 2),
                call("kernel", "gemm", 60, 5, 3),
            ]
        )
        self.assertEqual(3, counts["kernel_launches"])
        self.assertEqual(3, counts["kernels_by_correlation"])
        self.assertEqual({"cudaLaunchKernel": 1, "cuLaunchKernel": 1, "cuLaunchKernelEx": 1}, counts["by_name"])

    def test_a_driver_call_inside_a_runtime_call_of_its_thread_is_the_same_launch(self):
        inside = [
            call("cuda_runtime", "cudaLaunchKernel", 0, 4, 1),
            call("cuda_runtime", "cudaLaunchKernel", 10, 5, 2),
            call("cuda_driver", "cuLaunchKernel", 11, 3, 3),
        ]
        self.assertEqual(2, count_launches(inside)["kernel_launches"])
        inside[2]["tid"] = 2
        self.assertEqual(3, count_launches(inside)["kernel_launches"])

    def test_graph_launches_and_their_kernels_are_apart(self):
        counts = count_launches(
            [
                call("cuda_runtime", "cudaGraphLaunch", 0, 4, 7),
                call("cuda_driver", "cuGraphLaunch", 1, 2, 8),
                call("kernel", "a", 5, 1, 7),
                call("kernel", "b", 6, 1, 7),
            ]
        )
        self.assertEqual(
            (0, 1, 0), tuple(counts[key] for key in ("kernel_launches", "graph_launches", "kernels_by_correlation"))
        )

    def test_other_calls_do_not_count(self):
        counts = count_launches(
            [
                call("cuda_runtime", "cudaLaunchHostFunc", 0, 1, 1),
                call("cuda_runtime", "cudaMemcpyAsync", 2, 1, 2),
                call("cpu_op", "cuLaunchKernel", 4, 1, 3),
                {"ph": "s", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 0, "tid": 1},
            ]
        )
        self.assertEqual(0, counts["kernel_launches"])

    def test_names_lose_version_and_stream_suffix(self):
        self.assertEqual("cudaLaunchKernel", plain_name("cudaLaunchKernel_v7000"))
        self.assertEqual("cuLaunchKernel", plain_name("cuLaunchKernel_ptsz"))
        self.assertEqual("cudaLaunchKernelExC", plain_name("cudaLaunchKernelExC_ptsz_v11060"))
        self.assertEqual("cudaGraphLaunch", plain_name("cudaGraphLaunch"))


if __name__ == "__main__":
    unittest.main()
