package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A value that is compared very often, as a function's address is where calls by pointer are made by name: the time grows with the text. */
@Timeout(300)
class ManyComparisonsTest {
    private static final int COMPARISONS = 60_000;
    /** Five times what it takes; with a walk over all that is known of the value at each comparison it takes more than that. */
    private static final long MOST_MS = 20_000;

    private static byte[] text(int comparisons) {
        StringBuilder text = new StringBuilder(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work(.param .u64 out)\n{\n"
                + ".reg .b64 %d<3>;\n.reg .pred %p<2>;\nld.param.u64 %d1, [out];\n");
        for (int i = 0; i < comparisons; i++) {
            text.append("setp.ne.u64 %p1, %d1, ").append(1000 + i).append(";\n@%p1 bra next").append(i).append(";\nret;\nnext").append(i)
                    .append(":\n");
        }
        return GridLooks.bytes(text.append("ret;\n}\n").toString());
    }

    @Test
    void theyTakeTimeByTheirNumber() throws UnverifiedException {
        byte[] text = text(COMPARISONS);
        long beginNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        Verdict verdict = FenceVerifier.verify(text, Mode.MASK, false);
        long tookMs = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beginNs) / 1_000_000;
        assertEquals(List.of("work"), verdict.accepted());
        assertTrue(tookMs < MOST_MS, tookMs + " ms");
    }
}
