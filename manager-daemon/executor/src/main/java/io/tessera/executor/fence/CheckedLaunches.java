package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.CheckedEntry;
import io.tessera.guardian.fence.LaunchCheck;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.Arena;

/**
 * Launches that keep to the terms of a kernel's specialised variant get that one, which is spared what its terms say. Only plain launches do: what is
 * captured could meet other parameters later, and a program that counts on how many blocks run at once has asked for the kernel's own figures.
 * One owner thread.
 */
final class CheckedLaunches {
    private static final int NEVER = -1;
    /** Shared memory of a block that no kernel has to opt in to (CUDA programming guide, technical specifications). */
    private static final int STANDARD_SHARED_BYTES = 48 << 10;

    private final ClientFences fences;
    private final DriverCalls driver;
    private final KernelAttributes attributes;
    private final SynchronizationGate.Client synchronization;
    private final ResidentBlocks resident;
    private final VariantLaunchCounts codes;

    CheckedLaunches(ClientFences fences, DriverCalls driver, SynchronizationGate.Client synchronization, VariantLaunchCounts codes) {
        this.codes = codes;
        this.synchronization = synchronization;
        this.fences = fences;
        this.driver = driver;
        this.attributes = new KernelAttributes(driver, fences.device());
        this.resident = ResidentBlocks.of(fences.device(), driver);
    }

    /**
     * A kernel's specialised variant.
     *
     * @param program  the code that may have it; null: the kernel runs as it is
     * @param code     the driver's handle of that
     * @param library  whether it is a library's
     * @param name     the kernel's
     * @param function the driver's handle for it, of a kernel or function
     * @return null: it has none
     */
    SpecialisedVariant entry(FencedProgram program, long code, boolean library, String name, long function, boolean kernel) {
        if (program == null) {
            return null;
        }
        for (FencedTables tables : program.tables()) {
            for (CheckedEntry entry : tables.entries()) {
                if (entry.kernel().equals(name)) {
                    return new SpecialisedVariant(new LaunchCheck(entry, parameter -> offset(function, kernel, parameter)), code, library);
                }
            }
        }
        return null;
    }

    private long offset(long function, boolean kernel, int parameter) {
        int result = driver.call(kernel ? DriverEntry.cuKernelGetParamInfo : DriverEntry.cuFuncGetParamInfo, function, parameter,
                driver.out(0), driver.out(1));
        return result == CudaResult.SUCCESS ? driver.outLong(0) : -1;
    }

    /**
     * The specialised variant's function if the launch, which is not captured, is one for it, else 0.
     *
     * @param second null: there is none
     */
    long function(SpecialisedVariant second, Launchable kernel, LaunchPlan launch) {
        boolean admitted = second != null && second.function != NEVER && launch.isPlain()
                && second.check.admits(launch.grid(0), launch.block(0), launch.block(1), launch.parameters(), launch.parameterBytes(),
                        fences.window().baseAddress(), fences.window().sizeBytes());
        if (!admitted) {
            return 0;
        }
        prepare(second, kernel);
        if (isForFew(second.few, launch)) {
            codes.few();
            return second.few.function;
        }
        if (!serves(second, launch)) {
            return 0;
        }
        codes.second();
        return second.function;
    }

    /** With more registers than the kernel has, a block can have fewer threads; with more shared memory of its own it can ask for less. */
    private static boolean serves(SpecialisedVariant entry, LaunchPlan launch) {
        return entry != null && entry.function > 0 && launch.threads() <= entry.mostThreads && launch.sharedBytes() <= entry.mostShared;
    }

    /** Whether all blocks run at once also with the registers of the entry for few blocks. */
    private boolean isForFew(SpecialisedVariant few, LaunchPlan launch) {
        return serves(few, launch) && launch.blocks() <= resident.most(few.registers, launch.threads());
    }

    /**
     * Looks a kernel's specialised variant up, if it has one. A driver waits for all streams in that ({@link SynchronizationGate}), so it is done when the
     * program asks for the kernel, where it would wait natively too: at its launch others may wait for this kernel.
     */
    void prepare(SpecialisedVariant second, Launchable kernel) {
        if (second == null || second.function != 0) {
            return;
        }
        if (second.found == 0 && !synchronization.mayBegin()) {
            return; // the kernel itself serves until then
        }
        find(second, kernel);
        if (second.few != null) {
            find(second.few, kernel);
        }
    }

    /** An entry that serves gets what is set of the kernel. */
    private void find(SpecialisedVariant entry, Launchable kernel) {
        if (entry.found == 0) {
            long found = byName(entry);
            entry.found = found == 0 ? NEVER : found;
            if (found != 0) {
                entry.is(attributes);
            }
        }
        boolean ofKernel = RelayHandle.type(kernel.handle) == HandleKind.KERNEL.number();
        entry.mostShared = entry.found == NEVER ? NEVER : mostShared(attributes.get(entry.found, false, KernelAttributes.SHARED_BYTES),
                attributes.get(kernel.function, ofKernel, KernelAttributes.SHARED_BYTES));
        boolean fits = entry.mostShared >= 0;
        entry.function = fits ? entry.found : NEVER;
        if (fits) {
            attributes.copy(kernel.function, ofKernel, entry.found);
        }
    }

    /** How much a launch may ask for: as much as of the kernel, or what fits without opting in beside a little more of its own. */
    private static long mostShared(int own, int kernels) {
        return own <= kernels ? Long.MAX_VALUE : STANDARD_SHARED_BYTES - own;
    }

    private long byName(SpecialisedVariant entry) {
        try (Arena arena = Arena.ofConfined()) {
            int result = driver.call(entry.library ? DriverEntry.cuLibraryGetKernel : DriverEntry.cuModuleGetFunction, driver.out(0),
                    entry.code, arena.allocateFrom(entry.name).address());
            if (result != CudaResult.SUCCESS || !entry.library) {
                return result == CudaResult.SUCCESS ? driver.outLong(0) : 0;
            }
            result = driver.call(DriverEntry.cuKernelGetFunction, driver.out(1), driver.outLong(0));
            return result == CudaResult.SUCCESS ? driver.outLong(1) : 0;
        }
    }
}
