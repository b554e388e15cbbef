package io.tessera.manager.settings;

import io.tessera.manager.admission.ClientTerms;
import io.tessera.manager.admission.GroupTerms;
import io.tessera.manager.admission.PlaceTerms;
import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.ShareRules;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.TenantName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.tomlj.Toml;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlPosition;
import org.tomlj.TomlTable;

/**
 * Reads {@code tessera.toml}:
 *
 * <pre>
 * mode = "auto"              # as --mode, --policy and --quantum
 * policy = "fair"
 * prefer = "space"           # as --prefer
 * placement = "spread"       # as --placement
 *
 * [device."GPU-..."]         # mode, policy and quantum of one device
 * quantum = "100ms"
 *
 * [tenant."alice"]           # weight, priority, class, cap, soft-cap, target, replayable; memory in space sharing
 * weight = 3
 * clients = 2                # at once
 * devices = ["GPU-..."]      # on which its programs are placed
 *
 * [user.bob]                 # the same, without memory, for all tenants of a user that have no table of their own
 * soft-cap = "20%"
 * clients = 8                # of all its tenants together
 *
 * [group.students]           # the same for all users of a group that have no table of their own
 * class = "batch"
 * clients = 20               # of all its users together
 * clients-each = 4           # of each of them that has no clients of its own
 * </pre>
 *
 * An unknown key is an error, because it is probably misspelt. One use: one text.
 */
final class SettingsFile {
    private static final List<String> TOP = List.of("mode", "policy", "quantum", "prefer", "placement", "device", "tenant", "user", "group");
    private static final List<String> OF_DEVICE = List.of("mode", "policy", "quantum");
    private static final List<String> OF_USER = List.of("weight", "priority", "class", "cap", "soft-cap", "target", "replayable", "clients",
            "devices");
    private static final List<String> OF_GROUP = with(OF_USER, "clients-each");
    private static final List<String> OF_TENANT = with(OF_USER, "memory");

    /** Maximum number of clients that can be set: more than any host has processes. */
    private static final int MOST_CLIENTS = 1_000_000;

    /** Mark with which some editors begin every file. */
    private static final String BYTE_ORDER_MARK = "\ufeff";

    private final TomlParseResult toml;
    private final Accounts accounts;

    private SettingsFile(TomlParseResult toml, Accounts accounts) {
        this.toml = toml;
        this.accounts = accounts;
    }

    /**
     * Parses a text.
     *
     * @throws SettingsException for the first error
     */
    static Settings parse(String text, Accounts accounts) throws SettingsException {
        try {
            TomlParseResult toml = Toml.parse(text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text);
            if (toml.hasErrors()) {
                throw unparsed(toml.errors().getFirst());
            }
            return new SettingsFile(toml, accounts).settings();
        } catch (TomlParseError e) {
            throw unparsed(e); // tomlj throws errors in an escape sequence of a key, and collects all others
        } catch (StackOverflowError e) {
            throw new SettingsException("lists or tables are nested too deeply");
        }
    }

    private static SettingsException unparsed(TomlParseError error) {
        return new SettingsException("line " + error.position().line() + ": " + error.getMessage().split("\n", 2)[0]);
    }

    private Settings settings() throws SettingsException {
        checkKeys(toml, List.of(), TOP);
        Map<DeviceUuid, DeviceSharing> devices = new LinkedHashMap<>();
        for (String name : tables("device")) {
            List<String> path = List.of("device", name);
            DeviceUuid uuid = DeviceUuid.parse(name)
                    .orElseThrow(() -> wrong(path, "a device is named by its UUID, GPU-...; tessera status shows it"));
            devices.put(uuid, device(table(path, OF_DEVICE), path));
        }
        Map<String, TenantTerms> tenants = new LinkedHashMap<>();
        Map<String, PlaceTerms> tenantPlaces = new LinkedHashMap<>();
        Map<String, Long> limits = new LinkedHashMap<>();
        for (String name : tables("tenant")) {
            List<String> path = List.of("tenant", name);
            if (name.isEmpty() || name.getBytes(StandardCharsets.UTF_8).length > TenantName.MOST_BYTES) {
                throw wrong(path, "a tenant's name has 1 to " + TenantName.MOST_BYTES + " bytes");
            }
            TomlTable table = table(path, OF_TENANT);
            tenants.put(name, terms(table, path));
            tenantPlaces.put(name, places(table, path));
            if (table.contains(List.of("memory"))) {
                limits.put(name, limit(table, path));
            }
        }
        Optional<String> prefer = text(toml, List.of(), "prefer");
        Optional<SharingPreference> preference = prefer.isEmpty() ? Optional.empty()
                : Optional.of(choice(SharingPreference.values(), prefer.get(), List.of("prefer")));
        Map<Integer, PlaceTerms> userPlaces = new LinkedHashMap<>();
        List<GroupTerms> groups = new ArrayList<>();
        Map<Integer, TenantTerms> users = users(userPlaces, groups);
        return new Settings(device(toml, List.of()), preference, placement(), Map.copyOf(devices),
                new ShareRules(tenants, users, new ClientTerms(tenantPlaces, userPlaces, groups)), Map.copyOf(limits));
    }

    private Optional<DevicePlacement> placement() throws SettingsException {
        Optional<String> placement = text(toml, List.of(), "placement");
        return placement.isEmpty() ? Optional.empty() : Optional.of(DevicePlacement.of(placement.get())
                .orElseThrow(() -> wrong(List.of("placement"), "\"" + placement.get() + "\" is none of " + DevicePlacement.all())));
    }

    private Map<Integer, TenantTerms> users(Map<Integer, PlaceTerms> places, List<GroupTerms> groups) throws SettingsException {
        Map<Integer, TenantTerms> users = new LinkedHashMap<>();
        Map<Integer, List<String>> tables = new HashMap<>();
        for (String name : tables("user")) {
            List<String> path = List.of("user", name);
            OptionalInt user = accounts.user(name);
            if (user.isEmpty()) {
                throw wrong(path, "this host has no such user");
            }
            List<String> before = tables.put(user.getAsInt(), path);
            if (before != null) {
                throw wrong(path, "is the user of line " + toml.inputPositionOf(before).line() + ", " + String.join(".", before)
                        + ", too: leave one of the tables out");
            }
            TomlTable table = table(path, OF_USER);
            users.put(user.getAsInt(), terms(table, path));
            places.put(user.getAsInt(), places(table, path));
        }
        for (String name : tables("group")) {
            List<String> path = List.of("group", name);
            TomlTable table = table(path, OF_GROUP);
            TenantTerms terms = terms(table, path);
            Set<Integer> members = accounts.members(name);
            if (members.isEmpty()) {
                throw wrong(path, "this host has no such group, or nobody is in it");
            }
            members.forEach(user -> users.putIfAbsent(user, terms));
            PlaceTerms together = places(table, path);
            groups.add(new GroupTerms(name, members, together.clients(), clients(table, path, "clients-each"), together.devices()));
        }
        return users;
    }

    // Values

    private DeviceSharing device(TomlTable table, List<String> path) throws SettingsException {
        Optional<String> mode = text(table, path, "mode");
        Optional<String> policy = text(table, path, "policy");
        Optional<String> quantum = text(table, path, "quantum");
        OptionalLong quantumNs = OptionalLong.empty();
        if (quantum.isPresent()) {
            try {
                quantumNs = OptionalLong.of(Quantities.durationNs(quantum.get()));
                ScheduleSettings.checkQuantum(quantumNs.getAsLong());
            } catch (OptionException | IllegalArgumentException e) {
                throw wrong(with(path, "quantum"), e.getMessage());
            }
        }
        return new DeviceSharing(mode.isEmpty() ? Optional.empty() : Optional.of(choice(SchedulerMode.values(), mode.get(), with(path, "mode"))),
                policy.isEmpty() ? Optional.empty() : Optional.of(PolicyName.of(policy.get())
                        .orElseThrow(() -> wrong(with(path, "policy"), "\"" + policy.get() + "\" is none of " + PolicyName.all()))),
                quantumNs);
    }

    private TenantTerms terms(TomlTable table, List<String> path) throws SettingsException {
        TenantTerms terms = TenantTerms.DEFAULT;
        for (String key : table.keySet()) {
            try {
                terms = switch (key) {
                    case "weight" -> terms.withWeight(whole(table, path, key));
                    case "priority" -> terms.withPriority(whole(table, path, key));
                    case "class" -> terms.withClass(choice(TenantClass.values(), text(table, path, key).orElseThrow(), with(path, key)));
                    case "cap" -> terms.withHardCap(Quantities.share(text(table, path, key).orElseThrow()));
                    case "soft-cap" -> terms.withSoftCap(Quantities.share(text(table, path, key).orElseThrow()));
                    case "target" -> terms.withTargetNs(Quantities.durationNs(text(table, path, key).orElseThrow()));
                    case "replayable" -> terms.withReplayable(flag(table, path, key));
                    default -> terms; // memory and places
                };
            } catch (OptionException | IllegalArgumentException e) {
                throw wrong(with(path, key), e.getMessage());
            }
        }
        return terms;
    }

    private PlaceTerms places(TomlTable table, List<String> path) throws SettingsException {
        Set<DeviceUuid> devices = new HashSet<>();
        Object named = table.get(List.of("devices"));
        List<Object> names = named instanceof TomlArray array ? array.toList() : named == null ? List.of() : List.of(0);
        for (Object name : names) {
            devices.add(DeviceUuid.parse(name.toString()).orElseThrow(
                    () -> wrong(with(path, "devices"), "must be a list of UUIDs, [\"GPU-...\"]; tessera status shows them")));
        }
        if (named != null && devices.isEmpty()) {
            throw wrong(with(path, "devices"), "names no device; leave it out for all devices");
        }
        return new PlaceTerms(clients(table, path, "clients"), devices);
    }

    private int clients(TomlTable table, List<String> path, String key) throws SettingsException {
        int clients = table.contains(List.of(key)) ? whole(table, path, key) : 0;
        if (clients < 0 || clients > MOST_CLIENTS) {
            throw wrong(with(path, key), "how many clients there may be at once is from 1 to " + MOST_CLIENTS + "; 0: any number");
        }
        return clients;
    }

    private long limit(TomlTable table, List<String> path) throws SettingsException {
        String size = text(table, path, "memory").orElseThrow();
        try {
            return size.equals("none") ? 0 : Quantities.sizeBytes(size);
        } catch (OptionException e) {
            throw wrong(with(path, "memory"), e.getMessage() + ", or none");
        }
    }

    private <E extends Enum<E>> E choice(E[] values, String text, List<String> path) throws SettingsException {
        List<String> names = Arrays.stream(values).map(value -> value.name().toLowerCase(Locale.ROOT)).toList();
        int index = names.indexOf(text);
        if (index < 0) {
            throw wrong(path, "\"" + text + "\" is none of " + String.join(", ", names));
        }
        return values[index];
    }

    private int whole(TomlTable table, List<String> path, String key) throws SettingsException {
        if (!(table.get(List.of(key)) instanceof Long number) || number != number.intValue()) {
            throw wrong(with(path, key), "must be a whole number, without quotation marks");
        }
        return number.intValue();
    }

    private boolean flag(TomlTable table, List<String> path, String key) throws SettingsException {
        if (!(table.get(List.of(key)) instanceof Boolean flag)) {
            throw wrong(with(path, key), "must be true or false, without quotation marks");
        }
        return flag;
    }

    private Optional<String> text(TomlTable table, List<String> path, String key) throws SettingsException {
        Object value = table.get(List.of(key));
        if (value != null && !(value instanceof String)) {
            throw wrong(with(path, key), "must be a text in quotation marks");
        }
        return Optional.ofNullable((String) value);
    }

    // Tables

    private Set<String> tables(String kind) throws SettingsException {
        Object value = toml.get(List.of(kind));
        if (value == null) {
            return Set.of();
        }
        if (!(value instanceof TomlTable table)) {
            throw wrong(List.of(kind), "must be a table of names: [" + kind + ".NAME]");
        }
        return new TreeSet<>(table.keySet());
    }

    private TomlTable table(List<String> path, List<String> keys) throws SettingsException {
        if (!(toml.get(path) instanceof TomlTable table)) {
            throw wrong(path, "must be a table: [" + path.getFirst() + ".\"" + path.getLast() + "\"]");
        }
        checkKeys(table, path, keys);
        return table;
    }

    private void checkKeys(TomlTable table, List<String> path, List<String> keys) throws SettingsException {
        for (String key : table.keySet()) {
            if (!keys.contains(key)) {
                throw wrong(with(path, key), "there is no such key here: " + String.join(", ", keys));
            }
        }
    }

    private static List<String> with(List<String> path, String key) {
        return Stream.concat(path.stream(), Stream.of(key)).toList();
    }

    private SettingsException wrong(List<String> path, String sentence) {
        TomlPosition at = toml.inputPositionOf(path);
        return new SettingsException((at == null ? "" : "line " + at.line() + ", ") + String.join(".", path) + ": " + sentence);
    }
}
