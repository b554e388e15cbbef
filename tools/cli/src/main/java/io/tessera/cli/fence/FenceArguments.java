package io.tessera.cli.fence;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.image.ComputeCapability;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * What a user asked for. Immutable.
 *
 * @param mode         the fence
 * @param architecture the GPU, as a number with its suffix: {@code 90}
 * @param gpu          the same as a capability
 * @param assembler    makes machine code; null where there is none or none is wanted
 * @param compare      whether the unfenced code is assembled too, to compare registers
 * @param caching      whether machine code goes into the cache that executors read
 * @param output       where fenced PTX and machine code are written as files; null for nowhere
 * @param threadCpuNs  processor time that the calling thread has taken, in nanoseconds
 */
record FenceArguments(FenceMode mode, String architecture, ComputeCapability gpu, Assembler assembler, boolean compare,
        boolean caching, Path output, LongSupplier threadCpuNs) {
    /** The mode as options and caches write it. */
    String modeName() {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
