package io.tessera.cli.admission;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.protocol.DeviceUuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The step of {@code tessera run} before the start of a program that waits for a place or leaves its device to the manager. It asks for a
 * place until there is one, and shows the position in the queue on standard error. It writes the device to standard output as {@code
 * CUDA_VISIBLE_DEVICES} names it, or nothing if there is none to choose. One thread, and a second one that leaves the queue when the
 * process is ended.
 */
@Command(name = "admission", hidden = true, header = "Waits until a program may start.")
public final class AdmissionCommand implements Callable<Integer> {
    /** Time between two requests; the manager drops a program from the queue after 5 s without one. */
    private static final Duration LOOK = Duration.ofMillis(250);
    /** How long to wait for an absent manager; a restarted one is back within seconds. */
    private static final Duration MANAGER_AWAY = Duration.ofSeconds(30);
    private static final Duration LEAVING = Duration.ofSeconds(1);

    private final CommandContext context;
    private final InstantSource clock;
    private final ControlClient client;
    private final QueueLine line;

    @Option(names = "--tenant", required = true, description = "The program's label.")
    private String tenant;

    @Option(names = "--process", required = true, description = "The process that becomes the program, which has started this one.")
    private int pid;

    @Option(names = "--seconds", description = "How long to wait at most; else for ever.")
    private long seconds = -1;

    @Option(names = "--guarantee", description = "Bytes of device memory that never leave for others.")
    private long guaranteeBytes;

    @Option(names = "--no-wait", description = "The program does not start where there is no place now.")
    private boolean noWait;

    @Option(names = "--choose", description = "The manager chooses one of the GPUs that the program sees.")
    private boolean choose;

    @Option(names = "--space", description = "The program shares by space.")
    private boolean space;

    @Option(names = "--limit", description = "Bytes of device memory that the program may use.")
    private long limitBytes;

    @Option(names = "--device", description = "The GPUs that the program sees. A single UUID is asked for.")
    private String device = "";

    /** The devices from which the manager chooses; empty: it does not choose. */
    private List<UsableDevice> candidates = List.of();
    /** The part of the answer about the device; null: there is none. */
    private JsonElement placement;

    /** Start time of {@link #pid}, by which the queue distinguishes it from a later process with the same number. */
    private long startTicks;

    /**
     * Creates the command in the given context.
     *
     * @param clock clock that measures the wait
     */
    public AdmissionCommand(CommandContext context, InstantSource clock) {
        this.context = context;
        this.clock = clock;
        this.client = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE);
        this.line = new QueueLine(context.err(), context.errorTerminal());
    }

    @Override
    public Integer call() throws ControlException, InterruptedException {
        startTicks = startTicks(pid);
        if (isAlone()) {
            return ExitCode.NO_PLACE.number();
        }
        if (choose) {
            List<UsableDevice> usable = new UsableDevices(context, client).find(space);
            candidates = usable.size() > 1 ? usable : List.of();
            if (noWait && candidates.isEmpty()) {
                return ExitCode.OK.number();
            }
        }
        Thread leaving = Thread.ofPlatform().unstarted(this::leave);
        Runtime.getRuntime().addShutdownHook(leaving);
        boolean admitted = false;
        String chosen = "";
        try {
            boolean place = awaitPlace();
            chosen = place ? chosen() : "";
            admitted = place;
        } finally {
            line.erase();
            try {
                Runtime.getRuntime().removeShutdownHook(leaving);
                if (!admitted) {
                    leave();
                }
            } catch (IllegalStateException _) {
                // The process is already ending: the hook leaves the queue.
            }
        }
        if (admitted && !chosen.isEmpty()) {
            context.out().println(chosen);
        }
        return (admitted ? ExitCode.OK : ExitCode.NO_PLACE).number();
    }

    /** Waits for a place, and returns whether there was one in time. */
    private boolean awaitPlace() throws ControlException, InterruptedException {
        JsonObject request = request();
        Instant began = clock.instant();
        Instant answered = null;
        String reason = "";
        while (true) {
            try {
                JsonObject answer = client.ask(request);
                answered = clock.instant();
                if (answer.get("admitted").getAsBoolean()) {
                    placement = answer.get("placement");
                    return !isAlone();
                }
                reason = answer.get("reason").getAsString();
                if (noWait) {
                    context.say("there is no place for the program now, so it was not started: " + QueueLine.printable(reason)
                            + "; tessera run --wait waits for one");
                    return false;
                }
                line.show(answer.get("place").getAsInt(), answer.get("waiting").getAsInt(), reason);
            } catch (ControlException e) {
                boolean away = e.kind() != ControlException.Kind.REFUSED && answered != null;
                if (!away || Duration.between(answered, clock.instant()).compareTo(MANAGER_AWAY) > 0) {
                    throw e;
                }
                line.show("the manager is away; asking again");
            }
            if (seconds >= 0 && Duration.between(began, clock.instant()).compareTo(Duration.ofSeconds(seconds)) >= 0) {
                line.erase();
                context.say("no place within " + seconds + " s, so the program was not started: " + QueueLine.printable(reason));
                return false;
            }
            if (isAlone()) {
                return false;
            }
            context.pause().await(LOOK);
        }
    }

    /** Returns the device that the manager has chosen, under the name that the program will see; empty: none was to be chosen. */
    private String chosen() throws ControlException {
        if (candidates.isEmpty()) {
            return "";
        }
        if (!(placement instanceof JsonObject choice)) {
            throw new ControlException(ControlException.Kind.MALFORMED, "the manager chooses no device: it is of another version of Tessera");
        }
        String uuid = choice.get("device").getAsString();
        return candidates.stream().filter(device -> device.uuid().equals(uuid)).map(UsableDevice::name).findFirst()
                .orElseThrow(
                        () -> new ControlException(ControlException.Kind.MALFORMED, "the manager chooses a device that the program does not see"));
    }

    /** Returns whether the waiting process was killed. */
    private boolean isAlone() {
        return ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(0L) != pid;
    }

    /**
     * Returns the start time of a process ({@code /proc/PID/stat}, field 22); 0: it has ended or is hidden. The command before that field
     * may contain blanks and parentheses.
     */
    private static long startTicks(int pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Integer.toString(pid), "stat"));
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19]);
        } catch (IOException _) {
            return 0;
        }
    }

    private JsonObject request() {
        JsonObject request = new JsonObject();
        request.addProperty("request", "admission");
        request.addProperty("tenant", tenant);
        request.addProperty("pid", pid);
        request.addProperty("startTicks", startTicks);
        request.addProperty("guaranteeBytes", guaranteeBytes);
        if (!candidates.isEmpty()) {
            request.addProperty("limitBytes", limitBytes);
            JsonArray devices = new JsonArray();
            for (UsableDevice candidate : candidates) {
                JsonObject json = new JsonObject();
                json.addProperty("uuid", candidate.uuid());
                json.addProperty("totalBytes", candidate.totalBytes());
                devices.add(json);
            }
            request.add("devices", devices);
            return request;
        }
        DeviceUuid.parse(device).ifPresent(uuid -> request.addProperty("device", uuid.toString()));
        return request;
    }

    private void leave() {
        JsonObject request = request();
        request.addProperty("leave", true);
        try {
            new ControlClient(client.socket(), LEAVING).ask(request);
        } catch (ControlException _) {
            // If the manager does not receive this, it drops the program 5 s later.
        }
    }
}
