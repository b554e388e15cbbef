package io.tessera.software.interpret;

import io.tessera.software.execution.BlockState;
import io.tessera.software.execution.GridState;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.memory.AddressKind;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;

/** Conversions between windows and generic addresses, and the stack. Stateless. */
final class AddressOperations {
    private static final int STACK_ALIGN = 16;

    private AddressOperations() {
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        long a = frame.argument(thread, i, 0);
        BlockState block = thread.block;
        long result = switch (i.opcode()) {
            case CVTA -> i.has(Modifier.TO) ? toWindow(i.space(), a, thread) : toGeneric(i.space(), a, thread);
            case ISSPACEP -> isIn(i.space(), a, thread) ? 1 : 0;
            case MAPA -> {
                int rank = (int) frame.argument(thread, i, 1);
                yield i.space() == AddressSpace.GENERIC ? block.mapGeneric(a, rank) : block.mapShared(a, rank);
            }
            default -> i.space() == AddressSpace.GENERIC ? block.rankOfGeneric(a) : block.rankOfShared(a);
        };
        frame.set(i.result(), result);
    }

    private static long toGeneric(AddressSpace space, long a, ThreadState thread) {
        return switch (space) {
            case SHARED -> thread.block.sharedBase + a;
            case SHARED_CLUSTER -> thread.block.genericOfShared(a);
            case LOCAL -> thread.localBase + a;
            case PARAM -> thread.block.grid.parameterBase + a;
            default -> a;
        };
    }

    private static long toWindow(AddressSpace space, long a, ThreadState thread) {
        return switch (space) {
            case SHARED -> a - thread.block.sharedBase;
            case SHARED_CLUSTER -> thread.block.sharedOfGeneric(a);
            case LOCAL -> a - thread.localBase;
            case PARAM -> a - thread.block.grid.parameterBase;
            default -> a;
        };
    }

    private static boolean isIn(AddressSpace space, long a, ThreadState thread) {
        BlockState block = thread.block;
        GridState grid = block.grid;
        AddressKind kind = grid.map.kindOf(a);
        return switch (space) {
            case SHARED -> a >= block.sharedBase && a < block.sharedBase + block.sharedBytes;
            case SHARED_CLUSTER -> kind == AddressKind.SHARED;
            case LOCAL -> kind == AddressKind.LOCAL;
            case PARAM -> kind == AddressKind.PARAM;
            case CONST -> kind == AddressKind.CONST;
            // As on NVIDIA GPUs, every address outside the windows counts as global, valid or not.
            default -> kind == AddressKind.GLOBAL || kind == AddressKind.NONE;
        };
    }

    static void stack(LoweredInstruction i, Frame frame, ThreadState thread) {
        switch (i.opcode()) {
            case STACKSAVE -> frame.set(i.result(), frame.top);
            case STACKRESTORE -> frame.top = frame.argument(thread, i, 0);
            default -> {
                long bytes = frame.argument(thread, i, 0);
                long align = i.arguments().size() > 1 ? Math.max(frame.argument(thread, i, 1), STACK_ALIGN)
                        : STACK_ALIGN;
                // Generic alignment needs the real address, which is aligned only as far as the window is.
                long begin = (thread.localBase + frame.top + align - 1 & -align) - thread.localBase;
                thread.checkStack(begin + bytes);
                frame.top = begin + bytes;
                frame.set(i.result(), begin);
            }
        }
    }
}
