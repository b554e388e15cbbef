package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.ERROR;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the distinct-error log of a segment at any time, even if its client has died. Entries that their writer has claimed but not finished are left
 * out. Stateless.
 */
public final class ErrorLogReader {
    private static final long READY = offset(ERROR, "ready");
    private static final long CODE = offset(ERROR, "code");
    private static final long COUNT = offset(ERROR, "count");
    private static final long FIRST_NS = offset(ERROR, "first_ns");
    private static final long LAST_NS = offset(ERROR, "last_ns");
    private static final long TEXT = offset(ERROR, "text");

    private ErrorLogReader() {
    }

    /** Returns all finished entries in the order in which they were claimed. */
    public static List<LoggedError> read(MemorySegment segment) {
        List<LoggedError> errors = new ArrayList<>();
        for (int i = 0; i < SegmentLayout.ERROR_ENTRIES; i++) {
            long at = SegmentLayout.ERRORS_OFFSET + i * ERROR.byteSize();
            if (WireTypes.getIntAcquire(segment, at + READY) != 1) {
                continue;
            }
            errors.add(new LoggedError(WireTypes.getIntOpaque(segment, at + CODE),
                    WireTypes.getOpaque(segment, at + COUNT),
                    WireTypes.getOpaque(segment, at + FIRST_NS), WireTypes.getOpaque(segment, at + LAST_NS),
                    WireTypes.getText(segment, at + TEXT, SegmentLayout.ERROR_TEXT_BYTES)));
        }
        return errors;
    }
}
