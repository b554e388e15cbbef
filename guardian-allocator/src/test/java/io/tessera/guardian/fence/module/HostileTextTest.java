package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Texts that are made to take long, or deep, are fenced or refused in time. */
@Timeout(180)
class HostileTextTest {
    private static final int LINES = 20_000;

    private static void fence(String statements) throws Exception {
        FencedModule fenced = Fences.plain(Fences.kernel(statements), FenceMode.MASK);
        assertEquals(1, fenced.reports().size());
    }

    @Test
    void sumsOfSums() throws Exception {
        StringBuilder text = new StringBuilder(".reg .b64 %x<" + (LINES + 1) + ">;\n.local .b8 frame[16];\nmov.u64 %x0, frame;\n");
        for (int i = 1; i <= LINES; i++) {
            text.append("add.s64 %x").append(i).append(", %x").append(i - 1).append(", %x").append(i - 1).append(";\n");
        }
        fence(text + "st.local.u32 [%x" + LINES + "], 1;\nret;");
    }

    @Test
    void longChainOfACopiedPointer() throws Exception {
        StringBuilder text = new StringBuilder(".reg .b64 %x<" + (LINES + 1) + ">;\n.shared .b8 tile[16];\nmov.u64 %d1, tile;\n"
                + "cvta.shared.u64 %x0, %d1;\n");
        for (int i = 1; i <= LINES; i++) {
            text.append("mov.b64 %x").append(i).append(", %x").append(i - 1).append(";\n");
        }
        fence(text + "st.u32 [%x" + LINES + "], 1;\nret;");
    }

    @Test
    void branchesBackToOnePlace() throws Exception {
        StringBuilder text = new StringBuilder("again:\n");
        text.append("add.u32 %r1, %r1, 1;\n".repeat(LINES));
        text.append("setp.lt.u32 %p1, %r1, 100;\n@%p1 bra again;\n".repeat(LINES / 2));
        fence(text + "ret;");
    }

    @Test
    void accessesFromOneRegister() throws Exception {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < LINES; i++) {
            text.append("st.shared.u32 [%r").append(i % 20).append("+").append(4 * i).append("], 1;\n");
        }
        fence(text + "ret;");
    }

    /** Each is written as some eighty instructions, and every name that it would like to use is taken. */
    @Test
    void barriersInSharedMemory() throws Exception {
        StringBuilder text = new StringBuilder("mbarrier_:\n.reg .b32 %mbarrier_r<9>;\n");
        for (int i = 0; i < LINES; i++) {
            text.append("mbarrier").append(i).append("_again_").append(i).append(":\n");
        }
        text.append("mbarrier.arrive.shared.b64 %d1, [%r1+8], %r2;\n".repeat(LINES / 20));
        text.append("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], %r2, [%r3];\n".repeat(LINES / 20));
        fence(text + "ret;");
    }

    @Test
    void longChainOfCalls() throws Exception {
        StringBuilder text = new StringBuilder(".version 8.0\n.target sm_90\n.address_size 64\n");
        for (int i = LINES; i > 0; i--) {
            text.append(".func f").append(i - 1).append("();\n.func f").append(i).append("() { call f").append(i - 1)
                    .append("; ret; }\n");
        }
        text.append(".func f0() { ret; }\n.entry k() { call f").append(LINES).append("; ret; }\n");
        assertEquals(LINES + 2, Fences.plain(text.toString(), FenceMode.MASK).reports().size());
    }
}
