package io.tessera.os.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bounds of control groups of both versions, as Linux shows them on a host and in containers. */
class ControlGroupMemoryTest {
    private static final long MIB = 1L << 20;
    private static final String SECOND = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    private static final String FIRST = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
            + "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    @TempDir
    private Path root;

    private ControlGroupMemory groups(String cgroup, String mounts) throws IOException {
        write("proc/self/mountinfo", "23 1 8:1 / / rw - ext4 /dev/root rw\n" + mounts);
        write("proc/7/cgroup", cgroup);
        return ControlGroupMemory.of(root, "7");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void second(String group, String max, long current, long inactive) throws IOException {
        write(group + "/memory.max", max + "\n");
        write(group + "/memory.current", current + "\n");
        write(group + "/memory.stat", "anon 5\nfile 9\ninactive_anon 3\ninactive_file " + inactive + "\n");
    }

    @Test
    void theTightestBoundAboveAProcessCounts() throws IOException {
        second("sys/fs/cgroup/pods", "1073741824", 700 * MIB, 100 * MIB);
        second("sys/fs/cgroup/pods/one", "2147483648", 200 * MIB, 0);
        second("sys/fs/cgroup/pods/one/main", "max", 200 * MIB, 0);
        ControlGroupMemory memory = groups("0::/pods/one/main\n", SECOND);
        assertEquals(1024 * MIB, memory.limitBytes());
        assertEquals(424 * MIB, memory.roomBytes());
        assertTrue(memory.group().endsWith("/pods/one/main"), memory.group());
    }

    @Test
    void aContainerSeesItsOwnGroupAsTheTop() throws IOException {
        second("sys/fs/cgroup", "536870912", 500 * MIB, 8 * MIB);
        for (String path : new String[] {"0::/\n", "0::/../other\n", "0::/kubepods/pod4/main\n"}) {
            ControlGroupMemory memory = groups(path, SECOND);
            assertEquals(512 * MIB, memory.limitBytes(), path);
            assertEquals(20 * MIB, memory.roomBytes(), path);
        }
    }

    @Test
    void aPartOfTheTreeMayBeMounted() throws IOException {
        second("sys/fs/cgroup/main", "536870912", 500 * MIB, 0);
        ControlGroupMemory memory = groups("0::/docker/0a/main\n", SECOND.replace(" / /sys", " /docker/0a /sys"));
        assertEquals(12 * MIB, memory.roomBytes());
    }

    @Test
    void beyondTheHighMarkNothingGoesOn() throws IOException {
        second("sys/fs/cgroup/a", "max", 10 * MIB, 0);
        write("sys/fs/cgroup/a/memory.high", "52428800\n");
        assertEquals(40 * MIB, groups("0::/a\n", SECOND).roomBytes());
    }

    @Test
    void theFirstVersionOfGroups() throws IOException {
        write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "209715200\n");
        write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "104857600\n");
        write("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 10485760\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        ControlGroupMemory memory = groups("9:name=systemd:/\n4:cpu,memory:/box\n0::/\n", FIRST);
        assertEquals(200 * MIB, memory.limitBytes());
        assertEquals(110 * MIB, memory.roomBytes());
    }

    @Test
    void moreThanTheBoundIsNoRoom() throws IOException {
        second("sys/fs/cgroup/a", "1048576", 2 * MIB, 0);
        assertEquals(0, groups("0::/a\n", SECOND).roomBytes());
    }

    @Test
    void withoutABoundOrGroupsThereIsNone() throws IOException {
        second("sys/fs/cgroup/free", "max", 10 * MIB, 0);
        assertEquals(ControlGroupMemory.UNBOUNDED, groups("0::/free\n", SECOND).roomBytes());
        assertEquals(ControlGroupMemory.UNBOUNDED, groups("0::/free\n", "").limitBytes());
        assertEquals(ControlGroupMemory.UNBOUNDED, groups("nonsense\n", SECOND).roomBytes());
        assertEquals(ControlGroupMemory.UNBOUNDED, ControlGroupMemory.of(root, "8").roomBytes());
        second("sys/fs/cgroup/odd", "-5", 10 * MIB, 0);
        assertEquals(ControlGroupMemory.UNBOUNDED, groups("0::/odd\n", SECOND).limitBytes());
    }

    @Test
    void whatThisProcessMayHaveIsTheSmallerOfHostAndGroups() throws IOException {
        write("meminfo", "MemTotal:       4194304 kB\nMemAvailable:   102400 kB\n");
        second("sys/fs/cgroup/a", "1073741824", 200 * MIB, 0);
        OwnHostMemory memory = new OwnHostMemory(new ProcHostMemory(root.resolve("meminfo"), _ -> {}), groups("0::/a\n", SECOND));
        assertEquals(1024 * MIB, memory.totalBytes());
        assertEquals(100 * MIB, memory.availableBytes());
    }
}
