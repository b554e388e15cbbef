package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.PrintableText;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The texts of a cubin's assertions: {@code file:line: function: message}, each with a number that its report carries. The texts are read from the
 * file, through the relocations of constant bank 4; no device address is dereferenced. Texts of hostile files are made printable, and are bounded in
 * length and number. Immutable.
 */
final class AssertionTexts {
    /** Longest of the three texts of an assertion, in bytes; a longer one is cut. */
    private static final int LONGEST = 1024;
    /** Maximum number of characters of all texts of a cubin; assertions beyond that have no text. */
    private static final int MOST_CHARACTERS = 1 << 22;

    private final Cubin cubin;
    private final CubinSymbols symbols;
    private final Map<Long, Relocations.Relocation> bank = new HashMap<>();
    private final Map<String, Integer> numbers = new LinkedHashMap<>();
    private final Map<String, Map<Integer, Integer>> places = new HashMap<>();
    private long characters;

    private AssertionTexts(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        this.cubin = cubin;
        this.symbols = symbols;
        for (Relocations.Relocation relocation : Relocations.into(cubin, ".nv.constant4")) {
            bank.put(relocation.offset(), relocation);
        }
    }

    /**
     * Those of the functions of a cubin. The numbers follow from the file alone.
     *
     * @throws MachineCodeException if relocations cannot be read
     */
    static AssertionTexts of(Cubin cubin, CubinSymbols symbols, List<FunctionCode> functions) throws MachineCodeException {
        AssertionTexts texts = new AssertionTexts(cubin, symbols);
        if (ContextEnds.calls(symbols)) {
            for (FunctionCode function : functions) {
                if (function.flow() != null) {
                    texts.add(function.section().name(), function.flow());
                }
            }
        }
        return texts;
    }

    private void add(String section, SectionFlow flow) {
        for (int i = 0; i < flow.count(); i++) {
            Kind kind = flow.operation(i).kind();
            AssertionArguments.Found found = kind == Kind.CALL_REGISTER || kind == Kind.CALL_SYMBOL ? AssertionArguments.of(flow, i) : null;
            int number = found == null ? 0 : number(found);
            if (number != 0) {
                places.computeIfAbsent(section, _ -> new HashMap<>()).put(i, number);
            }
        }
    }

    private int number(AssertionArguments.Found found) {
        String message = text(found.message());
        String file = text(found.file());
        String function = text(found.function());
        if (message == null || file == null || function == null) {
            return 0;
        }
        String whole = file + ":" + found.line() + ": " + function + ": " + message;
        Integer known = numbers.get(whole);
        if (known != null) {
            return known;
        }
        characters += whole.length();
        if (numbers.size() >= MachineFence.MOST_TEXTS || characters > MOST_CHARACTERS) {
            return 0;
        }
        numbers.put(whole, numbers.size() + 1);
        return numbers.size();
    }

    /** Returns the text whose address is at an offset in bank 4; null if the file has none there. */
    private String text(long offset) {
        Relocations.Relocation relocation = bank.get(offset);
        CubinSymbols.Symbol symbol = relocation == null ? null : symbols.named(relocation);
        CubinSection section = symbol == null || symbol.section() == 0 ? null : cubin.section(symbol.section());
        if (section == null || section.type() != CubinSection.CONTENTS || section.isExecutable()) {
            return null;
        }
        byte[] data = section.data();
        long begin = symbol.value() + relocation.addend();
        if (begin < 0 || begin >= data.length) {
            return null;
        }
        int end = (int) begin;
        while (end < data.length && end - begin < LONGEST && data[end] != 0) {
            end++;
        }
        return PrintableText.of(new String(data, (int) begin, end - (int) begin, StandardCharsets.UTF_8), LONGEST);
    }

    /**
     * The ends of a function with the numbers of their texts.
     *
     * @param ends as {@link ContextEnds#find} has them
     * @return reasons with numbers, see {@link MachineFence#reason}
     */
    Map<Integer, Integer> numbered(String section, Map<Integer, Integer> ends) {
        Map<Integer, Integer> own = places.getOrDefault(section, Map.of());
        Map<Integer, Integer> numbered = new HashMap<>();
        ends.forEach(
                (at, reason) -> numbered.put(at, reason == MachineFence.ASSERTION ? MachineFence.reason(reason, own.getOrDefault(at, 0)) : reason));
        return numbered;
    }

    /** All texts; the first has number 1. */
    List<String> all() {
        return new ArrayList<>(numbers.keySet());
    }
}
