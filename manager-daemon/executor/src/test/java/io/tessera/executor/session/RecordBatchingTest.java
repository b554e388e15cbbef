package io.tessera.executor.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Which records keep others out together. */
class RecordBatchingTest {
    private final StringBuilder seen = new StringBuilder();
    private final RecordBatching batching = new RecordBatching(() -> seen.append('('), () -> seen.append(')'));

    private String poll(boolean wasQuiet, int records) {
        seen.setLength(0);
        batching.begin(wasQuiet);
        for (int i = 0; i < records; i++) {
            batching.record();
            seen.append('r');
        }
        batching.end();
        return seen.toString();
    }

    @Test
    void theFirstEightAfterAQuietTimeGoByFours() {
        assertEquals("(rrrr)(rrrr)rrr", poll(true, 11));
        assertEquals("rrr", poll(false, 3));
    }

    @Test
    void whoFloodsKeepsNobodyOut() {
        assertEquals("rrrrrrrrrrrr", poll(false, 12));
    }

    @Test
    void nobodyIsKeptOutWhenThereAreNoMoreRecords() {
        assertEquals("(rr)", poll(true, 2));
        assertEquals("(rrrr)(rr)r", poll(false, 7), "six of the eight are left");
        assertEquals("", poll(true, 0));
    }
}
