package io.tessera.manager.placement;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Which device a program gets that names none. */
public enum DevicePlacement {
    /** It sees all of them; a program that asks for one device gets it by {@link #SPREAD}. */
    NONE(new SpreadRule()),
    /** The fullest one on which it has room. */
    PACK(new PackRule()),
    /** The one with the fewest clients. */
    SPREAD(new SpreadRule()),
    /** The one whose time was used least. */
    LEAST_LOADED(new LeastLoadedRule());

    private final PlacementRule rule;

    DevicePlacement(PlacementRule rule) {
        this.rule = rule;
    }

    PlacementRule rule() {
        return rule;
    }

    /** By which rule those are placed that ask for it: a rule that is none is that of {@link #SPREAD}. */
    public DevicePlacement asked() {
        return this == NONE ? SPREAD : this;
    }

    /** As users write it: {@code least-loaded}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The one of a text; empty: there is none. */
    public static Optional<DevicePlacement> of(String text) {
        return Arrays.stream(values()).filter(one -> one.text().equals(text)).findFirst();
    }

    /** All texts, for a message. */
    public static String all() {
        return Arrays.stream(values()).map(DevicePlacement::text).collect(Collectors.joining(", "));
    }
}
