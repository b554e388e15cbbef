package io.tessera.executor.control;

import io.tessera.executor.session.Admission;
import io.tessera.executor.turn.TurnUse;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.RelayToken;

/** Orders of the manager. Called by the channel's reading thread. */
public interface ManagerOrders {
    /** A client will come. */
    void admit(RelayToken token, Admission.Client client);

    /**
     * A tenant's limit of device memory changes while it runs.
     *
     * @param limitBytes 0: none
     */
    void limit(String tenant, long limitBytes);

    /** A tenant's memory leaves the device until the tenant's next call. */
    void park(String tenant);

    /** A tenant's memory comes back to the device without a call. */
    void wake(String tenant);

    /** Sets the terms that an operator has given a tenant; also for a tenant without clients. */
    void terms(String tenant, TenantTerms terms);

    /** By which policy tenants take turns, and whether. */
    void turns(PolicyName policy, TurnUse use);

    /** The executor must end, even if clients are there. */
    void stop();

    /** The manager ends: the executor is to end, too, unless it has clients. */
    void stopIfIdle();
}
