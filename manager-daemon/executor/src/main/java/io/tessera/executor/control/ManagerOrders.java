package io.tessera.executor.control;

import io.tessera.executor.session.Admission;
import io.tessera.protocol.RelayToken;

/** What the manager says. Called by the channel's reading thread. */
public interface ManagerOrders {
    /** A client will come. */
    void admit(RelayToken token, Admission.Client client);

    /**
     * A tenant may use so much device memory from now on.
     *
     * @param bytes 0: no limit
     */
    void limit(String tenant, long bytes);

    /** The executor must end; also said when the manager is gone. */
    void stop();
}
