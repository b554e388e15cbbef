package io.tessera.manager.sharing;

/** Which way of sharing programs get that leave it to the manager. */
public enum SharingPreference {
    /** A context of its own, with turns where they help. */
    TIME,
    /** An executor, in whose context programs run at once. */
    SPACE
}
