package io.tessera.executor.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Tests which client is alone, and in which period. */
class SinkSuspectsTest {
    private final WindowClient first = new WindowClient(null, null);
    private final WindowClient second = new WindowClient(null, null);
    private long published = SinkSuspects.FIRST_EPOCH;
    private final SinkSuspects suspects = new SinkSuspects(epoch -> published = epoch);

    @Test
    void nobodyIsAloneWhileAnotherMayWrite() {
        assertEquals(SinkSuspects.NONE, suspects.sole(first), "it has launched nothing");
        suspects.begins(first);
        long epoch = suspects.sole(first);
        assertEquals(published, epoch);
        suspects.begins(second);
        assertNotEquals(epoch, published, "checks under way find out");
        assertEquals(SinkSuspects.NONE, suspects.sole(first));
        assertEquals(SinkSuspects.NONE, suspects.sole(second));
        suspects.ends(second, true);
        assertEquals(published, suspects.sole(first));
        assertNotEquals(epoch, suspects.sole(first), "a check of the first epoch stays nobody's");
    }

    @Test
    void whatAClientLeftIsNobodysUntilACheckHasFoundIt() {
        suspects.begins(first);
        suspects.ends(first, false);
        suspects.begins(second);
        assertEquals(SinkSuspects.NONE, suspects.sole(second));
        long left = suspects.leftovers();
        assertNotEquals(SinkSuspects.NONE, left);
        WindowClient third = new WindowClient(null, null);
        suspects.begins(third);
        suspects.ends(third, false);
        suspects.swept(left);
        assertEquals(SinkSuspects.NONE, suspects.sole(second), "a check that began before the last one ended");
        suspects.swept(suspects.leftovers());
        assertEquals(SinkSuspects.NONE, suspects.leftovers());
        assertEquals(published, suspects.sole(second));
    }

    @Test
    void aFindIsOfTheClientThatTheCheckNames() {
        suspects.begins(first);
        int writer = first.writer();
        suspects.begins(second);
        suspects.strays(writer);
        assertTrue(first.hasStrayed());
        assertFalse(second.hasStrayed());
        suspects.ends(second, true);
        suspects.strays(second.writer());
        assertFalse(second.hasStrayed(), "it is gone");
    }
}
