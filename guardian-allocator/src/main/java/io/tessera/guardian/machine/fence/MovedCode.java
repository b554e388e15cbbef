package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/** Tells everything in a cubin that names a place in code where that place is now. One owner thread. */
final class MovedCode {
    /** Offset of a relocation's addend. */
    private static final int ADDEND = 16;

    private final Cubin cubin;
    private final CubinSymbols symbols;
    private final Map<Integer, RewrittenSection> rewritten;

    MovedCode(Cubin cubin, CubinSymbols symbols, Map<Integer, RewrittenSection> rewritten) {
        this.cubin = cubin;
        this.symbols = symbols;
        this.rewritten = rewritten;
    }

    /** The bytes of a section, with the return addresses of its calls as they are now. */
    static byte[] bytes(RewrittenSection section, Map<Integer, Integer> returns) {
        long[] code = section.code().clone();
        returns.forEach((constant, returned) -> {
            int place = section.place(constant);
            int named = returned < 0 ? section.place(~returned) : section.place(returned) + 1;
            code[2 * place] = InstructionWord.withImmediate(code[2 * place], named * InstructionWord.BYTES);
        });
        ByteBuffer bytes = ByteBuffer.allocate(code.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(code);
        return bytes.array();
    }

    /** Moves symbols and relocations. */
    void apply() throws MachineCodeException {
        for (CubinSymbols.Symbol symbol : symbols.all()) {
            RewrittenSection section = rewritten.get(symbol.section());
            if (section != null && symbol.type() != CubinSymbols.SECTION) {
                long value = symbol.value() == 0 ? 0 : section.offset(symbol.value());
                long end = section.offset(symbol.value() + symbol.size());
                long all = cubin.section(symbol.section()).data().length;
                boolean toEnd = end < 0 || symbol.value() + symbol.size() == (long) (section.places().length - 1) * InstructionWord.BYTES;
                symbols.place(symbol, value, (toEnd ? all : end) - value);
            }
        }
        symbols.store();
        for (CubinSection section : cubin.sections()) {
            if (Relocations.isTable(section)) {
                relocate(section);
            }
        }
    }

    private void relocate(CubinSection relocations) throws MachineCodeException {
        RewrittenSection changed = rewritten.get(relocations.info());
        byte[] data = relocations.data().clone();
        ByteBuffer bytes = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        for (Relocations.Relocation relocation : Relocations.of(relocations)) {
            if (changed != null && relocations.type() == CubinSection.RELOCATIONS_WITHOUT_ADDEND) {
                requireNoAddend(changed, relocation.offset());
            }
            if (changed != null) {
                bytes.putLong(relocation.at(), changed.within(relocation.offset()));
            }
            CubinSymbols.Symbol symbol = symbols.named(relocation);
            RewrittenSection target = symbol == null ? null : rewritten.get(symbol.section());
            if (target != null && relocation.addend() != 0) {
                long moved = target.offset(relocation.addend());
                if (moved < 0) {
                    throw new MachineCodeException("a relocation to a place where no instruction begins");
                }
                bytes.putLong(relocation.at() + ADDEND, moved);
            }
        }
        relocations.data(data);
    }

    /** A table without addends has them in the code. */
    private static void requireNoAddend(RewrittenSection section, long offset) throws MachineCodeException {
        int place = (int) (section.within(offset) / InstructionWord.BYTES);
        if (InstructionWord.immediate(section.code()[2 * place]) != 0) {
            throw new MachineCodeException("a relocation with an addend in the code", (int) offset);
        }
    }
}
