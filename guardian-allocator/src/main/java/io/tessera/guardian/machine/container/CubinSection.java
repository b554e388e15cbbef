package io.tessera.guardian.machine.container;

/** A section of a cubin, whose contents may be replaced. One owner thread. */
public final class CubinSection {
    /** Prefix of the names of sections with code. */
    public static final String CODE = ".text.";
    /** Attributes of the whole file, and with a dot and a name behind it of one function. */
    public static final String ATTRIBUTES = ".nv.info";
    /** Constant bank 2 of a function, which has its branch tables. */
    public static final String TABLES = ".nv.constant2.";

    /** Section types of ELF: contents of the program. */
    public static final int CONTENTS = 1;
    /** The table of symbols. */
    public static final int SYMBOLS = 2;
    /** Relocations with an addend. */
    public static final int RELOCATIONS = 4;
    /** Takes no room in the file. */
    public static final int NO_BITS = 8;
    /** Relocations without an addend. */
    public static final int RELOCATIONS_WITHOUT_ADDEND = 9;

    /** {@code SHF_WRITE}. */
    private static final long WRITABLE = 1;
    /** {@code SHF_ALLOC}. */
    private static final long LOADED = 2;
    /** {@code SHF_EXECINSTR}. */
    private static final long EXECUTABLE = 4;

    private final int index;
    private final String name;
    final int nameOffset;
    final int type;
    final long flags;
    final long address;
    final long offset;
    final long size;
    final int link;
    int info;
    final long alignment;
    final long entrySize;
    private byte[] data;

    CubinSection(int index, String name, Header header, byte[] data) {
        this.index = index;
        this.name = name;
        this.nameOffset = header.nameOffset();
        this.type = header.type();
        this.flags = header.flags();
        this.address = header.address();
        this.offset = header.offset();
        this.size = header.size();
        this.link = header.link();
        this.info = header.info();
        this.alignment = header.alignment();
        this.entrySize = header.entrySize();
        this.data = data;
    }

    /** The fields of a section header in the order of {@code Elf64_Shdr}. */
    record Header(int nameOffset, int type, long flags, long address, long offset, long size, int link, int info, long alignment,
            long entrySize) {
    }

    /** Its number in the file. */
    public int index() {
        return index;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** Its type, as in {@code sh_type}. */
    public int type() {
        return type;
    }

    /** {@code sh_info}: of code in cubins before CUDA 13, the number of registers in bits 24 to 31. */
    public int info() {
        return info;
    }

    /** Replaces {@link #info}. */
    public void info(int value) {
        info = value;
    }

    /** The section that it refers to by {@code sh_link}. */
    public int link() {
        return link;
    }

    /** Its contents, not copied; empty for one without room in the file. */
    public byte[] data() {
        return data;
    }

    /** Replaces the contents; they are not copied. */
    public void data(byte[] contents) {
        data = contents;
    }

    /** Returns whether it holds the code of a function. */
    public boolean isCode() {
        return name.startsWith(CODE) && type == CONTENTS && data.length > 0;
    }

    /** Returns whether it is code, branch tables or attributes: sections that are found by their names, which are unique. */
    boolean isFoundByName() {
        return name.startsWith(CODE) || name.startsWith(ATTRIBUTES) || name.startsWith(TABLES);
    }

    /** Returns whether the file says that programs can write to it. */
    public boolean isWritable() {
        return (flags & WRITABLE) != 0;
    }

    /** Returns its size in memory in bytes, whether or not the bytes are in the file. */
    public long bytesInMemory() {
        return size;
    }

    /** Returns its alignment, {@code sh_addralign}. */
    public long alignment() {
        return alignment;
    }

    /** Returns its offset in the file that was read. */
    public long offset() {
        return offset;
    }

    /** Returns its size in bytes in the file that was read. */
    public long bytesInFile() {
        return takesRoom() ? size : 0;
    }

    /** The address that it asks for, {@code sh_addr}. */
    public long address() {
        return address;
    }

    /** Returns whether the file says that it can be executed. */
    public boolean isExecutable() {
        return (flags & EXECUTABLE) != 0;
    }

    /** Returns whether the file says that it is loaded; otherwise it is for tools. */
    public boolean isLoaded() {
        return (flags & LOADED) != 0;
    }

    /** The function whose code, constants or attributes it holds: what follows a prefix of its name. */
    public String functionName(String prefix) {
        return name.substring(prefix.length());
    }

    boolean takesRoom() {
        return takesRoom(type);
    }

    /** Returns whether a section of a type has contents in the file; global, local and shared memory without initial values have none. */
    static boolean takesRoom(int type) {
        return switch (type) {
            case 0, NO_BITS, 0x70000007, 0x70000009, 0x7000000a -> false;
            default -> true;
        };
    }
}
