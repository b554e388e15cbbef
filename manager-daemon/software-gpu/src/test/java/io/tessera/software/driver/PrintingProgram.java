package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process of its own that launches a kernel which prints: descriptor 1 of the tests belongs to their runner. */
final class PrintingProgram {
    private PrintingProgram() {
    }

    /** Runs it; what came out of its descriptor 1. */
    static String run() throws IOException, InterruptedException {
        Path output = Files.createTempFile("printing", ".txt");
        try {
            Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("surefire.test.class.path",
                            System.getProperty("java.class.path")),
                    PrintingProgram.class.getName())
                    .redirectOutput(output.toFile()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            assertTrue(process.waitFor(30, TimeUnit.SECONDS), "the program does not end");
            assertEquals(0, process.exitValue());
            return Files.readString(output);
        } finally {
            Files.delete(output);
        }
    }

    private static void say(String text) throws IOException {
        new FileOutputStream(FileDescriptor.out).write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Launches, and waits between two lines of its own. */
    public static void main(String[] arguments) throws IOException {
        try (Port port = new Port()) {
            String ptx = new String(PrintingProgram.class.getResourceAsStream("/kernels/output.ptx").readAllBytes(),
                    StandardCharsets.UTF_8);
            long function = port.function(ptx, "print");
            long stream = port.stream();
            port.launch(function, 1, 1, stream, 7, Double.doubleToRawLongBits(2.5));
            say("before\n");
            port.ok(DriverEntry.cuStreamSynchronize, stream);
            say("after\n");
        }
    }
}
