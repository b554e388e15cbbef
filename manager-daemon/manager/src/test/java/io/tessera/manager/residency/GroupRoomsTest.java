package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.manager.residency.GroupRooms.Holder;
import io.tessera.os.memory.ControlGroupMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes in a container of 1,600 MiB, and one without a bound. */
class GroupRoomsTest {
    private static final long MIB = 1L << 20;

    @TempDir
    private Path root;

    private GroupRooms rooms;

    @BeforeEach
    void aContainer() throws IOException {
        write("proc/self/mountinfo", "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("proc/1/cgroup", "0::/box\n");
        write("proc/2/cgroup", "0::/box\n");
        write("proc/3/cgroup", "0::/free\n");
        write("sys/fs/cgroup/box/memory.max", Long.toString(1600 * MIB));
        used(500);
        rooms = new GroupRooms(pid -> ControlGroupMemory.of(root, Long.toString(pid)));
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void used(long mib) throws IOException {
        write("sys/fs/cgroup/box/memory.current", Long.toString(mib * MIB));
    }

    private static Holder holder(long pid, long heldMib) {
        return new Holder(pid, heldMib * MIB);
    }

    private long grant(Holder holder, long wantedMib) {
        return rooms.grant(holder, wantedMib * MIB) / MIB;
    }

    @Test
    void processesOfAGroupShareItsRoom() {
        Holder one = holder(1, 0);
        Holder two = holder(2, 0);
        Holder free = holder(3, 0);
        rooms.begin(List.of(one, two, free), true);
        assertEquals(600, grant(one, 600));
        assertEquals(400, grant(two, 600), "1,600 less 500 that is used, less 100 for the program, less 600");
        assertEquals(9000, grant(free, 9000));
    }

    @Test
    void whatIsHeldIsPartOfWhatTheGroupUses() throws IOException {
        used(1300);
        Holder one = holder(1, 800);
        rooms.begin(List.of(one), true);
        assertEquals(1000, grant(one, 1200));
    }

    @Test
    void betweenLooksWhatWasTakenCountsOnce() {
        rooms.begin(List.of(holder(1, 0)), true);
        assertEquals(1000, grant(holder(1, 0), 5000));
        rooms.begin(List.of(holder(1, 700)), false);
        assertEquals(1000, grant(holder(1, 700), 5000));
    }

    @Test
    void whoHoldsTooMuchKeepsItAndGetsNoMore() throws IOException {
        used(1590);
        Holder one = holder(1, 800);
        rooms.begin(List.of(one), true);
        assertEquals(800, grant(one, 1200));
        assertEquals(300, grant(one, 300), "a client that wants less gives it back");
    }

    @Test
    void aBoundThatIsSetLaterIsSeen() throws IOException {
        rooms.begin(List.of(holder(3, 0)), true);
        write("sys/fs/cgroup/free/memory.max", Long.toString(160 * MIB));
        for (int look = 0; look < GroupRooms.SELDOM; look++) {
            rooms.begin(List.of(holder(3, 0)), true);
        }
        assertEquals(150, grant(holder(3, 0), 5000));
    }

    @Test
    void whoIsNewIsLookedAtAtOnce() {
        rooms.begin(List.of(holder(3, 0)), true);
        rooms.begin(List.of(holder(3, 0), holder(1, 0)), false);
        assertEquals(1000, grant(holder(1, 0), 5000));
    }
}
