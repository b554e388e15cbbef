package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.SoftwareDevices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostDevicesTest {
    private static final SoftwareDevices ONE = SoftwareDevices.STANDARD;
    private static final SoftwareDevices TWO = new SoftwareDevices(2, 0);

    @TempDir
    private Path folder;

    private boolean several(ExecutorKind kind, SoftwareDevices software) {
        return new HostDevices(folder).several(kind, software);
    }

    private void gpu(int number) throws IOException {
        Files.createFile(folder.resolve("nvidia" + number));
    }

    @Test
    void oneGpuIsNotSeveral() throws IOException {
        Files.createFile(folder.resolve("nvidiactl"));
        Files.createFile(folder.resolve("nvidia-uvm"));
        gpu(3);
        assertFalse(several(ExecutorKind.AUTO, ONE));
        assertFalse(several(ExecutorKind.AUTO, TWO), "with a GPU there is none in software");
        assertTrue(several(ExecutorKind.SOFTWARE, TWO));
        gpu(10);
        assertTrue(several(ExecutorKind.AUTO, ONE));
        assertTrue(several(ExecutorKind.NONE, ONE));
    }

    @Test
    void withoutGpusThoseInSoftwareCount() {
        assertFalse(several(ExecutorKind.AUTO, ONE));
        assertTrue(several(ExecutorKind.AUTO, TWO));
        assertTrue(several(ExecutorKind.NONE, ONE), "nothing is known");
    }

    @Test
    void anotherWayToADriverMayHaveSeveral() throws IOException {
        Files.createFile(folder.resolve("dxg"));
        assertTrue(several(ExecutorKind.AUTO, ONE));
        assertEquals(HostDevices.OWN.folder(), Path.of("/dev"));
    }
}
