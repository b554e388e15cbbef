package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the facts about a summand that follow from a comparison of the sum: each text is accepted, and rejected after any single change. */
class ComparedSumsTest {
    /** Addresses an array of 16 words by a register. */
    private static final String ACCESS = "shl.b32 %r4, %r1, 2;\nadd.u32 %r5, %r3, %r4;\nld.shared.u32 %r6, [%r5];\n";

    private static Map<String, UnverifiedException> rejected(String statements) throws UnverifiedException {
        String text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u32 m)\n{\n"
                + ".reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n.shared .align 4 .b8 tile[64];\n"
                + "mov.u32 %r3, tile;\nld.param.u32 %r1, [n];\nld.param.u32 %r7, [m];\nsetp.eq.u32 %p2, %r7, 0;\n" + statements + "out:\nret;\n}\n";
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).rejected();
    }

    private static void onlySo(String text, String[]... changes) throws UnverifiedException {
        assertEquals(Map.of(), rejected(text), text);
        for (String[] change : changes) {
            assertTrue(text.contains(change[0]), change[0] + " is not in\n" + text);
            Map<String, UnverifiedException> rejected = rejected(text.replace(change[0], change[1]));
            assertTrue(rejected.containsKey("k") && rejected.get("k").getMessage().contains("in bounds"),
                    () -> change[0] + " -> " + change[1] + rejected);
        }
    }

    @Test
    void behindABranch() throws UnverifiedException {
        onlySo("""
                add.s32 %r2, %r1, -1;
                setp.lt.u32 %p1, %r2, 15;
                @!%p1 bra out;
                """ + ACCESS, new String[][] {
                {"15", "16"}, {"15", "%r7"}, {"-1", "-2"}, {"-1", "3"}, {"-1", "2147483647"}, {"-1", "%r7"},
                {"lt.u32", "lt.s32"}, {"lt.u32", "gt.u32"}, {"lt.u32", "ne.u32"}, {"@!%p1", "@%p1"}, {"add.s32 %r2", "add.sat.s32 %r2"},
                {"add.s32 %r2", "sub.s32 %r2"}, {"add.s32 %r2", "@%p2 add.s32 %r2"}, {"setp", "@%p2 setp"}});
    }

    @Test
    void asLongAsTheRegisterHoldsTheSame() throws UnverifiedException {
        String text = """
                add.s32 %r2, %r1, -1;
                setp.lt.u32 %p1, %r2, 15;
                @!%p1 bra out;
                """ + ACCESS;
        onlySo(text, new String[][] {
                {"setp", "mov.u32 %r1, %r7;\nsetp"}, {"@!%p1", "mov.u32 %r1, %r7;\n@!%p1"}, {"shl", "mov.u32 %r1, %r7;\nshl"},
                {"setp", "@%p2 mov.u32 %r1, %r7;\nsetp"}, {"shl", "@%p2 add.u32 %r1, %r1, 1;\nshl"},
                {"shl", "@%p2 bra in;\nmov.u32 %r1, %r7;\nin:\nshl"},
                {"@!%p1 bra out;", "@%p2 bra in;\n@!%p1 bra out;\nin:"}});
        assertTrue(rejected(text.replace("add.s32 %r2", "@%p2 bra in;\nadd.s32 %r2").replace("shl", "in:\nshl")).containsKey("k"), "a way around");
    }

    @Test
    void ofTheSameWidth() throws UnverifiedException {
        onlySo("cvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %rd1, -1;\nsetp.lt.u64 %p1, %rd2, 15;\n@!%p1 bra out;\ncvt.u32.u64 %r1, %rd1;\n" + ACCESS,
                new String[][] {{"setp.lt.u64 %p1, %rd2", "cvt.u32.u64 %r2, %rd2;\nsetp.lt.u32 %p1, %r2"}, {"cvt.u64.u32 %rd1", "cvt.s64.s32 %rd2"},
                        {"-1", "-4294967296"}});
        assertTrue(rejected("add.s32 %r2, %r1, -1;\ncvt.u16.u32 %h1, %r2;\nsetp.lt.u16 %p1, %h1, 15;\n@!%p1 bra out;\n" + ACCESS).containsKey("k"));
    }

    /** A value compared in one round is another one in the next. */
    @Test
    void inARoundOfALoop() throws UnverifiedException {
        onlySo("""
                mov.u32 %r1, 1;
                mov.u32 %r8, 0;
                round:
                """ + ACCESS + """
                add.u32 %r8, %r8, 1;
                setp.gt.u32 %p3, %r8, 9;
                @%p3 bra out;
                mov.u32 %r1, %r6;
                add.s32 %r2, %r1, -1;
                setp.lt.u32 %p1, %r2, 15;
                @%p1 bra round;
                """, new String[][] {
                {"@%p1 bra", "mov.u32 %r1, %r6;\n@%p1 bra"}, {"setp.lt", "add.u32 %r1, %r1, 1;\nsetp.lt"}, {"15", "16"},
                {"@%p1 bra round", "@%p1 bra round;\n@%p2 bra round"}, {"%r1, 1;\n", "%r1, %r7;\n"}});
    }

    /** A register that was never written need not be read as the same number twice. */
    @Test
    void notOfARegisterThatHoldsNothing() throws UnverifiedException {
        assertTrue(rejected("add.s32 %r2, %r1, -1;\nsetp.lt.u32 %p1, %r2, 15;\n@!%p1 bra out;\n".replace("%r1", "%r8")
                + ACCESS.replace("%r1", "%r8")).containsKey("k"));
        String joined = "@%p2 bra in;\nsetp.lt.u32 %p1, %r8, 15;\n@%p1 bra use;\nbra out;\nin:\nmov.u32 %r8, 3;\nuse:\n"
                + ACCESS.replace("%r1", "%r8")
                + "mov.u32 %r8, %r6;\n";
        assertTrue(rejected(joined).containsKey("k"));
        assertEquals(Map.of(), rejected("mov.u32 %r8, %r7;\n" + joined));
    }

    /** A number less its low bits, as compilers round counts down: 12 at most. */
    @Test
    void roundedDown() throws UnverifiedException {
        onlySo("""
                setp.gt.u32 %p1, %r1, 15;
                @%p1 bra out;
                and.b32 %r2, %r1, 3;
                sub.s32 %r1, %r1, %r2;
                """ + ACCESS.replace("[%r5]", "[%r5+12]"), new String[][] {
                {"%r1, 3", "%r1, 1"}, {"%r1, 3", "%r1, 2"}, {"%r1, 3", "%r7, 3"}, {"and.b32", "or.b32"}, {"sub.s32", "add.s32"},
                {"%r1, %r1, %r2", "%r1, %r2, %r1"},
                {"sub.s32", "mov.u32 %r1, 13;\nsub.s32"}, {"sub.s32", "@%p2 add.u32 %r1, %r1, 1;\nsub.s32"}, {"15", "16"}});
    }
}
