package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** Lines that an executor has for the user of a program. */
class NoticeTest {
    private final RelaySegment segment = new RelaySegment(Arena.ofAuto().allocate(RelaySegment.BYTES, 4096));

    @Test
    void eachLineIsThereOnce() {
        segment.notice("a stack of 5 bytes; set less");
        segment.notice("a stack");
        segment.notice("a stack of 5 bytes; set less");
        segment.notice("a line\nof two");
        segment.notice("a line of two");
        assertEquals("a stack of 5 bytes; set less\na stack\na line of two\n", segment.notices());
    }

    @Test
    void whatDoesNotFitIsCut() {
        for (int i = 0; i < 100; i++) {
            segment.notice("line " + i + " ".repeat(100));
        }
        assertEquals(RelayLayout.NOTICE_BYTES, segment.notices().length());
        assertTrue(segment.notices().endsWith("\n"));
    }
}
