package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A C header as its compiler sees it, for a comparison with the Java layout. */
final class CompiledHeader {
    private static final Path INCLUDE = Path.of("../../native-preload/include");
    private final String header;
    private final Map<String, String> seenByC = new TreeMap<>();

    /** Compiles and runs the dump of a header in a folder. */
    CompiledHeader(Path folder, String header, String dump) throws Exception {
        this.header = header;
        Path program = folder.resolve(dump);
        run(folder, List.of("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE.toString(), "-o",
                program.toString(), "src/test/c/" + dump + ".c"));
        for (String line : run(folder, List.of(program.toString())).lines().toList()) {
            String[] words = line.split(" ", 3);
            assertEquals(null, seenByC.put(words[0] + " " + words[1], words[2]), "printed twice: " + line);
        }
    }

    /** Checks every field, offset and size. */
    void assertStructs(List<StructLayout> structs) {
        Map<String, String> seenByJava = new TreeMap<>();
        for (StructLayout struct : structs) {
            String name = struct.name().orElseThrow();
            seenByJava.put("struct " + name, Long.toString(struct.byteSize()));
            for (MemoryLayout field : struct.memberLayouts()) {
                String fieldName = field.name().orElseThrow();
                seenByJava.put("field " + name + "." + fieldName,
                        SegmentLayout.offset(struct, fieldName) + " " + field.byteSize());
            }
        }
        assertEquals(lines(seenByJava), lines(only("struct ", "field ")));
    }

    /** Checks every constant and enumerator. */
    void assertConstants(Map<String, String> seenByJava) {
        assertEquals(lines(seenByJava), lines(only("constant ")));
    }

    /** Checks that the dump, which is written by hand, has everything that is in the header. */
    void assertDumpIsWhole(int atLeast) throws Exception {
        String text = Files.readString(INCLUDE.resolve(header), StandardCharsets.UTF_8)
                .replaceAll("(?s)/\\*.*?\\*/", " ");
        Set<String> names = new TreeSet<>();
        Matcher define = Pattern.compile("(?m)^#define\\s+(TESSERA_\\w+)[ \\t]+\\S").matcher(text);
        while (define.find()) {
            names.add("constant " + define.group(1));
        }
        Matcher enumBody = Pattern.compile("enum\\s*\\{(.*?)}", Pattern.DOTALL).matcher(text);
        while (enumBody.find()) {
            for (String entry : enumBody.group(1).split(",")) {
                if (!entry.isBlank()) {
                    names.add("constant " + entry.split("=")[0].strip());
                }
            }
        }
        Matcher struct = Pattern.compile("struct\\s+(\\w+)\\s*\\{(.*?)}", Pattern.DOTALL).matcher(text);
        while (struct.find()) {
            names.add("struct " + struct.group(1));
            Matcher field = Pattern.compile("(\\w+)\\s*(\\[[^;]*])?\\s*;").matcher(struct.group(2));
            while (field.find()) {
                names.add("field " + struct.group(1) + "." + field.group(1));
            }
        }
        assertTrue(names.size() > atLeast, "the header was read: " + names.size());
        assertEquals(String.join("\n", names), String.join("\n", seenByC.keySet()));
    }

    static void constant(Map<String, String> to, String name, long value) {
        to.put("constant TESSERA_" + name, Long.toUnsignedString(value));
    }

    private Map<String, String> only(String... prefixes) {
        Map<String, String> kept = new TreeMap<>();
        seenByC.forEach((key, value) -> {
            if (Set.of(prefixes).stream().anyMatch(key::startsWith)) {
                kept.put(key, value);
            }
        });
        return kept;
    }

    private static String lines(Map<String, String> map) {
        StringBuilder text = new StringBuilder();
        map.forEach((key, value) -> text.append(key).append(" = ").append(value).append('\n'));
        return text.toString();
    }

    private static String run(Path folder, List<String> command) throws Exception {
        Path output = Files.createTempFile(folder, "run", ".out");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "60 s are not enough for " + command);
        } finally {
            process.destroyForcibly();
        }
        String text = Files.readString(output);
        assertEquals(0, process.exitValue(), command + " said: " + text);
        return text;
    }
}
