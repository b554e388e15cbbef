"""The manager's control socket, as manager-daemon/protocol/SPEC.md section 8 describes it."""

import json
import os
import socket

ANSWER_TIMEOUT_S = 5.0
#: Longer than any status of the suites: a guard against a peer that never ends its line.
ANSWER_LIMIT_BYTES = 16 << 20


class ControlError(Exception):
    """The manager refused a request, or did not answer as the protocol says."""


class Control:
    """Requests to one manager; a connection per request, so nothing has to be closed."""

    def __init__(self, runtime_directory):
        self._path = os.path.join(runtime_directory, "control.sock")

    def request(self, name, **fields):
        """Sends a request and returns the answer's fields; raises ControlError on refusal."""
        line = json.dumps({"request": name, **fields}) + "\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_TIMEOUT_S)
            connection.connect(self._path)
            connection.sendall(line.encode())
            answer = json.loads(self._line(connection))
        if not answer.get("ok"):
            raise ControlError(f"{name}: {answer.get('error', 'no reason given')}")
        return answer

    @staticmethod
    def _line(connection):
        received = bytearray()
        while not received.endswith(b"\n"):
            part = connection.recv(1 << 16)
            if not part or len(received) > ANSWER_LIMIT_BYTES:
                raise ControlError(f"the answer broke off after {len(received)} bytes")
            received += part
        return received.decode()

    def answers(self):
        """Whether a manager answers."""
        try:
            self.request("ping")
            return True
        except (OSError, ControlError, ValueError):
            return False

    def status(self):
        """The whole status."""
        return self.request("status")

    def mode(self, mode):
        """Sets the scheduler of all devices: ``on``, ``off`` or ``auto``."""
        self.request("scheduler", mode=mode)

    def quantum(self, quantum_ns):
        """Sets the quantum of all devices."""
        self.request("quantum", ns=quantum_ns)


def client_of(status, pid):
    """The status entry of a process, or None."""
    return next((client for client in status["clients"] if client["pid"] == pid), None)


def device_in_use(status):
    """The device that has clients; the first one where several have."""
    return next((device for device in status["devices"] if device.get("clients")), None)
