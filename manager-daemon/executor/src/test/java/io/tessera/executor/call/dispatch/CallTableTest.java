package io.tessera.executor.call.dispatch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.device.DriverApi;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import io.tessera.executor.call.CallShape;
import io.tessera.executor.call.CallTable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of calls: a row for each that is relayed and no other, found by the generated names alone. */
class CallTableTest {
    private static final Pattern NAMED_BY_TEXT = Pattern.compile("\"cu[A-Z]");

    private static Set<DriverApi> served() {
        Set<DriverApi> served = EnumSet.noneOf(DriverApi.class);
        EntryDescriptions.all().stream().filter(CallShape::served).map(EntryDescription::api).forEach(served::add);
        return served;
    }

    @Test
    void everyRelayedCallHasARowAndNoOther() throws Exception {
        try (Arena arena = Arena.ofConfined(); CallExecutor calls = ForeignValuesTest.client(arena)) {
            assertEquals(served(), calls.table().calls());
        }
    }

    @Test
    void aCallHasOneRow() {
        CallTable table = new CallTable((_, _) -> 0);
        table.row(DriverApi.cuMemAlloc);
        assertThrows(IllegalStateException.class, () -> table.row(DriverApi.cuMemAlloc));
    }

    @Test
    void noClassNamesACallByText() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file : files.filter(file -> file.toString().endsWith(".java")).toList()) {
                Files.readAllLines(file).stream().filter(line -> NAMED_BY_TEXT.matcher(line).find())
                        .forEach(line -> found.add(file + ": " + line.strip()));
            }
        }
        assertEquals(List.of(), found);
    }
}
