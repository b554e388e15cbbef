package io.tessera.protocol;

import static io.tessera.protocol.CompiledHeader.constant;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.message.ExchangeEnd;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.MessageType;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.CounterId;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.ResidencyState;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.TurnWord;
import java.lang.foreign.StructLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the C header, as its compiler sees it, with the Java layout, both ways. */
class AbiParityTest {
    private static final List<StructLayout> STRUCTS = List.of(SegmentLayout.DEVICE, SegmentLayout.THREAD,
            SegmentLayout.ERROR, SegmentLayout.RESIDENCY, SegmentLayout.SEGMENT, MessageLayout.HEADER, MessageLayout.HELLO,
            MessageLayout.WELCOME, MessageLayout.REFUSED, MessageLayout.DEVICE_MESSAGE, MessageLayout.DOORBELL,
            MessageLayout.QUOTA, MessageLayout.EXCHANGE, MessageLayout.SHARING_ASK, MessageLayout.SHARING, MessageLayout.SHORTAGE);

    @TempDir
    static Path folder;
    private static CompiledHeader header;

    @BeforeAll
    static void compileAndRunTheDump() throws Exception {
        header = new CompiledHeader(folder, "tessera_abi.h", "abi_dump");
    }

    @Test
    void fieldsOffsetsAndSizesAreTheSame() {
        header.assertStructs(STRUCTS);
    }

    @Test
    void constantsAndEnumsAreTheSame() {
        Map<String, String> seenByJava = new TreeMap<>();
        segmentConstants(seenByJava);
        for (MessageType type : MessageType.values()) {
            if (!type.isRelay()) {
                constant(seenByJava, "MSG_" + type, type.code());
            }
        }
        for (ExchangeEnd end : ExchangeEnd.values()) {
            constant(seenByJava, "EXCHANGE_" + end, end.code());
        }
        constant(seenByJava, "EXCHANGE_ENDS", ExchangeEnd.values().length);
        for (RefusalCode code : RefusalCode.values()) {
            constant(seenByJava, "REFUSED_" + code, code.code());
        }
        for (MemoryPlan plan : MemoryPlan.values()) {
            constant(seenByJava, "PLAN_" + plan, plan.code());
        }
        for (SubmissionKind kind : SubmissionKind.values()) {
            constant(seenByJava, "KIND_" + kind, kind.index());
        }
        for (CounterId id : CounterId.values()) {
            constant(seenByJava, "COUNTER_" + id, id.index());
        }
        header.assertConstants(seenByJava);
    }

    private static void segmentConstants(Map<String, String> to) {
        constant(to, "ABI_MAGIC", SegmentLayout.MAGIC);
        constant(to, "ABI_VERSION", SegmentLayout.VERSION);
        constant(to, "MESSAGE_MAGIC", Integer.toUnsignedLong(MessageLayout.MAGIC));
        constant(to, "MAX_DEVICES", SegmentLayout.MAX_DEVICES);
        constant(to, "MAX_THREADS", SegmentLayout.MAX_THREADS);
        constant(to, "THREAD_COUNTERS", SegmentLayout.THREAD_COUNTERS);
        constant(to, "COUNTERS", SegmentLayout.COUNTERS);
        constant(to, "ERROR_ENTRIES", SegmentLayout.ERROR_ENTRIES);
        constant(to, "ERROR_TEXT", SegmentLayout.ERROR_TEXT_BYTES);
        constant(to, "LABEL", SegmentLayout.LABEL_BYTES);
        constant(to, "DEVICE_NAME", SegmentLayout.DEVICE_NAME_BYTES);
        constant(to, "SEGMENT_BYTES", SegmentLayout.SEGMENT_BYTES);
        constant(to, "TURN_CLOSED", TurnWord.CLOSED);
        constant(to, "TURN_FREE", TurnWord.FREE);
        constant(to, "TURN_GRANTED", TurnWord.GRANTED);
        constant(to, "ACK_CLOSED", AckWord.CLOSED);
        constant(to, "ACK_OPEN", AckWord.OPEN);
        constant(to, "ACK_DRAINING", AckWord.DRAINING);
        constant(to, "ACK_RELEASED", AckWord.RELEASED);
        constant(to, "DEVICE_CONTENDED", DeviceBlock.FLAG_CONTENDED);
        constant(to, "DEVICE_SAMPLE", DeviceBlock.FLAG_SAMPLE);
        constant(to, "RESIDENCY_PARKED", ResidencyBlock.FLAG_PARKED);
        constant(to, "CHOICE_AUTO", ResidencyBlock.CHOICE_AUTO);
        constant(to, "CHOICE_UNMAPPED", ResidencyBlock.CHOICE_UNMAPPED);
        constant(to, "CHOICE_UNPAGED", ResidencyBlock.CHOICE_UNPAGED);
        constant(to, "CHOICE_EXPORTED", ResidencyBlock.CHOICE_EXPORTED);
        constant(to, "SHARES_TAKEN", SegmentHeader.SHARES_TAKEN);
        constant(to, "SHARES_GIVEN", SegmentHeader.SHARES_GIVEN);
        constant(to, "SHARES_PIECES", SegmentHeader.SHARES_PIECES);
        constant(to, "SHARES_CALL", SegmentHeader.SHARES_CALL);
        constant(to, "CHOICE_DEVICES", ResidencyBlock.CHOICE_DEVICES);
        constant(to, "RESIDENCY_CHECKPOINTED", ResidencyBlock.FLAG_CHECKPOINTED);
        constant(to, "RESIDENCY_SHORT", ResidencyBlock.FLAG_SHORT);
        for (ResidencyState state : ResidencyState.values()) {
            constant(to, "RESIDENCY_" + state, state.code());
        }
    }

    @Test
    void theDumpPrintsEveryNameOfTheHeader() throws Exception {
        header.assertDumpIsWhole(150);
    }

    @Test
    void everyMessageFitsTheLargestAndNamesItsLength() {
        for (MessageType type : MessageType.values()) {
            assertTrue(type.bytes() <= MessageLayout.MAX_BYTES, type.toString());
            assertFalse(type.bytes() < MessageLayout.HEADER.byteSize(), type.toString());
        }
    }
}
