package io.tessera.manager.control;

/**
 * The user that asks over the control socket.
 *
 * @param uid   user of the process that connected
 * @param admin whether it may see and change everything ({@link AccessControl})
 */
record Requester(int uid, boolean admin) {
    /** Returns whether the requester may see what a user's programs are, and have them leave a device and come back. */
    boolean mayHandle(int owner) {
        return admin || uid == owner;
    }
}
