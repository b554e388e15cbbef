package io.tessera.manager.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.admission.ClientRules;
import io.tessera.manager.admission.GroupTerms;
import io.tessera.manager.admission.PlaceTerms;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsFileTest {
    private static final String GPU = "GPU-01234567-89ab-cdef-0123-456789abcdef";

    @TempDir
    private Path folder;
    private Accounts accounts;

    @BeforeEach
    void writeAccounts() throws IOException {
        Path passwords = Files.writeString(folder.resolve("passwd"),
                "root:x:0:0::/root:/bin/sh\nbob:x:1001:50::/home/bob:/bin/sh\neve:x:1002:60::/:/bin/sh\nbroken line\n");
        accounts = new Accounts(passwords, Files.writeString(folder.resolve("group"), "students:x:50:eve,nobody\nempty:x:70:\n"));
    }

    private Settings parse(String text) throws SettingsException {
        return SettingsFile.parse(text, accounts);
    }

    @Test
    void everyKeyIsRead() throws SettingsException {
        Settings settings = parse("""
                mode = "on"
                policy = "fair"
                quantum = "100ms"
                prefer = "space"
                placement = "least-loaded"
                [device."%1$s"]
                policy = "priority"
                [tenant.alice]
                weight = 3
                priority = -5
                class = "interactive"
                cap = "50%%"
                soft-cap = "12.5%%"
                target = "20ms"
                replayable = true
                memory = "8GiB"
                clients = 2
                devices = ["%1$s"]
                [tenant."train of user 1001"]
                memory = "none"
                """.formatted(GPU));
        assertEquals(new DeviceSharing(Optional.of(SchedulerMode.ON), Optional.of(PolicyName.FAIR), OptionalLong.of(100_000_000)), settings.all());
        assertEquals(Optional.of(SharingPreference.SPACE), settings.preference());
        assertEquals(Map.of(DeviceUuid.parse(GPU).orElseThrow(), DeviceSharing.of(PolicyName.PRIORITY)), settings.devices());
        assertEquals(new TenantTerms(3, -5, TenantClass.INTERACTIVE, 0.5, 0.125, 20_000_000, true), settings.rules().tenants().get("alice"));
        assertEquals(Map.of("alice", 8L << 30, "train of user 1001", 0L), settings.limits());
        assertEquals(Optional.of(DevicePlacement.LEAST_LOADED), settings.placement());
        assertEquals(new PlaceTerms(2, Set.of(DeviceUuid.parse(GPU).orElseThrow())), settings.rules().places().ofTenant("alice"));
        assertEquals(PlaceTerms.NONE, settings.rules().places().ofTenant("train of user 1001"));
    }

    @Test
    void placesOfUsersAndGroups() throws SettingsException {
        ClientRules places = parse("""
                [user.bob]
                clients = 8
                [group.students]
                clients = 20
                clients-each = 4
                devices = ["%s"]
                """.formatted(GPU)).rules().places();
        assertEquals(8, places.ofUser(1001).clients());
        assertEquals(PlaceTerms.NONE, places.ofUser(1002));
        Set<DeviceUuid> devices = Set.of(DeviceUuid.parse(GPU).orElseThrow());
        assertEquals(List.of(new GroupTerms("students", Set.of(1001, 1002), 20, 4, devices)), places.groupsOf(1002));
        assertEquals(devices, places.devicesOf("any of user 1001", 1001));
        assertEquals(Set.of(), places.devicesOf("any", 0));
        assertEquals(List.of(), places.groupsOf(0));
    }

    @Test
    void anEmptyFileSaysNothing() throws SettingsException {
        assertEquals(Settings.NONE, parse("# nothing\n"));
    }

    @Test
    void aByteOrderMarkAndABlankBeforeThePercentSignAreRead() throws SettingsException {
        Settings settings = parse("\ufeffpolicy = \"fair\"\n[tenant.alice]\nsoft-cap = \"20 %\"\n");
        assertEquals(DeviceSharing.of(PolicyName.FAIR), settings.all());
        assertEquals(Map.of("alice", TenantTerms.DEFAULT.withSoftCap(0.2)), settings.rules().tenants());
    }

    @Test
    void aUsersOwnTableCountsBeforeItsGroups() throws SettingsException {
        Map<Integer, TenantTerms> users = parse("[group.students]\nweight = 2\n[user.bob]\nweight = 7\n[user.4294967295]\nweight = 9\n").rules()
                .users();
        assertEquals(Map.of(1001, TenantTerms.DEFAULT.withWeight(7), 1002, TenantTerms.DEFAULT.withWeight(2), -1, TenantTerms.DEFAULT.withWeight(9)),
                users);
    }

    @Test
    void tenantsOfUsersAndGroupsMayBeReplayable() throws SettingsException {
        Map<Integer, TenantTerms> users = parse("[group.students]\nreplayable = true\n[user.bob]\nreplayable = false\n").rules().users();
        assertEquals(Map.of(1001, TenantTerms.DEFAULT, 1002, TenantTerms.DEFAULT.withReplayable(true)), users);
    }

    @Test
    void listsThatAreNestedTooDeeplyAreWrong() {
        String said = assertThrows(SettingsException.class, () -> parse("a = " + "[".repeat(100_000))).getMessage();
        assertEquals("lists or tables are nested too deeply", said);
    }

    /** Lines are separated by a semicolon here. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"mode = \"on\";mode = \"off\"|line 2: mode previously defined",
            "polcy = \"fair\"|line 1, polcy: there is no such key here: mode, policy",
            "policy = \"fairest\"|line 1, policy: \"fairest\" is none of fifo, round-robin", "mode = 1|line 1, mode: must be a text",
            "quantum = \"1h\"|line 1, quantum: ",
            "quantum = \"1us\"|line 1, quantum: quantum of 1000 ns: must be from", "mode =|line 1: Unexpected",
            "[tenant.\"\\ud800\"]|line 1: Invalid unicode escape sequence",
            "[device.\"0\"]|line 1, device.0: a device is named by its UUID",
            "device = 3|line 1, device: must be a table of names", "tenant.alice = 3|line 1, tenant.alice: must be a table",
            ";[tenant.alice];wieght = 3|line 3, tenant.alice.wieght: there is no such key here: weight",
            "[tenant.alice];weight = \"3\"|line 2, tenant.alice.weight: must be a whole number",
            "[tenant.alice];weight = 4294967297|line 2, tenant.alice.weight: must be a whole number",
            "[tenant.alice];weight = 0|line 2, tenant.alice.weight: weight 0: must be from 1",
            "[tenant.alice];class = \"quick\"|line 2, tenant.alice.class: \"quick\" is none of interactive, batch",
            "[tenant.alice];replayable = \"yes\"|line 2, tenant.alice.replayable: must be true or false, without quotation marks",
            ";[user.bob];replayable = 1|line 3, user.bob.replayable: must be true or false",
            "[group.students];replayable = []|line 2, group.students.replayable: must be true or false",
            "replayable = true|line 1, replayable: there is no such key here",
            "[tenant.alice];cap = \"0%\"|line 2, tenant.alice.cap: ",
            "[tenant.alice];cap = 0.5|line 2, tenant.alice.cap: must be a text",
            "[tenant.alice];memory = \"much\"|line 2, tenant.alice.memory: \"much\" is not a size",
            "[tenant.\"\"]|line 1, tenant.: a tenant's name has 1 to 82 bytes", "[user.zoe]|line 1, user.zoe: this host has no such user",
            "[user.bob];weight = 2;;[user.1001];weight = 3|line 1, user.bob: is the user of line 4, user.1001, too: leave one of the tables out",
            "[user.bob];memory = \"1GiB\"|line 2, user.bob.memory: there is no such key here",
            "placement = \"best\"|line 1, placement: \"best\" is none of none, pack, spread, least-loaded",
            "placement = 1|line 1, placement: must be a text", "clients = 3|line 1, clients: there is no such key here",
            "[tenant.alice];clients = -1|line 2, tenant.alice.clients: how many clients there may be at once is from 1 to 1000000; 0: any number",
            "[tenant.alice];clients = \"2\"|line 2, tenant.alice.clients: must be a whole number",
            "[tenant.alice];devices = \"GPU-1\"|line 2, tenant.alice.devices: must be a list of UUIDs",
            "[tenant.alice];devices = [\"GPU-1\"]|line 2, tenant.alice.devices: must be a list of UUIDs",
            "[tenant.alice];devices = []|line 2, tenant.alice.devices: names no device",
            "[user.bob];clients-each = 2|line 2, user.bob.clients-each: there is no such key here",
            "[group.zoo]|line 1, group.zoo: this host has no such group",
            "[group.empty]|line 1, group.empty: this host has no such group, or nobody is in it"})
    void whatIsWrongIsSaidWithLineAndKey(String lines, String expected) {
        String said = assertThrows(SettingsException.class, () -> parse(lines.replace(';', '\n'))).getMessage();
        assertTrue(said.startsWith(expected), said);
    }
}
