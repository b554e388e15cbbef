package io.tessera.executor.fence.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Shared memory for blocks that wait for their cluster. */
class ClusterRoomTest {
    /** Blocks that wait for their cluster need shared memory that launches have only where the tables say so. */
    @Test
    void tablesThatDoNotSayThatBlocksWaitAreRefused() throws Exception {
        FencedModule fenced = new Fencer(FenceMode.MASK).fence(PtxParser.parse(".version 8.0\n.target sm_90\n.address_size 64\n.entry work() {\n"
                + ".shared .b32 own;\n.reg .b32 %r<4>;\nmov.u32 %r1, own;\nmapa.shared::cluster.u32 %r2, %r1, 1;\nst.shared::cluster.u32 [%r2], 7;\nret;\n}\n"));
        byte[] text = fenced.ptx().getBytes(StandardCharsets.US_ASCII);
        FencedTables tables = FencedTables.of(fenced);
        assertNull(new VerifiedText().check(text, tables, false).refusal());
        assertEquals(FencedModule.CLUSTER_BYTES, new FencedProgram(text, List.of(tables), "", false).addedSharedBytes());
        FencedTables silent = new FencedTables(tables.mode(), tables.id(), tables.variables(), tables.patches(), tables.functions(),
                tables.assertTexts(),
                tables.reports(), tables.keepsState(), tables.tensorMaps(), tables.refused(), tables.clusters(), false, tables.waiting(),
                tables.writes());
        assertTrue(new VerifiedText().check(text, silent, false).refusal().contains("shared memory"));
        assertEquals(0, new FencedProgram(text, List.of(silent), "", false).addedSharedBytes());
    }
}
