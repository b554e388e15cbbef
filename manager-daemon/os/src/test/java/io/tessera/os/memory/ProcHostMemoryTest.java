package io.tessera.os.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcHostMemoryTest {
    @TempDir
    private Path folder;

    @Test
    void readsWhatLinuxWrites() throws Exception {
        Path file = Files.writeString(folder.resolve("meminfo"),
                "MemTotal:       24659752 kB\nMemFree:        18180820 kB\nMemAvailable:   22011436 kB\n");
        ProcHostMemory memory = new ProcHostMemory(file, _ -> {});
        assertEquals(24659752L << 10, memory.totalBytes());
        assertEquals(22011436L << 10, memory.availableBytes());
    }

    @Test
    void nothingIsKnownWhereNothingIsSaid() throws Exception {
        List<String> complaints = new ArrayList<>();
        assertEquals(0, new ProcHostMemory(folder.resolve("absent"), complaints::add).totalBytes());
        Path odd = Files.writeString(folder.resolve("odd"), "MemTotal: much\n");
        ProcHostMemory memory = new ProcHostMemory(odd, complaints::add);
        assertEquals(0, memory.availableBytes());
        assertEquals(0, memory.availableBytes());
        assertEquals(2, complaints.size(), "once for each file: " + complaints);
    }
}
