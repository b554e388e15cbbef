package io.tessera.executor.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Newcomers are refused with the limit that they would go beyond, before the process goes beyond it. */
class ProcessCapacityTest {
    @TempDir
    Path folder;

    private ProcessCapacity room(int mappings, int descriptors, String most) throws IOException {
        Files.writeString(folder.resolve("maps"), "55d0-55d1 r--p\n".repeat(mappings));
        Files.createDirectory(folder.resolve("fd"));
        for (int i = 0; i < descriptors; i++) {
            Files.createFile(folder.resolve("fd").resolve(Integer.toString(i)));
        }
        Files.writeString(folder.resolve("limits"), "Limit Soft Limit\nMax open files            80        4096   files\n");
        Files.writeString(folder.resolve("most"), most);
        return new ProcessCapacity(folder, folder.resolve("most"));
    }

    @Test
    void aProcessWithRoomTakesMore() throws IOException {
        assertNull(room(61_000, 70, "65530\n").refusal(3));
        assertNull(new ProcessCapacity().refusal(1), "this process");
    }

    @Test
    void mappingsAreNamed() throws IOException {
        assertEquals("this executor has 45 clients, and 61500 of the 65530 mappings that the kernel allows it "
                + "are in use; raise vm.max_map_count (sysctl), or end programs of this device", room(61_500, 1, "65530\n").refusal(45));
    }

    @Test
    void descriptorsAreNamed() throws IOException {
        assertEquals(
                "this executor has 9 clients, and 71 of the 80 descriptors that it may have are in use; raise ulimit -n of the manager, or end programs of this device",
                room(10, 71, "65530\n").refusal(9));
    }

    @Test
    void whatCannotBeReadRefusesNobody() {
        assertNull(new ProcessCapacity(folder.resolve("nothing"), folder.resolve("nothing")).refusal(1));
    }
}
