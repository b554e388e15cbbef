package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The executor's sources compare no call with a name and have no name as a text; what class files show of this is a rule ({@link ArchitectureRules}). */
@Timeout(60)
class CallNamesTest {
    private static final Pattern BY_NAME = Pattern
            .compile("[=!]=\\s*(Driver(Entry|Api)\\.)?cu[A-Z]|Driver(Entry|Api)\\.cu\\w+\\s*[=!]=|case cu[A-Z]|\"cu[A-Z]\\w*\"");

    private static List<String> byName(Path file, List<String> lines) {
        List<String> found = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (BY_NAME.matcher(lines.get(i)).find()) {
                found.add(file.getFileName() + ":" + (i + 1) + ": " + lines.get(i).strip());
            }
        }
        return found;
    }

    @Test
    void noCallIsKnownByItsName() throws IOException {
        List<Path> sources = SourceTree.files().stream().filter(file -> file.toString().contains("manager-daemon/executor/src/main/java/")).toList();
        assertTrue(sources.size() > 200, sources.size() + " sources");
        List<String> found = new ArrayList<>();
        for (Path file : sources) {
            found.addAll(byName(file, SourceTree.lines(file)));
        }
        assertEquals(List.of(), found, "a row of CallTable or DriverTable says what a call means");
    }

    @Test
    void whatIsForbiddenIsSeen() {
        List<String> lines = List.of("if (entry == DriverEntry.cuMemFree_v2) {", "return DriverApi.cuMemFree != api;", "case cuStreamCreate -> 1;",
                "if (name.equals(\"cuMemAlloc\")) {", "driver.call(DriverEntry.cuMemFree_v2, address);", "throw new X(\"cuMemAlloc has failed\");");
        assertEquals(4, byName(Path.of("A.java"), lines).size());
    }
}
