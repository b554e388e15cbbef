package io.tessera.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The README's table of messages to programs: each line of it names tests, and they are there. */
class ReadmeTest {
    private static final String TITLE = "## What programs are told";
    private static final Pattern NAME = Pattern.compile("`(\\w+)`");

    /** What is wrong with the last column of a table below the title. */
    private static List<String> wrong(List<String> lines, Set<String> tests) {
        List<String> wrong = new ArrayList<>();
        int title = lines.indexOf(TITLE);
        List<String> rows = lines.subList(title + 1, lines.size()).stream().takeWhile(line -> !line.startsWith("## "))
                .filter(line -> line.startsWith("| ")).skip(2).toList();
        for (String row : rows) {
            String cell = row.substring(row.lastIndexOf('|', row.length() - 2) + 1);
            Matcher names = NAME.matcher(cell);
            boolean named = false;
            while (names.find()) {
                named = true;
                if (!tests.contains(names.group(1))) {
                    wrong.add("there is no test " + names.group(1) + ": " + row);
                }
            }
            if (!named) {
                wrong.add("no test is named: " + row);
            }
        }
        if (title < 0 || rows.isEmpty()) {
            wrong.add("there is no table below \"" + TITLE + "\"");
        }
        return wrong;
    }

    @Test
    void everyLineThatProgramsAreToldHasATest() throws IOException {
        Set<String> tests = SourceTree.files().stream().map(Path::toString).filter(path -> path.contains("/src/test/java/"))
                .map(path -> path.substring(path.lastIndexOf('/') + 1).replace(".java", "")).collect(Collectors.toSet());
        assertEquals(List.of(), wrong(Files.readAllLines(SourceTree.root().resolve("README.md")), tests));
    }

    @Test
    void aRowWithoutATestOrWithOneThatIsGoneIsSeen() {
        List<String> head = List.of(TITLE, "| line | what to do | test |", "| --- | --- | --- |");
        List<String> lines = new ArrayList<>(head);
        lines.addAll(List.of("| `a` | b | `ThereTest` |", "| `c` | d | none |", "| `e` | f | `ThereTest`, `GoneTest` |", "## Limits",
                "| `g` | h | `LaterTest` |"));
        List<String> wrong = wrong(lines, Set.of("ThereTest"));
        assertEquals(2, wrong.size(), wrong::toString);
        assertTrue(wrong.getFirst().startsWith("no test is named: | `c`") && wrong.getLast().startsWith("there is no test GoneTest"),
                wrong::toString);
        assertEquals(1, wrong(head, Set.of()).size());
        assertEquals(1, wrong(List.of(), Set.of()).size());
    }
}
