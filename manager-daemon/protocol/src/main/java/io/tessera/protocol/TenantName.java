package io.tessera.protocol;

/**
 * What a tenant is called where programs of several users are served: a label is a tenant of one user, and another user who takes the
 * same gets no part of its memory, its limit or its penalties. Stateless.
 */
public final class TenantName {
    private static final String OF_USER = " of user ";

    private TenantName() {
    }

    /**
     * Of a program.
     *
     * @param label what the program calls itself
     * @param user  whose it is
     * @param own   the manager's user, whose labels are names
     */
    public static String of(String label, int user, int own) {
        return user == own ? label : label + OF_USER + Integer.toUnsignedString(user);
    }
}
