package io.tessera.protocol.message;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * A tenant's name among programs of several users. A label is a tenant of one user: another user with the same label gets no part of the tenant's
 * memory, limit or penalties. Stateless.
 */
public final class TenantName {
    private static final String OF_USER = " of user ";
    /** Maximum length of a name in UTF-8 bytes: a whole label, and the user with the largest number. */
    public static final int MOST_BYTES = SegmentLayout.LABEL_BYTES - 1 + OF_USER.length() + Integer.toUnsignedString(-1).length();

    private TenantName() {
    }

    /**
     * Returns the tenant's name for a program.
     *
     * @param label label of the program
     * @param user  user of the program
     * @param own   the manager's user, whose labels are used as names
     */
    public static String of(String label, int user, int own) {
        return user == own ? label : label + OF_USER + Integer.toUnsignedString(user);
    }

    /** Returns the user part of a name: the same for all names of one user, and different for other users. */
    public static String user(String name) {
        int at = name.lastIndexOf(OF_USER);
        return at >= 0 && name.substring(at + OF_USER.length()).matches("\\d{1,10}") ? name.substring(at + OF_USER.length()) : "";
    }
}
