package io.tessera.guardian.trust;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loops look at the stop word unless the variable says otherwise. */
class FencedLoopsTest {
    private static FencedLoops of(String value) {
        return FencedLoops.of(Map.of(FencedLoops.VARIABLE, value));
    }

    @Test
    void loopsLookByDefault() {
        assertEquals(FencedLoops.LOOK, FencedLoops.of(Map.of()));
        assertEquals(FencedLoops.LOOK, of(""));
        assertEquals(FencedLoops.LOOK, of("look"));
    }

    @Test
    void theyDoNotWhereItIsOff() {
        assertEquals(FencedLoops.OFF, of("off"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"restart", "OFF", "1", "no", "look "})
    void anotherValueIsAnErrorWithBothValues(String value) {
        IllegalArgumentException failure = assertThrows(IllegalArgumentException.class, () -> of(value));
        assertEquals("TESSERA_FENCE_LOOPS=" + value + ": it is look or off", failure.getMessage());
    }
}
