package io.tessera.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent comes into a JVM that runs already, twice, and is let go. */
@Timeout(300)
class AttachTest {
    private static final long SECONDS = 60;

    @Test
    void whatIsAllocatedAfterTheAttachIsSeen(@TempDir Path folder) throws Exception {
        String options = "driver=no,jmx=on,table=" + Fixtures.table(folder);
        Process process = Child.here().flag("-XX:+EnableDynamicAgentLoading").builder("waits").start();
        try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(),
                StandardCharsets.UTF_8)); OutputStream in = process.getOutputStream()) {
            assertEquals("ready", out.readLine());
            for (int times = 0; times < 2; times++) {
                VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
                machine.loadAgent(Child.AGENT.toString(), options);
                machine.detach();
            }
            in.write('\n');
            in.flush();
            assertEquals("LiveBytes 4096", out.readLine());
            assertEquals("Late true", out.readLine());
            in.write('\n');
            in.flush();
            assertEquals("early true later true", out.readLine());
            process.waitFor(SECONDS, TimeUnit.SECONDS);
            assertEquals(0, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }
}
