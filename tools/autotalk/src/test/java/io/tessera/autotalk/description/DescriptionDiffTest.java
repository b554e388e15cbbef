package io.tessera.autotalk.description;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.header.HeaderReader;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class DescriptionDiffTest {
    private static Description read(String header) {
        return HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", header)), Map.of());
    }

    @Test
    void equalHeadersOfOtherVersionsDoNotDiffer() {
        Description older = read("#define CUDA_VERSION 1\nint cuA(int a);\n");
        Description newer = read("#define CUDA_VERSION 2\nint cuA(int a);\n");
        assertTrue(DescriptionDiff.between(older, newer).isEmpty());
    }

    @Test
    void addedRemovedAndChangedAreTold() {
        Description older = read("""
                typedef struct S_st { int a; } S;
                int cuGone(int a);
                int cuGrows(const S *s);
                int cuTurns(int a);
                int cuSame(void);
                """);
        Description newer = read("""
                typedef struct S_st { int a, b; } S;
                int cuGrows(const S *s);
                int cuTurns(float a);
                int cuSame(void);
                int cuNew(S s);
                """);
        DescriptionDiff diff = DescriptionDiff.between(older, newer);
        assertFalse(diff.isEmpty());
        assertEquals("""
                - cuGone(i32 int a)
                + cuNew(value(8,4) S s)
                ~ cuGrows: cuGrows(pointer(4) const S* s) -> cuGrows(pointer(8) const S* s)
                ~ cuTurns: cuTurns(i32 int a) -> cuTurns(f32 float a)
                """, diff.text());
    }
}
