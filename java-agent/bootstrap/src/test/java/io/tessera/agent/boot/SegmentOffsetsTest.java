package io.tessera.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The offsets that the agent reads at are those of the C header. */
@Timeout(180)
class SegmentOffsetsTest {
    private static final Path INCLUDE = Path.of("../../native-preload/include").toAbsolutePath();

    @Test
    void areThoseOfTheHeader(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("offsets.c");
        Files.writeString(source, "#include <stddef.h>\n#include <stdio.h>\n#include \"tessera_abi.h\"\n"
                + "int main(void) { printf(\"%zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %zu %d %d %d %d %d\\n\","
                + " offsetof(struct tessera_segment, counters), offsetof(struct tessera_segment, devices),"
                + " sizeof(struct tessera_device), offsetof(struct tessera_device, drains),"
                + " offsetof(struct tessera_device, drain_ns),"
                + " offsetof(struct tessera_device, limit_bytes), offsetof(struct tessera_device, held_ns),"
                + " offsetof(struct tessera_segment, residency), sizeof(struct tessera_residency),"
                + " offsetof(struct tessera_residency, swapped_bytes),"
                + " offsetof(struct tessera_residency, moved_out_bytes),"
                + " offsetof(struct tessera_residency, move_out_ns), offsetof(struct tessera_residency, moves_out),"
                + " TESSERA_MAX_DEVICES, TESSERA_COUNTER_GATE_WAITS,"
                + " TESSERA_COUNTER_GATE_WAIT_NS, TESSERA_COUNTER_PACE_WAITS, TESSERA_COUNTER_PACE_WAIT_NS); }\n");
        Path program = folder.resolve("offsets");
        run("cc", "-I" + INCLUDE, "-o", program.toString(), source.toString());
        assertEquals(Segment.COUNTERS + " " + Segment.DEVICES + " " + Segment.DEVICE_BYTES + " " + Segment.DRAINS + " "
                + Segment.DRAIN_NS + " " + Segment.LIMIT_BYTES + " " + Segment.HELD_NS + " "
                + Segment.RESIDENCY + " " + Segment.RESIDENCY_BYTES + " " + Segment.SWAPPED_BYTES + " "
                + Segment.MOVED_OUT_BYTES + " " + Segment.MOVE_OUT_NS + " " + Segment.MOVES_OUT + " "
                + Segment.MOST_DEVICES + " " + Segment.GATE_WAITS + " " + Segment.GATE_WAIT_NS
                + " " + Segment.PACE_WAITS + " " + Segment.PACE_WAIT_NS, run(program.toString()).strip());
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(true, process.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), out);
        return out;
    }
}
