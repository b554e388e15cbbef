package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts text that {@link FenceVerifier} accepts, if the module's tables fulfil the verifier's assumptions. Stateless. */
public final class VerifiedText implements TextCheck {
    private static final Logger LOG = LoggerFactory.getLogger(VerifiedText.class);
    private static final String ADDRESS = WindowConstants.PREFIX + "at_";

    @Override
    public Checked check(byte[] text, FencedTables tables, boolean linked) {
        try {
            int length = text.length > 0 && text[text.length - 1] == 0 ? text.length - 1 : text.length;
            Verdict verdict = FenceVerifier.verify(length == text.length ? text : Arrays.copyOf(text, length), Mode.valueOf(tables.mode().name()),
                    linked);
            String why = tables(tables, verdict);
            if (why != null) {
                return Checked.refused(why);
            }
            if (verdict.accepted().isEmpty() && !verdict.whole()) {
                return new Checked(verdict.rejected().values().iterator().next().getMessage(), new byte[0], Map.of(), verdict.unproven(), null);
            }
            Map<String, String> rejected = new HashMap<>();
            verdict.rejected().forEach((kernel, reason) -> rejected.put(kernel, "it is not seen to be fenced: " + reason.getMessage()));
            return new Checked(null, verdict.text().getBytes(StandardCharsets.UTF_8), rejected, verdict.unproven(), verdict.link());
        } catch (UnverifiedException e) {
            return Checked.refused(e.getMessage());
        } catch (RuntimeException e) { // after a fault of the verifier, nothing counts as verified
            LOG.error("the verifier failed", e);
            return Checked.refused("the verifier failed: " + e);
        }
    }

    /** Returns the values that are filled in at the load: every address, and nothing else. */
    private static String tables(FencedTables tables, Verdict verdict) {
        Set<String> filled = new HashSet<>();
        for (HoistedVariable variable : tables.variables()) {
            if (!variable.constant().startsWith(ADDRESS)) {
                return "its variable " + variable.name() + " would be told to " + variable.constant();
            }
            if (variable.linkage() != Linkage.EXTERN) {
                filled.add(variable.constant());
            }
        }
        for (String address : verdict.addresses()) {
            if (!filled.contains(address)) {
                return "nothing is said of " + address;
            }
        }
        for (ConstantPatch patch : tables.patches()) {
            if (patch.constant().startsWith(WindowConstants.PREFIX)) {
                return "a patch of " + patch.constant();
            }
        }
        if (verdict.waits() && !tables.waits()) {
            return "its launches would have no shared memory for what waits for clusters";
        }
        if (tables.clusters() && !verdict.clusters().containsAll(verdict.accepted())) {
            return "not all of its kernels may be launched in clusters";
        }
        return null;
    }
}
