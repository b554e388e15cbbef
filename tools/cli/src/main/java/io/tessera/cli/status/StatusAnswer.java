package io.tessera.cli.status;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.annotations.SerializedName;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.control.ControlException.Kind;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Shares;
import io.tessera.cli.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The answer to {@code status} (SPEC.md, section 8). Times are nanoseconds, lengths of time up to now; memory is bytes.
 * A field that the manager leaves out is 0, empty or, where that means something else, null. Control characters of its texts are escaped.
 *
 * @param manager the manager itself
 * @param devices the devices on which clients have contexts
 * @param clients the clients
 * @param executors the executors
 * @param waiting programs that have not started yet
 * @param host    host memory for what is off the devices; null: no client can use it
 */
public record StatusAnswer(ManagerState manager, List<DeviceState> devices, List<ClientState> clients,
        List<ExecutorState> executors, List<WaitingProgram> waiting, HostMemory host) {
    /** Any process may listen on the socket and say anything: no text of it steers a terminal. */
    private static final Gson GSON = new GsonBuilder().registerTypeAdapter(String.class,
            (JsonDeserializer<String>) (text, _, _) -> TextTable.printable(text.getAsString())).create();

    /** Replaces omitted fields by defaults. */
    public StatusAnswer {
        devices = orEmpty(devices);
        clients = orEmpty(clients);
        executors = orEmpty(executors);
        waiting = orEmpty(waiting);
    }

    /**
     * The manager.
     *
     * @param pid              its process
     * @param version          its version
     * @param abi              the version of the protocol
     * @param uid              its user
     * @param runtimeDirectory where its sockets are
     * @param uptimeNs         how long it runs
     * @param placement        which device a program gets that names none; empty: an older manager does not say
     * @param settings         its file of settings; empty: there is none
     * @param settingsProblem  what is wrong with that file; empty: nothing
     * @param ordersProblem    why what commands have set does not survive if it is killed; empty: it does
     */
    public record ManagerState(long pid, String version, int abi, int uid, String runtimeDirectory, long uptimeNs, String placement,
            String settings, String settingsProblem, String ordersProblem) {
        /** Replaces omitted fields by defaults. */
        public ManagerState {
            version = orUnknown(version);
            runtimeDirectory = orUnknown(runtimeDirectory);
            placement = Objects.requireNonNullElse(placement, "");
            settings = Objects.requireNonNullElse(settings, "");
            settingsProblem = Objects.requireNonNullElse(settingsProblem, "");
            ordersProblem = Objects.requireNonNullElse(ordersProblem, "");
        }
    }

    /**
     * An executor.
     *
     * @param ordinal    its device, as the driver counts
     * @param state      starting, ready, restarting, absent or foreign
     * @param uuid       its device's UUID
     * @param name       its device's name
     * @param software   whether that is the software GPU
     * @param totalBytes its device's memory
     * @param pid        its process; 0: none
     * @param usedBytes  what its clients use
     * @param restarts   how often it died and came back
     * @param reason     why it is not ready
     * @param rootBecause why it runs as root although it should not; empty: it does not, or root was asked for
     * @param turns      how its tenants share it
     * @param clients    what its clients do
     * @param windows    where its tenants' memory lies
     */
    public record ExecutorState(int ordinal, String state, String uuid, String name, boolean software,
            long totalBytes, long pid, long usedBytes, long restarts, String reason, String rootBecause, SpaceTurns turns,
            List<ExecutorClient> clients, List<TenantWindow> windows) {
        /** Replaces omitted fields by defaults. */
        public ExecutorState {
            state = orUnknown(state);
            uuid = orUnknown(uuid);
            name = orUnknown(name);
            reason = Objects.requireNonNullElse(reason, "");
            rootBecause = Objects.requireNonNullElse(rootBecause, "");
            turns = Objects.requireNonNullElse(turns, SpaceTurns.NONE);
            clients = orEmpty(clients);
            windows = orEmpty(windows);
        }
    }

    /**
     * How tenants of an executor share it.
     *
     * @param policy by which they take turns
     * @param use    off, on, or auto: where something set needs turns
     * @param now    whether they take turns now
     */
    public record SpaceTurns(String policy, String use, boolean now) {
        private static final SpaceTurns NONE = new SpaceTurns("", "", false);

        /** Replaces omitted fields by defaults. */
        public SpaceTurns {
            policy = Objects.requireNonNullElse(policy, "");
            use = Objects.requireNonNullElse(use, "");
        }
    }

    /**
     * A client in an executor.
     *
     * @param client    the manager's number for it; 0: it has not registered with this manager yet
     * @param pid       its process
     * @param tenant    what its limit attaches to
     * @param usedBytes device memory
     * @param calls     calls that were relayed
     * @param launches  kernels that were launched
     * @param records   all records
     * @param rejected  records that were refused
     * @param terms     what is set for its tenant; null: nothing
     * @param heldNs    GPU time that it had; of time when several had work, its part
     * @param waitedNs  for how long its work was held back
     * @param held      whether its work is held back now
     * @param fence     how kernels are fenced beside others: mask, modulo, check
     * @param shown images of machine code without PTX whose kernels are verified to stay in their window
     * @param vendors   the same with what a vendor's compiler keeps, of a vendor's images
     * @param unknown   the same of images that nobody knows: their program keeps other users' programs out
     * @param unfenced  images of which kernels without a fence have run, or that run as they are
     * @param violations accesses outside the window, traps and failed assertions that were recorded
     * @param processors of the device that its kernels run on
     * @param deviceProcessors all of them; 0: the driver cannot divide them
     */
    public record ExecutorClient(long client, long pid, String tenant, long usedBytes, long calls, long launches, long records, long rejected,
            Terms terms, long heldNs, long waitedNs, boolean held, String fence, long shown, long vendors, long unknown, long unfenced,
            long violations, long processors, long deviceProcessors) {
        /** Replaces omitted fields by defaults. */
        public ExecutorClient {
            tenant = Objects.requireNonNullElse(tenant, "-");
            fence = Objects.requireNonNullElse(fence, "-");
        }
    }

    /**
     * A tenant's window in an executor.
     *
     * @param tenant         its label
     * @param base           first address
     * @param size           bytes
     * @param committedBytes what of it has memory
     * @param quotaBytes     the tenant's limit; 0: none
     * @param sinkBytes      memory behind all that has none; 0: not yet
     * @param awayBytes      of what has memory, what is not on the device now
     * @param movedOutBytes  copied to the host so far
     * @param sparedBytes    that have left the device so far without a copy
     */
    public record TenantWindow(String tenant, long base, long size, long committedBytes, long quotaBytes,
            long sinkBytes, long awayBytes, long movedOutBytes, long sparedBytes) {
        /** Replaces omitted fields by defaults. */
        public TenantWindow {
            tenant = orUnknown(tenant);
        }
    }

    /**
     * A device.
     *
     * @param uuid             its UUID
     * @param name             its name
     * @param totalBytes       its memory
     * @param mode             the mode that was set: off, on, auto
     * @param effective        what it comes to now: free or exclusive
     * @param reason           why, in one sentence
     * @param policy           which tenant has the next turn; empty: an older manager does not say
     * @param quantumNs        length of a turn
     * @param holder           the client that holds the device alone; null: nobody
     * @param holderSinceNs    for how long it has held it
     * @param handovers        turns handed from one client to another
     * @param handoverMedianNs median time of a hand-over
     * @param memory           what is resident; null: nobody's memory can leave it
     */
    public record DeviceState(String uuid, String name, long totalBytes, String mode, String effective, String reason,
            String policy, long quantumNs, Long holder, long holderSinceNs, long handovers, long handoverMedianNs,
            DeviceMemory memory) {
        /** Replaces omitted fields by defaults. */
        public DeviceState {
            uuid = orUnknown(uuid);
            name = orUnknown(name);
            mode = orUnknown(mode);
            effective = orUnknown(effective);
            reason = Objects.requireNonNullElse(reason, "");
            policy = Objects.requireNonNullElse(policy, "");
        }
    }

    /**
     * A client.
     *
     * @param id             the manager's number for it
     * @param pid            its process
     * @param uid            its user
     * @param tenant         what shares and limits attach to
     * @param command        what runs
     * @param plan           its memory plan
     * @param sharing        why the manager has it share as it does; null: the program did not leave that to it
     * @param placement      the device that the manager chose for it; null: it did not leave that to it
     * @param connectedNs    for how long it is connected
     * @param heartbeatAgeNs how long ago it gave a sign of life
     * @param counters       its process-wide counters
     * @param devices        its devices
     * @param errors         its distinct errors
     */
    public record ClientState(long id, long pid, int uid, String tenant, String command, String plan, String sharing,
            PlacedDevice placement, long connectedNs, long heartbeatAgeNs, Map<String, Long> counters, List<ClientDevice> devices,
            List<ClientError> errors) {
        /** Replaces omitted fields by defaults. */
        public ClientState {
            tenant = orUnknown(tenant);
            command = orUnknown(command);
            plan = orUnknown(plan);
            counters = counters == null ? Map.of() : counters;
            devices = orEmpty(devices);
            errors = orEmpty(errors);
        }
    }

    /**
     * What is set for a tenant.
     *
     * @param weight   its part of the device, against that of others
     * @param priority the higher goes first, under some policies
     * @param kind     interactive or batch
     * @param hardCap  the most of the device's time that it gets; 1: no cap
     * @param softCap  the same while others have work
     * @param targetNs within which time a request is to be done; 0: as the policy says for its class
     * @param clients  how many it may have at once; 0: any number
     */
    public record Terms(int weight, int priority, @SerializedName("class") String kind, double hardCap, double softCap, long targetNs,
            int clients) {
        /** Replaces omitted fields by defaults. */
        public Terms {
            kind = orUnknown(kind);
        }

        /** What differs from that of a tenant for which nothing is set; empty: nothing does. */
        public String text() {
            List<String> parts = new ArrayList<>();
            add(parts, weight != 1, "weight " + weight);
            add(parts, priority != 0, "priority " + priority);
            add(parts, kind.equals("interactive"), kind);
            add(parts, hardCap < 1, "at most " + Shares.format(hardCap));
            add(parts, softCap < 1, "at most " + Shares.format(softCap) + " while others have work");
            add(parts, targetNs > 0, "target " + Durations.format(targetNs));
            add(parts, clients > 0, "at most " + clients + (clients == 1 ? " client" : " clients") + " at once");
            return String.join(", ", parts);
        }

        private static void add(List<String> parts, boolean differs, String text) {
            if (differs) {
                parts.add(text);
            }
        }
    }

    /**
     * A client on a device.
     *
     * @param uuid         the device
     * @param turn         closed, free or granted
     * @param ack          closed, open, draining or released
     * @param terms        what is set for its tenant in turns; null: nothing is
     * @param waitingNs    for how long a thread waits at the gate now; 0: none does
     * @param usedBytes    memory in use
     * @param peakBytes    most memory in use so far
     * @param managedBytes of the memory in use: converted to managed memory
     * @param limitBytes   the tenant's limit; 0: none
     * @param launches     kernel and graph launches
     * @param submissions  submissions of every kind
     * @param turns        turns taken
     * @param heldNs       sum of the turns
     * @param waitedNs     time spent waiting at the gate
     * @param drains       gates closed after work
     * @param drainNs      sum of the drains
     * @param drainMaxNs   longest drain
     * @param drainLastNs  last drain
     * @param busyShare    share of samples that found the device busy with this client's work
     * @param residency    what of its memory is on the device; null: all, it cannot leave
     */
    public record ClientDevice(String uuid, String turn, String ack, Terms terms, long waitingNs, long usedBytes,
            long peakBytes, long managedBytes, long limitBytes, long launches, long submissions, long turns, long heldNs,
            long waitedNs, long drains, long drainNs, long drainMaxNs, long drainLastNs, double busyShare,
            Residency residency) {
        /** Replaces omitted fields by defaults. */
        public ClientDevice {
            uuid = orUnknown(uuid);
            turn = orUnknown(turn);
            ack = orUnknown(ack);
        }
    }

    /**
     * Memory of a device whose clients' memory can leave it; bytes.
     *
     * @param capacityBytes size of the device as clients see it
     * @param usedBytes     in use by clients, on the device or not
     * @param residentBytes on the device of what can leave
     * @param swappedBytes  off the device
     * @param fixedBytes    that cannot leave
     * @param neededBytes   has to be on the device before their owners run
     * @param usableBytes   what the device was found to have for clients; 0: what its size tells
     * @param fits          whether those who run and wait fit at once
     * @param reason        why, in one sentence
     * @param standing the clients that may run and wait for memory while none moves, and why; empty: none
     */
    public record DeviceMemory(long capacityBytes, long usedBytes, long residentBytes, long swappedBytes,
            long fixedBytes, long neededBytes, long usableBytes, boolean fits, String reason, String standing) {
        /** Replaces omitted fields by defaults. */
        public DeviceMemory {
            reason = Objects.requireNonNullElse(reason, "");
            standing = Objects.requireNonNullElse(standing, "");
        }
    }

    /**
     * What of a client's memory is on a device; bytes.
     *
     * @param state                 steady, moving-out, moving-in, suspending, suspended or restoring
     * @param parked                evicted by hand or for idleness
     * @param choice                what plan auto came to, and why; empty: the plan was set
     * @param shortOf               why its calls are out of memory; empty: they are not
     * @param suspension            how its process is suspended, and why; empty: it is not
     * @param notSuspended          why its process is not suspended though it should be; empty: it should not be, or is
     * @param targetBytes           what it may hold on the device
     * @param residentBytes         what it holds
     * @param neededBytes           what it needs to run
     * @param swappableBytes        all that can leave
     * @param swappedBytes          contents off the device
     * @param zeroBytes             of what it needs, known to be all zero, so that it need not travel
     * @param cleanBytes            contents on the device of which the host has a copy
     * @param fixedBytes            that cannot leave
     * @param cachedBytes           of the resident, without contents
     * @param guaranteeBytes        never taken from it
     * @param pinnedBytes           pinned host memory that it holds
     * @param pageableBytes         pageable host memory that it holds
     * @param fileBytes             of its swap file
     * @param movedInBytes          copied in so far
     * @param movedOutBytes         copied out so far
     * @param moveInBytesPerSecond  rate of that
     * @param moveOutBytesPerSecond rate of that
     * @param moveFailures          copies that failed
     * @param handoverLastNs        how long its last turn took to come to it
     * @param handoverMedianNs      median of that
     */
    public record Residency(String state, boolean parked, String choice, String shortOf, String suspension, String notSuspended,
            long targetBytes, long residentBytes, long neededBytes, long swappableBytes, long swappedBytes, long zeroBytes, long cleanBytes,
            long fixedBytes, long cachedBytes,
            long guaranteeBytes,
            long pinnedBytes, long pageableBytes, long fileBytes, long movedInBytes, long movedOutBytes,
            long moveInBytesPerSecond, long moveOutBytesPerSecond, long moveFailures, long handoverLastNs,
            long handoverMedianNs) {
        /** Replaces omitted fields by defaults. */
        public Residency {
            state = orUnknown(state);
            choice = Objects.requireNonNullElse(choice, "");
            shortOf = Objects.requireNonNullElse(shortOf, "");
            suspension = Objects.requireNonNullElse(suspension, "");
            notSuspended = Objects.requireNonNullElse(notSuspended, "");
        }
    }

    /**
     * Host memory for what is off the devices; bytes.
     *
     * @param availableBytes      free on the host
     * @param pinnedBudgetBytes   pinned memory that clients may hold together
     * @param pinnedBytes         that they hold
     * @param pageableBudgetBytes pageable memory that they may hold beyond it
     * @param pageableBytes       that they hold
     */
    public record HostMemory(long availableBytes, long pinnedBudgetBytes, long pinnedBytes, long pageableBudgetBytes,
            long pageableBytes) {
    }

    /**
     * A distinct error of a client.
     *
     * @param code  the driver's result, or {@code -errno}
     * @param count how often
     * @param text  what happened
     */
    public record ClientError(int code, long count, String text) {
    }

    /**
     * Reads an answer.
     *
     * @throws ControlException {@link Kind#MALFORMED} where a field has another type or the manager is left out
     */
    public static StatusAnswer of(JsonObject answer) throws ControlException {
        try {
            StatusAnswer report = GSON.fromJson(answer, StatusAnswer.class);
            if (report.manager() == null) {
                throw new ControlException(Kind.MALFORMED, "the manager's status says nothing about the manager");
            }
            return report;
        } catch (JsonParseException e) {
            throw new ControlException(Kind.MALFORMED, "the manager's status does not fit the protocol: "
                    + e.getMessage(), e);
        }
    }

    /** Reads what is set for a tenant. */
    public static Terms terms(JsonObject terms) throws ControlException {
        try {
            return GSON.fromJson(terms, Terms.class);
        } catch (JsonParseException e) {
            throw new ControlException(Kind.MALFORMED, "what is set for the tenant does not fit the protocol: " + e.getMessage(), e);
        }
    }

    private static <T> List<T> orEmpty(List<T> list) {
        return list == null ? List.of() : list;
    }

    private static String orUnknown(String text) {
        return Objects.requireNonNullElse(text, "unknown");
    }
}
