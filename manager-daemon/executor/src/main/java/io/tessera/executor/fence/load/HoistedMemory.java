package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.verify.Verdict;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The module variables of one loaded program, in its tenant's window. They are in one block, those with initial bytes first, so that
 * one copy and one memset fill it. One owner thread.
 */
public final class HoistedMemory {
    private static final long ALIGNMENT = 512;
    /** Up to this size, the initial bytes are assembled in the executor's memory and copied as a whole. */
    private static final long MOST_STAGED_BYTES = 32L << 20;

    private final List<Map<String, Place>> places = new ArrayList<>();
    private long address;
    private long bytes;

    /** Place of a variable. */
    public record Place(HoistedVariable variable, long offset) {
    }

    private HoistedMemory() {
    }

    /**
     * Takes memory for the variables and fills it.
     *
     * @param modules the variables of each module of the program
     * @throws ProgramRefusedException with OUT_OF_MEMORY, or the driver's result; then nothing is left allocated
     */
    public static HoistedMemory place(List<List<HoistedVariable>> modules, WindowAccess window, ClientCharge charge, OwnStream stream,
            DriverCalls driver)
            throws ProgramRefusedException {
        HoistedMemory memory = new HoistedMemory();
        long initialised = memory.layOut(modules);
        if (memory.bytes == 0) {
            return memory;
        }
        memory.address = charge.take(memory.bytes) ? window.allocate(memory.bytes, ALIGNMENT) : 0;
        if (memory.address == 0) {
            throw new ProgramRefusedException(CudaResult.OUT_OF_MEMORY, "no memory for its variables ("
                    + memory.bytes + " bytes)");
        }
        int result = memory.fill(initialised, stream, driver);
        if (result != CudaResult.SUCCESS) {
            memory.free(window, charge);
            throw new ProgramRefusedException(result, "its variables cannot be filled (" + result + ")");
        }
        return memory;
    }

    /** Returns where the variables without initial bytes begin. */
    private long layOut(List<List<HoistedVariable>> modules) {
        Map<String, Place> shared = new HashMap<>();
        for (int part = 0; part < modules.size(); part++) {
            places.add(new HashMap<>());
        }
        long initialised = 0;
        for (boolean filled : new boolean[] {true, false}) {
            for (int part = 0; part < modules.size(); part++) {
                for (HoistedVariable variable : modules.get(part)) {
                    boolean has = variable.initial().length > 0 || !variable.relocations().isEmpty();
                    boolean known = variable.linkage() != Linkage.INTERNAL && shared.containsKey(variable.name());
                    if (variable.linkage() == Linkage.EXTERN || has != filled || known) {
                        continue;
                    }
                    long offset = align(bytes, Math.max(Verdict.ADDRESS_ALIGNMENT, variable.alignmentBytes()));
                    Place place = new Place(variable, offset);
                    bytes = offset + Math.max(1, variable.sizeBytes());
                    (variable.linkage() == Linkage.INTERNAL ? places.get(part) : shared).put(variable.name(), place);
                }
            }
            initialised = filled ? bytes : initialised;
        }
        places.forEach(own -> shared.forEach(own::putIfAbsent));
        return initialised;
    }

    private static long align(long offset, long alignment) {
        return offset + alignment - 1 & -alignment;
    }

    private int fill(long initialised, OwnStream stream, DriverCalls driver) throws ProgramRefusedException {
        if (initialised > MOST_STAGED_BYTES) {
            return fillEach(stream, driver);
        }
        int result = CudaResult.SUCCESS;
        if (initialised > 0) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment image = arena.allocate(initialised, 16);
                for (Map<String, Place> part : places) {
                    for (Place place : part.values()) {
                        if (place.offset < initialised) {
                            write(image, place, part);
                        }
                    }
                }
                result = written(driver, stream, address, image);
            }
        }
        if (result == CudaResult.SUCCESS && bytes > initialised) {
            result = stream.zero(driver, address + initialised, bytes - initialised);
            result = result == CudaResult.SUCCESS ? stream.await(driver) : result;
        }
        return result;
    }

    /** Fills the part of each variable that is not zero: a variable may declare far more bytes than its initializer has. */
    private int fillEach(OwnStream stream, DriverCalls driver) throws ProgramRefusedException {
        int result = stream.zero(driver, address, bytes);
        result = result == CudaResult.SUCCESS ? stream.await(driver) : result;
        for (Map<String, Place> part : places) {
            for (Place place : part.values()) {
                long staged = saidBytes(place.variable);
                if (result == CudaResult.SUCCESS && staged > 0) {
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment image = arena.allocate(staged, 16);
                        write(image, place.variable, part);
                        result = written(driver, stream, address + place.offset, image);
                    }
                }
            }
        }
        return result;
    }

    private static int written(DriverCalls driver, OwnStream stream, long to, MemorySegment image) {
        int result = stream.write(driver, to, image.address(), image.byteSize());
        return result == CudaResult.SUCCESS ? stream.await(driver) : result;
    }

    private static long saidBytes(HoistedVariable variable) {
        long initialBytes = variable.initial().length;
        for (Relocation relocation : variable.relocations()) {
            initialBytes = Math.max(initialBytes, relocation.offsetBytes() + relocation.widthBytes());
        }
        return initialBytes;
    }

    private void write(MemorySegment image, Place place, Map<String, Place> part) throws ProgramRefusedException {
        write(image.asSlice(place.offset, Math.max(1, place.variable.sizeBytes())), place.variable, part);
    }

    private void write(MemorySegment own, HoistedVariable variable, Map<String, Place> part) throws ProgramRefusedException {
        MemorySegment.copy(variable.initial(), 0, own, ValueLayout.JAVA_BYTE, 0,
                (int) Math.min(variable.initial().length, own.byteSize()));
        for (Relocation relocation : variable.relocations()) {
            long value = value(relocation, part);
            for (int i = 0; i < relocation.widthBytes(); i++) {
                own.set(ValueLayout.JAVA_BYTE, relocation.offsetBytes() + i, (byte) (value >>> i * Byte.SIZE));
            }
        }
    }

    private long value(Relocation relocation, Map<String, Place> part) throws ProgramRefusedException {
        Place target = part.get(relocation.variable());
        if (target == null) {
            throw new ProgramRefusedException(CudaResult.INVALID_PTX,
                    "an initialiser names " + relocation.variable() + ", which nobody defines");
        }
        return relocation.value(address + target.offset);
    }

    /** Returns the bits of a relocation in a module of the program. */
    long value(int part, Relocation relocation) throws ProgramRefusedException {
        return value(relocation, places.get(part));
    }

    /** Returns the place of a variable; null if the program does not have it. */
    public Place find(String name) {
        for (Map<String, Place> part : places) {
            Place place = part.get(name);
            if (place != null) {
                return place;
            }
        }
        return null;
    }

    /** Returns the place of a variable for a module of the program; null if no module defines it. */
    public Place find(int part, String name) {
        return places.get(part).get(name);
    }

    /** Returns the device address of a place. */
    public long address(Place place) {
        return address + place.offset;
    }

    /** Bytes taken from the window. */
    long bytes() {
        return bytes;
    }

    /** Gives the memory back, when no work of the client uses it. */
    public void free(WindowAccess window, ClientCharge charge) {
        if (address != 0) {
            window.free(address);
            charge.giveBack(bytes);
            address = 0;
        }
    }
}
