package io.tessera.manager.placement;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Rule that chooses the device of a program that names none. */
public enum DevicePlacement {
    /** The program sees all devices; a program that asks for one device gets it by {@link #SPREAD}. */
    NONE(new SpreadRule()),
    /** The fullest device on which the program has room. */
    PACK(new PackRule()),
    /** The device with the fewest clients. */
    SPREAD(new SpreadRule()),
    /** The device whose time was used least. */
    LEAST_LOADED(new LeastLoadedRule());

    private final PlacementRule rule;

    DevicePlacement(PlacementRule rule) {
        this.rule = rule;
    }

    PlacementRule rule() {
        return rule;
    }

    /** Returns the rule for programs that ask for a device; without a rule that is {@link #SPREAD}. */
    public DevicePlacement asked() {
        return this == NONE ? SPREAD : this;
    }

    /** Returns the name as users write it: {@code least-loaded}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the rule with a name; empty if there is none. */
    public static Optional<DevicePlacement> of(String text) {
        return Arrays.stream(values()).filter(one -> one.text().equals(text)).findFirst();
    }

    /** Returns all names, for a message. */
    public static String all() {
        return Arrays.stream(values()).map(DevicePlacement::text).collect(Collectors.joining(", "));
    }
}
