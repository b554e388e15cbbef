package io.tessera.executor.control;

import io.tessera.executor.session.Admission;
import io.tessera.executor.turn.TurnUse;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.RelayToken;

/** Orders of the manager. Called by the channel's reading thread. */
public interface ManagerOrders {
    /** Announces a client. */
    void admit(RelayToken token, Admission.Client client);

    /**
     * Changes a tenant's limit of device memory while it runs.
     *
     * @param limitBytes 0: none
     */
    void limit(String tenant, long limitBytes);

    /** Makes a tenant's memory leave the device until the tenant's next call. */
    void park(String tenant);

    /** Brings a tenant's memory back to the device without a call. */
    void wake(String tenant);

    /** Sets the terms that an operator has given a tenant; also for a tenant without clients. */
    void terms(String tenant, TenantTerms terms);

    /** Sets the policy by which tenants take turns, and whether they do. */
    void turns(PolicyName policy, TurnUse use);

    /** Orders the executor to end, even if there are clients. */
    void stop();

    /** Reports that the manager ends: the executor ends, too, unless it has clients. */
    void stopIfIdle();
}
