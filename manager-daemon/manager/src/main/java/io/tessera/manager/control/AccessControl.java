package io.tessera.manager.control;

import io.tessera.os.PeerCredentials;
import io.tessera.protocol.message.TenantName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalInt;

/**
 * Decides what each user may do with a manager; no other class decides it (README, "Permissions"). Administrators are root, the user of the manager,
 * and members of the group {@value #GROUP}. They may do everything. Others see their own programs, and may have them leave a device and come back.
 * Immutable.
 */
final class AccessControl {
    /** The group's name in {@code /etc/group}. */
    static final String GROUP = "tessera";

    private final int owner;
    private final OptionalInt group;

    /**
     * Creates the rules of a manager.
     *
     * @param owner the manager's own user
     * @param group number of the group of administrators; empty: there is none
     */
    AccessControl(int owner, OptionalInt group) {
        this.owner = owner;
        this.group = group;
    }

    /**
     * Creates the rules from a file like {@code /etc/group}. A user who is added to the group needs a new login, and a new group needs a new manager.
     */
    static AccessControl of(int owner, Path groups) {
        try {
            return new AccessControl(owner, Files.readAllLines(groups).stream().map(line -> line.split(":")).filter(fields -> fields.length > 2
                    && fields[0].equals(GROUP) && fields[2].matches("\\d{1,9}")).mapToInt(fields -> Integer.parseInt(fields[2])).findFirst());
        } catch (IOException e) {
            return new AccessControl(owner, OptionalInt.empty()); // a container without such a file has no groups
        }
    }

    /** Returns the user that connected, with the groups that it has beside its effective one. */
    Requester asker(PeerCredentials peer, int... groups) {
        boolean member = group.isPresent() && (peer.gid() == group.getAsInt() || Arrays.stream(groups).anyMatch(each -> each == group.getAsInt()));
        return new Requester(peer.uid(), peer.uid() == 0 || peer.uid() == owner || member);
    }

    /** Returns the manager's user. */
    int owner() {
        return owner;
    }

    /** Returns why a request that only administrators may make is refused. */
    String refusal(Requester asker) {
        return "only root, user " + Integer.toUnsignedString(owner) + ", to whom this manager belongs, and members of the group " + GROUP
                + " may do that; you are user " + Integer.toUnsignedString(asker.uid());
    }

    /** Throws unless an administrator asks. */
    void authorise(Requester asker) throws RefusedRequest {
        if (!asker.admin()) {
            throw new RefusedRequest(refusal(asker));
        }
    }

    /** Returns the name by which executors know a tenant that the requester names; only an administrator may name another user's tenant. */
    String relayed(String tenant, Requester asker) {
        return asker.admin() ? tenant : TenantName.of(tenant, asker.uid(), owner);
    }
}
