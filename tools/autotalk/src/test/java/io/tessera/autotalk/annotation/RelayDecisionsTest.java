package io.tessera.autotalk.annotation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.header.HeaderReader;
import io.tessera.autotalk.input.InputException;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;

class RelayDecisionsTest {
    private static final String HEADER = """
            typedef struct CUstream_st *CUstream;
            int cuCopy(unsigned address, CUstream s);
            int cuCopy_v2(unsigned long long address, CUstream s);
            int cuFill(unsigned long long address);
            int cuWait(CUstream s);
            """;
    private static final String DIRECT = "cuCopy* pass\ncuFill pass\ncuWait pass\ncuSecret pass\n";

    private static Decisions decide(String relay) {
        Description description = HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", HEADER)),
                Map.of("l.names", List.of("cuCopy", "cuCopy_v2", "cuCopy_v2_ptsz", "cuFill", "cuFill_ptds", "cuWait",
                        "cuWait_ptsz", "cuSecret")));
        return new Decisions(description, AnnotationText.read("a", DIRECT),
                Optional.of(AnnotationText.readRelay("r", relay)));
    }

    private static RelayServing serving(Decisions decisions, String name) {
        return decisions.relayServing(decisions.description().entries().get(name)).orElseThrow();
    }

    @Test
    void everyWordIsADecision() {
        Decisions decisions = decide("""
                cuCopy     wrap   async
                cuCopy_v1  refuse addresses of 32 bits   # older than CUDA 3.2
                cuFill     local
                cuWait     call
                cuSecret   refuse nobody knows its parameters
                """);
        assertEquals(List.of(), decisions.problems());
        assertTrue(decisions.relays());
        assertEquals(new RelayServing.Refuse("addresses of 32 bits"), serving(decisions, "cuCopy"));
        assertEquals(new RelayServing.Send(false, true), serving(decisions, "cuCopy_v2"));
        assertEquals(new RelayServing.Local(), serving(decisions, "cuFill"));
        assertEquals(new RelayServing.Send(true, false), serving(decisions, "cuWait"));
    }

    @Test
    void gapsAndWhatCannotBeGeneratedAreReported() {
        assertEquals(List.of("r: cuWait has no decision: local, call, async, wrap call, wrap async or refuse",
                "r:3: cuFill needs a front: its per-thread twin has no stream parameter",
                "r:2: cuSecret can only be refused: its parameters are unknown"),
                decide("cuCopy* call\ncuSecret local\ncuFill async\n").problems());
    }

    @Test
    void unknownWordsAreRefused() {
        for (String line : List.of("cuFill calls", "cuFill wrap", "cuFill refuse", "cuFill hook", "cuFill call now")) {
            assertThrows(InputException.class, () -> AnnotationText.readRelay("r", line), line);
        }
    }

    @Test
    void aLibraryWithoutThemHasNoRelayPort() {
        Description description = HeaderReader.read("cuda", List.of(new HeaderReader.Header("x.h", HEADER)), Map.of());
        Decisions decisions = new Decisions(description, AnnotationText.read("a", "cuCopy* pass\ncuFill pass\ncuWait pass\n"));
        assertEquals(Optional.empty(), decisions.relayServing(description.entries().get("cuFill")));
        assertEquals(false, decisions.relays());
    }

    @Test
    void linesAboutStructuresAreNoDecisions() {
        List<StructureRule> rules = StructureRule.read("r", """
                cuFill local
                structure CUpoint*.value.x when kind = 1, 2
                structure CUplace.id is CUdevice
                structure CUold ignored
                """);
        assertEquals(List.of(2, 3, 4), rules.stream().map(StructureRule::line).toList());
        assertEquals(List.of(1L, 2L), rules.get(0).values());
        assertTrue(rules.get(0).matches("CUpoint3", "value.x.low") && !rules.get(0).matches("CUpoint3", "value.xy"));
        assertEquals(Optional.of("CUdevice"), rules.get(1).type());
        assertTrue(rules.get(2).ignored() && rules.get(2).matches("CUold", "anything"));
        assertThrows(InputException.class, () -> StructureRule.read("r", "structure CUpoint.x when kind is 1"));
    }
}
