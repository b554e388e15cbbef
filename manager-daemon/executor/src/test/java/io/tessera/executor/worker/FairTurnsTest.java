package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/** The choice of the next job. */
class FairTurnsTest {
    private final FairTurns<String> turns = new FairTurns<>();

    @Test
    void aTenantHasOneJobAtATimeInTheOrderOfComing() {
        turns.add("a", "a1");
        turns.add("a", "a2");
        assertEquals("a1", turns.next(_ -> true));
        assertNull(turns.next(_ -> true));
        turns.ended("a", 5);
        assertEquals("a2", turns.next(_ -> true));
    }

    @Test
    void whoHasTakenLeastIsNext() {
        turns.add("a", "a1");
        turns.add("b", "b1");
        assertEquals("a1", turns.next(_ -> true));
        assertEquals("b1", turns.next(_ -> true));
        turns.add("a", "a2");
        turns.add("b", "b2");
        turns.ended("a", 100);
        turns.ended("b", 10);
        assertEquals("b2", turns.next(_ -> true));
        turns.ended("b", 200);
        turns.add("b", "b3");
        assertEquals("a2", turns.next(_ -> true));
    }

    @Test
    void whoComesAnewDoesNotGoAheadOfAllThatOthersHaveHad() {
        turns.add("a", "a1");
        assertEquals("a1", turns.next(_ -> true));
        turns.add("a", "a2");
        turns.ended("a", 1_000);
        turns.add("b", "b1");
        turns.add("b", "b2");
        assertEquals("a2", turns.next(_ -> true), "both stand where a is, and a came first");
        turns.ended("a", 10);
        turns.add("a", "a3");
        assertEquals("b1", turns.next(_ -> true));
    }

    @Test
    void aJobThatNobodyWantsAnyMoreIsNotNext() {
        turns.add("a", "a1");
        turns.remove("a", "a1");
        turns.remove("b", "b1");
        assertNull(turns.next(_ -> true));
    }
}
