package io.tessera.software.interpret;

import io.tessera.software.execution.AtomicAccess;
import io.tessera.software.execution.MemoryBarrier;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.ValueType;
import java.util.List;

/** Loads, stores, atomics, asynchronous copies (done at once) and mbarriers. Stateless. */
final class MemoryOperations {
    /** The cost of a look at memory that others may change, taken off the budget, so that spinning threads stop early. */
    private static final int LOOK_COST = 64;

    private MemoryOperations() {
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        switch (i.opcode()) {
            case LD, LDU -> load(i, frame, thread);
            case ST -> store(i, frame, thread);
            case ATOM, RED -> atomic(i, frame, thread);
            case FENCE -> RealMemory.fence();
            case CREATEPOLICY -> frame.set(i.result(), 0);
            case CP_ASYNC -> copy(i, frame, thread);
            case PREFETCH, PREFETCHU, APPLYPRIORITY, DISCARD, CP_ASYNC_COMMIT, CP_ASYNC_WAIT, MBARRIER_INVAL -> {
                // Hints; and waits for copies that are complete already.
            }
            default -> barrier(i, frame, thread);
        }
    }

    /** Real address of an operand, checked for an access of this many bytes. */
    static long real(AddressSpace space, long address, int bytes, ThreadState thread) {
        return switch (space) {
            case SHARED -> thread.block.shared(address, bytes);
            case SHARED_CLUSTER -> thread.block.sharedCluster(address, bytes);
            case LOCAL -> thread.local(address, bytes);
            case PARAM -> thread.block.grid.parameter(address, bytes);
            default -> thread.block.grid.map.checked(address, bytes);
        };
    }

    private static long real(LoweredInstruction i, Frame frame, ThreadState thread, int bytes) {
        return real(i.space(), frame.address(i.address()), bytes, thread);
    }

    private static boolean isOrdered(LoweredInstruction i) {
        return i.firstOf(Modifier.VOLATILE, Modifier.RELAXED, Modifier.ACQUIRE, Modifier.RELEASE, Modifier.SC,
                Modifier.MMIO) != null;
    }

    private static void load(LoweredInstruction i, Frame frame, ThreadState thread) {
        ValueType type = i.sourceType();
        int bytes = type.bytes();
        List<LoweredOperand> results = i.results();
        long address = real(i, frame, thread, bytes * results.size());
        boolean ordered = isOrdered(i);
        if (ordered) {
            thread.budget -= LOOK_COST;
        }
        if (results.size() > 1 && bytes * results.size() <= 8) {
            loadWord(frame, results, type, address, ordered);
            return;
        }
        if (bytes * results.size() == 16 && ordered) {
            AtomicAccess.Wide both = AtomicAccess.loadWide(address);
            loadBoth(frame, results, bytes, both);
            return;
        }
        long[] values = new long[results.size() * 2];
        for (int k = 0; k < results.size(); k++) {
            values[2 * k] = read(address + (long) k * bytes, type, ordered);
            if (bytes == 16) {
                values[2 * k + 1] = read(address + k * 16L + 8, ValueType.B64, ordered);
            }
        }
        for (int k = 0; k < results.size(); k++) {
            if (bytes == 16) {
                frame.setWide(results.get(k), values[2 * k], values[2 * k + 1]);
            } else {
                frame.set(results.get(k), values[2 * k]);
            }
        }
    }

    /** Vectors of up to eight bytes are one access: hardware does not tear them, and programs rely on that. */
    private static void loadWord(Frame frame, List<LoweredOperand> results, ValueType type, long address, boolean ordered) {
        long word = switch (type.bytes() * results.size()) {
            case 2 -> read(address, ValueType.U16, ordered);
            case 4 -> read(address, ValueType.U32, ordered);
            default -> read(address, ValueType.U64, ordered);
        };
        for (int k = 0; k < results.size(); k++) {
            long bits = word >>> k * type.bits() & (1L << type.bits()) - 1;
            int unused = 64 - type.bits();
            frame.set(results.get(k), type.isSigned() ? bits << unused >> unused : bits);
        }
    }

    /** Hands out 16 bytes that were read at once. */
    private static void loadBoth(Frame frame, List<LoweredOperand> results, int bytes, AtomicAccess.Wide both) {
        for (int k = 0; k < results.size(); k++) {
            long half = k * bytes < 8 ? both.low() : both.high();
            switch (bytes) {
                case 16 -> frame.setWide(results.get(k), both.low(), both.high());
                case 8 -> frame.set(results.get(k), half);
                default -> frame.set(results.get(k), half >>> k * bytes % 8 * 8 & (1L << bytes * 8) - 1);
            }
        }
    }

    /** Raw bits of memory; signed types are sign-extended, since the register may be wider. */
    static long read(long address, ValueType type, boolean ordered) {
        long bits = switch (type.bytes()) {
            case 1 -> RealMemory.getByte(address);
            case 2 -> ordered ? RealMemory.getShortVolatile(address) : RealMemory.getShort(address);
            case 4 -> ordered ? RealMemory.getIntVolatile(address) : RealMemory.getInt(address);
            default -> ordered ? RealMemory.getLongVolatile(address) : RealMemory.getLong(address);
        };
        return type.isSigned() || type.bits() >= 64 ? bits : bits & (1L << type.bits()) - 1;
    }

    private static void store(LoweredInstruction i, Frame frame, ThreadState thread) {
        ValueType type = i.sourceType();
        int bytes = type.bytes();
        int count = i.arguments().size() - 1;
        long address = real(i, frame, thread, bytes * count);
        boolean ordered = isOrdered(i);
        if (count > 1 && bytes * count <= 8) {
            write(address, bytes * count, packed(i, frame, thread, 0, count), ordered);
            return;
        }
        if (bytes * count == 16 && ordered) {
            AtomicAccess.storeWide(address, bytes == 16
                    ? new AtomicAccess.Wide(frame.value(thread, i.argument(1)), frame.high(i.argument(1)))
                    : new AtomicAccess.Wide(packed(i, frame, thread, 0, count / 2),
                            packed(i, frame, thread, count / 2, count)));
            return;
        }
        for (int k = 0; k < count; k++) {
            LoweredOperand operand = i.argument(k + 1);
            long value = frame.value(thread, operand);
            write(address + (long) k * bytes, Math.min(bytes, 8), value, ordered);
            if (bytes == 16) {
                write(address + k * 16L + 8, 8, frame.high(operand), ordered);
            }
        }
    }

    /** Elements of a stored vector in one word, the first in its low end. */
    private static long packed(LoweredInstruction i, Frame frame, ThreadState thread, int first, int end) {
        int bits = i.sourceType().bits();
        long word = 0;
        for (int k = first; k < end; k++) {
            long value = frame.value(thread, i.argument(k + 1));
            word |= (bits == 64 ? value : value & (1L << bits) - 1) << (k - first) * bits;
        }
        return word;
    }

    static void write(long address, int bytes, long value, boolean ordered) {
        switch (bytes) {
            case 1 -> {
                if (ordered) {
                    RealMemory.fence();
                }
                RealMemory.putByte(address, (byte) value);
            }
            case 2 -> {
                if (ordered) {
                    RealMemory.putShortVolatile(address, (short) value);
                } else {
                    RealMemory.putShort(address, (short) value);
                }
            }
            case 4 -> {
                if (ordered) {
                    RealMemory.putIntVolatile(address, (int) value);
                } else {
                    RealMemory.putInt(address, (int) value);
                }
            }
            default -> {
                if (ordered) {
                    RealMemory.putLongVolatile(address, value);
                } else {
                    RealMemory.putLong(address, value);
                }
            }
        }
    }

    /** Returns the operation of atom or red. */
    static Modifier operation(LoweredInstruction i) {
        Modifier operation = i.firstOf(Modifier.AND, Modifier.OR, Modifier.XOR, Modifier.ADD, Modifier.INC,
                Modifier.DEC, Modifier.MIN, Modifier.MAX, Modifier.EXCH, Modifier.CAS);
        boolean floatBeyondAdd = operation != Modifier.ADD && i.sourceType().isFloat();
        if (operation == null || floatBeyondAdd || i.sourceType() == ValueType.F32X2) {
            throw new UnsupportedOperationException(i.spelling());
        }
        return operation;
    }

    private static void atomic(LoweredInstruction i, Frame frame, ThreadState thread) {
        ValueType type = i.sourceType();
        long address = real(i, frame, thread, type.bytes());
        Modifier operation = operation(i);
        if (type.bits() == 128) {
            wide(i, frame, thread, address, operation);
            return;
        }
        long before;
        if (operation == Modifier.CAS) {
            thread.budget -= LOOK_COST;
            before = AtomicAccess.compareAndSwap(type.bits(), address, frame.argument(thread, i, 1),
                    frame.argument(thread, i, 2));
        } else if (AtomicAccess.isFlushed(operation, type, i.space())) {
            before = AtomicAccess.addFlushed(address, frame.argument(thread, i, 1));
        } else {
            if (operation == Modifier.EXCH) {
                thread.budget -= LOOK_COST;
            }
            before = AtomicAccess.update(operation, type, address, frame.argument(thread, i, 1));
        }
        if (!i.results().isEmpty()) {
            frame.set(i.result(), before);
        }
    }

    private static void wide(LoweredInstruction i, Frame frame, ThreadState thread, long address, Modifier operation) {
        AtomicAccess.Wide first = new AtomicAccess.Wide(frame.argument(thread, i, 1), frame.high(i.argument(1)));
        boolean exchange = operation == Modifier.EXCH;
        AtomicAccess.Wide value = exchange ? first
                : new AtomicAccess.Wide(frame.argument(thread, i, 2), frame.high(i.argument(2)));
        AtomicAccess.Wide before = AtomicAccess.swapWide(address, exchange ? null : first, value);
        frame.setWide(i.result(), before.low(), before.high());
    }

    private static void copy(LoweredInstruction i, Frame frame, ThreadState thread) {
        int bytes = (int) frame.argument(thread, i, 2);
        int taken = bytes;
        if (i.arguments().size() > 3) {
            boolean ignores = i.argument(3) instanceof LoweredOperand.Register register
                    && register.registerClass() == RegisterClass.PREDICATE;
            long last = frame.argument(thread, i, 3);
            taken = ignores ? last != 0 ? 0 : bytes : (int) Math.min(bytes, last);
        }
        long to = real(i.space(), frame.address((LoweredOperand.Address) i.argument(0)), bytes, thread);
        if (taken > 0) {
            long from = thread.block.grid.map.checked(frame.address((LoweredOperand.Address) i.argument(1)), bytes);
            RealMemory.copy(from, to, taken);
        }
        if (taken < bytes) {
            RealMemory.fill(to + taken, bytes - taken, (byte) 0);
        }
    }

    private static void barrier(LoweredInstruction i, Frame frame, ThreadState thread) {
        if (i.arguments().getFirst() instanceof LoweredOperand.Address) {
            barrierAt(i, frame, thread, real(i, frame, thread, 8));
        } else {
            frame.set(i.result(), MemoryBarrier.pendingCount(frame.argument(thread, i, 0)));
        }
    }

    private static void barrierAt(LoweredInstruction i, Frame frame, ThreadState thread, long address) {
        long operand = i.arguments().size() > 1 ? frame.argument(thread, i, 1) : 1;
        switch (i.opcode()) {
            case MBARRIER_INIT -> MemoryBarrier.initialise(address, operand & 0xFFFFFFFFL);
            case MBARRIER_ARRIVE, MBARRIER_ARRIVE_DROP -> {
                boolean expects = i.has(Modifier.EXPECT_TX);
                long count = expects ? 1 : operand & 0xFFFFFFFFL;
                long drop = i.opcode() == Opcode.MBARRIER_ARRIVE_DROP ? count : 0;
                long state = MemoryBarrier.arrive(address, count, drop, expects ? operand & 0xFFFFFFFFL : 0);
                if (!i.results().isEmpty()) {
                    frame.set(i.result(), state);
                }
            }
            case MBARRIER_EXPECT_TX -> MemoryBarrier.arrive(address, 0, 0, operand & 0xFFFFFFFFL);
            case MBARRIER_COMPLETE_TX -> MemoryBarrier.arrive(address, 0, 0, -(operand & 0xFFFFFFFFL));
            case CP_ASYNC_MBARRIER_ARRIVE -> {
                // Without .noinc the pending count first increases by one, so nothing changes.
                if (i.has(Modifier.NOINC)) {
                    MemoryBarrier.arrive(address, 1, 0, 0);
                }
            }
            default -> {
                boolean complete = i.has(Modifier.PARITY) ? MemoryBarrier.isParityComplete(address, operand)
                        : MemoryBarrier.isComplete(address, operand);
                frame.set(i.result(), complete ? 1 : 0);
                thread.budget -= complete ? 0 : LOOK_COST;
            }
        }
    }
}
