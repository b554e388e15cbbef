package io.tessera.software.interpret;

import io.tessera.software.execution.MemoryBarrier;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.memory.MemoryFault;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.texture.TensorMap;

/**
 * {@code cp.async.bulk.tensor} in its tiled form: boxes between global and shared memory. Done when the instruction is, which
 * the PTX ISA allows; a load then completes its bytes at the barrier. Stateless.
 */
final class TensorCopies {
    /** 16 bytes are the unit of swizzling, which mixes bits of a row of 128 bytes into them. */
    private static final int CHUNK_BITS = 4;
    private static final int ROW_BITS = 7;

    private TensorCopies() {
    }

    private static int rank(LoweredInstruction i) {
        Modifier[] ranks = {Modifier.GEOM_1D, Modifier.GEOM_2D, Modifier.GEOM_3D, Modifier.GEOM_4D, Modifier.GEOM_5D};
        for (int rank = 1; rank <= ranks.length; rank++) {
            if (i.has(ranks[rank - 1])) {
                return rank;
            }
        }
        return 0;
    }

    /** @throws UnsupportedOperationException for other forms than the tiled one */
    static void check(LoweredInstruction i) {
        int extra = i.opcode() == Opcode.CP_ASYNC_BULK_TENSOR_LOAD ? 2 : 1;
        if (rank(i) == 0 || i.arguments().size() != 1 + rank(i) + extra) {
            throw new UnsupportedOperationException(i.spelling());
        }
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        boolean load = i.opcode() == Opcode.CP_ASYNC_BULK_TENSOR_LOAD;
        int first = load ? 1 : 0;
        long mapAt = frame.argument(thread, i, first);
        TensorMap map = thread.block.grid.map.allowsRange(mapAt, TensorMap.BYTES) ? TensorMap.read(mapAt) : null;
        int rank = rank(i);
        if (map == null || map.rank() != rank) {
            throw new MemoryFault(false, mapAt, "a tensor map of other dimensions, or none");
        }
        long[] origin = new long[rank];
        for (int d = 0; d < rank; d++) {
            origin[d] = (int) frame.argument(thread, i, first + 1 + d);
        }
        int last = i.arguments().size() - 1;
        long shared = frame.address((LoweredOperand.Address) i.argument(load ? 0 : last));
        AddressSpace space = load ? i.space() : AddressSpace.SHARED;
        move(map, origin, shared, load, space, thread);
        if (load) {
            long barrier = MemoryOperations.real(i.space(), frame.address((LoweredOperand.Address) i.argument(last)), Long.BYTES,
                    thread);
            MemoryBarrier.arrive(barrier, 0, 0, -(long) map.boxBytes());
        }
    }

    /** Element by element, the first dimension fastest. */
    private static void move(TensorMap map, long[] origin, long shared, boolean load, AddressSpace space, ThreadState thread) {
        int bytes = map.elementBytes();
        int total = map.boxBytes() / bytes;
        for (int element = 0; element < total; element++) {
            long global = map.address();
            boolean inside = true;
            int rest = element;
            for (int d = 0; d < map.rank(); d++) {
                long at = origin[d] + (long) (rest % map.count(d)) * map.elementSteps()[d];
                rest /= map.count(d);
                inside &= at >= 0 && at < map.sizes()[d];
                global += at * map.strides()[d];
            }
            long place = swizzled(shared + (long) element * bytes, map.swizzle());
            long real = MemoryOperations.real(space, place, bytes, thread);
            if (inside) {
                long there = thread.block.grid.map.checked(global, bytes);
                RealMemory.copy(load ? there : real, load ? real : there, bytes);
            } else if (load) {
                RealMemory.fill(real, bytes, map.fillsWithNan() ? (byte) 0xFF : 0);
            }
        }
    }

    private static long swizzled(long place, int bits) {
        long row = place >>> ROW_BITS & (1L << bits) - 1;
        return place ^ row << CHUNK_BITS;
    }
}
