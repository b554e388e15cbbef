package io.tessera.cli.status;

import io.tessera.cli.status.StatusAnswer.ClientDevice;
import io.tessera.cli.status.StatusAnswer.ClientState;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Launches a second between two samples of the status. The time between them is measured by the manager, so a slow answer does not affect
 * it. Not thread-safe.
 */
public final class LaunchRates {
    private record Key(long client, String device) {
    }

    private Map<Key, Long> before = Map.of();
    private Map<Key, Long> now = Map.of();
    private long beforeUptimeNs;
    private long nowUptimeNs;

    /** Takes the next sample. A restart of the manager in between begins a new series. */
    public void look(StatusAnswer report) {
        Map<Key, Long> launches = new HashMap<>();
        for (ClientState client : report.clients()) {
            for (ClientDevice device : client.devices()) {
                launches.put(new Key(client.id(), device.uuid()), device.launches());
            }
        }
        boolean restarted = report.manager().uptimeNs() <= nowUptimeNs;
        before = restarted ? Map.of() : now;
        beforeUptimeNs = nowUptimeNs;
        now = launches;
        nowUptimeNs = report.manager().uptimeNs();
    }

    /** Returns the launches a second of a client on a device; empty until there are two samples of it. */
    public OptionalDouble perSecond(long client, String device) {
        Key key = new Key(client, device);
        Long first = before.get(key);
        Long last = now.get(key);
        if (first == null || last == null) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of((last - first) * 1e9 / (nowUptimeNs - beforeUptimeNs));
    }
}
