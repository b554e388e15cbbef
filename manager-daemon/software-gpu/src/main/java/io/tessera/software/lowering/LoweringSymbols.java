package io.tessera.software.lowering;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.software.program.ModuleVariable;
import java.util.List;
import java.util.Map;

/** The symbols of a module for lowering. Immutable. */
interface LoweringSymbols {
    /** Returns the device function of that name or alias, or null if the module has no body for it. */
    PtxFunction function(String name);

    /** Returns the module's shared variable of that name, or null. */
    io.tessera.guardian.ptx.Variable sharedVariable(String name);

    /** Every kernel and device function with a body. */
    List<PtxFunction> bodies();

    /** Returns the module's variables outside of shared memory, by name. */
    Map<String, ModuleVariable> variables();
}
