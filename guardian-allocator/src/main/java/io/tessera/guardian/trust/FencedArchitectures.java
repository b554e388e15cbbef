package io.tessera.guardian.trust;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.Architecture;
import java.util.Map;

/** The GPUs on which machine code is fenced: those on which fenced code was executed, or all whose instructions are known. Stateless. */
public enum FencedArchitectures {
    /** Those on which fenced code was executed. */
    RUN,
    /** All whose instructions are known, also where fenced code was never executed. */
    KNOWN;

    /** Environment variable with the name of a choice in small letters; without it, {@link #RUN}. */
    public static final String VARIABLE = "TESSERA_FENCE_ARCHITECTURES";

    /**
     * Returns the choice in an environment.
     *
     * @throws IllegalArgumentException with a message for the user, if there is no such choice
     */
    public static FencedArchitectures of(Map<String, String> environment) {
        String name = environment.getOrDefault(VARIABLE, "");
        return switch (name) {
            case "", "run" -> RUN;
            case "known" -> KNOWN;
            default -> throw new IllegalArgumentException(VARIABLE + "=" + name + ": it is run or known");
        };
    }

    /**
     * Checks that machine code is fenced on a GPU.
     *
     * @param sm the GPU's architecture, for example 90
     * @return the known facts about the architecture
     * @throws MachineCodeException with the reason, if not
     */
    public Architecture require(int sm) throws MachineCodeException {
        Architecture architecture = Architecture.of(sm);
        if (architecture == null) {
            throw new MachineCodeException("the GPU is sm_" + sm + "; instructions are known for " + Architecture.names() + " only");
        }
        if (this == RUN && !architecture.wasRun()) {
            throw new MachineCodeException("fenced machine code was never run on sm_" + sm + "; " + VARIABLE + "=known has it fenced all the same");
        }
        return architecture;
    }
}
