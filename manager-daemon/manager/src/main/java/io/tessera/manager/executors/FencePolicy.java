package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.FenceWish;

/**
 * How tenants of executors are fenced: what they get that ask for nothing, and how far others may go. Immutable.
 *
 * @param fence the fence of tenants that choose none
 * @param unfenced   what happens to kernels that cannot be fenced: the default, and the most that a tenant may choose
 * @param fenceAlone whether kernels are fenced also while a tenant is alone, for all
 * @param timeoutS   seconds after which a kernel counts as endless while tenants share a device; 0: never
 */
public record FencePolicy(FenceChoice fence, UnfencedPolicy unfenced, boolean fenceAlone, int timeoutS) {
    private static final int STANDARD_TIMEOUT_S = 30;

    /** Fences by masks; within one user everything may run; nobody holds a shared device for longer than half a minute. */
    public static FencePolicy standard() {
        return new FencePolicy(FenceChoice.MASK, UnfencedPolicy.OWN, false, STANDARD_TIMEOUT_S);
    }

    /** Puts what a tenant gets into the line that announces it to an executor (RELAY.md, section 1). */
    void announce(JsonObject client, FenceWish wish) {
        UnfencedPolicy asked = wish.unfenced().orElse(unfenced);
        client.addProperty("fence", wish.fence().orElse(fence).label());
        client.addProperty("unfenced", (asked.within(unfenced) ? asked : unfenced).label());
        client.addProperty("fenceAlone", fenceAlone || wish.fenceAlone());
        client.addProperty("timeoutS", wish.kernelTimeoutS());
        client.addProperty("sharedTimeoutS", wish.kernelTimeoutS() == 0 ? timeoutS
                : timeoutS == 0 ? wish.kernelTimeoutS() : Math.min(timeoutS, wish.kernelTimeoutS()));
    }
}
