package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.TextLibrary;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;

/** Has the driver load fenced programs, and fills their constants before the first launch. Stateless. */
public final class ProgramLoader {
    private ProgramLoader() {
    }

    /**
     * Loads a program. /
     * @param library whether as a CUlibrary, else as a CUmodule
     * @param options options of its compilation
     * @throws ProgramRefusedException with the driver's result
     */
    public static LoadedCode load(FencedProgram program, boolean library, CodeOptions options, DriverCalls driver) throws ProgramRefusedException {
        return load(MemorySegment.ofArray(program.code()), library, options, driver);
    }

    /** Loads an image as the program gave it. Errors as {@link #load}. */
    public static LoadedCode loadOriginal(ProgramSource source, boolean library, CodeOptions options, DriverCalls driver)
            throws ProgramRefusedException {
        return load(source.main().bytes(), library, options, driver);
    }

    /** Loads an image. Text is loaded as a library even if a module is wanted, see {@link TextLibrary}. */
    private static LoadedCode load(MemorySegment image, boolean library, CodeOptions options, DriverCalls driver) throws ProgramRefusedException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment code = code(image, arena);
            if (LoadedCode.isMachineCode(code.get(ValueLayout.JAVA_BYTE, 0), code.get(ValueLayout.JAVA_BYTE, 1))) {
                int result = library
                        ? driver.call(DriverEntry.cuLibraryLoadData, driver.out(0), code.address(), 0, 0, 0, 0, 0, 0)
                        : driver.call(DriverEntry.cuModuleLoadData, driver.out(0), code.address());
                require(result, "");
                return new LoadedCode(driver.outLong(0), library, 0);
            }
            TextLibrary loaded = TextLibrary.load(code, options, driver);
            require(loaded.result(), loaded.error());
            long whole = loaded.handle();
            if (library) {
                return new LoadedCode(whole, true, 0);
            }
            int result = driver.call(DriverEntry.cuLibraryGetModule, driver.out(0), whole);
            if (result != CudaResult.SUCCESS) {
                driver.call(DriverEntry.cuLibraryUnload, whole);
            }
            require(result, "");
            return new LoadedCode(driver.outLong(0), false, whole);
        }
    }

    /**
     * Loads a program as a module that uses existing variables, and fills its constants.
     *
     * @param window as in {@link #fill}
     * @throws ProgramRefusedException with the driver's result; then nothing is loaded
     */
    public static LoadedCode loadOver(HoistedMemory memory, FencedProgram program, CodeOptions options, byte[] window, OwnStream stream,
            DriverCalls driver) throws ProgramRefusedException {
        LoadedCode code = load(program, false, options, driver);
        boolean filled = false;
        try {
            fill(code, program, window, memory, stream, driver);
            filled = true;
            return code;
        } finally {
            if (!filled) {
                code.unload(driver);
            }
        }
    }

    private static MemorySegment code(MemorySegment image, Arena arena) {
        MemorySegment code = arena.allocate(image.byteSize() + 2, 64); // PTX may lack its final NUL
        MemorySegment.copy(image, 0, code, 0, image.byteSize());
        return code;
    }

    private static void require(int result, String error) throws ProgramRefusedException {
        if (result != CudaResult.SUCCESS) {
            throw new ProgramRefusedException(result, error.isEmpty() ? "the driver does not load it (" + result + ")" : error);
        }
    }

    /** Unloads code that was not loaded by this class. Returns the CUresult. */
    public static int unload(long handle, boolean library, DriverCalls driver) {
        return new LoadedCode(handle, library, 0).unload(driver);
    }

    /**
     * Fills the constants of a loaded program.
     *
     * @param window bytes of {@link WindowConstants}
     * @return bytes of constants that were added for this, less those of the original that are in the window instead
     * @throws ProgramRefusedException if one cannot be filled; then none of its kernels may run
     */
    public static long fill(LoadedCode code, FencedProgram program, byte[] window, HoistedMemory memory, OwnStream stream,
            DriverCalls driver) throws ProgramRefusedException {
        try (Arena arena = Arena.ofConfined()) {
            Filling filling = new Filling(code.handle(), code.library(), stream, driver, arena, new HashMap<>());
            boolean runs = false;
            long moved = 0;
            for (int part = 0; part < program.tables().size(); part++) {
                FencedTables tables = program.tables().get(part);
                runs |= !tables.functions().isEmpty();
                for (HoistedVariable variable : tables.variables()) {
                    moved += variable.constantSpace() && variable.linkage() != Linkage.EXTERN ? variable.sizeBytes() : 0;
                    HoistedMemory.Place place = memory.find(part, variable.name());
                    if (place != null) {
                        filling.write(variable.constant(), 0, number(memory.address(place), Long.BYTES), false);
                    }
                }
                for (ConstantPatch patch : tables.patches()) {
                    filling.write(patch.constant(), patch.relocation().offsetBytes(),
                            number(memory.value(part, patch.relocation()), patch.relocation().widthBytes()), true);
                }
            }
            filling.write(WindowConstants.NAME, 0, window, runs);
            int result = stream.await(driver);
            require(result, "its constants cannot be written (" + result + ")");
            return filling.added.values().stream().mapToLong(Long::longValue).sum() - moved;
        }
    }

    private static byte[] number(long value, int width) {
        byte[] bytes = new byte[width];
        for (int i = 0; i < width; i++) {
            bytes[i] = (byte) (value >>> i * Byte.SIZE);
        }
        return bytes;
    }

    /** Returns address and size of a variable, from the driver; null if there is none. */
    static long[] global(long handle, boolean library, String name, DriverCalls driver) throws ProgramRefusedException {
        try (Arena arena = Arena.ofConfined()) {
            int result = driver.call(library ? DriverEntry.cuLibraryGetGlobal : DriverEntry.cuModuleGetGlobal_v2,
                    driver.out(0), driver.out(1), handle, arena.allocateFrom(name).address());
            if (result == CudaResult.NOT_FOUND) {
                return null;
            }
            if (result != CudaResult.SUCCESS) {
                throw new ProgramRefusedException(result, "its constant " + name + " is not found (" + result + ")");
            }
            return new long[] {driver.outLong(0), driver.outLong(1)};
        }
    }

    /**
     * Source of the constants.
     *
     * @param added the fence's own constants, with their bytes
     */
    private record Filling(long handle, boolean library, OwnStream stream, DriverCalls driver, Arena arena,
            Map<String, Long> added) {
        void write(String name, long offset, byte[] bytes, boolean needed) throws ProgramRefusedException {
            long[] place = global(handle, library, name, driver);
            if (place == null && !needed) {
                return; // the compiler has removed a variable that no code reads
            }
            if (place == null || offset < 0 || offset + bytes.length > place[1]) {
                throw new ProgramRefusedException(CudaResult.INVALID_IMAGE, "its constant " + name + " is missing");
            }
            if (name.startsWith(WindowConstants.PREFIX)) {
                added.put(name, place[1]);
            }
            MemorySegment from = arena.allocate(bytes.length, 16);
            MemorySegment.copy(bytes, 0, from, ValueLayout.JAVA_BYTE, 0, bytes.length);
            int result = stream.write(driver, place[0] + offset, from.address(), bytes.length);
            if (result != CudaResult.SUCCESS) {
                throw new ProgramRefusedException(result, "its constant " + name + " cannot be written (" + result
                        + ")");
            }
        }
    }
}
