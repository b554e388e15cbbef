package io.tessera.guardian.fence.footprint;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.Map;

/** Origins of the names that a kernel uses: its parameters with their offsets, its variables, and the names of its module. Immutable. */
final class KernelNames {
    private final Map<String, StateSpace> spaces = new HashMap<>();
    private final Map<String, Long> offsets = new HashMap<>();
    private final Map<String, StateSpace> ofModule;
    private final long parameterBytes;

    /**
     * Reads the names of a kernel.
     *
     * @param ofModule state spaces of the module's variables, by name
     */
    KernelNames(PtxFunction kernel, Map<String, StateSpace> ofModule) {
        this.ofModule = ofModule;
        for (Statement statement : kernel.body().orElseThrow().statements()) {
            if (statement instanceof Variable variable) {
                spaces.put(variable.name(), variable.space());
            }
        }
        long end = 0;
        for (Variable parameter : kernel.parameters()) {
            long alignment = Math.max(1, parameter.alignment());
            long offset = Math.ceilDiv(end, alignment) * alignment;
            offsets.put(parameter.name(), offset);
            spaces.put(parameter.name(), StateSpace.PARAM);
            end = offset + parameter.sizeBytes();
        }
        parameterBytes = end;
    }

    /** Returns the origin of the address that a name stands for. The address of a global variable or function is foreign. */
    AddressOrigin address(String name) {
        StateSpace space = spaces.getOrDefault(name, ofModule.get(name));
        return space == null || space == StateSpace.GLOBAL ? AddressOrigin.FOREIGN : AddressOrigin.NEAR;
    }

    /** Returns the origin of the 8 bytes at an offset in a parameter. A parameter of a call, and bytes that are not aligned, are foreign. */
    AddressOrigin parameter(String name, long offsetBytes) {
        Long start = offsets.get(name);
        long at = start == null ? -1 : start + offsetBytes;
        boolean known = at >= 0 && at % Long.BYTES == 0 && at <= parameterBytes - Long.BYTES;
        return known ? AddressOrigin.parameter(Math.toIntExact(at)) : AddressOrigin.FOREIGN;
    }

    /** Returns the origin of 8 bytes at an address in the parameters that is computed. */
    AddressOrigin anyParameter() {
        return AddressOrigin.anyParameter(Math.toIntExact(parameterBytes));
    }
}
