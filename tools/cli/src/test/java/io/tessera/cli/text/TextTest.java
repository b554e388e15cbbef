package io.tessera.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextTest {
    @ParameterizedTest
    @CsvSource({"500ms,500000000", "2s,2000000000", "1.5s,1500000000", "250us,250000", "7ns,7", "1min,60000000000",
            "2 S,2000000000", "0ms,0", "0.5ns,0", "9223372036854775807ns,"})
    void durationsParse(String text, Long ns) {
        // 19 digits are one more than the pattern takes, so no text can overflow unseen.
        assertEquals(ns == null ? OptionalLong.empty() : OptionalLong.of(ns), Durations.parseNs(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "500", "ms", "-1s", "1h", "1,5s", "1e3s", "1s2ms", "300000000000000000min"})
    void otherTextIsNoDuration(String text) {
        assertEquals(OptionalLong.empty(), Durations.parseNs(text));
    }

    @ParameterizedTest
    @CsvSource({"0,0 ns", "999,999 ns", "1000,1.0 us", "999949,999.9 us", "999950,1.0 ms", "1234567,1.2 ms",
            "999949999,999.9 ms", "999950000,1.0 s", "59949999999,59.9 s", "59950000000,0 min 59 s",
            "60000000000,1 min 0 s", "3599999999999,59 min 59 s", "3600000000000,1 h 0 min", "86400000000000,1 d 0 h"})
    void durationsFormat(long ns, String text) {
        assertEquals(text, Durations.format(ns));
    }

    @ParameterizedTest
    @CsvSource({"0,0 B", "1023,1023 B", "1024,1.0 KiB", "1536,1.5 KiB", "1048524,1023.9 KiB", "1048576,1.0 MiB",
            "1048575,1.0 MiB", "150323855360,140.0 GiB", "9223372036854775807,8.0 EiB"})
    void sizesFormat(long bytes, String text) {
        assertEquals(text, Sizes.format(bytes));
    }

    @Test
    void columnsLineUpAndEmphasisDoesNotCount() {
        TextTable table = new TextTable().column("NAME", Side.LEFT).column("N", Side.RIGHT).column("X", Side.LEFT);
        table.row(List.of(new Cell("alice", Emphasis.GOOD), Cell.of("7"), Cell.of("")));
        table.row(List.of(Cell.of("b"), Cell.of("1234"), Cell.of("end")));
        assertEquals(List.of("NAME      N  X", "alice     7", "b      1234  end"), table.lines("", Style.PLAIN));
        assertEquals("\u001b[32malice\u001b[0m     7", table.lines("", Style.COLOURED).get(1));
    }

    @Test
    void labelsCannotSteerTheTerminal() {
        assertEquals("\\x1b[31mred\\x0a", Cell.of("\u001b[31mred\n").text());
        assertEquals("\\x9b31m caf\u00e9 \\u202e\\u2028 \ud83d\ude00", TextTable.printable("\u009b31m caf\u00e9 \u202e\u2028 \ud83d\ude00"));
    }

    @Test
    void aRowHasACellForEachColumn() {
        TextTable table = new TextTable().column("A", Side.LEFT);
        assertThrows(IllegalArgumentException.class, () -> table.row(List.of()));
    }
}
