package io.tessera.guardian.machine;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cubins for tests, laid out as ptxas does: header, sections, section headers, program headers. Functions get the symbols from 1 on, in the order in which they are
 * added; other symbols follow. One owner thread.
 */
public final class CubinBuilder {
    /** OS ABI of CUDA 13. */
    public static final int CUDA_13 = 65;
    /** OS ABI before CUDA 13. */
    public static final int BEFORE = 51;
    private static final String BANK = ".nv.constant0.";
    private static final int HEADER = 64;
    private static final int CUDA_INFO = 0x70000000;

    private record Function(String name, int registers, boolean entry, long[] code) {
    }

    private record Place(String name, String function, int value, int size, boolean entry) {
    }

    private record Variable(String name, String section, long value, long size, int other) {
    }

    private record Content(String name, int type, long flags, int link, int info, int alignment, long entrySize, byte[] data) {
    }

    private final int variant;
    private final int architecture;
    private final Map<String, Function> functions = new LinkedHashMap<>();
    private final Map<String, ByteArrayOutputStream> attributes = new LinkedHashMap<>();
    private final ByteArrayOutputStream ofFile = new ByteArrayOutputStream();
    private final Map<String, List<long[]>> relocations = new LinkedHashMap<>();
    private final List<Place> places = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final Map<String, byte[]> tables = new LinkedHashMap<>();
    private final List<Content> others = new ArrayList<>();

    /** An empty one of a variant, for an architecture as in {@code sm_90}. */
    public CubinBuilder(int variant, int architecture) {
        this.variant = variant;
        this.architecture = architecture;
    }

    /** Returns a builder of a CUDA 13 cubin for sm_90 with a kernel. */
    public static CubinBuilder of(String name, CodeWords code) {
        return new CubinBuilder(CUDA_13, 90).kernel(name, 29, code);
    }

    /** Adds a kernel; registers as EIATTR_REGCOUNT counts them. */
    public CubinBuilder kernel(String name, int registers, CodeWords code) {
        functions.put(name, new Function(name, registers, true, code.words()));
        return this;
    }

    /** Adds a function that kernels call. */
    public CubinBuilder function(String name, int registers, CodeWords code) {
        functions.put(name, new Function(name, registers, false, code.words()));
        return this;
    }

    /** Adds an attribute with a value of words to a function. */
    public CubinBuilder attribute(String function, int number, int... values) {
        attributes.computeIfAbsent(function, _ -> new ByteArrayOutputStream()).writeBytes(record(number, values));
        return this;
    }

    /** Adds an attribute with a value of words to the file. */
    public CubinBuilder attribute(int number, int... values) {
        ofFile.writeBytes(record(number, values));
        return this;
    }

    private static byte[] record(int number, int... values) {
        ByteBuffer record = ByteBuffer.allocate(4 + 4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        record.put((byte) 4).put((byte) number).putShort((short) (4 * values.length));
        for (int value : values) {
            record.putInt(value);
        }
        return record.array();
    }

    /** Adds a symbol of type function in a function's code. */
    public CubinBuilder symbol(String name, String function, int value, int size, boolean entry) {
        places.add(new Place(name, function, value, size, entry));
        return this;
    }

    /** Adds a symbol of type object in one of {@link #section}s, with {@code st_other}. It comes behind functions and {@link #symbol}s. */
    public CubinBuilder variable(String name, String section, long value, long size, int other) {
        variables.add(new Variable(name, section, value, size, other));
        return this;
    }

    /** Adds a relocation in a function's code, or in one of {@link #section}s, to a symbol by its number. */
    public CubinBuilder relocation(String function, int offset, int type, int symbol, long addend) {
        relocations.computeIfAbsent(function, _ -> new ArrayList<>()).add(new long[] {offset, (long) symbol << 32 | type, addend});
        return this;
    }

    /** Adds a section of another name. */
    public CubinBuilder section(String name, int type, long flags, byte[] data) {
        others.add(new Content(name, type, flags, 0, 0, 4, 0, data));
        return this;
    }

    /** Adds constant bank 2 of a function: its branch tables. */
    public CubinBuilder tables(String function, int... targets) {
        tables.put(function, words(targets));
        return this;
    }

    private static byte[] words(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    /** Makes the file. */
    public byte[] build() {
        List<Content> sections = new ArrayList<>();
        sections.add(new Content("", 0, 0, 0, 0, 0, 0, new byte[0]));
        sections.add(null); // names of sections, once all are known
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write(0);
        int firstCode = 4 + 1 + attributes.size();
        byte[] symbols = symbols(names, firstCode);
        sections.add(new Content(".strtab", 3, 0, 0, 0, 1, 0, names.toByteArray()));
        sections.add(new Content(".symtab", 2, 0, 2, 1, 8, 24, symbols));
        sections.add(new Content(".nv.info", CUDA_INFO, 0, 3, 0, 4, 0, registers()));
        List<String> order = List.copyOf(functions.keySet());
        attributes.forEach((function, data) -> sections
                .add(new Content(".nv.info." + function, CUDA_INFO, 0x40, 3, firstCode + order.indexOf(function), 4, 0, data.toByteArray())));
        for (Function function : functions.values()) {
            int info = variant == BEFORE ? function.registers << 24 : 0;
            sections.add(new Content(".text." + function.name, 1, 6, 3, info, 128, 0, bytes(function.code)));
        }
        relocations.forEach((function, all) -> sections.add(new Content(".rela" + (order.contains(function) ? ".text." : "") + function, 4, 0x40, 3,
                order.contains(function) ? firstCode + order.indexOf(function) : other(firstCode, function), 8, 24, relocations(all))));
        tables.forEach((function, data) -> sections
                .add(new Content(".nv.constant2." + function, 1, 2, 0, firstCode + order.indexOf(function), 4, 0, data)));
        others.forEach(other -> sections.add(owned(other, firstCode, order)));
        return file(sections);
    }

    /** Constant bank 0 of a function says by its number that it is that function's. */
    private static Content owned(Content content, int firstCode, List<String> order) {
        int function = content.name.startsWith(BANK) ? order.indexOf(content.name.substring(BANK.length())) : -1;
        return function < 0 ? content
                : new Content(content.name, content.type, content.flags, content.link, firstCode + function, content.alignment, content.entrySize,
                        content.data);
    }

    /** The number of one of {@link #section}s, which come last. */
    private int other(int firstCode, String name) {
        return firstCode + functions.size() + relocations.size() + tables.size() + others.stream().map(Content::name).toList().indexOf(name);
    }

    private byte[] symbols(ByteArrayOutputStream names, int firstCode) {
        List<String> order = List.copyOf(functions.keySet());
        ByteBuffer symbols = ByteBuffer.allocate(24 * (1 + functions.size() + places.size() + variables.size())).order(ByteOrder.LITTLE_ENDIAN);
        symbols.position(24);
        for (Function function : functions.values()) {
            symbol(symbols, name(names, function.name), function.entry, firstCode + order.indexOf(function.name), 0, 8 * function.code.length);
        }
        for (Place place : places) {
            symbol(symbols, name(names, place.name), place.entry, firstCode + order.indexOf(place.function), place.value, place.size);
        }
        for (Variable variable : variables) {
            symbols.putInt(name(names, variable.name)).put((byte) 1).put((byte) variable.other).putShort((short) other(firstCode, variable.section))
                    .putLong(variable.value).putLong(variable.size);
        }
        return symbols.array();
    }

    private static void symbol(ByteBuffer to, int name, boolean entry, int section, long value, long size) {
        to.putInt(name).put((byte) 0x12).put((byte) (entry ? 0x10 : 0)).putShort((short) section).putLong(value).putLong(size);
    }

    private static int name(ByteArrayOutputStream names, String name) {
        int at = names.size();
        names.writeBytes(name.getBytes(StandardCharsets.ISO_8859_1));
        names.write(0);
        return at;
    }

    private byte[] registers() {
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        int symbol = 1;
        for (Function function : functions.values()) {
            records.writeBytes(words(4 | 0x2f << 8 | 8 << 16, symbol++, function.registers));
        }
        records.writeBytes(ofFile.toByteArray());
        return records.toByteArray();
    }

    private static byte[] bytes(long[] words) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * words.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(words);
        return bytes.array();
    }

    private static byte[] relocations(List<long[]> all) {
        return bytes(all.stream().flatMapToLong(java.util.Arrays::stream).toArray());
    }

    private byte[] file(List<Content> sections) {
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.write(0);
        int[] nameAt = new int[sections.size()];
        for (int i = 1; i < nameAt.length; i++) {
            nameAt[i] = name(names, sections.get(i) == null ? ".shstrtab" : sections.get(i).name);
        }
        sections.set(1, new Content(".shstrtab", 3, 0, 0, 0, 1, 0, names.toByteArray()));
        int[] at = new int[sections.size()];
        int end = HEADER;
        for (int i = 1; i < at.length; i++) {
            Content section = sections.get(i);
            at[i] = (end + section.alignment - 1) / section.alignment * section.alignment;
            end = at[i] + (section.type == 8 ? 0 : section.data.length);
        }
        int headers = end + 7 & ~7;
        int programs = headers + HEADER * sections.size();
        ByteBuffer file = ByteBuffer.allocate(programs + 2 * 56).order(ByteOrder.LITTLE_ENDIAN);
        header(file, headers, programs, sections.size());
        for (int i = 0; i < at.length; i++) {
            Content section = sections.get(i);
            if (section.type != 8) {
                file.put(at[i], section.data);
            }
            file.position(headers + HEADER * i);
            file.putInt(nameAt[i]).putInt(section.type).putLong(section.flags).putLong(0).putLong(at[i]).putLong(section.data.length);
            file.putInt(section.link).putInt(section.info).putLong(section.alignment).putLong(section.entrySize);
        }
        int code = at[5 + attributes.size()];
        file.position(programs);
        file.putInt(6).putInt(4).putLong(programs).putLong(0).putLong(0).putLong(112).putLong(112).putLong(8);
        int last = 5 + attributes.size() + functions.size() - 1;
        long bytes = at[last] + sections.get(last).data.length - code;
        file.putInt(1).putInt(5).putLong(code).putLong(0).putLong(0).putLong(bytes).putLong(bytes).putLong(8);
        return file.array();
    }

    private void header(ByteBuffer file, int headers, int programs, int sections) {
        file.putInt(0x464c457f).put((byte) 2).put((byte) 1).put((byte) 1).put((byte) variant).put((byte) (variant == CUDA_13 ? 8 : 7));
        file.position(0x10);
        file.putShort((short) 2).putShort((short) 190).putInt(1).putLong(0).putLong(programs).putLong(headers);
        file.putInt(variant == CUDA_13 ? 0x6000004 | architecture << 8 : architecture << 16 | 0x500 | architecture);
        file.putShort((short) HEADER).putShort((short) 56).putShort((short) 2).putShort((short) HEADER).putShort((short) sections)
                .putShort((short) 1);
    }
}
