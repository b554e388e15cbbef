package io.tessera.executor.session;

import java.util.List;

/**
 * What a client was doing when the context was lost. Immutable.
 *
 * @param tenant   whose it is
 * @param name     the client in a log line
 * @param working  whether it had launched what may not have been done yet
 * @param unfenced whether any of its last kernels ran without a fence
 * @param kernels  names of its last kernels, the latest first
 */
public record Suspect(String tenant, String name, boolean working, boolean unfenced, List<String> kernels) {
    /**
     * The one tenant that has lost the context, as far as can be told: a fenced kernel cannot, so that of those with work in
     * progress the ones that ran kernels without a fence count first.
     *
     * @return null: it may have been one of several, or nobody
     */
    public static String culprit(List<Suspect> suspects) {
        List<String> unfenced = suspects.stream().filter(Suspect::working).filter(Suspect::unfenced)
                .map(Suspect::tenant).distinct().toList();
        List<String> working = unfenced.isEmpty()
                ? suspects.stream().filter(Suspect::working).map(Suspect::tenant).distinct().toList() : unfenced;
        return working.size() == 1 ? working.getFirst() : null;
    }
}
