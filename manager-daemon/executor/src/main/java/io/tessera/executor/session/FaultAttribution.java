package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import java.util.List;
import java.util.Optional;

/**
 * Decides which error each client gets when the shared context is lost. Clients whose kernels may have caused it get that error; all others
 * are told that it was not their fault. Immutable.
 *
 * @param result     the CUresult with which the context was lost
 * @param candidates clients whose kernels may have caused the loss; empty: it is not known
 */
public record FaultAttribution(int result, List<FaultCandidate> candidates) {
    /** Attributes a fault by what all clients were doing. */
    public static FaultAttribution of(int result, List<FaultCandidate> suspects) {
        return new FaultAttribution(result, FaultCandidate.candidates(suspects));
    }

    private boolean mayHaveDoneIt(FaultCandidate who) {
        return candidates.isEmpty() || candidates.stream().anyMatch(one -> one.isOfTenant(who));
    }

    /** Returns the CUresult for a client. */
    public int resultFor(FaultCandidate who) {
        return mayHaveDoneIt(who) ? result : CudaResult.CONTEXT_IS_DESTROYED;
    }

    /** Returns the line for a client; none if the error is certainly its own. */
    public Optional<String> lineFor(FaultCandidate who) {
        String fault = "a fault (CUDA error " + result + ") of ";
        if (!mayHaveDoneIt(who)) {
            return Optional.of("the context that programs share was ended by " + fault + names(who)
                    + "; this program has no part in it and can be started again");
        }
        boolean alone = !candidates.isEmpty() && candidates.stream().allMatch(one -> one.isOfTenant(who));
        return alone ? Optional.empty() : Optional.of("the context that programs share was ended by " + fault
                + "this program or of another one that was working");
    }

    /** Names a client only to clients of the same user. */
    private String names(FaultCandidate to) {
        List<String> names = candidates.stream().map(one -> one.uid() == to.uid() ? "tenant \"" + one.tenant() + "\""
                : "another user's program").distinct().toList();
        return String.join(" or ", names);
    }
}
