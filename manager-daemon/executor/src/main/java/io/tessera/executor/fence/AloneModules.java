package io.tessera.executor.fence;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.load.ProgramLoader;
import io.tessera.executor.fence.program.FenceForm;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.FenceMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's modules without fences, for a tenant that is alone. They are made in the background, and use the same variables as the fenced ones. A program that
 * keeps state in its code (constants and texture references that the host writes) gets none: its two versions would not share that state. One owner thread.
 */
final class AloneModules {
    private static final Logger LOG = LoggerFactory.getLogger(AloneModules.class);

    private final String tenant;
    private final WindowWords words;
    private final FencingService fencing;
    private final OwnStream stream;
    private final DriverCalls driver;

    AloneModules(String tenant, WindowWords words, FencingService fencing, OwnStream stream, DriverCalls driver) {
        this.stream = stream;
        this.tenant = tenant;
        this.words = words;
        this.fencing = fencing;
        this.driver = driver;
    }

    /** Begins to make a loaded module's code, and takes it when it is there. Returns its handle; 0: not now. */
    long find(TenantModule module) {
        if (module.aloneCode != null || module.neverAlone) {
            return module.aloneCode == null ? 0 : module.aloneCode.handle();
        }
        if (module.alone == null && module.source == null) {
            module.neverAlone = true;
            return 0;
        }
        if (module.alone == null) {
            module.alone = fencing.makeLater(tenant, module.source, FenceForm.of(FenceMode.NONE), module.options);
            return 0;
        }
        return module.alone.isDone() ? load(module) : 0;
    }

    private long load(TenantModule module) {
        module.endAlone(fencing.comesInParts()); // tried only once: if it fails, the fenced code is used
        try {
            module.aloneCode = ProgramLoader.loadOver(module.memory, module.alone.resultNow(), module.options, words.of(FenceMode.NONE), stream,
                    driver);
            module.neverAlone = false;
            return module.aloneCode.handle();
        } catch (ProgramRefusedException | IllegalStateException e) {
            LOG.info("image {} is fenced also while its tenant is alone: {}", module.label(), e.getMessage());
            return 0;
        }
    }
}
