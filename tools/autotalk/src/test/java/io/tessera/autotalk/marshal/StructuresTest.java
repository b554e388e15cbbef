package io.tessera.autotalk.marshal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.autotalk.annotation.AnnotationText;
import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.header.HeaderReader;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;

class StructuresTest {
    private static final String HEADER = """
            typedef struct CUstream_st *CUstream;
            typedef struct CUevent_st *CUevent;
            typedef unsigned long long CUdeviceptr;
            typedef struct CUplace_st { int type; int id; } CUplace;
            typedef struct CUattribute_st {
                int id;
                union { int number; struct { CUevent event; int flags; } last; CUplace place; } value;
            } CUattribute;
            typedef struct CUwork_st {
                CUstream stream;
                CUattribute *attributes;
                CUdeviceptr target[2];
                CUplace where;
            } CUwork;
            typedef struct CUhidden_st { CUstream stream; } CUhidden;
            int cuRun(const CUwork *work);
            int cuNever(const CUhidden *work);
            """;
    private static final String SERVED = "cuRun wrap call\ncuNever refuse it is only here to be passed over\n";
    private static final String UNION = "structure CUattribute.value.last when id = 7\n";

    private static Structures structures(String rules) {
        Decisions decisions = new Decisions(HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", HEADER)),
                Map.of()), AnnotationText.read("a", "cuRun pass\ncuNever pass\n"),
                Optional.of(AnnotationText.readRelay("r", SERVED + rules)));
        assertEquals(List.of(), decisions.problems());
        return new Structures(decisions, decisions.structures());
    }

    @Test
    void whatIsInsideAndBehindIsFound() {
        Structures structures = structures(UNION + """
                structure CUplace.id is CUdevice when type = 1
                structure CUattribute.value.place when id = 3, 4
                """);
        assertEquals(List.of(), structures.problems());
        assertEquals("""
                structure CUattribute 24
                value.last.event 8 handle EVENT when 0 4 7
                value.place.id 12 device when 0 4 3,4 when 8 4 1
                structure CUwork 40
                stream 0 handle STREAM
                attributes 8 pointer CUattribute 24
                target[0] 16 address
                target[1] 24 address
                where.id 36 device when 32 4 1
                """, structures.text());
    }

    @Test
    void aHandleInAUnionNeedsARule() {
        assertEquals(List.of("CUattribute.value.last.event shares its place: 'structure' has to say when it is meant"),
                structures("").problems());
        assertEquals(List.of(), structures("structure CUattribute.value ignored\n").problems());
    }

    @Test
    void aRuleThatMatchesNothingIsReported() {
        assertEquals(List.of("line 4: 'CUwork.stram' matches no member that needs it"),
                structures(UNION + "structure CUwork.stram ignored\n").problems());
    }
}
