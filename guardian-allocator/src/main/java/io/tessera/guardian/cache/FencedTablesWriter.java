package io.tessera.guardian.cache;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.TensorMapParameter;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes tables, big-endian as {@link DataOutputStream} does: version, mode's name, id; then four lists, each with its
 * number of entries before it: variables, patches, functions, texts; then whether it reports and whether it keeps state; tensor maps, refused kernels,
 * whether it knows clusters and whether blocks wait for theirs, and functions that may wait for other blocks; then, for each kernel, its name, the reason why its accesses
 * are not known, which is empty if they are, and the offsets of the parameters that it writes and reads through. A text is its length in bytes and UTF-8. Stateless.
 */
public final class FencedTablesWriter {
    /** Version of the form. */
    static final int VERSION = 10;
    static final int MANAGED = 1;
    static final int CONSTANT_SPACE = 2;

    private FencedTablesWriter() {
    }

    /** The binary form, for {@link CachedCode#tables()}. */
    public static byte[] write(FencedTables tables) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(VERSION);
            text(out, tables.mode().name());
            out.writeInt(tables.id());
            variables(out, tables.variables());
            out.writeInt(tables.patches().size());
            for (ConstantPatch patch : tables.patches()) {
                text(out, patch.constant());
                relocation(out, patch.relocation());
            }
            texts(out, tables.functions());
            texts(out, tables.assertTexts());
            out.writeBoolean(tables.reports());
            out.writeBoolean(tables.keepsState());
            out.writeInt(tables.tensorMaps().size());
            for (TensorMapParameter map : tables.tensorMaps()) {
                text(out, map.kernel());
                text(out, map.parameter());
                out.writeInt(map.index());
                out.writeLong(map.offsetBytes());
            }
            out.writeInt(tables.refused().size());
            for (Map.Entry<String, String> kernel : new TreeMap<>(tables.refused()).entrySet()) {
                text(out, kernel.getKey());
                text(out, kernel.getValue());
            }
            out.writeBoolean(tables.clusters());
            out.writeBoolean(tables.waits());
            texts(out, tables.waiting().stream().sorted().toList());
            out.writeInt(tables.writes().size());
            for (Map.Entry<String, KernelWrites> kernel : new TreeMap<>(tables.writes()).entrySet()) {
                text(out, kernel.getKey());
                writes(out, kernel.getValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("memory takes all bytes", e);
        }
        return bytes.toByteArray();
    }

    /** Writes variables, their number first. */
    public static void variables(DataOutputStream out, List<HoistedVariable> variables) throws IOException {
        out.writeInt(variables.size());
        for (HoistedVariable variable : variables) {
            variable(out, variable);
        }
    }

    /** Writes places of addresses, their number first. */
    public static void relocations(DataOutputStream out, List<HoistedVariable.Relocation> relocations) throws IOException {
        out.writeInt(relocations.size());
        for (HoistedVariable.Relocation relocation : relocations) {
            relocation(out, relocation);
        }
    }

    private static void variable(DataOutputStream out, HoistedVariable variable) throws IOException {
        text(out, variable.name());
        text(out, variable.constant());
        text(out, variable.linkage().name());
        out.writeByte((variable.managed() ? MANAGED : 0) | (variable.constantSpace() ? CONSTANT_SPACE : 0));
        out.writeLong(variable.sizeBytes());
        out.writeInt(variable.alignmentBytes());
        out.writeInt(variable.initial().length);
        out.write(variable.initial());
        relocations(out, variable.relocations());
    }

    private static void relocation(DataOutputStream out, HoistedVariable.Relocation relocation) throws IOException {
        out.writeLong(relocation.offsetBytes());
        out.writeByte(relocation.widthBytes());
        out.writeByte(relocation.shiftBits());
        text(out, relocation.variable());
        out.writeLong(relocation.addend());
    }

    private static void writes(DataOutputStream out, KernelWrites writes) throws IOException {
        text(out, writes.unknown() == null ? "" : writes.unknown());
        offsets(out, writes.written());
        offsets(out, writes.read());
    }

    private static void offsets(DataOutputStream out, List<Integer> offsets) throws IOException {
        out.writeInt(offsets.size());
        for (int offset : offsets) {
            out.writeInt(offset);
        }
    }

    private static void texts(DataOutputStream out, List<String> texts) throws IOException {
        out.writeInt(texts.size());
        for (String text : texts) {
            text(out, text);
        }
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
