package io.tessera.cli.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Applies {@code CUDA_VISIBLE_DEVICES} as drivers and the preload library do ({@code device_order.c}). The list has ordinals or beginnings
 * of UUIDs, and ends at the first word that names no device. If a device is named twice, none is visible. Stateless.
 */
final class VisibleDevices {
    private VisibleDevices() {
    }

    /** Returns the words of a list, without blanks around them. */
    static List<String> words(String list) {
        return List.of(list.split(",", -1)).stream().map(String::strip).toList();
    }

    /**
     * Returns the devices that a list names, in its order, named by its words.
     *
     * @param devices all of them
     */
    static List<UsableDevice> of(String list, List<UsableDevice> devices) {
        List<UsableDevice> visible = new ArrayList<>();
        for (String word : words(list)) {
            Optional<UsableDevice> named = named(word, devices);
            if (named.isEmpty()) {
                return visible;
            }
            if (visible.stream().anyMatch(device -> device.uuid().equals(named.get().uuid()))) {
                return List.of();
            }
            visible.add(new UsableDevice(word, named.get().uuid(), named.get().totalBytes()));
        }
        return visible;
    }

    private static Optional<UsableDevice> named(String word, List<UsableDevice> devices) {
        if (word.startsWith("GPU-") && word.length() > "GPU-".length()) {
            List<UsableDevice> fitting = devices.stream().filter(device -> digits(device.uuid()).startsWith(digits(word))).toList();
            return fitting.size() == 1 ? Optional.of(fitting.getFirst()) : Optional.empty();
        }
        return word.matches("\\d{1,9}") && Integer.parseInt(word) < devices.size() ? Optional.of(devices.get(Integer.parseInt(word)))
                : Optional.empty();
    }

    private static String digits(String uuid) {
        return uuid.substring("GPU-".length()).replace("-", "").toLowerCase(Locale.ROOT);
    }
}
