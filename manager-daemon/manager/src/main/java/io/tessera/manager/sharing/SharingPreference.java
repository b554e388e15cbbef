package io.tessera.manager.sharing;

/** Way of sharing for programs that leave it to the manager. */
public enum SharingPreference {
    /** A context of its own, with turns if they help. */
    TIME,
    /** An executor, in whose context programs run at once. */
    SPACE
}
