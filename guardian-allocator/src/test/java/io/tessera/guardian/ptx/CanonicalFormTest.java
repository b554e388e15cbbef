package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names mean what they mean to NVIDIA's assembler (ptxas 13.0, whose machine code was compared), and everything has a name of its own. */
@Timeout(180)
class CanonicalFormTest {
    private static final String HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";

    private static String finding(String text) {
        return assertThrows(PtxException.class, () -> PtxParser.parse(text)).getMessage();
    }

    private static PtxModule module(String statements) throws PtxException {
        return PtxParser.parse(HEAD + ".global .u32 word;\n.func f;\n.visible .entry k(.param .u64 p)\n{\n" + statements + "\n}\n");
    }

    /** Returns the declarations and instructions of a body, one statement per line. */
    private static String body(PtxModule module) {
        String text = PtxPrinter.print(module);
        return text.substring(text.lastIndexOf("\n{\n") + 3, text.lastIndexOf("}")).lines()
                .map(line -> line.strip().replace('\t', ' ').replace("  ", " "))
                .collect(Collectors.joining(" "));
    }

    /** The machine code of both spellings shows that {@code ld.u32 r, [v]} is an access to the space of v. */
    @Test
    void anAccessToAVariableIsToItsSpace() throws PtxException {
        String text = PtxPrinter
                .print(module(".shared .b32 s[4]; .local .b64 l; .reg .b32 r; .reg .b64 d; ld.volatile.u32 r, [s+4]; st.v2.u32 [l], {r, r};"
                        + " atom.relaxed.cta.add.u32 r, [s], r; mbarrier.init.b64 [s], r; ld.u32 r, [word]; ld.u32 r, [d]; mov.u64 d, s;"));
        for (String expected : List.of("ld.volatile.shared.u32", "st.local.v2.u32", "atom.relaxed.cta.shared.add.u32", "mbarrier.init.shared.b64")) {
            assertTrue(text.contains(expected), text);
        }
        assertEquals(2, text.lines().filter(line -> line.contains("ld.u32")).count(), text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', quoteCharacter = '`', value = {
            "a declaration counts from where it stands # .reg .u64 a; { mov.u64 a, 5; .reg .u64 a; mov.u64 a, 6; }"
                    + " # .reg .u64 %u64_<2>; mov.u64 %u64_0, 5; mov.u64 %u64_1, 6;",
            "a parameter is hidden from there on # .reg .u64 r; { ld.param.u64 r, [p]; .local .b32 p; ld.local.u32 r, [p]; }"
                    + " # .reg .u64 %u64_<1>; .local .u32 $v1; ld.param.u64 %u64_0, [$v0]; ld.local.u32 %u64_0, [$v1];",
            "a row in a block hides its numbers only # .reg .u64 %a<15>; { .reg .u32 %a<7>; mov.u32 %a6, 1; mov.u64 %a9, 2; } mov.u64 %a6, 3;"
                    + " # .reg .u32 %u32_<1>; .reg .u64 %u64_<2>; mov.u32 %u32_0, 1; mov.u64 %u64_0, 2; mov.u64 %u64_1, 3;",
            "a number may have zeros before it # .reg .u32 a<4>; mov.u32 a1, a01; # .reg .u32 %u32_<1>; mov.u32 %u32_0, %u32_0;",
            "a special register may be declared # .reg .u32 %laneid, r; mov.u32 r, %nsmid; mov.u32 %laneid, r;"
                    + " # .reg .u32 %u32_<2>; mov.u32 %u32_0, %nsmid; mov.u32 %u32_1, %u32_0;",
            "the block's label comes before an outer one # L: { bra L; L: } bra L; # $L0: bra $L1; $L1: bra $L0;",
            "labels of blocks are apart # { bra L; L: } { bra L; L: } # bra $L0; $L0: bra $L1; $L1:",
            "a label may be outside # { bra L; } L: # bra $L0; $L0:",
            "a register hides a variable of the module # .reg .u32 word; mov.u32 word, 1; # .reg .u32 %u32_<1>; mov.u32 %u32_0, 1;",
            "unused registers are gone # .reg .b64 %d<2147483647>; mov.u64 %d2147483646, 1; # .reg .b64 %rd<1>; mov.u64 %rd0, 1;"})
    void namesMeanWhatTheAssemblerSays(String what, String statements, String expected) throws PtxException {
        assertEquals(expected.replace(".local .u32", ".local .b32"), body(module(statements)), what);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', quoteCharacter = '`', value = {
            "{ bra L; .reg .u32 L; } L: # 'L' is used before it is declared",
            "{ mov.u32 b, 5; .reg .u32 b; } # 'b' is used before it is declared",
            "{ L: } bra L; # nothing is named 'L'",
            ".reg .u64 %a<5>; .reg .u32 %a3; # '%a3' is declared twice",
            ".reg .u32 %a3; .reg .u64 %a<5>; # '%a<5>' is declared twice",
            ".reg .u64 %a<5>; .reg .u32 %a<7>; # '%a<7>' is declared twice",
            ".local .b32 y<4>; .reg .u64 y2; # 'y2' is declared twice",
            ".reg .u64 p; # 'p' is declared twice",
            ".reg .u64 %a1<7>; mov.u64 %a12, 1; # register '%a12' is not declared",
            "word: bra word; # label 'word' has the name of a function or variable of the module",
            "f: call f; # label 'f' has the name of a function or variable of the module",
            ".reg .f32 x; add.f32 x, x+1, x; # a constant is added to integer registers only",
            ".reg .u32 x; mov.u32 x, x.y; # 'x' has no component 'y'",
            ".reg .v2 .u32 x; mov.u32 x.z, 1; # 'x' has no component 'z'",
            ".reg .v2 .u32 x; .reg .v4 .u32 y; mov.v2.u32 x, y; # a move of vectors has a vector of 2 registers on both sides"})
    void whatHasNoMeaningIsRefused(String statements, String message) {
        String found = finding(HEAD + ".global .u32 word;\n.func f;\n.visible .entry k(.param .u64 p)\n{\n" + statements + "\nret;\n}\n");
        assertTrue(found.contains(message), found);
    }

    @Test
    void namesOfTheModuleCannotBeOurs() {
        for (String name : List.of("%tid", "%a", "$v1", "$L20")) {
            String found = finding(HEAD + ".global .u32 " + name + ";");
            assertTrue(found.contains("'" + name + "' is no name for a function or variable of a module here"), found);
        }
        assertTrue(finding(HEAD + ".func $v1 { ret; }").contains("'$v1' is no name"));
    }

    @Test
    void vectorRegistersAreScalars() throws PtxException {
        assertEquals(".reg .u16 %u16_<8>; mov.u16 %u16_0, %u16_4; mov.u16 %u16_1, %u16_5; mov.u16 %u16_2, %u16_6; mov.u16 %u16_3, %u16_7;"
                + " mov.u16 %u16_4, %u16_2;", body(module(".reg .v4 .u16 a, b; mov.v4.u16 a, b; mov.u16 b.x, a.z;")));
        // All lanes are read before any is written.
        assertEquals(".reg .u32 %u32_<4>; mov.u32 %u32_2, %u32_1; mov.u32 %u32_3, %u32_0; mov.u32 %u32_0, %u32_2; mov.u32 %u32_1, %u32_3;",
                body(module(".reg .v2 .u32 a; mov.v2.u32 a, {a.y, a.x};")));
        assertEquals(".reg .u64 %u64_<1>; .reg .f32 %f<4>; ld.v4.f32 {%f0, %f1, %f2, %f3}, [%u64_0];",
                body(module(".reg .v4 .f32 v; .reg .u64 a; ld.v4.f32 v, [a];")));
        PtxModule module = PtxParser.parse(HEAD + ".func (.reg .v2 .u32 r) g(.reg .v2 .u32 a) { mov.v2.u32 r, a; ret; }\n"
                + ".visible .entry k() { .reg .v2 .u32 x, y; call (x), g, (y); ret; }");
        assertEquals(List.of("%a0", "%a1"), module.functions().getFirst().returns().stream().map(Variable::name).toList());
        assertEquals(List.of("%a2", "%a3"), module.functions().getFirst().parameters().stream().map(Variable::name).toList());
        assertTrue(PtxPrinter.print(module).contains("call \t(%u32_0, %u32_1), g, (%u32_2, %u32_3);"), PtxPrinter.print(module));
    }

    @Test
    void aSumAsAnOperandIsAnAddition() throws PtxException {
        assertEquals(".reg .b32 %r<2>; .reg .b64 %rd<1>; add.s32 %r1, %r0, -2; st.u32 [%rd0], %r1;",
                body(module(".reg .b32 t; .reg .b64 a; st.u32 [a], t-2;")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', value = {"setp.gt.u32 z, r, -16 # 4294967280", "setp.gt.s32 z, r, 0xFFFFFFF0 # -16",
            "add.s32 r, r, 0x100000005 # 5", "setp.lt.u16 z, h, -16 # 65520", "setp.lt.s16 z, h, 0xFFF0 # -16", "mul.wide.u32 d, r, -16 # 4294967280",
            "mul.wide.s32 d, r, -16 # -16", "add.u64 d, d, -1 # 18446744073709551615", "add.s64 d, d, 0xFFFFFFFFFFFFFFFF # -1",
            "shl.b32 r, r, 0x100000001 # 1", "shr.s64 d, d, -1 # 4294967295", "and.b32 r, r, 0xFFFFFFF0 # -16", "mov.b32 r, 5U # 5",
            "mad.wide.u32 d, r, r, -1 # 18446744073709551615", "cvt.s64.s32 d, 0xFFFFFFFF # -1", "cvt.u64.u32 d, -1 # 4294967295"})
    void constantsHaveTheValueThatTheInstructionTakes(String instruction, String value) throws PtxException {
        String text = body(module(".reg .pred z; .reg .b16 h; .reg .b32 r; .reg .b64 d;\n" + instruction + ";"));
        assertTrue(text.endsWith(", " + value + ";"), text);
    }

    @Test
    void variablesOfAFunctionThatStayAreTheModules() throws PtxException {
        PtxModule module = module("{ .global .b32 x = 3; .reg .u64 a; mov.u64 a, x; } { .const .b32 x = 4; .reg .u64 a; mov.u64 a, x; }");
        assertEquals(List.of("word", "$g0", "$g1"), module.variables().stream().map(Variable::name).toList());
        assertEquals(".reg .u64 %u64_<2>; mov.u64 %u64_0, $g0; mov.u64 %u64_1, $g1;", body(module));
        assertEquals(module, PtxParser.parse(PtxPrinter.print(module)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', value = {".local .b8 x[4294967312]; # 'x' does not fit: there are 524288 bytes of .local at most",
            ".local .b8 x[65536][65536]; # 'x' does not fit", ".local .b8 x[300000]; { .local .b8 y[300000]; } # 'y' does not fit",
            ".shared .b8 x[4294967312]; # 'x' does not fit: there are 262144 bytes of .shared at most",
            ".param .b8 x[4294967312]; # 'x' does not fit", ".shared .b64 x[9223372036854775807]; # 'x' has a size of more than 64 bits",
            ".shared .align 65536 .b8 x; # 'x' is aligned to 65536 bytes", ".local .b8 x[]; # 'x' has no size",
            ".global .b8 x[4294967312]; # 'x' does not fit"})
    void whatNoGpuHasRoomForIsRefused(String statements, String message) {
        String found = assertThrows(PtxException.class, () -> module(statements)).getMessage();
        assertTrue(found.contains(message), found);
    }

    @Test
    void parametersAndVariablesOfModulesAreBoundedToo() throws PtxException {
        PtxParser.parse(HEAD + ".entry k(.param .u64 p, .param .b8 x[32756]) { ret; }");
        assertTrue(finding(HEAD + ".entry k(.param .u64 p, .param .b8 x[32757]) { ret; }").contains("'x' does not fit: there are 32764 bytes"));
        assertTrue(finding(HEAD + ".entry k(.param .b8 x[2147483648]) { ret; }").contains("'x' does not fit"));
        assertTrue(finding(HEAD + ".func f(.param .b8 x[4294967300]) { ret; }").contains("'x' does not fit"));
        assertTrue(finding(HEAD + ".shared .b8 x[262145];").contains("'x' does not fit"));
        assertTrue(finding(HEAD + ".local .b8 x[4];").contains("'x' is in .local, where a module has no variables"));
        assertEquals(List.of(3L), PtxParser.parse(HEAD + ".global .b8 x[] = {1, 2, 3};").variables().getFirst().dimensions());
    }
}
