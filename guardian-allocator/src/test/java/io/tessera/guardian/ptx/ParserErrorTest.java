package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors are reported with their place and their name. */
@Timeout(180)
class ParserErrorTest {
    private static final String HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";

    private static String finding(String text) {
        return assertThrows(PtxException.class, () -> PtxParser.parse(text)).getMessage();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '#', quoteCharacter = '`', value = {
            "  frobnicate.b32 a; # 10:1: unknown instruction 'frobnicate'",
            "mov.b32 a, %r9; # 10:12: register '%r9' is not declared",
            "mov.b32 a, %r09; # 10:12: register '%r09' is not declared",
            "mov.b32 a, %smidx; # 10:12: register '%smidx' is not declared",
            "mov.b32 a, %laneid.x; # 10:19: '%laneid' has no component 'x'",
            "mov.b32 a, %tid.q; # 10:16: '%tid' has no component 'q'",
            "bra nowhere; # 10:5: nothing is named 'nowhere'",
            "@nowhere bra out; # 10:2: 'nowhere' is not a register",
            ".reg .b32 a; # 10:11: 'a' is declared twice",
            ".reg .b32 %r3; # 10:11: '%r3' is declared twice",
            "x: ret; x: ret; # 10:9: 'x' is declared twice",
            "mov.b32 a, ; # 10:12: expected an operand, found ';'",
            "mov.b32 a # 11:1: expected ';', found '}'",
            "mov.b32 a, [%rd1; # 10:17: expected ']', found ';'",
            "mov.b32 a, 1/0; # 10:15: division by zero in a constant expression",
            "mov.b32 a, 99999999999999999999; # 10:12: integer needs more than 64 bits: '99999999999999999999'",
            "mov.b32 a, 0f3F80; # 10:12: a floating-point constant has 8 hexadecimal digits",
            "mov.b32 a, 12ab; # 10:12: malformed number '12a'",
            ".frob 3; # 10:1: unknown directive '.frob' in a function",
            ".local .u33 x; # 10:8: expected a type, found '.u33'",
            ".local .align 3 .u32 x; # 10:17: an alignment is a power of two, not 3",
            "ret; /* no end # 10:6: comment does not end",
            ".pragma ``no end; # 10:9: string does not end",
            "mov.b32 a, 0\u00FC; # 10:13: unexpected character 0xc3",
            "mov.b32 a, \\; # 10:12: unexpected character '\\'"})
    void inAKernel(String statements, String message) {
        String text = statements.replace("``", "\"");
        String found = finding(Samples.kernel(text));
        assertTrue(found.startsWith(message), found);
    }

    @Test
    void anInstructionHasABoundedNumberOfWords() throws PtxException {
        PtxParser.parse(Samples.kernel("mov" + ".b32".repeat(32) + " a, a;"));
        for (int words : new int[] {33, 1_000_000}) {
            String found = finding(Samples.kernel("mov" + ".b32".repeat(words) + " a, a;"));
            assertTrue(found.endsWith("an instruction of more than 32 words after its opcode"), found);
        }
    }

    @Test
    void inAModule() {
        assertEquals("4:1: unknown directive '.frob'", finding(HEAD + ".frob 1;"));
        assertEquals("1:1: a module starts with '.version', found end of text", finding(""));
        assertEquals("1:10: expected a version such as 9.0, found 'nine'", finding(".version nine"));
        assertEquals("1:14: expected '.target', found end of text", finding(".version 9.0 "));
        assertTrue(finding(HEAD + ".global .u32 x;\n.global .u32 x;").endsWith("variable 'x' is defined twice"));
        assertTrue(finding(HEAD + ".func f { ret; }\n.func f { ret; }").endsWith("function 'f' is defined twice"));
        assertTrue(finding(HEAD + ".func f;\n.global .u32 f;").endsWith("declared as a function and as a variable"));
        assertEquals("4:18: nothing is named 'y'", finding(HEAD + ".global .u64 x = y;"));
        assertEquals("4:10: unknown directive '.frob' of a function", finding(HEAD + ".entry k .frob 1 { ret; }"));
        assertEquals("4:9: expected a function or variable, found '.file'", finding(HEAD + ".extern .file 1 \"a\""));
    }

    @Test
    void declarationsMayRepeat() throws PtxException {
        PtxModule module = PtxParser.parse(HEAD + ".extern .global .u32 x;\n.global .u32 x;\n.func f;\n.func f;\n"
                + ".func f { ret; }");
        assertEquals(5, module.directives().size());
    }

    @Test
    void depthIsBounded() {
        int deep = 100_000;
        assertTrue(finding(Samples.kernel("{".repeat(deep))).contains("nested deeper"));
        assertTrue(finding(Samples.kernel("mov.b32 a, " + "(".repeat(deep))).contains("nested deeper"));
        assertTrue(finding(Samples.kernel("mov.b32 a, " + "-".repeat(deep))).contains("nested deeper"));
        assertTrue(finding(Samples.kernel("mov.b32 a, " + "{".repeat(deep))).contains("nested deeper"));
        assertTrue(finding(Samples.kernel("mov.b32 a, 1" + "?1:1".repeat(deep))).contains("nested deeper"));
        assertTrue(finding(HEAD + ".global .u32 x = " + "{".repeat(deep)).contains("nested deeper"));
        assertTrue(finding(HEAD + ".global .u32 x = " + "1(".repeat(deep)).length() < 200);
    }

    @Test
    void rowsOfVariablesAreBounded() {
        assertTrue(finding(Samples.kernel(".local .u32 x<2000000000>;")).contains("expected a number of variables"));
        String many = ".local .u32 x<4096>;".replace("x", "x%d_");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            text.append(many.replace("%d", "" + i));
        }
        assertTrue(finding(Samples.kernel(text.toString())).contains("variables"));
    }
}
