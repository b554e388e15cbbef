package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSymbols;
import java.util.Map;
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
        Cubin cubin = Cubin.read(bytes);
        cubin.requireKnownInstructions();
        CubinSymbols symbols = CubinSymbols.of(cubin);
        Map<String, String> refused = new ConcurrentSkipListMap<>();
        cubin.code().parallelStream().forEach(section -> {
            try {
                new SectionVerifier(SectionFlow.of(CodeReader.words(section), CodeReader.entered(cubin, section, symbols)), fence).verify();
            } catch (MachineCodeException e) {
                refused.put(section.functionName(Cubin.CODE), e.getMessage());
            }
        });
        return refused;
    }
}
