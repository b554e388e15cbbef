package io.tessera.executor.session;

import java.util.List;

/**
 * A client's activity when the context was lost. Immutable.
 *
 * @param tenant of the client
 * @param uid of its user
 * @param name     the client in a log line
 * @param working  whether it had launched work that may be unfinished, or learned of the loss by a call of its own
 * @param unfenced whether any of its last kernels ran without a fence
 * @param kernels  names of its last kernels, the latest first
 */
public record FaultCandidate(String tenant, int uid, String name, boolean working, boolean unfenced, List<String> kernels) {
    /**
     * Finds the tenant whose kernels ended the context. A fenced kernel cannot end it, so among the clients with work in progress those with unfenced kernels
     * are considered first.
     *
     * @return the tenant; null if it may have been one of several, or none
     */
    public static String culprit(List<FaultCandidate> suspects) {
        List<String> tenants = candidates(suspects).stream().map(FaultCandidate::tenant).distinct().toList();
        return tenants.size() == 1 ? tenants.getFirst() : null;
    }

    /** Returns the clients that may have ended the context; none if no client had work in progress. */
    static List<FaultCandidate> candidates(List<FaultCandidate> suspects) {
        List<FaultCandidate> unfenced = suspects.stream().filter(FaultCandidate::working).filter(FaultCandidate::unfenced).toList();
        return unfenced.isEmpty() ? suspects.stream().filter(FaultCandidate::working).toList() : unfenced;
    }

    /** Returns whether it is a client of the same tenant. */
    boolean isOfTenant(FaultCandidate other) {
        return uid == other.uid && tenant.equals(other.tenant);
    }
}
