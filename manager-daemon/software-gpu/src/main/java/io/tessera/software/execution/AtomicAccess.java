package io.tessera.software.execution;

import io.tessera.software.arithmetic.BrainArithmetic;
import io.tessera.software.arithmetic.DoubleArithmetic;
import io.tessera.software.arithmetic.HalfArithmetic;
import io.tessera.software.arithmetic.PackedArithmetic;
import io.tessera.software.arithmetic.SingleArithmetic;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;

/**
 * {@code atom} and {@code red} on real, checked addresses; atomic against each other on all host threads, and ordered
 * as {@code acq_rel} at system scope whatever was asked for. Stateless.
 */
public final class AtomicAccess {
    private AtomicAccess() {
    }

    /**
     * Combines memory with a value.
     *
     * @param operation AND, OR, XOR, ADD, INC, DEC, MIN, MAX or EXCH
     * @param type      type of the value, 16 to 64 bits
     * @param address   real address
     * @param value     raw bits
     * @return the previous value, raw bits, zero-extended
     */
    public static long update(Modifier operation, ValueType type, long address, long value) {
        return switch (type.bits()) {
            case 16 -> update16(operation, type, address, value);
            case 32 -> update32(operation, type, address, (int) value);
            default -> update64(operation, type, address, value);
        };
    }

    /**
     * {@code atom.add.f32} and {@code red.add.f32} on global memory, which flush subnormal operands and results; on shared memory {@link #update} keeps them
     * (PTX ISA, "atom").
     *
     * @param address real address
     * @param value   raw bits
     * @return the previous value, raw bits, zero-extended
     */
    public static long addFlushed(long address, long value) {
        float addend = SingleArithmetic.flush(Float.intBitsToFloat((int) value));
        while (true) {
            int before = RealMemory.getIntVolatile(address);
            float sum = SingleArithmetic.flush(SingleArithmetic.add(
                    SingleArithmetic.flush(Float.intBitsToFloat(before)), addend));
            if (RealMemory.compareAndExchangeInt(address, before, Float.floatToRawIntBits(sum)) == before) {
                return Integer.toUnsignedLong(before);
            }
        }
    }

    /** Returns whether an operation is {@link #addFlushed}'s; generic addresses count as global ones. */
    public static boolean isFlushed(Modifier operation, ValueType type, AddressSpace space) {
        return operation == Modifier.ADD && type == ValueType.F32
                && (space == AddressSpace.GLOBAL || space == AddressSpace.GENERIC);
    }

    private static long update16(Modifier operation, ValueType type, long address, long value) {
        while (true) {
            short before = RealMemory.getShortVolatile(address);
            short after = (short) combine(operation, type, before & 0xFFFF, value);
            if (RealMemory.compareAndExchangeShort(address, before, after) == before) {
                return before & 0xFFFF;
            }
        }
    }

    private static long update32(Modifier operation, ValueType type, long address, int value) {
        if (operation == Modifier.ADD && !type.isFloat()) {
            return Integer.toUnsignedLong(RealMemory.getAndAddInt(address, value));
        }
        if (operation == Modifier.EXCH) {
            return Integer.toUnsignedLong(RealMemory.getAndSetInt(address, value));
        }
        while (true) {
            int before = RealMemory.getIntVolatile(address);
            int after = (int) combine(operation, type, Integer.toUnsignedLong(before), Integer.toUnsignedLong(value));
            if (RealMemory.compareAndExchangeInt(address, before, after) == before) {
                return Integer.toUnsignedLong(before);
            }
        }
    }

    private static long update64(Modifier operation, ValueType type, long address, long value) {
        if (operation == Modifier.ADD && !type.isFloat()) {
            return RealMemory.getAndAddLong(address, value);
        }
        if (operation == Modifier.EXCH) {
            return RealMemory.getAndSetLong(address, value);
        }
        while (true) {
            long before = RealMemory.getLongVolatile(address);
            if (RealMemory.compareAndExchangeLong(address, before, combine(operation, type, before, value)) == before) {
                return before;
            }
        }
    }

    /**
     * {@code atom.cas}: stores a value if memory has the expected one.
     *
     * @param bits 16, 32 or 64
     * @return the previous value, zero-extended
     */
    public static long compareAndSwap(int bits, long address, long expected, long value) {
        return switch (bits) {
            case 16 -> RealMemory.compareAndExchangeShort(address, (short) expected, (short) value) & 0xFFFFL;
            case 32 -> Integer.toUnsignedLong(
                    RealMemory.compareAndExchangeInt(address, (int) expected, (int) value));
            default -> RealMemory.compareAndExchangeLong(address, expected, value);
        };
    }

    /** Returns the new value: PTX ISA, "atom". */
    private static long combine(Modifier operation, ValueType type, long old, long value) {
        return switch (operation) {
            case AND -> old & value;
            case OR -> old | value;
            case XOR -> old ^ value;
            case EXCH -> value;
            case ADD -> add(type, old, value);
            case INC -> Long.compareUnsigned(old, value) >= 0 ? 0 : old + 1;
            case DEC -> old == 0 || Long.compareUnsigned(old, value) > 0 ? value : old - 1;
            case MIN -> least(type, old, value) ? old : value;
            case MAX -> least(type, old, value) ? value : old;
            default -> throw new IllegalStateException("no atomic operation: " + operation);
        };
    }

    private static boolean least(ValueType type, long a, long b) {
        int unused = 64 - type.bits();
        return type.isSigned() ? a << unused >> unused <= b << unused >> unused : Long.compareUnsigned(a, b) <= 0;
    }

    private static long add(ValueType type, long a, long b) {
        return switch (type) {
            case F32 -> Integer.toUnsignedLong(Float.floatToRawIntBits(SingleArithmetic.canonical(
                    SingleArithmetic.add(Float.intBitsToFloat((int) a), Float.intBitsToFloat((int) b)))));
            case F64 -> Double.doubleToRawLongBits(
                    DoubleArithmetic.add(Double.longBitsToDouble(a), Double.longBitsToDouble(b)));
            case F16 -> HalfArithmetic.add((int) a, (int) b);
            case BF16 -> BrainArithmetic.add((int) a, (int) b);
            case F16X2 -> PackedArithmetic.map(HalfArithmetic::add, (int) a, (int) b);
            case BF16X2 -> PackedArithmetic.map(BrainArithmetic::add, (int) a, (int) b);
            default -> a + b;
        };
    }

    /** Previous value of a 128-bit atomic: low and high half. */
    public record Wide(long low, long high) {
    }

    /**
     * {@code atom.exch.b128} and {@code atom.cas.b128}. Atomic only with respect to each other: the host has no such access, so a lock replaces it.
     *
     * @param expected value that memory must have for a store, or null for an exchange
     */
    public static Wide swapWide(long address, Wide expected, Wide value) {
        synchronized (AtomicAccess.class) {
            Wide before = new Wide(RealMemory.getLongVolatile(address), RealMemory.getLongVolatile(address + 8));
            if (expected == null || before.equals(expected)) {
                RealMemory.putLongVolatile(address, value.low());
                RealMemory.putLongVolatile(address + 8, value.high());
            }
            return before;
        }
    }

    /** Sixteen bytes at once, as ordered vector loads of that size read them; atomic against the other wide accesses. */
    public static Wide loadWide(long address) {
        synchronized (AtomicAccess.class) {
            return new Wide(RealMemory.getLongVolatile(address), RealMemory.getLongVolatile(address + 8));
        }
    }

    /** Stores sixteen bytes at once; atomic against the other wide accesses. */
    public static void storeWide(long address, Wide value) {
        synchronized (AtomicAccess.class) {
            RealMemory.putLongVolatile(address, value.low());
            RealMemory.putLongVolatile(address + 8, value.high());
        }
    }
}
