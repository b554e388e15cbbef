package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An image with much PTX, or a vendor's, is loaded from its machine code, where all of that gets fences that are enough beside other users' programs. */
@Timeout(300)
class PreferredMachineCodeTest {
    private static final int HEAD = 16;
    private static final int ENTRY_HEAD = 64;
    private static final int SM = 90;
    private static final long LZ4 = 0x2000;
    private static final int BYTE = 0xff;
    private static final int MUCH = 300_000;
    private static final int LITTLE = 1_000;
    /** {@code TLD}: a kernel with a texture has no fence. */
    private static final long TEXTURE = 0x00000000ff007f66L;
    private static final byte[] SHOWN = CubinBuilder.of("work", new CodeWords().load(12, 2).exit()).build();
    private static final byte[] ON_TRUST = CubinBuilder.of("work", new CodeWords().load(12, 2).exit())
            .kernel("returns", 29, new CodeWords().move(20, 0x20).call(3).exit().returnBy(20)).build();
    private static final byte[] OPEN = CubinBuilder.of("work", new CodeWords().load(12, 2).exit())
            .kernel("open", 29, new CodeWords().add(TEXTURE, 0x000e220000000000L | 1L << 27).exit()).build();

    @TempDir
    Path folder;

    /** A cubin, and PTX of this length with a comment. */
    private static byte[] image(byte[] cubin, int ptxBytes) {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry work(.param .u64 p)\n{\n\tret;\n}\n//";
        byte[] packed = lz4(text, ptxBytes);
        int bytes = 2 * ENTRY_HEAD + packed.length + cubin.length;
        ByteBuffer image = ByteBuffer.allocate(HEAD + bytes).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, 0xBA55ED50).putShort(4, (short) 1).putShort(6, (short) HEAD).putLong(8, bytes);
        entry(image, HEAD, 2, SM, cubin);
        int at = HEAD + ENTRY_HEAD + cubin.length;
        entry(image, at, 1, SM, packed);
        image.putInt(at + 16, packed.length).putLong(at + 40, LZ4).putLong(at + 56, text.length() + ptxBytes);
        return image.array();
    }

    /** A block of LZ4: literals, one match with the byte before, which is repeated, and the last literals. */
    private static byte[] lz4(String text, int repeats) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        String last = "xxxx\n";
        block.write(BYTE);
        length(block, text.length() + 1 - 15);
        block.writeBytes((text + "x").getBytes(StandardCharsets.US_ASCII));
        block.write(1);
        block.write(0);
        length(block, repeats - 1 - last.length() - 4 - 15);
        block.write(last.length() << 4);
        block.writeBytes(last.getBytes(StandardCharsets.US_ASCII));
        return block.toByteArray();
    }

    private static void length(ByteArrayOutputStream block, int beyond) {
        for (int left = beyond; left >= 0; left -= BYTE) {
            block.write(Math.min(left, BYTE));
        }
    }

    private static void entry(ByteBuffer image, int at, int kind, int architecture, byte[] contents) {
        image.putShort(at, (short) kind).putInt(at + 4, ENTRY_HEAD).putLong(at + 8, contents.length).putInt(at + 28, architecture);
        image.put(at + ENTRY_HEAD, contents);
    }

    private RunningExecutor executor(boolean vendors) throws Exception {
        return RunningExecutor.ofMachineCode(folder, new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                return false;
            }

            @Override
            public boolean isVendors(String hash) {
                return vendors;
            }
        });
    }

    /** Loads an image, and looks up its kernel where that needs no compiler; returns whether the machine code was loaded with fences. */
    private boolean isFromMachineCode(boolean vendors, UnfencedPolicy policy, FenceChoice fence, byte[] image) throws Exception {
        try (RunningExecutor executor = executor(vendors);
                RelayTestClient client = executor.client("a", 0, new FenceSettings(fence, policy, true, 0, 0))) {
            return isFromMachineCode(executor, client, image);
        }
    }

    private static boolean isFromMachineCode(RunningExecutor executor, RelayTestClient client, byte[] image) throws Exception {
        AtomicInteger modules = executor.driver.alive.getOrDefault("module", new AtomicInteger());
        int before = modules.get();
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0)));
        long module = client.outLong(0);
        boolean loaded = executor.driver.alive.getOrDefault("module", modules).get() > before; // PTX waits until it is needed
        if (loaded) {
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work")));
        }
        return loaded;
    }

    private boolean isFromMachineCode(boolean vendors, byte[] image) throws Exception {
        return isFromMachineCode(vendors, UnfencedPolicy.OWN, FenceChoice.MASK, image);
    }

    @Test
    void muchPtxIsNotCompiledWhereItsMachineCodeIsFencedForAll() throws Exception {
        assertEquals(true, isFromMachineCode(false, image(SHOWN, MUCH)));
        assertEquals(false, isFromMachineCode(false, image(SHOWN, LITTLE)), "compiled in no time");
        assertEquals(true, isFromMachineCode(true, image(ON_TRUST, MUCH)));
        assertEquals(true, isFromMachineCode(true, image(ON_TRUST, LITTLE)), "a vendor's gives the last bits of its machine code");
        assertEquals(false, isFromMachineCode(false, image(ON_TRUST, MUCH)), "another user's program would keep it from running");
        assertEquals(false, isFromMachineCode(true, image(OPEN, MUCH)), "a kernel without a fence");
    }

    @Test
    void whoAsksForAnotherFenceOrPolicyHasThePtx() throws Exception {
        byte[] image = image(SHOWN, MUCH);
        assertEquals(false, isFromMachineCode(false, UnfencedPolicy.OWN, FenceChoice.CHECK, image), "it reports addresses");
        assertEquals(false, isFromMachineCode(false, UnfencedPolicy.OWN, FenceChoice.MODULO, image));
        assertEquals(false, isFromMachineCode(false, UnfencedPolicy.REFUSE, FenceChoice.MASK, image), "machine code is refused");
    }

    @Test
    void whatTheDriverDoesNotTakeIsCompiledFromPtx() throws Exception {
        try (RunningExecutor executor = executor(false);
                RelayTestClient client = executor.client("a", 0, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, true, 0, 0))) {
            AtomicInteger refused = new AtomicInteger();
            executor.driver.listener = entry -> {
                boolean first = entry == DriverEntry.cuModuleLoadData && refused.compareAndSet(0, 1);
                executor.driver.lost = first ? CudaResult.INVALID_IMAGE : 0;
            };
            assertEquals(false, isFromMachineCode(executor, client, image(SHOWN, MUCH)));
            assertEquals(1, refused.get());
        }
    }
}
