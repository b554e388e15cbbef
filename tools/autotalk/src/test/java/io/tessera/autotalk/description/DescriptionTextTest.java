package io.tessera.autotalk.description;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.autotalk.input.InputException;
import io.tessera.autotalk.header.HeaderReader;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class DescriptionTextTest {
    private static final String HEAD = "format 1\nlibrary cuda\nsource x.h 1\n";

    private static Description sample() {
        return HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", """
                typedef struct H_st *H;
                typedef enum { A } E;
                typedef struct V_st { float f; int i; } V;
                typedef int (*F)(int);
                typedef unsigned long long Address;
                E cuAll(H h, E e, V v, const V *pv, F f, Address a, const void *const *list, unsigned char c, double d);
                E cuNothing(void);
                """)), Map.of("l.names", List.of("cuAll", "cuNothing", "cuNothing_ptsz", "cuUnknown")));
    }

    @Test
    void roundTrip() {
        String text = DescriptionText.write(sample());
        Description again = DescriptionText.read("x.api", text);
        assertEquals(sample(), again);
        assertEquals(text, DescriptionText.write(again));
    }

    @Test
    void typesOfParametersRoundTrip() {
        for (String type : List.of("int", "unsigned long long", "const void*", "void**", "const void*const*",
                "struct hidden_st*", "const CUgraphNode**", "void*const*")) {
            assertEquals(type, TypeName.parse(type).toString());
        }
        assertEquals("const void*const*", TypeName.parse("const void * const *").toString());
        assertThrows(IllegalArgumentException.class, () -> TypeName.parse("int*x"));
    }

    @Test
    void aLineThatContradictsItselfIsRefused() {
        String entry = HEAD + "entry cuA\n  api cuA\n  from x.h 1\n  returns i32 int\n  param a in i32 size_t\n";
        assertEquals("x.api:8: 'size_t' is u64, not i32",
                assertThrows(InputException.class, () -> DescriptionText.read("x.api", entry)).getMessage());
    }

    @Test
    void errorsNameFileAndLine() {
        assertMessage("x.api:1: format 9 is not known to this autotalk, which reads 1", "format 9\n");
        assertMessage("x.api: not a description: 'format' or 'library' is missing", "# nothing\n");
        assertMessage("x.api:4: unknown line 'entri cuA'", HEAD + "entri cuA\n");
        assertMessage("x.api:4: unknown type class 'u7'", HEAD + "type T = u7 int\n");
        assertMessage("x.api:4: a value type needs size, alignment and argument class", HEAD + "type T = value 8\n");
        assertMessage("x.api:5: type T stands here twice", HEAD + "type T = enum\ntype T = enum\n");
        assertMessage("x.api:4: entry cuA needs 'api', 'from', and either 'returns' or 'params unknown'",
                HEAD + "entry cuA\n  api cuA\n  from x\n");
        assertMessage("x.api:8: 'sideways' is not a direction: in, out or inout", HEAD
                + "entry cuA\n  api cuA\n  from x\n  returns i32 int\n  param a sideways i32 int\n");
        assertMessage("x.api:7: 'Strange' is unknown, not i32", HEAD
                + "entry cuA\n  api cuA\n  from x\n  returns i32 Strange\n");
    }

    private static void assertMessage(String expected, String text) {
        assertEquals(expected, assertThrows(InputException.class, () -> DescriptionText.read("x.api", text))
                .getMessage());
    }
}
