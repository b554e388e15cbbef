"""A Tessera installation and one manager of our own, in a runtime directory of its own."""

import os
import shutil
import tempfile

from harness.child import ChildFailed, run_bounded, wait_until
from harness.control import Control, client_of
from harness.segment import read, segment_path

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 15.0


class Installation:
    """Files of a kit or of a built tree. Immutable.

    :param home: folder with ``tools/tessera``, ``lib``, ``bin``, ``app`` and ``jre``
    """

    def __init__(self, home):
        self.home = os.path.abspath(home)
        self.command = os.path.join(self.home, "tools", "tessera")
        if not os.access(self.command, os.X_OK):
            raise FileNotFoundError(f"{self.command} is not there: build the kit with tests/gpu/kit")

    @property
    def library(self):
        """The preload library."""
        return os.path.join(self.home, "lib", "libcuda.so.1")

    def path(self, *parts):
        """A file of the installation."""
        return os.path.join(self.home, *parts)

    def share_classes(self):
        """Makes the linked runtime's class archive, which the kit leaves out for its size, unless it is there.

        Without it every start of Java takes some tenths of a second longer. Returns a sentence where it fails.
        """
        java, archive = self.path("jre", "bin", "java"), self.path("jre", "lib", "server", "classes.jsa")
        if not os.path.exists(java) or os.path.exists(archive):
            return None
        status, out, err = run_bounded([java, "-Xshare:dump", "-Xlog:disable"], native_environment(), 60)
        return None if status == 0 else f"java -Xshare:dump ended with {status}: {(err or out).strip()[-200:]}"

    def commit(self):
        """The commit that the kit was built from, or None."""
        try:
            with open(self.path("COMMIT"), encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return None


class Manager:
    """One manager and the programs run under it. Use as a context manager: leaving it stops the manager.

    :param settings: further variables of its environment, and so of its executors' and programs'
    """

    def __init__(self, installation, log_directory, settings=None):
        self._installation = installation
        self._log_directory = log_directory
        # A suite may start several, one after the other: each keeps its logs.
        others = sum(name.endswith("-manager.log") for name in os.listdir(log_directory)) if os.path.isdir(log_directory) else 0
        self._label = f"manager-{others + 1}" if others else "manager"
        # Short and under /tmp: a UNIX socket's path holds 107 bytes.
        self.runtime_directory = tempfile.mkdtemp(prefix="tessera-gpu-", dir="/tmp")
        self.environment = tessera_environment()
        self.environment["TESSERA_HOME"] = installation.home
        self.environment["TESSERA_RUNTIME_DIR"] = self.runtime_directory
        self.environment.update(settings or {})
        self.control = Control(self.runtime_directory)
        self.pid = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        status, out, err = run_bounded(
            [self._installation.command, "manager", "start"], self.environment, START_TIMEOUT_S
        )
        if status != 0:
            raise ChildFailed(f"tessera manager start ended with {status}: {err.strip()[-600:]} {out.strip()[-200:]}")
        if not wait_until(self.control.answers, START_TIMEOUT_S):
            raise ChildFailed(f"the manager does not answer after {START_TIMEOUT_S:.0f} s; {self._log_tail()}")
        self.pid = self.control.status()["manager"]["pid"]

    def __exit__(self, *failure):
        if self.pid is not None:
            run_bounded([self._installation.command, "manager", "stop"], self.environment, STOP_TIMEOUT_S)
            gone = wait_until(lambda: not os.path.exists(f"/proc/{self.pid}"), STOP_TIMEOUT_S)
            if not gone:
                os.kill(self.pid, 9)
        self._keep_logs()
        shutil.rmtree(self.runtime_directory, ignore_errors=True)

    def _keep_logs(self):
        for folder, _, names in os.walk(self.runtime_directory):
            for name in names:
                if name.endswith(".log"):
                    shutil.copy(os.path.join(folder, name), os.path.join(self._log_directory, f"{self._label}-{name}"))

    def _log_tail(self):
        self._keep_logs()
        return f"its logs are in {self._log_directory}"

    def wrap(self, command, plan="plain", name=None, share="time", options=()):
        """The command under ``tessera run``, in time or in space sharing, with further options."""
        label = ["--name", name] if name else []
        how = ["--share", share, *(["--plan", plan] if share == "time" else [])]
        return [self._installation.command, "run", *how, *options, *label, "--", *command]

    def tessera(self, *words, timeout_s=30.0):
        """Runs the CLI; (status, stdout, stderr)."""
        return run_bounded([self._installation.command, *words], self.environment, timeout_s)

    def client(self, pid, timeout_s=5.0):
        """The status entry of a process; waits for its registration."""
        client = wait_until(lambda: client_of(self.control.status(), pid), timeout_s)
        if client is None:
            raise ChildFailed(f"process {pid} is not among the manager's clients: it runs without Tessera")
        return client

    def counters(self, pid):
        """A client's own counters, from its segment, and the manager's sum of its launches."""
        client = self.client(pid)
        counted = read(segment_path(client["id"], self.environment))
        counted["status_launches"] = sum(device["launches"] for device in client["devices"])
        return counted


def native_environment():
    """The caller's environment without anything that would bring Tessera or MPS in."""
    dropped = ("LD_PRELOAD", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY")
    return {
        name: value for name, value in os.environ.items() if name not in dropped and not name.startswith("TESSERA_")
    }


def tessera_environment():
    """The same with the caller's own settings of Tessera: a driver, a folder for segments."""
    environment = native_environment()
    environment.update({name: value for name, value in os.environ.items() if name.startswith("TESSERA_")})
    return environment
