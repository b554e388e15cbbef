package io.tessera.software.interpret;

import io.tessera.software.execution.BarrierOperation;
import io.tessera.software.execution.StopReason;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.execution.WarpOperation;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;

/** Instructions at which a thread waits for others: the request before the stop, the result after it. Stateless. */
final class WaitOperations {
    private WaitOperations() {
    }

    static boolean stops(Opcode opcode) {
        return opcode.waitsForOthers() || opcode == Opcode.ACTIVEMASK;
    }

    static StopReason request(LoweredInstruction i, Frame frame, ThreadState thread) {
        StopReason stop = switch (i.opcode()) {
            case BARRIER_SYNC -> thread.askBarrier((int) frame.argument(thread, i, 0),
                    i.arguments().size() > 1 ? (int) frame.argument(thread, i, 1) : 0, BarrierOperation.NONE, false);
            case BARRIER_RED -> reduceAtBarrier(i, frame, thread);
            case CLUSTER_WAIT -> StopReason.CLUSTER;
            case WARP_SYNC -> thread.askWarp(WarpOperation.SYNC, (int) frame.argument(thread, i, 0), 0);
            case SHFL -> thread.askShuffle(shuffle(i), mask(i, frame, thread, 3),
                    (int) frame.argument(thread, i, 0), (int) frame.argument(thread, i, 1),
                    (int) frame.argument(thread, i, 2));
            case VOTE -> thread.askWarp(vote(i), mask(i, frame, thread, 1), frame.argument(thread, i, 0));
            case MATCH -> thread.askWarp(i.has(Modifier.ALL) ? WarpOperation.MATCH_ALL : WarpOperation.MATCH_ANY,
                    (int) frame.argument(thread, i, 1), frame.argument(thread, i, 0));
            case REDUX -> thread.askWarp(reduction(i), (int) frame.argument(thread, i, 1),
                    frame.argument(thread, i, 0));
            case ELECT -> thread.askWarp(WarpOperation.ELECT, (int) frame.argument(thread, i, 0), 0);
            default -> thread.askWarp(WarpOperation.ACTIVEMASK, 0, 0);
        };
        if (i.asksWhoeverIsHere()) {
            thread.askConverged(System.identityHashCode(i));
        }
        return stop;
    }

    private static int mask(LoweredInstruction i, Frame frame, ThreadState thread, int place) {
        return i.asksWhoeverIsHere() ? 0 : (int) frame.argument(thread, i, place);
    }

    private static StopReason reduceAtBarrier(LoweredInstruction i, Frame frame, ThreadState thread) {
        BarrierOperation operation = i.has(Modifier.POPC) ? BarrierOperation.POPC
                : i.has(Modifier.AND) ? BarrierOperation.AND : BarrierOperation.OR;
        int last = i.arguments().size() - 1;
        int threads = last > 1 ? (int) frame.argument(thread, i, 1) : 0;
        return thread.askBarrier((int) frame.argument(thread, i, 0), threads, operation,
                frame.argument(thread, i, last) != 0);
    }

    private static WarpOperation shuffle(LoweredInstruction i) {
        return i.has(Modifier.UP) ? WarpOperation.SHFL_UP : i.has(Modifier.DOWN) ? WarpOperation.SHFL_DOWN
                : i.has(Modifier.BFLY) ? WarpOperation.SHFL_BFLY : WarpOperation.SHFL_IDX;
    }

    private static WarpOperation vote(LoweredInstruction i) {
        return i.has(Modifier.ALL) ? WarpOperation.VOTE_ALL : i.has(Modifier.ANY) ? WarpOperation.VOTE_ANY
                : i.has(Modifier.UNI) ? WarpOperation.VOTE_UNI : WarpOperation.VOTE_BALLOT;
    }

    static WarpOperation reduction(LoweredInstruction i) {
        Modifier operation = i.firstOf(Modifier.ADD, Modifier.MIN, Modifier.MAX, Modifier.AND, Modifier.OR,
                Modifier.XOR);
        boolean signed = i.type().isSigned();
        return switch (operation) {
            case null -> throw new UnsupportedOperationException(i.spelling());
            case ADD -> WarpOperation.REDUX_ADD;
            case MIN -> signed ? WarpOperation.REDUX_MIN_S : WarpOperation.REDUX_MIN_U;
            case MAX -> signed ? WarpOperation.REDUX_MAX_S : WarpOperation.REDUX_MAX_U;
            case AND -> WarpOperation.REDUX_AND;
            case OR -> WarpOperation.REDUX_OR;
            default -> WarpOperation.REDUX_XOR;
        };
    }

    static void finish(LoweredInstruction i, Frame frame, ThreadState thread) {
        if (i.results().isEmpty()) {
            return;
        }
        LoweredOperand first = i.result();
        frame.set(first, thread.result);
        if (i.results().size() > 1) {
            frame.set(i.results().get(1), thread.flag ? 1 : 0);
        }
    }
}
