package io.tessera.cli.fence;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.image.ComputeCapability;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * The user's request. Immutable.
 *
 * @param mode         the fence
 * @param architecture the GPU, as a number with its suffix: {@code 90}
 * @param gpu          the same GPU as a compute capability
 * @param assembler    the assembler; null if there is none or none is wanted
 * @param compare      whether the unfenced code is assembled too, to compare registers
 * @param caching      whether machine code goes into the cache that executors read
 * @param output       folder for files of fenced PTX and machine code; null: none are written
 * @param threadCpuNs  processor time used by the calling thread, in nanoseconds
 */
record FenceArguments(FenceMode mode, String architecture, ComputeCapability gpu, Assembler assembler, boolean compare,
        boolean caching, Path output, LongSupplier threadCpuNs) {
    /** Returns the mode's name in options and caches. */
    String modeName() {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
