package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the facts about a kernel's accesses that follow from its own limits of threads, and those that do not. */
class SpecialValuesTest {
    /** 64 places of 16 bytes. */
    private static final String BODY = """
            {
            .shared .align 16 .b8 tile[1024];
            .reg .b32 %r<4>;
            mov.u32 %r1, %tid.x;
            shl.b32 %r1, %r1, 4;
            mov.u32 %r2, tile;
            add.u32 %r2, %r2, %r1;
            st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};
            ret;
            }
            """;

    private static Map<String, UnverifiedException> rejected(String attributes, String body) throws UnverifiedException {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n" + attributes + "\n" + body;
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).rejected();
    }

    private static void notShown(String attributes, String body) throws UnverifiedException {
        Map<String, UnverifiedException> rejected = rejected(attributes, body);
        assertTrue(rejected.containsKey("k") && rejected.get("k").getMessage().contains("st.shared.v4.u32"), attributes + ": " + rejected);
    }

    @Test
    void asManyThreadsAsTheKernelAsksFor() throws Exception {
        for (String attributes : new String[] {".reqntid 64", ".reqntid 64, 2, 1", ".reqntid 1, 1, 4", ".maxntid 64", ".maxntid 8, 8",
                ".maxntid 64, 1, 1 .minnctapersm 2"}) {
            assertEquals(Map.of(), rejected(attributes, BODY), attributes);
        }
        assertEquals(Map.of(), rejected(".reqntid 128, 64", BODY.replace("%tid.x", "%tid.y")));
    }

    @Test
    void moreThreadsOrUnknownOnes() throws Exception {
        // Of .maxntid the product counts: a block of 128 by 1 may be launched where 64 by 2 may.
        for (String attributes : new String[] {"", ".reqntid 65", ".maxntid 65", ".maxntid 64, 2", ".maxntid 2, 2, 32", ".minnctapersm 64",
                ".maxnreg 64", ".reqntid 64 .maxntid 1024",
                ".reqntid 2147483647", ".maxntid 0", ".reqntid 0"}) {
            notShown(attributes, BODY);
        }
        notShown(".reqntid 64", BODY.replace("%tid.x", "%ctaid.x"));
        notShown(".reqntid 64", BODY.replace("%tid.x", "%ntid.x"));
        notShown(".reqntid 64, 128", BODY.replace("%tid.x", "%tid.y"));
        notShown(".reqntid 64", BODY.replace("[1024]", "[1023]"));
        notShown(".reqntid 64", BODY.replace("tile;", "tile+1;"));
    }

    /** A divisor of 32 bits that was summed to 2^32 and more is what is left of it. */
    @Test
    void aDivisorIsCutToItsWidth() throws Exception {
        String divided = BODY.replace("shl.b32", "mov.u32 %r3, 0xffffffff;\nadd.u32 %r3, %r3, 2;\ndiv.u32 %r1, %r1, %r3;\nshl.b32");
        assertEquals(Map.of(), rejected(".reqntid 64", divided));
        notShown(".reqntid 64", divided.replace("[1024]", "[512]"));
        assertEquals(Map.of(), rejected(".reqntid 64", divided.replace("[1024]", "[512]").replace("%r3, 2;", "%r3, 3;")));
    }

    @Test
    void aDeviceFunctionMayBeCalledFromAnyKernel() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n" + BODY + ".visible .entry k()\n.reqntid 64\n{\ncall f;\nret;\n}\n";
        assertTrue(FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).rejected().containsKey("k"));
        String other = ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n.reqntid 64\n" + BODY
                + ".visible .entry k()\n{\ncall f;\nret;\n}\n";
        assertTrue(FenceVerifier.verify(GridLooks.bytes(other), Mode.MASK, false).rejected().containsKey("k"));
    }

    /** A grid that counts clusters has more blocks than its launch says. */
    @Test
    void aGridOfClustersHasMoreBlocks() throws Exception {
        String clusters = ".explicitcluster\n.reqnctapercluster 2, 2, 1\n.reqntid 64\n";
        String counted = clusters + ".blocksareclusters\n";
        for (String register : new String[] {"%ctaid.y", "%ctaid.z", "%nctaid.y", "%nctaid.z"}) {
            // 65,536 places of a byte.
            String body = BODY.replace("%tid.x", register).replace("shl.b32 %r1, %r1, 4;", "").replace("[1024]", "[65536]").replace(
                    "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1}",
                    "st.shared.u8 [%r2], %r1");
            assertEquals(Map.of(), rejected(clusters, body), register);
            assertTrue(rejected(counted, body).containsKey("k"), register);
            String text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n" + body
                    + ".visible .entry k()\nATTRIBUTES{\ncall f;\nret;\n}\n";
            assertEquals(Map.of(), FenceVerifier.verify(GridLooks.bytes(text.replace("ATTRIBUTES", clusters)), Mode.MASK, false).rejected());
            assertTrue(FenceVerifier.verify(GridLooks.bytes(text.replace("ATTRIBUTES", counted)), Mode.MASK, false).rejected().containsKey("k"));
        }
        // Below 2^31 only where a grid counts blocks: without its sign a block's number is the same.
        String wide = BODY.replace("%tid.x", "%ctaid.x").replace("shl.b32 %r1, %r1, 4;", "shr.u32 %r1, %r1, 27; shl.b32 %r1, %r1, 6;");
        assertEquals(Map.of(), rejected(clusters, wide));
        assertTrue(rejected(counted, wide).containsKey("k"));
    }

    @Test
    void linkedModulesHaveNoSuchGrids() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n%s{\nret;\n}\n";
        assertTrue(FenceVerifier.verify(GridLooks.bytes(text.formatted("")), Mode.MASK, true).whole());
        String counted = text.formatted(".explicitcluster\n.reqnctapercluster 2, 2, 1\n.reqntid 64\n.blocksareclusters\n");
        assertThrows(UnverifiedException.class, () -> FenceVerifier.verify(GridLooks.bytes(counted), Mode.MASK, true));
    }
}
