package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.load.ProgramLoader;
import io.tessera.executor.fence.program.FenceForm;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.report.Violations;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.slice.GridSlices;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Versions of kernels that execute a part of their grid ({@code GridSlices}). Each is made in the background, with the same fence and the same variables.
 * Modules that keep state in their code, or that were linked from several images, have none. One owner thread.
 */
final class SlicedModules {
    private static final Logger LOG = LoggerFactory.getLogger(SlicedModules.class);

    private final String tenant;
    private final FenceMode mode;
    private final WindowWords words;
    private final Supplier<Violations> violations;
    private final FencingService fencing;
    private final OwnStream stream;
    private final DriverCalls driver;

    SlicedModules(String tenant, FenceMode mode, WindowWords words, Supplier<Violations> violations, FencingService fencing, OwnStream stream,
            DriverCalls driver) {
        this.tenant = tenant;
        this.mode = mode;
        this.words = words;
        this.violations = violations;
        this.fencing = fencing;
        this.stream = stream;
        this.driver = driver;
    }

    /** Returns whether a kernel may have code for parts of its grid. */
    boolean mayHave(Launchable kernel) {
        TenantModule module = kernel.module;
        return module != null && module.isLoaded() && module.source != null && !module.asItIs && !kernel.mayWaitForBlocks()
                && !module.program.keepsState() && module.source.images().size() == 1;
    }

    /** Length of the packed parameters of a kernel for parts of its grid. */
    static long parameterBytes(Launchable kernel) {
        return RelayLayout.align((int) kernel.parameterBytes, Integer.BYTES) + GridSlices.PARAMETER_BYTES;
    }

    /** Begins to make the code of a kernel that may have it. */
    Future<FencedProgram> begin(Launchable kernel) {
        return fencing.makeLater(tenant, kernel.module.source, FenceForm.sliced(mode, kernel.name), kernel.module.options);
    }

    /** Loads what was made. Returns the driver's function; {@link OtherCode#NEVER}: there is none. */
    long load(Launchable kernel, Future<FencedProgram> made) {
        try {
            FencedProgram program = made.resultNow();
            LoadedCode code = ProgramLoader.loadOver(kernel.module.memory, program, kernel.module.options, words.of(mode), stream, driver);
            try (Arena arena = Arena.ofConfined()) {
                int result = driver.call(DriverEntry.cuModuleGetFunction, driver.out(0), code.handle(), arena.allocateFrom(kernel.name).address());
                if (result != CudaResult.SUCCESS) {
                    code.unload(driver);
                    return OtherCode.NEVER;
                }
                long function = driver.outLong(0);
                kernel.module.variants.add(code);
                violations.get().addPart(program);
                return function;
            }
        } catch (ProgramRefusedException | IllegalStateException e) {
            LOG.info("kernel {} is launched as a whole: {}", kernel.name, e.getMessage());
            return OtherCode.NEVER;
        }
    }
}
