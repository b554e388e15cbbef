package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.fence.FenceMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which modules' kernels may be launched in clusters of blocks. */
class ClustersTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String KERNEL = HEAD + ".entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %d<3>; .shared .align 4 .b8 s[64];\n"
            + "ld.param.u64 %d1, [p];\n%s\nret; }\n";

    private static boolean may(String text) throws Exception {
        return Fences.plain(text, FenceMode.MASK).clusters();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "true  |", "true  | st.global.u32 [%d1], %r1;", "true  | mov.u32 %r1, %cluster_ctarank;", "true  | mov.u32 %r1, s;",
            "false | st.shared.u32 [s], %r1;", "false | st.u32 [%d1], %r1;", "false | bar.sync 0;",
            "true  | st.shared.u32 [s], %r1; barrier.cluster.arrive; barrier.cluster.wait;"
    })
    void whatHasToDoWithSharedMemoryMustKnowOfClusters(boolean expected, String statements) throws Exception {
        assertEquals(expected, may(KERNEL.replace("%s", statements == null ? "" : statements)));
    }

    @Test
    void aKernelWithoutABodyMay() throws Exception {
        assertEquals(true, may(HEAD + ".visible .entry nop() { ret; }\n"));
    }
}
