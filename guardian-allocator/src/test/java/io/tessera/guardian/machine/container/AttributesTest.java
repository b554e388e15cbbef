package io.tessera.guardian.machine.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.machine.MachineCodeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Offsets in attributes move with the code; what is not known is refused. */
class AttributesTest {
    /** Each instruction has one more before it than the one before. */
    private static final LongUnaryOperator TWICE = offset -> offset % 16 == 0 && offset < 0x1000 ? 2 * offset : -1;
    /** Branches go to what was put in before. */
    private static final LongUnaryOperator BEFORE = offset -> TWICE.applyAsLong(offset) - 0x10;

    private static byte[] record(int number, int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 + 4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.put((byte) 4).put((byte) number).putShort((short) (4 * values.length));
        Arrays.stream(values).forEach(bytes::putInt);
        return bytes.array();
    }

    static Stream<Arguments> moved() {
        Stream<Arguments> lists = Stream.of(0x1c, 0x1d, 0x25, 0x27, 0x28, 0x31, 0x46, 0x47)
                .map(number -> Arguments.of(record(number, 0x10, 0x40), record(number, 0x20, 0x80)));
        return Stream.concat(lists, Stream.of(
                Arguments.of(record(0x39, 0x10, 0x7777, 3, 5, 0x30, 1, 2, 3), record(0x39, 0x20, 0x7777, 3, 5, 0x60, 1, 2, 3)),
                Arguments.of(record(0x44, 0x10, 0x11, 0x30, 0x33), record(0x44, 0x20, 0x11, 0x60, 0x33)),
                Arguments.of(record(0x2e, 0x10, 0x11), record(0x2e, 0x20, 0x11)),
                Arguments.of(record(0x55, 1, 0x10, 1, 0x50), record(0x55, 1, 0x20, 1, 0xa0)),
                Arguments.of(record(0x34, 0x20, 0, 2, 0x30, 0x50, 0x60, 0, 1, 0x30), record(0x34, 0x40, 0, 2, 0x50, 0x90, 0xc0, 0, 1, 0x50)),
                Arguments.of(record(0x17, 0x10, 0x33), record(0x17, 0x10, 0x33)),
                Arguments.of(new byte[] {3, 0x1b, (byte) 0xff, 0}, new byte[] {3, 0x1b, (byte) 0xff, 0})));
    }

    @ParameterizedTest
    @MethodSource("moved")
    void offsetsMoveAndOtherValuesStay(byte[] before, byte[] after) throws MachineCodeException {
        assertArrayEquals(after, Attributes.read(before).moved(TWICE, BEFORE));
        assertArrayEquals(before, Attributes.read(before).moved(offset -> offset, offset -> offset));
    }

    @Test
    void branchTablesAreFound() throws MachineCodeException {
        int[][] tables = Attributes.read(record(0x34, 0x20, 0, 2, 0x30, 0x50, 0x60, 0, 1, 0x70)).branchTables().toArray(int[][]::new);
        assertArrayEquals(new int[][] {{0x20, 0x30, 0x50}, {0x60, 0x70}}, tables);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 3, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void aTableThatLeavesItsRecordIsRefused(int count) {
        assertThrows(MachineCodeException.class, () -> Attributes.read(record(0x34, 0x20, 0, count, 0x30, 0x50)).branchTables());
    }

    @Test
    void anOffsetInTheMiddleOfAnInstructionIsRefused() {
        MachineCodeException refused = assertThrows(MachineCodeException.class, () -> Attributes.read(record(0x1c, 0x18)).moved(TWICE, BEFORE));
        assertEquals("an attribute names offset 0x18, where no instruction begins", refused.getMessage());
    }

    @Test
    void anAttributeThatIsNotKnownIsRefusedByNumber() {
        MachineCodeException refused = assertThrows(MachineCodeException.class, () -> Attributes.read(record(0x7e, 1)).moved(TWICE, BEFORE));
        assertEquals("an attribute that is not known (0x7e)", refused.getMessage());
    }

    @Test
    void anAnnotationOfAnotherKindIsRefused() {
        assertThrows(MachineCodeException.class, () -> Attributes.read(record(0x55, 2, 0x10)).moved(TWICE, BEFORE));
    }

    @Test
    void recordsThatLeaveTheSectionAreRefused() {
        byte[] whole = record(0x1c, 0x10, 0x20);
        assertThrows(MachineCodeException.class, () -> Attributes.read(Arrays.copyOf(whole, 8)));
        assertThrows(MachineCodeException.class, () -> Attributes.read(new byte[] {9, 0x1c, 0, 0}));
    }
}
