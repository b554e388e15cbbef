package io.tessera.cli.schedule;

import com.google.gson.JsonObject;
import io.tessera.protocol.DeviceUuid;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The option that limits an order to one device. Mixed into the commands that have it. */
final class DeviceOption {
    @Option(names = "--device", paramLabel = "UUID", description = "Only this device (GPU-...); default: all.")
    private String device;

    /** Adds the device to a request, if one was named. */
    void addTo(JsonObject request, CommandSpec spec) {
        if (device == null) {
            return;
        }
        if (DeviceUuid.parse(device).isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--device " + device
                    + ": a device is named by its UUID, GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx; tessera status shows it");
        }
        request.addProperty("device", device);
    }
}
