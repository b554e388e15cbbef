package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.load.HoistedMemory;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.jit.CodeOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;

/** One image that a client has loaded, fenced. Its parts are made when they are needed. One owner thread. */
final class TenantModule {
    /** Bound on the images of one client that are not needed yet: they are kept in the heap that all clients share. */
    private static final long MOST_HELD_BYTES = Runtime.getRuntime().maxMemory() / 3;

    /** The module's value in the client's tables: not a handle of a driver, since those are never odd. */
    final long standIn;
    final boolean library;
    final CodeOptions options;
    private String label;
    /** Source from which other code may be made while the program runs; null: no more is made of it. */
    ProgramSource source;
    FencedProgram program;
    /** The code in the driver; null until it is loaded. */
    LoadedCode code;
    HoistedMemory memory;
    /** Bytes of constants that it has in addition to the original's. */
    long addedConstantBytes;
    /** Why the module cannot be loaded; further requests get the same answer. */
    ProgramRefusedException refused;
    /** The module's code without fences, for a tenant that is alone; null: not begun. */
    Future<FencedProgram> alone;
    LoadedCode aloneCode;
    /** The module's code for few blocks, while it is being made; null: not begun. */
    Future<Void> makingFewBlocks;
    /** The driver's handle of that code, which is one of {@link #variants}; 0: it is not there; below 0: there is none. */
    long fewBlocks;
    /** Other code with the same fence: of single kernels for parts of their grids, and of all for few blocks. */
    final List<LoadedCode> variants = new ArrayList<>();
    /** Whether the driver has loaded the original, which cannot be fenced. */
    boolean asItIs;
    /** Whether there is no code without fences and will be none. */
    boolean neverAlone;

    TenantModule(long standIn, ProgramSource source, boolean library, CodeOptions options) {
        this.standIn = standIn;
        this.source = source;
        this.library = library;
        this.options = options;
    }

    /**
     * Makes sure that an image may be kept until it is needed. To make room, drops the sources of loaded modules, of which no other code can be made then.
     *
     * @param others those of the same client
     * @throws ProgramRefusedException with OUT_OF_MEMORY if the client has loaded too much that it does not use
     */
    static void requireRoom(Collection<TenantModule> others, long bytes) throws ProgramRefusedException {
        long held = bytes + heldBytes(others);
        if (held > MOST_HELD_BYTES) {
            others.stream().filter(TenantModule::isLoaded).forEach(TenantModule::dropSource);
            held = bytes + heldBytes(others);
        }
        if (held > MOST_HELD_BYTES) {
            throw ProgramRefusedException.toTell(CudaResult.OUT_OF_MEMORY, "the executor may keep " + (MOST_HELD_BYTES >> 20)
                    + " MiB of images for a program that has not used them yet, and this would be " + (held >> 20)
                    + " MiB; unload modules that are not needed, or use them before more are loaded");
        }
    }

    private static long heldBytes(Collection<TenantModule> modules) {
        return modules.stream().mapToLong(module -> module.source == null ? 0 : module.source.heapBytes()).sum();
    }

    /** Returns the name of the image for users: a hash of all of it. */
    String label() {
        if (label == null) {
            label = source.label();
        }
        return label;
    }

    /**
     * Ends the making of code without fences; code that exists stays.
     *
     * @param comesInParts whether the source is still needed for parts of grids
     */
    void endAlone(boolean comesInParts) {
        neverAlone = true;
        if (!comesInParts) {
            dropSource();
        }
    }

    /** Drops the source: no more code is made of it. */
    void dropSource() {
        if (source != null) {
            label();
            source = null;
        }
    }

    /** Unloads its other versions. Returns the CUresult. */
    int unloadVariants(DriverCalls driver) {
        int result = aloneCode == null ? CudaResult.SUCCESS : aloneCode.unload(driver);
        for (LoadedCode code : variants) {
            int other = code.unload(driver);
            result = result == CudaResult.SUCCESS ? other : result;
        }
        return result;
    }

    boolean isLoaded() {
        return code != null;
    }
}
