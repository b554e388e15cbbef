package io.tessera.executor.fence;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.protocol.relay.RelayHandle;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Other versions of a client's kernels, which are loaded beside the first one: without fences, for a tenant that is alone ({@link AloneModules}); with the
 * fences of 4 GiB, for a tenant with at most that much memory ({@link NarrowModules}); for parts of a grid ({@link SlicedModules}); and for few blocks ({@link
 * FewBlockModules}). A program's settings for a kernel apply to all of its versions. One owner thread.
 */
final class KernelVariants {
    /** Number of launches of a kernel with few blocks after which more are expected. */
    private static final int SOME_LAUNCHES = 16;

    private static final Logger LOG = LoggerFactory.getLogger(KernelVariants.class);

    private final AloneModules alone;
    private final NarrowModules narrow;
    private final SlicedModules sliced;
    private final FewBlockModules few;
    private final ClientHandles handles;
    private final DriverCalls driver;
    private final SynchronizationGate.Client synchronization;
    private final KernelAttributes attributes;

    KernelVariants(AloneModules alone, NarrowModules narrow, SlicedModules sliced, FewBlockModules few, ClientHandles handles,
            DriverCalls driver, SynchronizationGate.Client synchronization, int device) {
        this.alone = alone;
        this.narrow = narrow;
        this.sliced = sliced;
        this.few = few;
        this.handles = handles;
        this.driver = driver;
        this.synchronization = synchronization;
        this.attributes = new KernelAttributes(driver, device);
    }

    /** Returns the narrow versions of images of machine code. */
    NarrowModules narrow() {
        return narrow;
    }

    /** Returns the driver's function of a kernel's other code; 0: there is none, or not yet. */
    long of(Launchable kernel) {
        OtherCode variant = kernel.variant;
        if (variant.isOpen() && synchronization.mayBegin()) {
            variant.found(kernel.module == null ? ofMachineCode(kernel) : ofModule(kernel));
        }
        return variant.exists() ? upToDate(kernel, variant) : 0;
    }

    /** Returns the driver's function of existing other code, after it got the program's settings for the kernel. */
    private long upToDate(Launchable kernel, OtherCode code) {
        if (code.takeStale()) {
            attributes.copy(kernel.function, isKernel(kernel), code.function());
        }
        return code.function();
    }

    /** Returns the driver's function that executes a part of a kernel's grid; 0: not yet; below 0: there is none. */
    long ofPart(Launchable kernel) {
        OtherCode part = kernel.part;
        if (part.isOpen() && kernel.makingPart == null) {
            if (sliced.mayHave(kernel)) {
                kernel.makingPart = sliced.begin(kernel);
            } else {
                part.never();
            }
        }
        if (part.isOpen() && kernel.makingPart.isDone() && synchronization.mayBegin()) {
            part.found(sliced.load(kernel, kernel.makingPart));
            if (part.exists() && attributes.parameterBytes(part.function(), false) != SlicedModules.parameterBytes(kernel)) {
                LOG.info("kernel {} is launched as a whole: the driver does not tell where its parameters are", kernel.name);
                part.never();
            }
            kernel.makingPart = null;
        }
        return part.exists() ? upToDate(kernel, part) : part.function();
    }

    /** Returns the driver's function for a launch of a fenced kernel: for few blocks, the version compiled for them, if it exists by now. */
    long forBlocks(Launchable kernel, LaunchPlan launch) {
        OtherCode code = kernel.fewBlocks;
        if (code.function() < 0 || !few.fits(launch)) {
            return kernel.function;
        }
        if (code.isOpen() && kernel.launchesFewBlocks() > SOME_LAUNCHES) {
            makeForFewBlocks(kernel);
        }
        return code.exists() ? upToDate(kernel, code) : kernel.function;
    }

    private void makeForFewBlocks(Launchable kernel) {
        if (!few.mayHave(kernel.module)) {
            kernel.fewBlocks.never();
        } else if (synchronization.mayBegin()) {
            long module = few.find(kernel.module);
            long found = module > 0 ? function(DriverEntry.cuModuleGetFunction, module, kernel.name) : module;
            // The query loads the function. It is only used if it has more registers than the first one, and no more local memory.
            boolean has = found > 0 && !isNoLarger(found, kernel, FunctionAttribute.NUM_REGS)
                    && isNoLarger(found, kernel, FunctionAttribute.LOCAL_SIZE_BYTES);
            kernel.fewBlocks.found(found == 0 || has ? found : OtherCode.NEVER);
        }
    }

    private static boolean isKernel(Launchable kernel) {
        return RelayHandle.type(kernel.handle) == HandleKind.KERNEL.number();
    }

    private long ofModule(Launchable kernel) {
        long module = alone.find(kernel.module);
        return module == 0 ? 0 : function(DriverEntry.cuModuleGetFunction, module, kernel.name);
    }

    private long ofMachineCode(Launchable kernel) {
        if (kernel.machine == null || !narrow.mayHave(kernel.machine)) {
            return OtherCode.NEVER;
        }
        long library = narrow.find(kernel.machine, kernel.name);
        long found = library > 0 ? function(DriverEntry.cuLibraryGetKernel, library, kernel.name) : library;
        if (found > 0) {
            int result = driver.call(DriverEntry.cuKernelGetFunction, driver.out(0), found); // loads it
            found = result == CudaResult.SUCCESS ? driver.outLong(0) : OtherCode.NEVER;
        }
        return found == 0 ? 0
                : found > 0 && isNoLarger(found, kernel, FunctionAttribute.NUM_REGS) && isNoLarger(found, kernel, FunctionAttribute.LOCAL_SIZE_BYTES)
                        ? found
                : OtherCode.NEVER;
    }

    /** Returns whether an attribute of other code is at most that of the first code, according to which the program was told that a launch fits. */
    private boolean isNoLarger(long function, Launchable kernel, int attribute) {
        int first = attributes.get(kernel.function, isKernel(kernel), attribute);
        int other = attributes.get(function, false, attribute);
        return first >= 0 && other >= 0 && other <= first;
    }

    private long function(DriverEntry entry, long code, String name) {
        try (Arena arena = Arena.ofConfined()) {
            int result = driver.call(entry, driver.out(0), code, arena.allocateFrom(name).address());
            return result == CudaResult.SUCCESS ? driver.outLong(0) : OtherCode.NEVER;
        }
    }

    /**
     * Records that the program changes a setting of a kernel: the setting is applied to its other code before that is launched.
     *
     * @param handle the client's handle of a function or kernel
     */
    void changed(long handle) {
        Launchable changed = known(handle);
        forEach(known -> {
            if (changed == null || changed.name.equals(known.name)) { // a kernel and its function have handles of their own
                known.variant.changed();
                known.part.changed();
                known.fewBlocks.changed();
            }
        });
    }

    /**
     * Records that the program gets the address of state in an image of machine code. Two versions would not share that state, so only the first runs
     * from now on.
     */
    void shares(int imageNumber) {
        narrow.stop(imageNumber);
        forEach(known -> {
            if (known.machine != null && known.machine.imageNumber() == imageNumber) {
                known.variant.never();
            }
        });
    }

    private void forEach(Consumer<Launchable> action) {
        for (HandleKind kind : new HandleKind[] {HandleKind.FUNCTION, HandleKind.KERNEL}) {
            for (long handle : handles.ofContext(kind, -1)) {
                Launchable known = known(handle);
                if (known != null) {
                    action.accept(known);
                }
            }
        }
    }

    private Launchable known(long handle) {
        boolean kernel = RelayHandle.type(handle) == HandleKind.KERNEL.number();
        return handles.table(kernel ? HandleKind.KERNEL : HandleKind.FUNCTION).attachment(handle) instanceof Launchable known ? known : null;
    }
}
