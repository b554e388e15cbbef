package io.tessera.guardian.machine.verify;

import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.machine.CalledFunctions;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.align.AlignmentVerifier;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Attributes;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Verifies a cubin that is to be loaded, from its bytes alone. Stateless. */
public final class CubinVerifier {
    private static final String BANK = ".nv.constant0.";

    private CubinVerifier() {
    }

    /**
     * Verifies every function.
     *
     * @return for each function that is not shown to be fenced, by name, the reason; empty if all are fenced
     * @throws MachineCodeException if the cubin cannot be read, or is for an unknown architecture
     */
    public static Map<String, String> verify(byte[] bytes, MachineFence fence) throws MachineCodeException {
        return inspect(bytes, fence).refused();
    }

    /**
     * Checks that a cubin, of whatever architecture, can be read in one way only, and that no entry of its tables points outside the file. Drivers do
     * not check that: many damaged cubins end the process that loads them.
     *
     * @throws MachineCodeException if the check fails
     */
    public static void requireReadable(byte[] bytes) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        FileLayout.require(cubin, CubinSymbols.of(cubin));
    }

    /** Returns the results for every function, the positions of its tensor maps, and the unverified assumptions. Throws as {@link #verify} does. */
    public static VerifiedCubin inspect(byte[] bytes, MachineFence fence) throws MachineCodeException {
        return inspect(bytes, fence, List.of());
    }

    /**
     * As above, for a cubin into which addresses of variables are written before it is loaded, whatever these are.
     *
     * @param places {@link io.tessera.guardian.machine.MovedVariables#places}
     * @throws MachineCodeException as {@link #verify}, and if a place cannot hold an address
     */
    public static VerifiedCubin inspect(byte[] bytes, MachineFence fence, List<HoistedVariable.Relocation> places) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        Architecture architecture = cubin.requireKnownInstructions();
        CubinSymbols symbols = CubinSymbols.of(cubin);
        requireAllCodeSeen(cubin, symbols);
        LoaderWrites writes = new LoaderWrites(cubin, symbols, places);
        FileLayout.require(cubin, symbols);
        Map<String, String> refused = new ConcurrentSkipListMap<>();
        Map<String, String> trusted = new ConcurrentSkipListMap<>();
        SeenLoops loops = new SeenLoops(fence);
        Map<String, String> misaligned = new ConcurrentSkipListMap<>();
        Map<String, TensorMapPlaces> tensorMaps = new ConcurrentSkipListMap<>();
        Map<String, Set<String>> calls = new ConcurrentSkipListMap<>();
        Set<String> byRegister = new ConcurrentSkipListSet<>();
        Set<String> functions = cubin.code().stream().filter(section -> !isKernel(section, symbols))
                .map(section -> section.functionName(CubinSection.CODE))
                .collect(Collectors.toUnmodifiableSet());
        cubin.code().parallelStream().forEach(section -> {
            String name = section.functionName(CubinSection.CODE);
            try {
                SectionFlow flow = SectionFlow.of(architecture, CodeReader.words(section), CodeReader.entered(cubin, section, symbols));
                loops.see(name, flow);
                Optional.ofNullable(fence.aligns() ? AlignmentVerifier.misaligned(flow) : null).ifPresent(why -> misaligned.put(name, why));
                Set<Long> relocated = writes.into(section, flow, fence);
                SectionVerifier verifier = new SectionVerifier(flow, fence, relocated, isKernel(section, symbols), !writes.isUnnamed(section),
                        writes.isEnteredInside(section));
                String open = verifier.verify();
                if (verifier.takesDescriptors()) {
                    requireDescriptor(cubin, section, architecture.descriptorInBank(), writes);
                }
                String table = BranchTables.require(cubin, section, flow);
                TensorMapPlaces maps = TensorMapAddresses.find(flow, relocated, isKernelAlone(section, symbols, writes));
                if (!maps.isEmpty()) {
                    requireParameters(cubin, section);
                    tensorMaps.put(name, maps);
                }
                String driver = writes.driverCall(section, flow, fence);
                if (driver != null) {
                    loops.callsDriver(name, driver);
                }
                Stream.of(open, table, maps.trusted(), driver).filter(Objects::nonNull).findFirst().ifPresent(why -> trusted.put(name, why));
                Set<String> called = writes.calledBy(section);
                if (!called.isEmpty()) {
                    calls.put(name, called);
                }
                if (callsByRegister(flow, fence)) {
                    byRegister.add(name);
                }
            } catch (MachineCodeException e) {
                refused.put(name, e.getMessage());
                loops.refuse(name, e.getMessage());
                misaligned.putIfAbsent(name, e.getMessage());
            }
        });
        return new VerifiedCubin(refused, tensorMaps, trusted, loops.endless(), loops.looks(), misaligned, loops.waits(),
                new CalledFunctions(calls, byRegister, functions));
    }

    private static boolean callsByRegister(SectionFlow flow, MachineFence fence) {
        boolean any = false;
        for (int i = 0; i < flow.count(); i++) {
            any |= flow.operation(i).kind() == Kind.CALL_REGISTER && !ReportSequence.endsBefore(flow, i, fence);
        }
        return any;
    }

    /**
     * Returns whether a section has one kernel, and no code of other sections can call it or its functions: then the parameters are the kernel's own.
     */
    private static boolean isKernelAlone(CubinSection section, CubinSymbols symbols, LoaderWrites writes) {
        return writes.isUnnamed(section)
                && symbols.of(section).stream().filter(symbol -> symbol.type() == CubinSymbols.FUNCTION && symbol.entry()).count() == 1;
    }

    /** Checks that the kernel's parameters begin at the offset from which the positions of its tensor maps are counted. */
    private static void requireParameters(Cubin cubin, CubinSection section) throws MachineCodeException {
        CubinSection attributes = cubin.section(CubinSection.ATTRIBUTES + "." + section.functionName(CubinSection.CODE));
        if (attributes == null || !Attributes.read(attributes.data()).parameterOffsets().equals(Set.of(ScalarValue.PARAMETERS_IN_BANK))) {
            throw new MachineCodeException(
                    "a kernel with tensor maps whose parameters do not begin at 0x" + Integer.toHexString(ScalarValue.PARAMETERS_IN_BANK));
        }
    }

    /**
     * Checks that the file does not write the place in a kernel's constant bank 0 where the driver keeps its descriptor: parameters follow it, and
     * compilers leave zeros there.
     */
    private static void requireDescriptor(Cubin cubin, CubinSection section, int descriptor, LoaderWrites writes) throws MachineCodeException {
        String name = section.functionName(CubinSection.CODE);
        int end = descriptor + Long.BYTES;
        CubinSection bank = cubin.section(BANK + name);
        boolean drivers = bank != null && bank.data().length >= end && writes.isUnwritten(bank)
                && cubin.sections().stream().filter(each -> each.name().startsWith(BANK) && each.info() == section.index()).toList()
                        .equals(List.of(bank))
                && areParametersBehind(cubin.section(CubinSection.ATTRIBUTES), end)
                && areParametersBehind(cubin.section(CubinSection.ATTRIBUTES + "." + name), end);
        for (int i = descriptor; i < end && drivers; i++) {
            drivers = bank.data()[i] == 0;
        }
        if (!drivers) {
            throw new MachineCodeException(
                    "a kernel with something else where the driver keeps its descriptor, at 0x" + Integer.toHexString(descriptor));
        }
    }

    private static boolean areParametersBehind(CubinSection attributes, int end) throws MachineCodeException {
        return attributes == null || Attributes.read(attributes.data()).parameterOffsets().stream().allMatch(offset -> offset >= end);
    }

    /** Refuses a section that this reader does not take for code, but a driver might. */
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
