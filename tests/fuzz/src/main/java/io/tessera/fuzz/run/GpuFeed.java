package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.HoistedVariable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Kernels for a program that runs them on a GPU (tests/gpu/programs/fuzz.c), each fenced in one mode, with its inputs and, of a legal one, the outputs
 * that it has unfenced on the software GPU. Kernels that may be endless, and modules that need more of a loader than that program does, are left out.
 *
 * <p>A record, little-endian: {@code u32 magic, u32 mode (0 mask, 1 modulo, 2 check), u64 seed, u32 hostile, u32 blocks, u32 threads, u32 variables}; text
 * and, of each variable, name of its constant, {@code u64} size and initial bytes; inputs; {@code u32} size of the outputs; expected outputs, none of a
 * hostile one. Strings of bytes have their length, {@code u32}, before them.
 */
public final class GpuFeed {
    /** {@code FUZ1}. */
    static final int MAGIC = 0x315A5546;
    private static final int HEAD_BYTES = 64;

    private final OutputStream to;
    private final long seed;
    private final long kernels;
    private final AtomicLong next = new AtomicLong();
    private final AtomicLong written = new AtomicLong();

    /**
     * A feed.
     *
     * @param to      takes the records; written to by one thread at a time
     * @param seed    of the first kernel
     * @param kernels how many records
     */
    public GpuFeed(OutputStream to, long seed, long kernels) {
        this.to = to;
        this.seed = seed;
        this.kernels = kernels;
    }

    /** Writes them all, made by some threads at once. */
    public void run(int threads) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().name("feed-" + i).start(this::work));
        }
        for (Thread thread : all) {
            thread.join();
        }
    }

    private void work() {
        try (FencingTrial trial = new FencingTrial(false, 0)) {
            while (written.get() < kernels) {
                long number = next.getAndIncrement();
                GeneratedKernel kernel = KernelGenerator.of(seed + number);
                FenceMode mode = FencingTrial.MODES.get((int) (number % FencingTrial.MODES.size()));
                byte[] expected = kernel.endless() || kernel.hostile() ? null : trial.expected(kernel, new ArrayList<>());
                FencedModule fenced = kernel.endless() || !kernel.hostile() && expected == null ? null : trial.fenced(kernel, mode);
                boolean plain = fenced != null && fenced.patches().isEmpty() && fenced.variables().stream().allMatch(v -> v.relocations().isEmpty());
                if (plain) {
                    write(record(kernel, mode, fenced, expected));
                }
            }
        }
    }

    private synchronized void write(byte[] record) {
        if (written.get() >= kernels) {
            return;
        }
        try {
            to.write(record);
            to.flush();
            written.incrementAndGet();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] record(GeneratedKernel kernel, FenceMode mode, FencedModule fenced, byte[] expected) {
        byte[] text = (fenced.ptx() + "\0").getBytes(StandardCharsets.US_ASCII);
        byte[] in = FuzzDevice.inputs(kernel.seed());
        int size = HEAD_BYTES + text.length + in.length + kernel.outBytes();
        for (HoistedVariable variable : fenced.variables()) {
            size += HEAD_BYTES + variable.constant().length() + variable.initial().length;
        }
        ByteBuffer record = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        record.putInt(MAGIC).putInt(FencingTrial.MODES.indexOf(mode)).putLong(kernel.seed()).putInt(kernel.hostile() ? 1 : 0).putInt(kernel.blocks())
                .putInt(kernel.threads()).putInt(fenced.variables().size());
        put(record, text, text.length);
        for (HoistedVariable variable : fenced.variables()) {
            byte[] name = (variable.constant() + "\0").getBytes(StandardCharsets.US_ASCII);
            put(record, name, name.length);
            record.putLong(variable.sizeBytes());
            put(record, variable.initial(), variable.initial().length);
        }
        put(record, in, in.length);
        record.putInt(kernel.outBytes());
        put(record, expected == null ? new byte[0] : expected, expected == null ? 0 : kernel.outBytes());
        byte[] whole = new byte[record.position()];
        record.flip().get(whole);
        return whole;
    }

    private static void put(ByteBuffer record, byte[] bytes, int length) {
        record.putInt(length).put(bytes, 0, length);
    }
}
