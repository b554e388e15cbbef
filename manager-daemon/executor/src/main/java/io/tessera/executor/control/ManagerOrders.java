package io.tessera.executor.control;

import io.tessera.executor.session.Admission;
import io.tessera.protocol.RelayToken;

/** What the manager says. Called by the channel's reading thread. */
public interface ManagerOrders {
    /** A client will come. */
    void admit(RelayToken token, Admission.Client client);

    /** The executor must end; also said when the manager is gone. */
    void stop();
}
