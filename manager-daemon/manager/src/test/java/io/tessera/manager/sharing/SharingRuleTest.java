package io.tessera.manager.sharing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which way a program gets that leaves it to the manager. */
class SharingRuleTest {
    private static final SharingRule SPACE = new SharingRule(true, () -> SharingPreference.SPACE);

    private static SharingRule.Others others(int byTime, int inSpace, int foreign) {
        return new SharingRule.Others(byTime, inSpace, foreign, false);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0, 3, 0", "3, 0, 0", "0, 0, 1"})
    void aManagerThatPrefersTimeGivesTime(int byTime, int inSpace, int foreign) {
        assertFalse(new SharingRule(true, () -> SharingPreference.TIME).choose(others(byTime, inSpace, foreign)).space());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0, true", "0, 1, 0, true", "3, 1, 0, true", "1, 0, 0, false", "0, 0, 1, false", "0, 2, 1, false", "2, 0, 1, false"})
    void oneThatPrefersSpaceGivesItBesideNobodyAndThoseOfOneUserThatHaveIt(int byTime, int inSpace, int foreign, boolean space) {
        assertEquals(space, SPACE.choose(others(byTime, inSpace, foreign)).space());
    }

    @Test
    void whoCannotShareBySpaceSharesByTime() {
        assertFalse(new SharingRule(false, () -> SharingPreference.SPACE).choose(others(0, 1, 0)).space());
        assertFalse(SPACE.choose(new SharingRule.Others(0, 1, 0, true)).space());
    }

    @Test
    void theReasonCounts() {
        assertTrue(SPACE.choose(others(1, 0, 0)).reason().startsWith("a program shares by time"));
        assertTrue(SPACE.choose(others(2, 0, 0)).reason().startsWith("2 programs share by time"));
    }
}
