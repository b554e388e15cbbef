package io.tessera.manager;

import io.tessera.guardian.trust.FencedArchitectures;
import io.tessera.guardian.trust.FencedLoops;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.manager.settings.OptionException;
import io.tessera.protocol.WorkerVariables;
import java.util.List;
import java.util.Map;

/** Variables that a manager passes to its executors, which cannot tell an operator that a value is wrong. Stateless. */
final class ExecutorVariables {
    private ExecutorVariables() {
    }

    /**
     * Checks all of these variables.
     *
     * @param machineBytes memory of the machine; 0: not known
     * @throws OptionException if a variable has an invalid value
     */
    static void check(Map<String, String> environment, long machineBytes) throws OptionException {
        try {
            WorkerVariables.seconds(environment);
            WorkerVariables.memoryMib(environment, machineBytes);
            FencedArchitectures.of(environment);
            FencedLoops.of(environment);
        } catch (IllegalArgumentException e) {
            throw new OptionException(e.getMessage());
        }
        String store = StateStoreChoice.named(environment);
        List<String> kinds = StateStoreChoice.kinds();
        if (!kinds.contains(store)) {
            throw new OptionException(StateStoreChoice.VARIABLE + "=" + store + ": none of " + String.join(", ", kinds));
        }
    }
}
