package io.tessera.nvidia;

import io.tessera.device.EntryDescription;
import io.tessera.device.ParameterDescription;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a handle {@code (MemorySegment slots)int} of an entry's address and its description. Stateless.
 *
 * <p>Everything that travels in general registers is declared as a 64-bit integer, pointers too: System V psABI 3.2.3
 * passes them alike, and the slots hold what the ABI asks for. No call is declared {@code critical}: any entry may wait
 * for a lock of the driver or for room in a queue, and a thread that does so without a transition would stop the JVM's
 * safepoints.
 */
final class EntryBinder {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final ValueLayout.OfLong SLOT = ValueLayout.JAVA_LONG;
    /** Offsets of a structure behind an address need not be aligned as a long. */
    private static final ValueLayout.OfLong EIGHTBYTE = ValueLayout.JAVA_LONG_UNALIGNED;

    private EntryBinder() {
    }

    /** The handle that calls an entry; its parameters must be known. */
    static MethodHandle bind(MemorySegment address, EntryDescription description) {
        List<ParameterDescription> parameters = description.parameters();
        List<MemoryLayout> layouts = new ArrayList<>();
        MethodHandle[] readers = new MethodHandle[parameters.size()];
        for (int i = 0; i < parameters.size(); i++) {
            layouts.add(layout(parameters.get(i).shape()));
            readers[i] = MethodHandles.insertArguments(reader(parameters.get(i).shape()), 1, i * SLOT.byteSize());
        }
        MethodHandle call = LINKER.downcallHandle(address,
                FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts.toArray(MemoryLayout[]::new)));
        MethodHandle spread = MethodHandles.filterArguments(call, 0, readers);
        return MethodHandles.permuteArguments(spread, MethodType.methodType(int.class, MemorySegment.class),
                new int[parameters.size()]);
    }

    private static MemoryLayout layout(ParameterDescription.Shape shape) {
        return switch (shape) {
            case ParameterDescription.Floating ignored -> ValueLayout.JAVA_FLOAT;
            case ParameterDescription.Structure structure when inMemory(structure) ->
                    MemoryLayout.structLayout(MemoryLayout.sequenceLayout(structure.bytes(), ValueLayout.JAVA_BYTE));
            case ParameterDescription.Structure structure when structure.argumentClass().equals("i")
                    && structure.bytes() == Long.BYTES -> ValueLayout.JAVA_LONG;
            case ParameterDescription.Structure structure -> throw new IllegalArgumentException(
                    "no entry took a structure like this by value before: " + structure);
            default -> ValueLayout.JAVA_LONG;
        };
    }

    private static boolean inMemory(ParameterDescription.Structure structure) {
        return structure.argumentClass().equals("m");
    }

    private static MethodHandle reader(ParameterDescription.Shape shape) {
        return switch (shape) {
            case ParameterDescription.Floating ignored -> Readers.FLOATING;
            case ParameterDescription.Structure structure when inMemory(structure) ->
                    MethodHandles.insertArguments(Readers.BYTES, 2, (long) structure.bytes());
            case ParameterDescription.Structure ignored -> Readers.BEHIND;
            default -> Readers.VALUE;
        };
    }

    /** How an argument is read from its slot. */
    private static final class Readers {
        private static final MethodHandle VALUE = find("value", long.class);
        private static final MethodHandle FLOATING = find("floating", float.class);
        private static final MethodHandle BEHIND = find("behind", long.class);
        private static final MethodHandle BYTES = find("bytes", MemorySegment.class, long.class);

        private static MethodHandle find(String name, Class<?> type, Class<?>... more) {
            try {
                return MethodHandles.lookup().findStatic(Readers.class, name, MethodType.methodType(type,
                        MemorySegment.class, long.class).appendParameterTypes(more));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static long value(MemorySegment slots, long offset) {
            return slots.get(SLOT, offset);
        }

        private static float floating(MemorySegment slots, long offset) {
            return slots.get(ValueLayout.JAVA_FLOAT, offset);
        }

        /** A structure of one eightbyte that travels in a general register. */
        private static long behind(MemorySegment slots, long offset) {
            return bytes(slots, offset, Long.BYTES).get(EIGHTBYTE, 0);
        }

        private static MemorySegment bytes(MemorySegment slots, long offset, long size) {
            return MemorySegment.ofAddress(slots.get(SLOT, offset)).reinterpret(size);
        }
    }
}
