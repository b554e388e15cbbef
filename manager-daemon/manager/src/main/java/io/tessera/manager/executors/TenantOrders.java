package io.tessera.manager.executors;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.policy.TenantTerms;
import io.tessera.policy.TermsText;
import io.tessera.protocol.DeviceUuid;
import java.util.function.Function;

/**
 * Sends executors the settings of tenants and of their devices. One owner thread.
 *
 * @param terms   returns the terms of a tenant, by {@link io.tessera.protocol.message.TenantName}
 * @param sharing returns how a device is to be shared
 * @param ownUid  the manager's user
 */
record TenantOrders(Function<String, TenantTerms> terms, Function<DeviceUuid, DeviceSharing> sharing, int ownUid) {
    /** Returns how tenants of an executor are to share it. */
    SpaceSharing sharingOf(ExecutorSlot slot) {
        return SpaceSharing.of(sharing.apply(slot.uuid()));
    }

    /** Sends an executor that is ready the settings that differ from its defaults. */
    void ready(ExecutorSlot slot) {
        if (!sharingOf(slot).equals(SpaceSharing.UNTOLD)) {
            tellSharing(slot);
        }
    }

    /** Sends the terms of a tenant before a client of it is announced. */
    void comes(ExecutorSlot slot, String tenant) {
        if (!terms.apply(tenant).equals(TenantTerms.DEFAULT)) {
            tellTerms(slot, tenant);
        }
    }

    /** Corrects settings that an executor has otherwise, because a file changed or a former manager set them. */
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

    /** Returns whether a tenant has settings that only turns can provide: any but those that executors look at without turns. */
    boolean needsTurns(String tenant) {
        TenantTerms ofTurns = terms.apply(tenant).withClass(TenantTerms.DEFAULT.tenantClass()).withReplayable(false);
        return !ofTurns.equals(TenantTerms.DEFAULT);
    }
}
