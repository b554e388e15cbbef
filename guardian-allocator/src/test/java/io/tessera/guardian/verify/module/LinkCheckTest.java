package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.LinkCheck;
import io.tessera.guardian.verify.LinkInterface;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Texts that are fenced each by itself, and what they are together. */
class LinkCheckTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String KERNEL = "%s.visible .entry %s(.param .u64 to)\n{\n.reg .b32 %%r<3>; .reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [to];\n"
            + "cvta.to.global.u64 %%rd1, %%rd1;\nmov.u32 %%r1, 0;\n%sst.global.u32 [%%rd1], %%r1;\nret;\n}\n";

    private static String call(String function) {
        return "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), " + function + ", (p); ld.param.b32 %r1, [q]; }\n";
    }

    private static String head(String linkage, String function) {
        return linkage + " .func (.param .b32 r) " + function + "(.param .b32 a)";
    }

    private static String function(String linkage, String name, String body) {
        return head(linkage, name) + "\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [a];\n" + body + "st.param.b32 [r], %r1;\nret;\n}\n";
    }

    private static String needed(String function) {
        return head(".extern", function) + ";\n";
    }

    private static String kernel(String declarations, String name, String body) {
        return KERNEL.formatted(declarations, name, body);
    }

    private static LinkInterface read(String text, FenceMode mode) throws Exception {
        return of(fenced(text, mode), Mode.valueOf(mode.name()));
    }

    private static String fenced(String text, FenceMode mode) throws Exception {
        FencedModule module = Fencer.withoutProofs(mode, true).fence(PtxParser.parse(HEAD + text));
        assertEquals(Map.of(), module.refused());
        return module.ptx();
    }

    private static LinkInterface of(String fenced, Mode mode) throws UnverifiedException {
        Verdict verdict = FenceVerifier.verify(fenced.getBytes(StandardCharsets.UTF_8), mode, true);
        assertTrue(verdict.whole(), () -> verdict.rejected().toString());
        return verdict.link();
    }

    private static Map<String, Long> link(FenceMode mode, String... texts) throws Exception {
        List<LinkInterface> read = new ArrayList<>();
        for (String text : texts) {
            read.add(read(text, mode));
        }
        return LinkCheck.check(read);
    }

    private static void refused(String why, FenceMode mode, String... texts) throws Exception {
        List<LinkInterface> read = new ArrayList<>();
        for (String text : texts) {
            read.add(read(text, mode));
        }
        String said = assertThrows(UnverifiedException.class, () -> LinkCheck.check(read), why).getMessage();
        assertTrue(said.contains(why), said);
    }

    @ParameterizedTest
    @EnumSource
    void callsThatComeBackOverTwoTextsAreRefused(FenceMode mode) throws Exception {
        String one = needed("g") + function(".visible", "f", call("g")) + kernel("", "k", call("g"));
        refused("calls itself", mode, one, needed("f") + function(".visible", "g", call("f")));
        assertEquals(List.of("k"), List.copyOf(link(mode, one, function(".visible", "g", "")).keySet()));
    }

    /** A linker may choose any of the weak definitions. */
    @Test
    void allWeakDefinitionsCount() throws Exception {
        String one = needed("g") + function(".weak", "f", call("g")) + kernel("", "k", call("f"));
        String two = function(".weak", "f", "") + function(".visible", "g", "");
        assertEquals(1, link(FenceMode.MASK, one, two).size());
        refused("calls itself", FenceMode.MASK, one, function(".weak", "f", "") + needed("h") + function(".visible", "g", call("h")),
                needed("f") + function(".visible", "h", call("f")));
        refused("defined in two texts", FenceMode.MASK, function(".visible", "f", ""), function(".visible", "f", ""));
    }

    @Test
    void functionsOfOneTextAlonePassForNobodyElses() throws Exception {
        String one = function("", "f", "") + needed("g") + kernel("", "k", call("f") + call("g"));
        String two = function("", "f", "") + function(".visible", "g", call("f"));
        assertEquals(1, link(FenceMode.MASK, one, two).size());
        refused("undefined reference to 'f'", FenceMode.MASK, kernel(needed("f"), "k", call("f")), two);
    }

    @Test
    void whatNobodyDefinesIsRefusedAndWhatNobodyCallsIsNot() throws Exception {
        refused("undefined reference to 'f'", FenceMode.MASK, kernel(needed("f"), "k", call("f")));
        assertEquals(1, link(FenceMode.MASK, kernel(needed("f"), "k", "")).size());
        refused("undefined reference to 'f'", FenceMode.MASK, kernel(head(".weak", "f") + ";\n", "k", call("f")));
    }

    @Test
    void functionsAreWhatTheirCallersTakeThemFor() throws Exception {
        String one = kernel(needed("f"), "k", call("f"));
        for (String head : List.of(".visible .func (.param .align 8 .b8 r[4096]) f(.param .b32 a)", ".visible .func (.param .b32 r) f(.param .b64 a)",
                ".visible .func (.param .b32 r) f(.param .b32 a, .param .b32 b)", ".visible .func (.reg .b32 r) f(.param .b32 a)",
                ".visible .func (.param .b32 r) f(.param .align 8 .b8 a[4])")) {
            String body = head.contains(".reg") ? "mov.u32 r, 1;" : "st.param.b32 [r], 1;";
            refused("'f' is FUNC", FenceMode.MASK, one, head + "\n{\n" + body + "\nret;\n}\n");
        }
        refused("'f' is", FenceMode.MASK, one, kernel("", "f", ""));
    }

    /** An assembler puts a branch to itself behind a call of what does not return. */
    @Test
    void whatDoesNotReturnIsReplacedByNothingThatDoes() throws Exception {
        String weak = ".weak .func (.param .b32 r) f(.param .b32 a) .noreturn\n{\ntrap;\nexit;\n}\n";
        String one = kernel(weak, "k", call("f"));
        refused("'f' is", FenceMode.MASK, one, function(".visible", "f", ""));
        assertEquals(1, link(FenceMode.MASK, one, weak.replace(".weak", ".visible")).size());
    }

    /** Calls of it count as one instruction. */
    @Test
    void printingIsTheDrivers() throws Exception {
        String one = kernel(head(".extern", "vprintf") + ";\n", "k", "");
        String print = ".visible .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b)\n{\nst.param.b32 [r], 1;\nret;\n}\n";
        for (String linkage : List.of(".visible", ".weak")) {
            refused("'vprintf' is the driver's", FenceMode.MASK, one, print.replace(".visible", linkage));
        }
    }

    @Test
    void otherNamesAreTheFunctionsThatTheyStandFor() throws Exception {
        String alias = function("", "real", call("g")) + head(".visible", "f") + ";\n.alias f, real;\n";
        String one = kernel(needed("f"), "k", call("f"));
        assertEquals(1, link(FenceMode.MASK, one, needed("g") + alias, function(".visible", "g", "")).size());
        refused("calls itself", FenceMode.MASK, one, needed("g") + alias, needed("f") + function(".visible", "g", call("f")));
        String own = HEAD + head(".visible", "f") + ";\n" + function("", "real", call("f")) + ".alias f, real;\n";
        assertThrows(UnverifiedException.class, () -> of(own, Mode.MASK), "over its own other name");
    }

    @Test
    void anAliasHasTheShapeOfItsFunctionAndDoesNotReturnOnlyWhereThatDoesNot() {
        String real = HEAD + ".func real(.param .b64 a)\n{\nret;\n}\n.visible .func f(%s)%s;\n.alias f, real;\n";
        for (String[] other : new String[][] {{".param .b32 a", ""}, {".param .b64 a, .param .b64 b", ""}, {".param .b64 a", " .noreturn"}}) {
            UnverifiedException why = assertThrows(UnverifiedException.class, () -> of(real.formatted((Object[]) other), Mode.MASK));
            assertTrue(why.getMessage().contains("'f' is no other name of 'real'"), why.getMessage());
        }
    }

    @Test
    void variablesAreAsLargeEverywhere() throws Exception {
        String uses = "ld.%s.u32 %%r1, [s+2048];\n";
        for (String space : List.of("shared", "const")) {
            String one = "." + space + " .align 4 .b8 s[4096];\n";
            String small = "." + space + " .align 4 .b8 s[16];\n";
            String reads = kernel("", "k", uses.formatted(space));
            refused("'s' is", FenceMode.MASK, ".extern " + one + reads, ".visible " + small);
            refused("'s' is", FenceMode.MASK, ".weak " + one + reads, ".weak " + small);
            refused("undefined reference to 's'", FenceMode.MASK, ".extern " + one + reads);
            assertEquals(1, link(FenceMode.MASK, ".extern " + one + reads, ".visible " + one).size());
            refused("'s' is", FenceMode.MASK, ".extern " + one + reads, ".visible " + one.replace("align 4", "align 32"));
        }
    }

    /** Compilers name texts to print alike in every file. The loader finds constants by name alone: with one name for two the other would stay 0. */
    @Test
    void variablesOfTwoTextsInTheWindowHaveTwoNames() throws Exception {
        String x = ".global .align 4 .u32 x;\n";
        String one = x + kernel("", "k", "ld.global.u32 %r1, [x];\n");
        String other = x + kernel("", "other", "ld.global.u32 %r1, [x];\n");
        assertEquals(2, link(FenceMode.MASK, one, other).size());
        assertEquals(1, link(FenceMode.MASK, one, ".visible " + x).size());
        String fenced = fenced(one, FenceMode.MASK);
        String name = fenced.substring(fenced.indexOf("__tessera_at_"), fenced.indexOf("_x", fenced.indexOf("__tessera_at_")) + 2);
        String alike = fenced(other, FenceMode.MASK).replaceAll("__tessera_at_\\w+_x", name);
        String said = assertThrows(UnverifiedException.class, () -> LinkCheck.check(List.of(of(fenced, Mode.MASK), of(alike, Mode.MASK))))
                .getMessage();
        assertTrue(said.contains("'" + name + "' is a variable of one text"), said);
    }

    @Test
    void framesOfAllTextsAreAddedUp() throws Exception {
        String frame = ".local .align 4 .b8 own[1000];\n.reg .b64 %rd<2>;\nmov.u64 %rd1, own;\nst.local.u32 [%rd1], %r1;\nld.local.u32 %r1, [%rd1];\n";
        List<String> texts = new ArrayList<>();
        texts.add(kernel(needed("f0"), "k", call("f0")));
        for (int i = 0; i < 99; i++) {
            texts.add(needed("f" + (i + 1)) + function(".visible", "f" + i, frame + call("f" + (i + 1))));
        }
        texts.add(function(".visible", "f99", frame));
        long bytes = link(FenceMode.MASK, texts.toArray(String[]::new)).get("k");
        assertTrue(bytes >= 100_000 && bytes < 110_000, bytes + " bytes");
    }

    /** In a chain, so that a recursive walk would overflow its stack. The texts are of moderate size, so that fencing is fast. */
    @Test
    void longChainsAreWalked() throws Exception {
        int count = 20_000;
        int each = 500;
        List<String> texts = new ArrayList<>(List.of(kernel(".extern .func f0();\n", "k", "call f0;\n")));
        for (int next = each; next <= count; next += each) {
            StringBuilder text = new StringBuilder(next < count ? ".extern .func f" + next + "();\n" : "");
            for (int i = next - 1; i >= next - each; i--) {
                text.append(".visible .func f" + i + "()\n{\n" + (i + 1 < count ? "call f" + (i + 1) + ";\n" : "") + "ret;\n}\n");
            }
            texts.add(text.toString());
        }
        assertTrue(link(FenceMode.MASK, texts.toArray(String[]::new)).get("k") >= 16L * count);
    }

    @Test
    void allAreFencedAlike() throws Exception {
        List<LinkInterface> texts = List.of(read(kernel(needed("f"), "k", call("f")), FenceMode.CHECK),
                read(function(".visible", "f", ""), FenceMode.NONE));
        assertTrue(assertThrows(UnverifiedException.class, () -> LinkCheck.check(texts)).getMessage().contains("fenced by NONE"));
    }

    /** Its own text has no shared memory, and another's has. */
    @Test
    void kernelsInClustersReachNoSharedMemory() throws Exception {
        String one = needed("f") + kernel("", "k", call("f")).replace(".param .u64 to)", ".param .u64 to)\n.reqnctapercluster 2,1,1\n");
        String shared = ".visible .shared .align 4 .u32 s;\n" + function(".visible", "f", "st.shared.u32 [s], %r1;\n");
        refused("launched in clusters", FenceMode.MASK, one, shared);
        assertEquals(1, link(FenceMode.MASK, one, function(".visible", "f", "")).size());
    }
}
