package io.tessera.executor.fence.program;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.worker.Answer;
import io.tessera.executor.worker.CodeWorkers;
import io.tessera.executor.worker.FenceRequest;
import io.tessera.executor.worker.TenantTurns;
import io.tessera.guardian.cache.FencedTablesReader;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has images fenced by workers, and verifies the results. The first round leaves out fences where a proof shows that an access needs none. If some functions
 * are not accepted, these are fenced without proofs in the next round, and finally all functions are. Thread-safe.
 */
public final class FencingRounds {
    /** Maximum number of texts that are checked at once. */
    private static final int MOST_CHECKS = 4;
    /** Size of a text that is verified in a fraction of a second. */
    private static final int SHORT_BYTES = 256 << 10;
    private static final Logger LOG = LoggerFactory.getLogger(FencingRounds.class);

    private final ComputeCapability device;
    private final CodeWorkers workers;
    private final TextCheck check;
    private final NanoClock clock;
    private final TenantTurns turns;

    /** @param patienceNs the longest wait for a turn */
    FencingRounds(ComputeCapability device, CodeWorkers workers, TextCheck check, NanoClock clock, long patienceNs) {
        this.device = device;
        this.workers = workers;
        this.check = check;
        this.clock = clock;
        int processors = Runtime.getRuntime().availableProcessors();
        this.turns = new TenantTurns(Math.clamp(processors / 2, 1, MOST_CHECKS), patienceNs, clock);
    }

    /** Returns the part of an image that workers read: of a fat binary, the PTX for the device, still packed. */
    private byte[] code(ModuleImage image) throws ProgramRefusedException {
        try {
            return image.ptxImage(device, ModuleImage.DEFAULT_CAP_BYTES);
        } catch (ImageException e) {
            throw new ProgramRefusedException(CudaResult.INVALID_IMAGE, e.getMessage());
        }
    }

    /**
     * Fences modules of PTX.
     *
     * @param linked whether they are linked with other modules of PTX
     */
    List<FencedText> fence(String tenant, List<ModuleImage> images, FenceForm form, boolean linked) throws ProgramRefusedException {
        List<byte[]> codes = new ArrayList<>();
        for (ModuleImage image : images) {
            codes.add(code(image));
        }
        FenceRequest request = new FenceRequest(form.mode(), device, linked, form.sliced(), PlainFunctions.none());
        List<TextCheck.Checked> looked = new ArrayList<>();
        List<FencedText> fenced = texts(workers.fence(tenant, request, codes), images.size());
        String why = look(tenant, fenced, form.mode(), linked, looked);
        while (why != null && !request.plain().all()) {
            request = request.plainly(next(request.plain(), looked));
            LOG.info("{} is fenced without proofs: {}", request.plain().all() ? "a module" : request.plain().names(), why);
            List<FencedText> before = fenced;
            List<TextCheck.Checked> lookedBefore = List.copyOf(looked);
            fenced = texts(workers.fence(tenant, request, codes), images.size());
            why = look(tenant, fenced, form.mode(), linked, looked);
            if (request.plain().all() && isNoBetter(looked, lookedBefore)) {
                fenced = before;
                looked = lookedBefore;
            }
        }
        List<FencedText> accepted = new ArrayList<>();
        for (int i = 0; i < fenced.size(); i++) {
            accepted.add(accepted(fenced.get(i), looked.get(i)));
        }
        return accepted;
    }

    /** Returns the functions to fence without proofs after a function was not accepted. */
    private static PlainFunctions next(PlainFunctions plain, List<TextCheck.Checked> looked) {
        Set<String> unproven = new HashSet<>();
        for (TextCheck.Checked one : looked) {
            if (one.refusal() != null && one.unproven().isEmpty()) {
                return PlainFunctions.everything();
            }
            unproven.addAll(one.unproven());
        }
        return plain.with(unproven);
    }

    /** Returns whether the round without proofs accepted no more than the one before: then the results with proofs are kept. */
    private static boolean isNoBetter(List<TextCheck.Checked> looked, List<TextCheck.Checked> before) {
        boolean same = true;
        for (int i = 0; i < looked.size(); i++) {
            TextCheck.Checked one = looked.get(i);
            same &= one.refusal() != null
                    || before.get(i).refusal() == null && one.rejected().keySet().containsAll(before.get(i).rejected().keySet());
        }
        return same;
    }

    /** Checks all texts. Returns why one, or a kernel of one, is not accepted; null: all are. */
    private String look(String tenant, List<FencedText> fenced, FenceMode mode, boolean linked, List<TextCheck.Checked> looked)
            throws ProgramRefusedException {
        looked.clear();
        String why = null;
        for (FencedText one : fenced) {
            String wrong = TablesCheck.refusal(one.tables(), mode);
            TextCheck.Checked checked = wrong != null ? TextCheck.Checked.refused(wrong) : inTurn(tenant, one, linked);
            looked.add(checked);
            why = why == null ? checked.first() : why;
        }
        return why;
    }

    /** Checks a text in its tenant's turn. At most one text of a tenant is checked at a time, and at least one processor is left for launches. */
    private TextCheck.Checked inTurn(String tenant, FencedText text, boolean linked) throws ProgramRefusedException {
        Thread own = Thread.currentThread();
        if (!turns.await(tenant, text.text().length <= SHORT_BYTES, () -> workers.isAbandoned(own))) {
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "no turn came to verify it");
        }
        long beginNs = clock.nanoTime();
        try {
            return check.check(text.text(), text.tables(), linked);
        } finally {
            turns.ended(tenant, clock.nanoTime() - beginNs);
        }
    }

    /** Wakes waiting threads: a client may no longer want the code that it requested. */
    void wake() {
        turns.wake();
    }

    /** Returns the accepted part of a text. Kernels that are not shown to be fenced are treated like those that cannot be fenced. */
    private static FencedText accepted(FencedText text, TextCheck.Checked looked) throws ProgramRefusedException {
        if (looked.refusal() != null) {
            throw new ProgramRefusedException(CudaResult.NOT_SUPPORTED, "it is not seen to be fenced: " + looked.refusal());
        }
        looked.rejected().forEach((kernel, why) -> LOG.warn("kernel {} is refused: {}", kernel, why));
        return new FencedText(looked.text(), looked.rejected().isEmpty() ? text.tables() : text.tables().without(looked.rejected()), looked.link());
    }

    private static List<FencedText> texts(Answer answer, int count) throws ProgramRefusedException {
        if (answer.result() != CudaResult.SUCCESS) {
            throw new ProgramRefusedException(answer.result(), answer.text());
        }
        try {
            if (answer.parts().size() != 2 * count) {
                throw new IOException(answer.parts().size() + " parts for " + count + " images");
            }
            List<FencedText> texts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                texts.add(new FencedText(answer.parts().get(2 * i), FencedTablesReader.read(answer.parts().get(2 * i + 1)), null));
            }
            return texts;
        } catch (IOException e) {
            LOG.error("what a worker has made cannot be read: {}", e.getMessage());
            throw new ProgramRefusedException(CudaResult.UNKNOWN, "what was made of it cannot be read: " + e.getMessage());
        }
    }
}
