"""The driver's library for questions: calls by name, answers as text that can be compared."""

import ctypes

UNKNOWN_ENTRY = "no such entry"


class Driver:
    """The ``libcuda.so.1`` that this process gets: the vendor's, or ours where it is preloaded.

    ``answers`` collects text by question; ``handles`` maps addresses and handles of this process to words for them.
    """

    def __init__(self, path="libcuda.so.1"):
        self._library = ctypes.CDLL(path)
        self.answers = {}

    def has(self, name):
        """Whether the library exports a name."""
        return hasattr(self._library, name)

    def call(self, name, *arguments):
        """The result of a call, or None where there is no such entry. Integers go as 64 bits, anything else as it is."""
        function = getattr(self._library, name, None)
        if function is None:
            return None
        return function(*(ctypes.c_int64(one) if isinstance(one, int) else one for one in arguments))

    def need(self, name, *arguments):
        """A call that the later questions need; raises unless it succeeds."""
        result = self.call(name, *arguments)
        if result != 0:
            raise RuntimeError(f"{name} answered {result}")

    def note(self, question, result, *values):
        """Keeps an answer: a result, and values only where it is success."""
        if result is None:
            text = UNKNOWN_ENTRY
        elif result != 0:
            text = f"error {result}"
        else:
            text = " ".join(str(value) for value in values)
        self.answers[question] = text

    def ask(self, question, name, *arguments, out=ctypes.c_int, place=0, outs=1):
        """A call whose outputs are OUTS pointers, beginning at argument PLACE, each to an OUT."""
        room = [out() for _ in range(outs)]
        words = list(arguments)
        words[place:place] = [ctypes.byref(one) for one in room]
        result = self.call(name, *words)
        self.note(question, result, *(one.value for one in room))
        return room[0].value if result == 0 else None

    def words(self, question, name, *arguments, count, place=0):
        """A call that fills COUNT 32-bit words at argument PLACE: an answer for each word."""
        room = (ctypes.c_uint32 * count)()
        call = list(arguments)
        call[place:place] = [room]
        result = self.call(name, *call)
        if result != 0:
            self.note(question, result)
            return
        for index, word in enumerate(room):
            self.note(f"{question} word {index}", 0, f"{word:#x}")
