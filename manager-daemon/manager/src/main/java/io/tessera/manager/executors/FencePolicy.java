package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.FenceWish;

/**
 * Rules for the fences of executors' tenants: the default, and how far a tenant may choose otherwise. Immutable.
 *
 * @param fence      fence of tenants that choose none
 * @param unfenced   treatment of kernels that cannot be fenced: the default, and the least strict one that a tenant may choose
 * @param fenceAlone whether kernels are fenced also while a tenant is alone, for all tenants
 * @param timeoutS   seconds after which a kernel counts as endless while tenants share a device; 0: never
 */
public record FencePolicy(FenceChoice fence, UnfencedPolicy unfenced, boolean fenceAlone, int timeoutS) {
    private static final int STANDARD_TIMEOUT_S = 30;

    /**
     * Returns the defaults: fences by masks, all kernels may run among one user's tenants, and a kernel may hold a shared device for half a minute.
     */
    public static FencePolicy standard() {
        return new FencePolicy(FenceChoice.MASK, UnfencedPolicy.OWN, false, STANDARD_TIMEOUT_S);
    }

    /** Adds a tenant's fence settings to the line that announces it to an executor (RELAY.md, section 1). */
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
