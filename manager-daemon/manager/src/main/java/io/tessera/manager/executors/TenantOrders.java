package io.tessera.manager.executors;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;
import io.tessera.protocol.DeviceUuid;
import java.util.function.Function;

/**
 * Has executors hear what is set for tenants, and how their devices are to be shared. One owner thread.
 *
 * @param terms   what is set for a tenant, by {@link io.tessera.protocol.message.TenantName}
 * @param sharing how a device is to be shared
 * @param ownUid  the manager's user
 */
record TenantOrders(Function<String, TenantTerms> terms, Function<DeviceUuid, DeviceSharing> sharing, int ownUid) {
    /** How tenants of an executor are to share it. */
    SpaceSharing sharingOf(ExecutorSlot slot) {
        return SpaceSharing.of(sharing.apply(slot.uuid()));
    }

    /** An executor is ready: says what it would not do untold. */
    void ready(ExecutorSlot slot) {
        if (!sharingOf(slot).equals(SpaceSharing.UNTOLD)) {
            tellSharing(slot);
        }
    }

    /** A client of a tenant is about to be announced. */
    void comes(ExecutorSlot slot, String tenant) {
        if (!terms.apply(tenant).equals(TenantTerms.DEFAULT)) {
            tellTerms(slot, tenant);
        }
    }

    /** Sets right what an executor believes otherwise: changes in a file, and what a former manager has told it. */
    void align(ExecutorSlot slot) {
        if (!slot.shares(sharingOf(slot))) {
            tellSharing(slot);
        }
        slot.believedTerms(ownUid).forEach((tenant, believed) -> {
            if (!believed.equals(TermsText.of(terms.apply(tenant)))) {
                tellTerms(slot, tenant);
            }
        });
    }

    void tellTerms(ExecutorSlot slot, String tenant) {
        slot.running.tell(ExecutorCommands.terms(tenant, terms.apply(tenant)));
    }

    void tellSharing(ExecutorSlot slot) {
        slot.running.tell(ExecutorCommands.turns(sharingOf(slot)));
    }

    /** Whether something is set for a tenant that turns alone can give it. */
    boolean needsTurns(String tenant) {
        return !terms.apply(tenant).withClass(TenantTerms.DEFAULT.tenantClass()).equals(TenantTerms.DEFAULT);
    }
}
