"""Finds the operator after which the device has an error: runs a program's text and waits for the device behind every operator.

  python each_operator.py 'import torch; ...'

Prints each operator with the shapes of its tensors, the last ones before an error too, and ends with 1 if there was one. Operators of the
backward pass count as well. Beside another program by relay, with checks for stray writes at every wait:

  TESSERA_EXECUTOR_JAVA=-Dtessera.executor.strayWriteChecksEveryMs=1   in the environment of the manager
"""

import sys


def follow(torch, text, wait, say):
    """Runs the text; ``wait()`` is called behind each operator, whose name and shapes ``say`` gets before. Returns the last of them, or None.

    None means that no operator failed; otherwise it is the one behind which waiting failed, or that failed itself.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    last = []

    class Each(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, arguments=(), named=None):
            shapes = [tuple(leaf.shape) for leaf in tree_leaves((arguments, named)) if isinstance(leaf, torch.Tensor)]
            last[:] = [f"{operator} {shapes}"]
            say(last[0])
            result = operator(*arguments, **(named or {}))
            wait()
            return result

    try:
        # The backward pass runs on this thread, too, where the mode is.
        with Each(), torch.autograd.set_multithreading_enabled(False):
            exec(compile(text, "<program>", "exec"), {"torch": torch})
    except Exception as failed:
        say(f"{type(failed).__name__}: {str(failed).splitlines()[0] if str(failed) else ''}")
        return last[0] if last else "before the first operator"
    return None


def main(words):
    """Follows the program that the only word is."""
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    import torch

    failed = follow(torch, words[0], torch.cuda.synchronize, lambda line: print(line, flush=True))
    print(f"failed: {failed}" if failed else "no operator failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
