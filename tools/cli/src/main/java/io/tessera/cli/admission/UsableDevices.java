package io.tessera.cli.admission;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.probe.Probe;
import io.tessera.cli.probe.ProbeReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the devices that a program in this environment would see. These are the devices of the driver. In space sharing they are those of
 * the executors if the GPUs are software GPUs or the program has no driver. One thread.
 */
final class UsableDevices {
    private static final String LIST = "CUDA_VISIBLE_DEVICES";
    /** Time between two requests while executors are being started. */
    private static final Duration LOOK = Duration.ofMillis(100);
    /** Maximum number of requests; an executor that is not ready after 30 s is ended and started again. */
    private static final int MOST_LOOKS = 600;

    private final CommandContext context;
    private final ControlClient client;

    UsableDevices(CommandContext context, ControlClient client) {
        this.context = context;
        this.client = client;
    }

    /**
     * Finds the devices, in the program's order.
     *
     * @param space whether the program shares by space
     */
    List<UsableDevice> find(boolean space) throws ControlException, InterruptedException {
        if (!space) {
            return ofDriver();
        }
        JsonObject answer = ofExecutors();
        List<UsableDevice> inDriver = answer.get("software").getAsBoolean() ? List.of() : ofDriver();
        if (!inDriver.isEmpty()) {
            return inDriver; // the library shows the program what its driver shows
        }
        List<UsableDevice> all = new ArrayList<>();
        for (JsonElement device : answer.getAsJsonArray("devices")) {
            String uuid = device.getAsJsonObject().get("uuid").getAsString();
            all.add(new UsableDevice(uuid, uuid, device.getAsJsonObject().get("totalBytes").getAsLong()));
        }
        String list = context.environment().get(LIST);
        return list == null ? all : VisibleDevices.of(list, all);
    }

    private JsonObject ofExecutors() throws ControlException, InterruptedException {
        JsonObject request = new JsonObject();
        request.addProperty("request", "devices");
        JsonObject answer = client.ask(request);
        for (int look = 1; look < MOST_LOOKS && !answer.get("settled").getAsBoolean(); look++) {
            context.pause().await(LOOK);
            answer = client.ask(request);
        }
        return answer;
    }

    /** Returns the devices of the driver. The driver has already applied the list, so its ordinals correspond to the list's words. */
    private List<UsableDevice> ofDriver() throws InterruptedException {
        if (!(Probe.run(context.installation().probe(), Probe.PATIENCE) instanceof Probe.Reported reported)) {
            return List.of();
        }
        String list = context.environment().get(LIST);
        List<String> words = list == null ? List.of() : VisibleDevices.words(list);
        List<UsableDevice> devices = new ArrayList<>();
        for (ProbeReport.Device device : reported.report().devices()) {
            String name = device.ordinal() < words.size() ? words.get(device.ordinal()) : device.uuid();
            devices.add(new UsableDevice(name, device.uuid(), device.totalBytes()));
        }
        return devices;
    }
}
