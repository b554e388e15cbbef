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
 * A field that the manager omits is 0 or empty, or null where these have a meaning of their own. Control characters in texts are escaped.
 *
 * @param manager the manager itself
 * @param devices the devices on which clients have contexts
 * @param clients the clients
 * @param executors the executors
 * @param waiting programs that have not started yet
 * @param host    host memory for contents that are off the devices; null: no client can use it
 */
public record StatusAnswer(ManagerState manager, List<DeviceState> devices, List<ClientState> clients,
        List<ExecutorState> executors, List<WaitingProgram> waiting, HostMemory host) {
    /** Escapes texts, because any process may listen on the socket and send anything: no text may control a terminal. */
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
     * @param pid              its process id
     * @param version          its version
     * @param abi              the version of the protocol
     * @param uid              its user
     * @param runtimeDirectory where its sockets are
     * @param uptimeNs         time since its start
     * @param placement        rule that chooses the device of a program that names none; empty: an older manager does not report it
     * @param settings         its settings file; empty: there is none
     * @param settingsProblem  what is wrong with that file; empty: nothing
     * @param ordersProblem    why the settings of commands would be lost if it were killed; empty: they would not
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
     * @param software   whether the device is the software GPU
     * @param totalBytes its device's memory
     * @param pid        its process id; 0: none
     * @param usedBytes  memory that its clients use
     * @param restarts   number of restarts after it died
     * @param reason     why it is not ready
     * @param rootBecause why it runs as root although it should not; empty: it does not, or root was requested
     * @param turns      how its tenants share it
     * @param clients    its clients
     * @param windows    windows of its tenants
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
     * How the tenants of an executor share it.
     *
     * @param policy policy of their turns
     * @param use    off, on, or auto: turns if a setting needs them
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
     * @param tenant    tenant to which its limit applies
     * @param usedBytes device memory
     * @param calls     relayed calls
     * @param launches  launched kernels
     * @param records   all records
     * @param rejected  refused records
     * @param terms     settings of its tenant; null: none
     * @param heldNs    GPU time that it had, with its share of the time when several clients had work
     * @param waitedNs  time that its work was held back
     * @param held      whether its work is held back now
     * @param fence     fence mode beside other tenants: mask, modulo, check
     * @param shown images of machine code without PTX whose kernels are verified to stay in their window
     * @param vendors   as {@code shown}, for a vendor's images, under the assumptions that a vendor's compiler keeps
     * @param unknown   as {@code shown}, for images that are not known: their program keeps other users' programs out
     * @param unfenced  images whose kernels have run without a fence, or that run unchanged
     * @param violations recorded accesses outside the window, traps and failed assertions
     * @param processors multiprocessors on which its kernels run
     * @param deviceProcessors multiprocessors of the device; 0: the driver cannot divide them
     * @param partLaunches launches of parts of long grids
     * @param replays how many times a kernel of it was stopped for an interactive tenant and ran again
     * @param lostNs  for how long those kernels had run
     */
    public record ExecutorClient(long client, long pid, String tenant, long usedBytes, long calls, long launches, long records, long rejected,
            Terms terms, long heldNs, long waitedNs, boolean held, String fence, long shown, long vendors, long unknown, long unfenced,
            long violations, long processors, long deviceProcessors, long partLaunches, long replays, long lostNs) {
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
     * @param committedBytes part of it that has memory
     * @param quotaBytes     the tenant's limit; 0: none
     * @param sinkBytes      memory that backs all addresses without an allocation; 0: not yet
     * @param awayBytes      part of its memory that is off the device now
     * @param movedOutBytes  bytes copied to the host so far
     * @param sparedBytes    bytes that have left the device so far without a copy
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
     * @param effective        its present effect: free or exclusive
     * @param reason           why, in one sentence
     * @param policy           policy that chooses the next tenant; empty: an older manager does not report it
     * @param quantumNs        length of a turn
     * @param holder           the client that holds the device alone; null: none
     * @param holderSinceNs    time for which it has held the device
     * @param handovers        turns handed from one client to another
     * @param handoverMedianNs median time of a hand-over
     * @param memory           memory on and off the device; null: no client's memory can leave it
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
     * @param tenant         tenant to which shares and limits apply
     * @param command        its command
     * @param plan           its memory plan
     * @param sharing        why the manager chose its way of sharing; null: the program chose it itself
     * @param placement      the device that the manager chose for it; null: the program chose it itself
     * @param connectedNs    time since it connected
     * @param heartbeatAgeNs time since its last sign of life
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
     * Settings of a tenant.
     *
     * @param weight     its part of the device, relative to the weights of others
     * @param priority   its priority; some policies serve higher ones first
     * @param kind       interactive or batch
     * @param hardCap    maximum part of the device's time; 1: no cap
     * @param softCap    maximum part of the device's time while others have work
     * @param targetNs   target for the time of a request; 0: the policy's target for its class
     * @param replayable whether kernels of it may be stopped and run again in space sharing
     * @param clients    maximum number of clients at once; 0: no maximum
     */
    public record Terms(int weight, int priority, @SerializedName("class") String kind, double hardCap, double softCap, long targetNs,
            boolean replayable, int clients) {
        /** Replaces omitted fields by defaults. */
        public Terms {
            kind = orUnknown(kind);
        }

        /** Returns the settings that differ from the defaults; empty: none does. */
        public String text() {
            List<String> parts = new ArrayList<>();
            add(parts, weight != 1, "weight " + weight);
            add(parts, priority != 0, "priority " + priority);
            add(parts, kind.equals("interactive"), kind);
            add(parts, hardCap < 1, "at most " + Shares.format(hardCap));
            add(parts, softCap < 1, "at most " + Shares.format(softCap) + " while others have work");
            add(parts, targetNs > 0, "target " + Durations.format(targetNs));
            add(parts, replayable, "replayable");
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
     * @param terms        settings of its tenant for turns; null: none
     * @param waitingNs    time for which a thread has been waiting at the gate; 0: none waits
     * @param usedBytes    memory in use
     * @param peakBytes    highest memory in use so far
     * @param managedBytes part of the memory in use that was converted to managed memory
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
     * @param residency    residency of its memory; null: all of it is on the device and cannot leave
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
     * @param usedBytes     memory in use by clients, on the device or not
     * @param residentBytes movable memory that is on the device
     * @param swappedBytes  contents off the device
     * @param fixedBytes    memory that cannot leave
     * @param neededBytes   memory that has to be on the device before its owners run
     * @param usableBytes   memory that the device was found to have for clients; 0: as its size suggests
     * @param fits          whether the running and waiting clients fit at once
     * @param reason        why, in one sentence
     * @param standing      the clients that may run but wait for memory while none moves, and why; empty: none
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
     * Residency of a client's memory on a device; bytes.
     *
     * @param state                 steady, moving-out, moving-in, suspending, suspended or restoring
     * @param parked                whether it was evicted by a command or because it was idle
     * @param choice                the choice of plan auto, and why; empty: the plan was set
     * @param shortOf               why its calls fail with out of memory; empty: they do not
     * @param suspension            how its process is suspended, and why; empty: it is not
     * @param notSuspended          why its process is not suspended though it should be; empty: it should not be, or is
     * @param targetBytes           memory that it may hold on the device
     * @param residentBytes         memory that it holds on the device
     * @param neededBytes           memory that it needs to run
     * @param swappableBytes        all memory that can leave
     * @param swappedBytes          contents off the device
     * @param zeroBytes             part of the needed memory that is known to be all zero, so that it need not be copied
     * @param cleanBytes            contents on the device of which the host has a copy
     * @param fixedBytes            memory that cannot leave
     * @param cachedBytes           part of the resident memory that has no contents
     * @param guaranteeBytes        memory that is never taken from it
     * @param pinnedBytes           pinned host memory that it holds
     * @param pageableBytes         pageable host memory that it holds
     * @param fileBytes             size of its swap file
     * @param movedInBytes          bytes copied in so far
     * @param movedOutBytes         bytes copied out so far
     * @param moveInBytesPerSecond  rate of that
     * @param moveOutBytesPerSecond rate of that
     * @param moveFailures          copies that failed
     * @param handoverLastNs        duration of the last hand-over to it
     * @param handoverMedianNs      median duration of hand-overs to it
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
     * Host memory for contents that are off the devices; bytes.
     *
     * @param availableBytes      free on the host
     * @param pinnedBudgetBytes   pinned memory that clients may hold together
     * @param pinnedBytes         pinned memory that they hold
     * @param pageableBudgetBytes pageable memory that they may hold beyond it
     * @param pageableBytes       pageable memory that they hold
     */
    public record HostMemory(long availableBytes, long pinnedBudgetBytes, long pinnedBytes, long pageableBudgetBytes,
            long pageableBytes) {
    }

    /**
     * A distinct error of a client.
     *
     * @param code  the driver's result, or {@code -errno}
     * @param count number of occurrences
     * @param text  what happened
     */
    public record ClientError(int code, long count, String text) {
    }

    /**
     * Reads an answer.
     *
     * @throws ControlException {@link Kind#MALFORMED} if a field has another type or the manager is missing
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

    /** Reads the settings of a tenant. */
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
