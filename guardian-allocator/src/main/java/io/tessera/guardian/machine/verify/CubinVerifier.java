package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;

/** Looks at a cubin that is to be loaded, by its bytes alone. Stateless. */
public final class CubinVerifier {
    private CubinVerifier() {
    }

    /**
     * Looks at every function.
     *
     * @return why functions are not seen to be fenced, by name; empty: all are
     * @throws MachineCodeException if the cubin cannot be read, or is for an architecture that is not known
     */
    public static Map<String, String> verify(byte[] bytes, MachineFence fence) throws MachineCodeException {
        return inspect(bytes, fence).refused();
    }

    /** Looks at every function, and where its tensor maps lie. Errors as {@link #verify}. */
    public static VerifiedCubin inspect(byte[] bytes, MachineFence fence) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        cubin.requireKnownInstructions();
        CubinSymbols symbols = CubinSymbols.of(cubin);
        requireAllCodeSeen(cubin, symbols);
        Map<String, String> refused = new ConcurrentSkipListMap<>();
        Map<String, Set<Integer>> tensorMaps = new ConcurrentSkipListMap<>();
        Set<Integer> named = namedByRelocations(cubin);
        cubin.code().parallelStream().forEach(section -> {
            try {
                SectionFlow flow = SectionFlow.of(CodeReader.words(section), CodeReader.entered(cubin, section, symbols));
                new SectionVerifier(flow, fence, relocated(cubin, section)).verify();
                Set<Integer> maps = TensorMapAddresses.find(flow, isKernelAlone(section, symbols, named));
                if (!maps.isEmpty()) {
                    tensorMaps.put(section.functionName(Cubin.CODE), maps);
                }
            } catch (MachineCodeException e) {
                refused.put(section.functionName(Cubin.CODE), e.getMessage());
            }
        });
        return new VerifiedCubin(refused, tensorMaps);
    }

    /** Whether a section has one function, a kernel that no other code can call: the parameters are its own. */
    private static boolean isKernelAlone(CubinSection section, CubinSymbols symbols, Set<Integer> named) {
        return symbols.of(section).stream().noneMatch(symbol -> named.contains(symbol.index()))
                && symbols.of(section).stream().filter(symbol -> symbol.type() == CubinSymbols.FUNCTION).allMatch(CubinSymbols.Symbol::entry);
    }

    /** Symbols whose addresses a loader writes into what it loads. */
    private static Set<Integer> namedByRelocations(Cubin cubin) {
        Set<Integer> named = new HashSet<>();
        for (CubinSection section : cubin.sections()) {
            boolean plain = section.type() == CubinSection.RELOCATIONS_WITHOUT_ADDEND;
            CubinSection target = cubin.section(section.info());
            if ((section.type() == CubinSection.RELOCATIONS || plain) && (target == null || target.isLoaded())) {
                ByteBuffer bytes = ByteBuffer.wrap(section.data()).order(ByteOrder.LITTLE_ENDIAN);
                int step = plain ? 16 : 24;
                for (int at = 0; at + step <= bytes.capacity(); at += step) {
                    named.add(bytes.getInt(at + 12)); // the upper half of r_info
                }
            }
        }
        return named;
    }

    /** Code that the reader does not take for code, but a driver might. */
    private static void requireAllCodeSeen(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        if (cubin.isRelocatable()) {
            throw new MachineCodeException("the cubin is not linked yet");
        }
        for (CubinSection section : cubin.sections()) {
            if (section.isExecutable() && !section.isCode()) {
                throw new MachineCodeException("section " + section.name() + " can be executed and is no code of a function");
            }
        }
        for (CubinSymbols.Symbol symbol : symbols.all()) {
            CubinSection section = cubin.section(symbol.section());
            boolean function = symbol.type() == CubinSymbols.FUNCTION && symbol.section() != 0;
            if (function && (section == null || !section.isCode() || symbol.entry() && symbol.value() != 0)) {
                throw new MachineCodeException("function " + symbol.name() + " does not begin a section of code");
            }
        }
    }

    /** Offsets in a section of code that relocations write to. */
    private static Set<Long> relocated(Cubin cubin, CubinSection code) {
        Set<Long> offsets = new HashSet<>();
        for (CubinSection section : cubin.sections()) {
            boolean plain = section.type() == CubinSection.RELOCATIONS_WITHOUT_ADDEND;
            if ((section.type() == CubinSection.RELOCATIONS || plain) && section.info() == code.index()) {
                ByteBuffer bytes = ByteBuffer.wrap(section.data()).order(ByteOrder.LITTLE_ENDIAN);
                int step = plain ? 16 : 24;
                for (int at = 0; at + step <= bytes.capacity(); at += step) {
                    offsets.add(bytes.getLong(at));
                }
            }
        }
        return offsets;
    }
}
