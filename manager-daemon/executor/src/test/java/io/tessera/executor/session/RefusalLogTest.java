package io.tessera.executor.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.call.RejectedException;
import io.tessera.protocol.relay.RecordHeader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Which refusals the program is told of. */
class RefusalLogTest {
    private final RefusalLog log = new RefusalLog("client 1");
    private final MemorySegment record = Arena.ofAuto().allocate(RecordHeader.BYTES, Long.BYTES);

    @Test
    void aMistakeOfTheProgramHidesNoBoundOfTheSameCall() {
        assertFalse(log.refused(record, new RejectedException(CudaResult.INVALID_VALUE, "a mistake")));
        assertTrue(log.refused(record, RejectedException.bound("at most 3; ask for less")));
        assertTrue(log.refused(record, RejectedException.unsupported("a thing")), "another reason in the same call");
    }

    @Test
    void oneReasonIsToldOnceWhateverItsNumbers() {
        assertTrue(log.refused(record, RejectedException.bound("at most 3, and these are 4")));
        assertFalse(log.refused(record, RejectedException.bound("at most 3, and these are 5")));
    }

    @Test
    void aProgramThatFindsMoreAndMoreReasonsIsNotToldForEver() {
        int told = 0;
        for (char reason = 'a'; reason < 'a' + 1000; reason++) {
            told += log.refused(record, RejectedException.bound("reason " + reason)) ? 1 : 0;
        }
        assertEquals(32, told);
    }

    @Test
    void whatSpaceSharingDoesNotHaveSaysWhatToDo() {
        assertEquals("a thing is not supported in space sharing; run the program with --share time",
                RejectedException.unsupported("a thing").getMessage());
    }
}
