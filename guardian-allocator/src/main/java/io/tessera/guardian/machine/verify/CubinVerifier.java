package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Collectors;

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

    /** Looks at every function, where its tensor maps lie, and what was taken on trust. Errors as {@link #verify}. */
    public static VerifiedCubin inspect(byte[] bytes, MachineFence fence) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        cubin.requireKnownInstructions();
        CubinSymbols symbols = CubinSymbols.of(cubin);
        requireAllCodeSeen(cubin, symbols);
        FileLayout.require(cubin, symbols);
        Map<Integer, List<Relocations.Relocation>> relocations = Relocations.bySection(cubin);
        Map<String, String> refused = new ConcurrentSkipListMap<>();
        Map<String, String> trusted = new ConcurrentSkipListMap<>();
        Map<String, TensorMapPlaces> tensorMaps = new ConcurrentSkipListMap<>();
        Set<Integer> named = namedByRelocations(cubin, relocations);
        cubin.code().parallelStream().forEach(section -> {
            try {
                SectionFlow flow = SectionFlow.of(CodeReader.words(section), CodeReader.entered(cubin, section, symbols));
                Set<Long> relocated = relocations.getOrDefault(section.index(), List.of()).stream().map(Relocations.Relocation::offset)
                        .collect(Collectors.toSet());
                String open = new SectionVerifier(flow, fence, relocated, isKernel(section, symbols)).verify();
                String table = BranchTables.require(cubin, section, flow);
                TensorMapPlaces maps = TensorMapAddresses.find(flow, isKernelAlone(section, symbols, named));
                if (!maps.isEmpty()) {
                    tensorMaps.put(section.functionName(Cubin.CODE), maps);
                }
                if (open != null || table != null || maps.trusted() != null) {
                    trusted.put(section.functionName(Cubin.CODE), open != null ? open : table != null ? table : maps.trusted());
                }
            } catch (MachineCodeException e) {
                refused.put(section.functionName(Cubin.CODE), e.getMessage());
            }
        });
        return new VerifiedCubin(refused, tensorMaps, trusted);
    }

    /** Whether a section has one kernel, and no code of other sections can call it or its functions: the parameters are the kernel's own. */
    private static boolean isKernelAlone(CubinSection section, CubinSymbols symbols, Set<Integer> named) {
        return symbols.of(section).stream().noneMatch(symbol -> named.contains(symbol.index()))
                && symbols.of(section).stream().filter(symbol -> symbol.type() == CubinSymbols.FUNCTION && symbol.entry()).count() == 1;
    }

    /** Symbols whose addresses a loader writes into what it loads. */
    private static Set<Integer> namedByRelocations(Cubin cubin, Map<Integer, List<Relocations.Relocation>> relocations) {
        Set<Integer> named = new HashSet<>();
        relocations.forEach((number, all) -> {
            CubinSection target = cubin.section(number);
            if (target == null || target.isLoaded()) {
                all.forEach(relocation -> named.add(relocation.symbol()));
            }
        });
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

    private static boolean isKernel(CubinSection section, CubinSymbols symbols) {
        return symbols.of(section).stream().anyMatch(symbol -> symbol.entry() && symbol.value() == 0);
    }
}
