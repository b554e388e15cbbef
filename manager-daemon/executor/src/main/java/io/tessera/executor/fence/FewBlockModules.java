package io.tessera.executor.fence;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.load.ProgramLoader;
import io.tessera.executor.fence.program.LoadedCode;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.FenceMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Code of a client's modules for grids that do not fill the device: the same fenced text, compiled with more registers. Compilers trade instruction-level
 * parallelism for occupancy, and fences need some of the registers that are left; a grid of few blocks does not need the occupancy. The code is made in the
 * background and uses the same variables. Modules that keep state in their code, or that were linked from several images, have none. One owner thread.
 */
final class FewBlockModules {
    /** Maximum registers of a thread: with 255, no kernel of the suite {@code mixes} has fewer issue cycles (ptxas 13.0). */
    static final int REGISTERS = 128;
    /** Maximum threads of a block, and of all blocks on one processor, which has 65,536 registers (compute capability 5.0 and later). */
    private static final int THREADS = 65_536 / REGISTERS;
    /** Maximum bytes of fenced text: while a text is assembled, no other background code is made. Chosen, not measured. */
    private static final int MOST_TEXT = 2 << 20;
    private static final int WARP = 32;
    private static final Logger LOG = LoggerFactory.getLogger(FewBlockModules.class);

    private final String tenant;
    private final FenceMode mode;
    private final WindowWords words;
    private final FencingService fencing;
    private final OwnStream stream;
    private final DriverCalls driver;

    FewBlockModules(String tenant, FenceMode mode, WindowWords words, FencingService fencing, OwnStream stream, DriverCalls driver) {
        this.tenant = tenant;
        this.mode = mode;
        this.words = words;
        this.fencing = fencing;
        this.stream = stream;
        this.driver = driver;
    }

    /**
     * Returns whether all blocks of a grid still run at once with this many registers. Launches with attributes, such as those with clusters, are
     * excluded.
     */
    boolean fits(LaunchPlan launch) {
        return fits(launch, fencing.processors());
    }

    /** As above, on this many processors. A warp takes the registers of 32 threads, even if the block has fewer. */
    static boolean fits(LaunchPlan launch, int processors) {
        long threads = Math.ceilDiv(launch.threads(), WARP) * WARP;
        return launch.attributes() == 0 && threads > 0 && threads <= THREADS && launch.blocks() <= processors * (THREADS / threads);
    }

    /** Returns whether a module may have such code. */
    boolean mayHave(TenantModule module) {
        return fencing.hasFewBlocks() && module.isLoaded() && !module.asItIs && module.program.isText() && module.program.code().length <= MOST_TEXT
                && !module.program.keepsState()
                && !module.options.limitRegisters();
    }

    /** Begins to make the code of a module that may have it, and takes it when it is there. Returns its handle; 0: not now; below 0: there is none. */
    long find(TenantModule module) {
        if (module.makingFewBlocks == null) {
            module.makingFewBlocks = fencing.later(() -> {
                fencing.maker().assembleAgain(tenant, module.program, module.options.withRegisters(REGISTERS));
                return null;
            });
        }
        if (module.fewBlocks == 0 && module.makingFewBlocks.isDone()) {
            module.fewBlocks = load(module);
        }
        return module.fewBlocks;
    }

    private long load(TenantModule module) {
        try {
            module.makingFewBlocks.resultNow();
            LoadedCode code = ProgramLoader.loadOver(module.memory, module.program, module.options.withRegisters(REGISTERS), words.of(mode), stream,
                    driver);
            module.variants.add(code);
            return code.handle();
        } catch (ProgramRefusedException | IllegalStateException e) {
            LOG.info("image {} has no code for few blocks: {}", module.label(), e.getMessage());
            return OtherCode.NEVER;
        }
    }
}
