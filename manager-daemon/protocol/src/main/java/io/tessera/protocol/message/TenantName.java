package io.tessera.protocol.message;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * A tenant's name where programs of several users are served: a label is a tenant of one user, and another user who takes the same gets no
 * part of its memory, its limit or its penalties. Stateless.
 */
public final class TenantName {
    private static final String OF_USER = " of user ";
    /** Bytes of the longest name in UTF-8: of a whole label, and of the user with the largest number. */
    public static final int MOST_BYTES = SegmentLayout.LABEL_BYTES - 1 + OF_USER.length() + Integer.toUnsignedString(-1).length();

    private TenantName() {
    }

    /**
     * For a program.
     *
     * @param label what the program calls itself
     * @param user  whose it is
     * @param own   the manager's user, whose labels are names
     */
    public static String of(String label, int user, int own) {
        return user == own ? label : label + OF_USER + Integer.toUnsignedString(user);
    }

    /** The user of a name: the same for all names of one user, another for another's. */
    public static String user(String name) {
        int at = name.lastIndexOf(OF_USER);
        return at >= 0 && name.substring(at + OF_USER.length()).matches("\\d{1,10}") ? name.substring(at + OF_USER.length()) : "";
    }
}
