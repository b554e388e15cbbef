package io.tessera.software.interpret;

import io.tessera.software.execution.StopReason;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.matrix.WarpSequence;

/** Tensor core instructions: what a lane gives before the stop, and takes after it. Stateless. */
final class MatrixOperations {
    private MatrixOperations() {
    }

    static StopReason request(WarpSequence sequence, Frame frame, ThreadState thread) {
        long[] values = sequence.room(thread);
        for (int slot = 0; slot < sequence.given().size(); slot++) {
            values[slot] = frame.value(thread, sequence.given().get(slot));
        }
        return thread.askFunction(sequence);
    }

    static void finish(WarpSequence sequence, Frame frame, ThreadState thread) {
        for (WarpSequence.Result result : sequence.results()) {
            frame.set(result.register(), thread.values[result.slot()]);
        }
    }
}
