package io.tessera.autotalk.annotation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.annotation.Annotations.ParameterRule;
import io.tessera.autotalk.annotation.Annotations.Space;
import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.Entry;
import io.tessera.autotalk.description.ParameterDirection;
import io.tessera.autotalk.header.HeaderReader;
import io.tessera.autotalk.input.InputException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DecisionsTest {
    private static final String HEADER = """
            typedef struct CUstream_st *CUstream;
            int cuCopyTo(void *host, unsigned long long device, size_t bytes);
            int cuCopyTo_v2(void *host, unsigned long long device, size_t bytes);
            int cuCopyFrom(const void *host, size_t bytes, CUstream s);
            int cuGet(int *value);
            """;

    private static Decisions decide(String annotations) {
        Description description = HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", HEADER)),
                Map.of("l.names", List.of("cuCopyTo", "cuCopyTo_v2", "cuCopyFrom", "cuGet", "cuSecret")));
        return new Decisions(description, AnnotationText.read("a", annotations));
    }

    private static Serving serving(Decisions decisions, String name) {
        return decisions.serving(decisions.description().entries().get(name)).orElseThrow();
    }

    @Test
    void gapsAreReported() {
        assertEquals(List.of("a: cuCopyFrom has no decision: pass, submit, sync, room or hook",
                "a: cuSecret has no decision: pass, submit, sync, room or hook"),
                decide("cuCopyTo submit COPY\ncuGet pass\n").problems());
    }

    @Test
    void theNarrowestLineDecides() {
        Decisions decisions = decide("""
                cuCopy*     submit COPY      # the family
                cuCopyTo    hook
                cuCopyTo_v2 sync
                cuGet       pass
                cuSec*      pass
                """);
        assertEquals(List.of(), decisions.problems());
        assertEquals(new Serving.Submit(EntrySubmission.COPY, Optional.empty()), serving(decisions, "cuCopyFrom"));
        assertEquals(new Serving.Hook(), serving(decisions, "cuCopyTo"));
        assertEquals(new Serving.Sync(), serving(decisions, "cuCopyTo_v2"));
    }

    @Test
    void contradictionsStaleAndTooWideLinesAreReported() {
        assertEquals(List.of("a:1: cuGet is decided otherwise in line 2", "a:3: 'cuNobody' matches no exported entry",
                "a:4: 'cu*' is too wide: it would hide what a new driver brings",
                "a:5: 'cuGet.nobody' matches no parameter"), decide("""
                cuGet    pass
                cuGet    hook
                cuNobody pass
                cu*      pass
                cuGet.nobody host
                """).problems());
    }

    @Test
    void unknownParametersCannotBeWrapped() {
        assertEquals(List.of("a:2: cuSecret cannot have a generated wrapper: its parameters are unknown"),
                decide("cuCopy* pass\ncuSecret submit COPY\ncuGet pass\n").problems());
        assertEquals(List.of(), decide("cuCopy* pass\ncuSecret hook\ncuGet pass\n").problems());
    }

    @Test
    void factsOnParameters() {
        Decisions decisions = decide("""
                cuCopy*  pass
                cuGet    pass
                cuSecret pass
                cuCopy*.host   host[bytes]
                cuCopyTo.host  out host[bytes * 2]
                """);
        assertEquals(List.of(), decisions.problems());
        Entry from = decisions.description().entries().get("cuCopyFrom");
        Entry to = decisions.description().entries().get("cuCopyTo_v2");
        ParameterRule wide = decisions.fact(from, from.signature().orElseThrow().parameters().getFirst()).orElseThrow();
        ParameterRule narrow = decisions.fact(to, to.signature().orElseThrow().parameters().getFirst()).orElseThrow();
        assertEquals(Optional.of("bytes"), wide.extent());
        assertEquals(Optional.of("bytes * 2"), narrow.extent());
        assertEquals(Optional.of(ParameterDirection.OUT), narrow.direction());
        assertEquals(Optional.of(Space.HOST), narrow.space());
        assertEquals(List.of(), decisions.unknownExtents());
        assertEquals(List.of("cuCopyFrom.host (const void*)", "cuCopyTo.host (void*)", "cuCopyTo_v2.host (void*)"),
                decide("cuCopy* pass\n").unknownExtents());
    }

    @Test
    void extentsSpeakOfParametersAndFactsStandOnce() {
        assertEquals(List.of("a:6: cuCopyFrom.host has facts in line 5 already", "a:4: 'size' is no parameter of cuCopyTo"),
                decide("""
                        cuCopy*  pass
                        cuGet    pass
                        cuSecret pass
                        cuCopyTo.host out host[2 * size]
                        cuCopyFrom.host host[bytes]
                        cuCopyFrom.host device[string]
                        """).problems());
    }

    @Test
    void linesThatAreNotUnderstoodAreNamed() {
        assertMessage("a:1: unknown decision 'maybe': pass, submit KIND, sync, room or hook", "cuGet maybe\n");
        assertMessage("a:2: a line reads 'PATTERN DECISION' or 'PATTERN.PARAMETER FACTS'", "\ncuGet\n");
        assertMessage("a:1: 'pass' takes nothing behind it", "cuGet pass COPY\n");
        assertMessage("a:1: 'streem=x' is not stream=EXPRESSION", "cuGet submit COPY streem=x\n");
        assertTrue(message("cuGet submit FAST\n").startsWith("a:1: 'submit' needs a kind: [LAUNCH,"));
        assertTrue(message("cuGet.value moon[3]\n").startsWith("a:1: 'moon[3]' is neither in, out"));
    }

    private static String message(String annotations) {
        return assertThrows(InputException.class, () -> AnnotationText.read("a", annotations)).getMessage();
    }

    private static void assertMessage(String expected, String annotations) {
        assertEquals(expected, message(annotations));
    }
}
