package io.tessera.cli.status;

import io.tessera.cli.text.TextTable;
import java.util.Objects;

/**
 * The device that the manager has chosen for a program before it started.
 *
 * @param device its UUID
 * @param rule   the rule of the choice
 * @param reason the reason, in one sentence whose subject is the device
 */
public record PlacedDevice(String device, String rule, String reason) {
    /** Replaces omitted fields by defaults. */
    public PlacedDevice {
        device = Objects.requireNonNullElse(device, "unknown");
        rule = Objects.requireNonNullElse(rule, "unknown");
        reason = Objects.requireNonNullElse(reason, "");
    }

    /** Returns why the program is on it. */
    String sentence() {
        return "the manager chose " + TextTable.printable(device) + " for it (" + TextTable.printable(rule) + "): " + TextTable.printable(reason);
    }
}
