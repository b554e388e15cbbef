"""NVIDIA's Multi-Process Service, started for one suite with directories of its own and ended with it."""

import os
import shutil
import subprocess
import tempfile

from harness.child import ChildFailed, run_bounded, wait_until
from harness.tessera import native_environment

CONTROL = "nvidia-cuda-mps-control"
START_TIMEOUT_S = 15.0


class Mps:
    """An MPS control daemon in the foreground, so that it is our child. Use as a context manager."""

    def __init__(self, log_directory):
        self._directory = tempfile.mkdtemp(prefix="mps-", dir="/tmp")
        self._log_path = os.path.join(log_directory, "mps.log")
        self._process = None
        self.environment = native_environment()
        self.environment["CUDA_MPS_PIPE_DIRECTORY"] = self._directory
        self.environment["CUDA_MPS_LOG_DIRECTORY"] = self._directory

    def __enter__(self):
        if shutil.which(CONTROL) is None:
            raise FileNotFoundError(f"{CONTROL} is not on the PATH")
        with open(self._log_path, "ab") as log:
            self._process = subprocess.Popen(
                [CONTROL, "-f"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )
        if not wait_until(self._answers, START_TIMEOUT_S, 0.2):
            self.__exit__()
            raise ChildFailed(f"the MPS control daemon does not answer; log: {self._log_path}")
        return self

    def _answers(self):
        if self._process.poll() is not None:
            raise ChildFailed(f"{CONTROL} ended with {self._process.returncode}; log: {self._log_path}")
        status, _, _ = run_bounded([CONTROL], self.environment, 5, "get_server_list\n")
        return status == 0

    def __exit__(self, *failure):
        if self._process is not None and self._process.poll() is None:
            run_bounded([CONTROL], self.environment, 10, "quit -t 5\n")
            if not wait_until(lambda: self._process.poll() is not None, 10):
                os.killpg(self._process.pid, 9)
                self._process.wait()
        shutil.rmtree(self._directory, ignore_errors=True)
