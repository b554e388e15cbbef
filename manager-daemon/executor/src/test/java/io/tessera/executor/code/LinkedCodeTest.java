package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code that a client gives the linker: each input is fenced by itself, and all are looked at together. */
@Timeout(300)
class LinkedCodeTest {
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
    private static final String KERNEL = HEAD + ".extern .func f();\n.visible .entry k()\n{\ncall f;\nret;\n}\n";
    private static final String FUNCTION = HEAD
            + ".extern .func g();\n.visible .func f()\n{\n.local .align 4 .b8 own[%d];\n.reg .b32 %%r<2>; .reg .b64 %%rd<2>;\n"
            + "mov.u64 %%rd1, own;\nst.local.u32 [%%rd1], %%r1;\nld.local.u32 %%r1, [%%rd1];\ncall g;\nret;\n}\n";
    private static final String BACK = HEAD + ".extern .func f();\n.visible .func g()\n{\ncall f;\nret;\n}\n";

    private static final int PIECE_BYTES = 1024;

    @TempDir
    Path folder;

    private static FenceSettings settings(FenceChoice choice) {
        return new FenceSettings(choice, UnfencedPolicy.REFUSE, true, 0, 0);
    }

    private static int link(RelayTestClient client, String... inputs) {
        assertEquals(0, client.call(DriverEntry.cuLinkCreate_v2, value(0), value(0), value(0), outBytes(8)));
        long linker = client.outLong(0);
        for (String input : inputs) {
            byte[] bytes = (input + "\0").getBytes(StandardCharsets.US_ASCII);
            assertEquals(0,
                    client.call(DriverEntry.cuLinkAddData_v2, value(linker), value(1), in(bytes), value(bytes.length), text("input"), value(0),
                            value(0),
                            value(0)),
                    client.segment().notices());
        }
        byte[] piece = new byte[PIECE_BYTES];
        int result = client.call(DriverEntry.cuLinkComplete, value(linker), RelayTestClient.filledOut(piece), outBytes(8));
        client.call(DriverEntry.cuLinkDestroy, value(linker));
        return result;
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO", "CHECK"})
    void callsThatComeBackAndStacksThatAreTooDeepAreRefused(FenceChoice choice) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder); RelayTestClient client = executor.client("a", 0, settings(choice))) {
            String end = HEAD + ".visible .func g()\n{\nret;\n}\n";
            // The driver of this test has a linker that makes nothing: inputs that reach it were accepted.
            assertEquals(CudaResult.UNKNOWN, link(client, KERNEL, FUNCTION.formatted(100), end));
            assertEquals("", client.segment().notices());
            assertEquals(CudaResult.NOT_SUPPORTED, link(client, KERNEL, FUNCTION.formatted(100), BACK));
            assertTrue(client.segment().notices().contains("calls itself"), client.segment().notices());
            String between = FUNCTION.formatted(40_000).replace("func g()", "func h()").replace("call g", "call h").replace("func f()", "func g()");
            String last = end.replace("func g()", "func h()");
            assertEquals(CudaResult.OUT_OF_MEMORY, link(client, KERNEL, FUNCTION.formatted(40_000), between, last), client.segment().notices());
            assertTrue(client.segment().notices().contains("bytes of local memory for each thread"), client.segment().notices());
        }
    }
}
