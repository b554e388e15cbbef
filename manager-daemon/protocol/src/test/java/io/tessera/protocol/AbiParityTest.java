package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the C header, as its compiler sees it, with the Java layout, both ways. */
class AbiParityTest {
    private static final Path INCLUDE = Path.of("../../native-preload/include");
    private static final Path DUMP_SOURCE = Path.of("src/test/c/abi_dump.c");
    private static final List<StructLayout> STRUCTS = List.of(SegmentLayout.DEVICE, SegmentLayout.THREAD,
            SegmentLayout.ERROR, SegmentLayout.SEGMENT, MessageLayout.HEADER, MessageLayout.HELLO,
            MessageLayout.WELCOME, MessageLayout.REFUSED, MessageLayout.DEVICE_MESSAGE, MessageLayout.DOORBELL,
            MessageLayout.QUOTA);

    @TempDir
    static Path folder;
    private static Map<String, String> seenByC;

    @BeforeAll
    static void compileAndRunTheDump() throws Exception {
        Path program = folder.resolve("abi_dump");
        run(List.of("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE.toString(), "-o",
                program.toString(), DUMP_SOURCE.toString()));
        seenByC = new TreeMap<>();
        for (String line : run(List.of(program.toString())).lines().toList()) {
            String[] words = line.split(" ", 3);
            assertEquals(null, seenByC.put(words[0] + " " + words[1], words[2]), "printed twice: " + line);
        }
    }

    @Test
    void fieldsOffsetsAndSizesAreTheSame() {
        Map<String, String> seenByJava = new TreeMap<>();
        for (StructLayout struct : STRUCTS) {
            String name = struct.name().orElseThrow();
            seenByJava.put("struct " + name, Long.toString(struct.byteSize()));
            for (MemoryLayout field : struct.memberLayouts()) {
                String fieldName = field.name().orElseThrow();
                seenByJava.put("field " + name + "." + fieldName,
                        SegmentLayout.offset(struct, fieldName) + " " + field.byteSize());
            }
        }
        assertEquals(lines(seenByJava), lines(only(seenByC, "struct ", "field ")));
    }

    @Test
    void constantsAndEnumsAreTheSame() {
        Map<String, String> seenByJava = new TreeMap<>();
        segmentConstants(seenByJava);
        for (MessageType type : MessageType.values()) {
            constant(seenByJava, "MSG_" + type, type.code());
        }
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
        assertEquals(lines(seenByJava), lines(only(seenByC, "constant ")));
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
    }

    /** The dump is written by hand; the header itself says what must stand in it. */
    @Test
    void theDumpPrintsEveryNameOfTheHeader() throws Exception {
        String header = Files.readString(INCLUDE.resolve("tessera_abi.h"), StandardCharsets.UTF_8)
                .replaceAll("(?s)/\\*.*?\\*/", " ");
        Set<String> names = new TreeSet<>();
        Matcher define = Pattern.compile("(?m)^#define\\s+(TESSERA_\\w+)[ \\t]+\\S").matcher(header);
        while (define.find()) {
            names.add("constant " + define.group(1));
        }
        Matcher enumBody = Pattern.compile("enum\\s*\\{(.*?)}", Pattern.DOTALL).matcher(header);
        while (enumBody.find()) {
            for (String entry : enumBody.group(1).split(",")) {
                if (!entry.isBlank()) {
                    names.add("constant " + entry.split("=")[0].strip());
                }
            }
        }
        Matcher struct = Pattern.compile("struct\\s+(\\w+)\\s*\\{(.*?)}", Pattern.DOTALL).matcher(header);
        while (struct.find()) {
            names.add("struct " + struct.group(1));
            Matcher field = Pattern.compile("(\\w+)\\s*(\\[\\w+])?\\s*;").matcher(struct.group(2));
            while (field.find()) {
                names.add("field " + struct.group(1) + "." + field.group(1));
            }
        }
        assertTrue(names.size() > 150, "the header was read: " + names.size());
        assertEquals(String.join("\n", names), String.join("\n", seenByC.keySet()));
    }

    @Test
    void everyMessageFitsTheLargestAndNamesItsLength() {
        for (MessageType type : MessageType.values()) {
            assertTrue(type.bytes() <= MessageLayout.MAX_BYTES, type.toString());
            assertFalse(type.bytes() < MessageLayout.HEADER.byteSize(), type.toString());
        }
    }

    private static void constant(Map<String, String> to, String name, long value) {
        to.put("constant TESSERA_" + name, Long.toUnsignedString(value));
    }

    private static Map<String, String> only(Map<String, String> all, String... prefixes) {
        Map<String, String> kept = new TreeMap<>();
        all.forEach((key, value) -> {
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

    private static String run(List<String> command) throws Exception {
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
