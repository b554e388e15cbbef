package io.tessera.manager.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.os.PeerCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which users are administrators, and what other users see of a status. */
class AccessControlTest {
    private static final int OWNER = 1000;
    private static final int GROUP = 77;

    @TempDir
    Path folder;

    private AccessControl authority(String groups) throws IOException {
        return AccessControl.of(OWNER, Files.writeString(folder.resolve("group"), groups));
    }

    private static PeerCredentials peer(int uid, int gid) {
        return new PeerCredentials(1, uid, gid);
    }

    @Test
    void administratorsAreRootTheOwnerAndTheGroup() throws IOException {
        AccessControl authority = authority("root:x:0:\nnottessera:x:78:\ntessera:x:" + GROUP + ":alice\n");
        assertTrue(authority.asker(peer(0, 0)).admin());
        assertTrue(authority.asker(peer(OWNER, OWNER)).admin());
        assertTrue(authority.asker(peer(5, GROUP)).admin());
        assertTrue(authority.asker(peer(5, 5), 4, GROUP).admin());
        assertFalse(authority.asker(peer(5, 5), 78).admin());
        assertFalse(authority.asker(peer(5, 0)).admin(), "the group root is not root");
    }

    @Test
    void withoutTheGroupNobodyBelongsToIt() throws IOException {
        for (String groups : new String[] {"", "tessera\n", "tessera:x:\n", "tessera:x:-1:\n", "tessera:x:99999999999:\n", "\n:::\n"}) {
            assertFalse(authority(groups).asker(peer(5, 5), 0, 1, -1).admin(), groups);
        }
        assertFalse(AccessControl.of(OWNER, folder.resolve("none")).asker(peer(5, 5)).admin());
    }

    @Test
    void othersProgramsHaveNoNamesForWhoIsNoAdministrator() {
        String all = """
                {"clients": [
                  {"id": 1, "pid": 11, "uid": 5, "tenant": "mine", "command": "train", "counters": {"launches": 3}, "errors": [], "devices": [{"usedBytes": 7}]},
                  {"id": 2, "pid": 12, "uid": 6, "tenant": "secret", "command": "secret", "counters": {"launches": 4}, "errors": [{"text": "secret"}],
                   "devices": [{"usedBytes": 8}]}],
                 "executors": [{"ordinal": 0, "reason": "work of client 2 (pid 12, tenant \\"secret\\") did not end",
                  "clients": [{"client": 1, "pid": 11, "tenant": "mine", "usedBytes": 7}, {"client": 2, "pid": 12, "tenant": "secret", "usedBytes": 8},
                   {"client": 0, "pid": 13, "tenant": "secret", "usedBytes": 9}],
                  "windows": [{"tenant": "mine of user 5", "committedBytes": 71}, {"tenant": "mine", "committedBytes": 72}, {"tenant": "secret of user 6", "committedBytes": 8}]}]}""";
        JsonObject seen = JsonParser.parseString(all).getAsJsonObject();
        StatusView.narrow(seen, new Requester(5, false), 0);
        assertFalse(seen.toString().contains("secret"), seen.toString());
        assertFalse(seen.toString().contains("12"), seen.toString());
        assertFalse(seen.toString().contains("13"), seen.toString());
        assertTrue(seen.toString().contains("\"tenant\":\"mine\",\"command\":\"train\",\"counters\":{\"launches\":3}"), seen.toString());
        assertTrue(seen.toString().contains("{\"tenant\":\"mine of user 5\",\"committedBytes\":71}"), seen.toString());
        assertTrue(seen.toString().contains("{\"tenant\":\"(another user's)\",\"committedBytes\":72}"), "root's of the same label");
        assertTrue(seen.toString().contains("\"usedBytes\":8"), "how full a device is may be seen");
        JsonObject untouched = JsonParser.parseString(all).getAsJsonObject();
        StatusView.narrow(untouched, new Requester(5, true), 0);
        assertEquals(JsonParser.parseString(all), untouched);
    }
}
