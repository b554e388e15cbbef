package io.tessera.guardian.cache;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.TensorMapParameter;
import io.tessera.guardian.ptx.Linkage;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads what {@link FencedTablesWriter} wrote; every number is checked against what is left. Stateless. */
public final class FencedTablesReader {
    private interface Element<T> {
        T read(ByteBuffer in) throws IOException;
    }

    private FencedTablesReader() {
    }

    /**
     * The tables of their binary form.
     *
     * @throws IOException if the bytes are of another version or no tables: the caller makes the code again
     */
    public static FencedTables read(byte[] bytes) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            int version = in.getInt();
            if (version != FencedTablesWriter.VERSION) {
                throw new IOException("tables of version " + version);
            }
            FenceMode mode = FenceMode.valueOf(text(in));
            FencedTables tables = new FencedTables(mode, in.getInt(), variables(in),
                    list(in, FencedTablesReader::patch), list(in, FencedTablesReader::text),
                    list(in, FencedTablesReader::text), in.get() != 0, in.get() != 0,
                    list(in, FencedTablesReader::tensorMap), list(in, FencedTablesReader::refused).stream()
                            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
                    in.get() != 0, in.get() != 0, Set.copyOf(list(in, FencedTablesReader::text)),
                    list(in, FencedTablesReader::writes).stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
            if (in.hasRemaining()) {
                throw new IOException(in.remaining() + " bytes behind the tables");
            }
            return tables;
        } catch (BufferUnderflowException | IllegalArgumentException | IllegalStateException e) {
            throw new IOException("damaged tables", e);
        }
    }

    /** Reads variables that {@link FencedTablesWriter#variables} wrote. Throws as {@link #read} does; invalid numbers may throw other exceptions. */
    public static List<HoistedVariable> variables(ByteBuffer in) throws IOException {
        return list(in, FencedTablesReader::variable);
    }

    /** Places of addresses as {@link FencedTablesWriter#relocations} wrote them. Errors as {@link #variables}. */
    public static List<HoistedVariable.Relocation> relocations(ByteBuffer in) throws IOException {
        return list(in, FencedTablesReader::relocation);
    }

    private static HoistedVariable variable(ByteBuffer in) throws IOException {
        String name = text(in);
        String constant = text(in);
        Linkage linkage = Linkage.valueOf(text(in));
        int flags = in.get();
        long size = in.getLong();
        int alignment = in.getInt();
        byte[] initial = bytes(in);
        return new HoistedVariable(name, constant, linkage, (flags & FencedTablesWriter.MANAGED) != 0,
                (flags & FencedTablesWriter.CONSTANT_SPACE) != 0, size, alignment, initial,
                relocations(in));
    }

    private static Map.Entry<String, KernelWrites> writes(ByteBuffer in) throws IOException {
        String kernel = text(in);
        String unknown = text(in);
        return Map.entry(kernel, new KernelWrites(list(in, ByteBuffer::getInt), list(in, ByteBuffer::getInt), unknown.isEmpty() ? null : unknown));
    }

    private static Map.Entry<String, String> refused(ByteBuffer in) throws IOException {
        return Map.entry(text(in), text(in));
    }

    private static TensorMapParameter tensorMap(ByteBuffer in) throws IOException {
        return new TensorMapParameter(text(in), text(in), in.getInt(), in.getLong());
    }

    private static ConstantPatch patch(ByteBuffer in) throws IOException {
        return new ConstantPatch(text(in), relocation(in));
    }

    private static HoistedVariable.Relocation relocation(ByteBuffer in) throws IOException {
        long offset = in.getLong();
        int width = in.get();
        int shift = in.get();
        return new HoistedVariable.Relocation(offset, width, shift, text(in), in.getLong());
    }

    private static <T> List<T> list(ByteBuffer in, Element<T> element) throws IOException {
        int count = in.getInt();
        if (count < 0 || count > in.remaining()) {
            throw new IOException("a list of " + count + " in " + in.remaining() + " bytes");
        }
        List<T> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(element.read(in));
        }
        return list;
    }

    private static byte[] bytes(ByteBuffer in) throws IOException {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new IOException(length + " bytes of " + in.remaining());
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static String text(ByteBuffer in) throws IOException {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }
}
