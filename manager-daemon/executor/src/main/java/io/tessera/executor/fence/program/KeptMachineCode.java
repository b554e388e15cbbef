package io.tessera.executor.fence.program;

import io.tessera.guardian.cache.CacheKey;
import io.tessera.guardian.cache.CachedCode;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.cache.FencedTablesReader;
import io.tessera.guardian.cache.FencedTablesWriter;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.fence.WindowMove;
import io.tessera.guardian.machine.verify.ReportWords;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fenced machine code in the cache of compiled code. One entry serves all windows of a size. The window's address, the word to which threads report, the value
 * that they write, and the stop word differ at each start, and are patched into the code when it is read. Thread-safe.
 *
 * <p>Code from the cache is not verified again, like text: it was verified before it was kept, its key names the verifier's classes, and the folder belongs to
 * this executor's user alone. A process that can write there can also change the executor.
 *
 * <p>The tables are big-endian: version; hash of the cubin; number of kernels; whether they report and look; number of accesses; address and value of reports,
 * address of the stop word, and upper half of the window's base, as in the code. Then follow lists, each preceded by its length: instructions that contain the
 * window's address, a list for each {@link WindowPlaces.Value} in their order; places of reports and looks; refused kernels with reasons; kernels with
 * their unverified property; kernels that may be endless, with the first loop; kernels that may misalign, with the first access; kernels that may wait for
 * other blocks, with the first loop; kernels with the places of their tensor maps; kernels with their number of additional registers; variables; places of
 * their addresses; texts of assertions. A text is its length in bytes and UTF-8. Tables of another version count as missing.
 */
final class KeptMachineCode {
    private static final Logger LOG = LoggerFactory.getLogger(KeptMachineCode.class);
    private static final int VERSION = 10;
    private static final String MODE = "machine code";

    private final CodeCache cache;
    private final String architecture;

    KeptMachineCode(CodeCache cache, String architecture) {
        this.cache = cache;
        this.architecture = architecture;
    }

    /** Returns the key of the fenced code of an image, for any address of its window and its reports. */
    CacheKey key(byte[] image, MachineFence fence) {
        String window = fence.kind() + " " + Integer.toHexString(fence.mask()) + " " + fence.reports()
                + " " + fence.looks() + " " + fence.aligns();
        return CacheKey.ofLarge(image, new CodeIdentity(MODE, Fencer.version(), architecture, CodeIdentity.TEXT, window));
    }

    /** Returns the kept code, with the window and the reports of a fence; null: there is none, or none that can be used. */
    FencedImage find(CacheKey key, MachineFence fence) {
        CachedCode kept = cache.find(key).orElse(null);
        if (kept == null) {
            return null;
        }
        try {
            return read(kept.code(), ByteBuffer.wrap(kept.tables()), fence);
        } catch (IOException | MachineCodeException | BufferUnderflowException | IllegalArgumentException e) {
            LOG.warn("cached machine code is made again: {}", e.getMessage());
            return null;
        }
    }

    /**
     * Keeps code that was fenced and verified.
     *
     * @param window places where the code contains the window's address
     */
    void keep(CacheKey key, FencedImage image, WindowPlaces window, MachineFence fence) {
        try {
            cache.store(key, new CachedCode(image.code(), tables(image, window, ReportWords.find(image.code(), fence), fence)));
        } catch (MachineCodeException e) {
            LOG.info("fenced machine code is not kept: {}", e.getMessage());
        }
    }

    private static byte[] tables(FencedImage image, WindowPlaces window, List<Integer> reports, MachineFence fence) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(VERSION);
            text(out, image.hash());
            out.writeInt(image.kernels());
            out.writeBoolean(image.reports());
            out.writeBoolean(image.looks());
            out.writeLong(image.accesses());
            out.writeLong(fence.reportAddress());
            out.writeInt(fence.reportValue());
            out.writeLong(fence.stopAddress());
            out.writeInt(fence.baseHigh());
            for (WindowPlaces.Value value : WindowPlaces.Value.values()) {
                places(out, window.of(value).toArray());
            }
            numbers(out, reports);
            texts(out, image.refused());
            texts(out, image.trusted());
            texts(out, image.endless());
            texts(out, image.misaligned());
            texts(out, image.waiting());
            out.writeInt(image.tensorMaps().size());
            for (Map.Entry<String, TensorMapPlaces> kernel : new TreeMap<>(image.tensorMaps()).entrySet()) {
                text(out, kernel.getKey());
                numbers(out, kernel.getValue().single());
                numbers(out, kernel.getValue().many());
                out.writeBoolean(kernel.getValue().conditional());
            }
            out.writeInt(image.addedRegisters().size());
            for (Map.Entry<String, Integer> kernel : new TreeMap<>(image.addedRegisters()).entrySet()) {
                text(out, kernel.getKey());
                out.writeInt(kernel.getValue());
            }
            FencedTablesWriter.variables(out, image.moved().variables());
            FencedTablesWriter.relocations(out, image.moved().places());
            out.writeInt(image.assertions().size());
            for (String assertion : image.assertions()) {
                text(out, assertion);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory takes all bytes", e);
        }
        return bytes.toByteArray();
    }

    private static FencedImage read(byte[] code, ByteBuffer in, MachineFence fence) throws IOException, MachineCodeException {
        int version = in.getInt();
        if (version != VERSION) {
            throw new IOException("tables of version " + version);
        }
        String hash = text(in);
        int kernels = in.getInt();
        boolean reports = in.get() != 0;
        boolean looks = in.get() != 0;
        long accesses = in.getLong();
        MachineFence before = fence.reporting(in.getLong(), in.getInt()).looking(in.getLong()).at(in.getInt());
        WindowPlaces window = window(in);
        List<Integer> places = numbers(in);
        Map<String, String> refused = texts(in);
        Map<String, String> trusted = texts(in);
        Map<String, String> endless = texts(in);
        Map<String, String> misaligned = texts(in);
        Map<String, String> waiting = texts(in);
        Map<String, TensorMapPlaces> tensorMaps = new HashMap<>();
        for (int left = count(in); left > 0; left--) {
            tensorMaps.put(text(in), new TensorMapPlaces(Set.copyOf(numbers(in)), Set.copyOf(numbers(in)), in.get() != 0));
        }
        Map<String, Integer> addedRegisters = new HashMap<>();
        for (int left = count(in); left > 0; left--) {
            addedRegisters.put(text(in), in.getInt());
        }
        MovedVariables moved = new MovedVariables(FencedTablesReader.variables(in), FencedTablesReader.relocations(in));
        List<String> assertions = new ArrayList<>();
        for (int left = count(in); left > 0; left--) {
            assertions.add(text(in));
        }
        if (in.hasRemaining()) {
            throw new IOException(in.remaining() + " bytes behind the tables");
        }
        WindowMove.move(code, window, before, fence);
        ReportWords.change(code, places, before, fence);
        return new FencedImage(code, hash, refused, trusted, endless, misaligned, waiting, tensorMaps, addedRegisters, kernels, reports, looks,
                accesses,
                moved, assertions);
    }

    private static WindowPlaces window(ByteBuffer in) throws IOException {
        Map<WindowPlaces.Value, int[]> window = new EnumMap<>(WindowPlaces.Value.class);
        for (WindowPlaces.Value value : WindowPlaces.Value.values()) {
            int[] places = new int[count(in)];
            for (int i = 0; i < places.length; i++) {
                places[i] = in.getInt();
            }
            window.put(value, places);
        }
        return new WindowPlaces(window);
    }

    private static void places(DataOutputStream out, int[] places) throws IOException {
        out.writeInt(places.length);
        for (int place : places) {
            out.writeInt(place);
        }
    }

    private static int count(ByteBuffer in) throws IOException {
        int count = in.getInt();
        if (count < 0 || count > in.remaining()) {
            throw new IOException("a list of " + count + " in " + in.remaining() + " bytes");
        }
        return count;
    }

    private static void numbers(DataOutputStream out, Collection<Integer> numbers) throws IOException {
        out.writeInt(numbers.size());
        for (int number : numbers) {
            out.writeInt(number);
        }
    }

    private static List<Integer> numbers(ByteBuffer in) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        for (int left = count(in); left > 0; left--) {
            numbers.add(in.getInt());
        }
        return numbers;
    }

    private static void texts(DataOutputStream out, Map<String, String> texts) throws IOException {
        out.writeInt(texts.size());
        for (Map.Entry<String, String> each : new TreeMap<>(texts).entrySet()) {
            text(out, each.getKey());
            text(out, each.getValue());
        }
    }

    private static Map<String, String> texts(ByteBuffer in) throws IOException {
        Map<String, String> texts = new HashMap<>();
        for (int left = count(in); left > 0; left--) {
            texts.put(text(in), text(in));
        }
        return texts;
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String text(ByteBuffer in) throws IOException {
        byte[] bytes = new byte[count(in)];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
