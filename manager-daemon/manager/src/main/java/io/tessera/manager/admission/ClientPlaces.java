package io.tessera.manager.admission;

/**
 * How many clients there may be at once. Of what users other than the manager's own may have, no user has all. Immutable.
 *
 * @param most of all
 * @param uid  the manager's user
 */
public record ClientPlaces(int most, int uid) {
    /** A user leaves one in so many places to others. */
    private static final int FOR_OTHERS = 4;

    /** Why nobody can come; null: somebody can. */
    String full(int clients) {
        return clients < most ? null : "as many clients as this manager admits are there already: " + most + " (--max-clients)";
    }

    /** Why a user's client cannot come, where another user's could; null: it can. */
    String fullFor(int user, int clientsOfUser) {
        int mostOfUser = user == uid ? most : most - most / FOR_OTHERS;
        return clientsOfUser < mostOfUser ? null
                : "user " + Integer.toUnsignedString(user) + " has as many clients as one user may have: " + mostOfUser + " of " + most
                        + " (--max-clients)";
    }
}
