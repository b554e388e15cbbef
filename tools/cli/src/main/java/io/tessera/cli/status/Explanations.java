package io.tessera.cli.status;

import io.tessera.cli.status.StatusAnswer.ClientDevice;
import io.tessera.cli.status.StatusAnswer.ClientState;
import io.tessera.cli.status.StatusAnswer.DeviceState;
import io.tessera.cli.status.StatusAnswer.ExecutorClient;
import io.tessera.cli.status.StatusAnswer.ExecutorState;
import io.tessera.cli.status.StatusAnswer.TenantWindow;
import io.tessera.cli.status.StatusAnswer.Terms;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.TextTable;
import io.tessera.protocol.message.TenantName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Explains from a status why a tenant's programs run or wait. Stateless. */
final class Explanations {
    /** Replaces the name of another user's tenant, which must not be shown. */
    private static final String OTHERS = "(another user's)";

    private Explanations() {
    }

    /**
     * Returns an explanation for each program of a tenant and each device that it uses.
     *
     * @param name the tenant's label, or the number of a process
     */
    static List<Explanation> of(StatusAnswer status, String name) {
        List<Explanation> explained = new ArrayList<>();
        for (ClientState client : status.clients()) {
            if (client.tenant().equals(OTHERS) || !client.tenant().equals(name) && !nameOf(status, client).equals(name)
                    && !Long.toString(client.pid()).equals(name)) {
                continue;
            }
            List<Explanation> all = new ArrayList<>();
            for (ClientDevice on : client.devices()) {
                status.devices().stream().filter(device -> device.uuid().equals(on.uuid())).findFirst()
                        .ifPresent(device -> all.add(inTime(status, device, client, on)));
            }
            for (ExecutorState executor : status.executors()) {
                executor.clients().stream().filter(one -> one.client() == client.id()).findFirst()
                        .ifPresent(one -> all.add(inSpace(status, executor, client, one)));
            }
            if (all.isEmpty()) {
                all.add(new Explanation(client.tenant(), client.pid(), "", "", "starts", client.connectedNs(), "",
                        label(client) + " has no context on a GPU yet; it is connected for " + Durations.format(client.connectedNs()) + ".",
                        List.of(), List.of()));
            }
            all.forEach(one -> explained.add(withWay(one, client)));
        }
        status.waiting().stream().filter(program -> program.isCalled(name)).forEach(program -> explained.add(program.explanation()));
        return explained;
    }

    /** Adds the reasons for the program's device and its way of sharing, if the manager has chosen them. */
    private static Explanation withWay(Explanation one, ClientState client) {
        List<String> because = new ArrayList<>(one.because());
        if (client.placement() != null && (one.device().isEmpty() || one.device().equals(client.placement().device()))) {
            because.add(client.placement().sentence());
        }
        if (client.sharing() != null) {
            because.add(
                    "it shares by " + (client.plan().equals("relay") ? "space" : "time") + " (--share auto): "
                            + TextTable.printable(client.sharing()));
        }
        return new Explanation(one.tenant(), one.pid(), one.device(), one.way(), one.state(), one.sinceNs(), one.waitsFor(), one.sentence(), because,
                one.changes());
    }

    /** Returns the name of the client's tenant in commands. */
    private static String nameOf(StatusAnswer status, ClientState client) {
        return TextTable.printable(TenantName.of(client.tenant(), client.uid(), status.manager().uid()));
    }

    private static String label(ClientState client) {
        return TextTable.printable(client.tenant()) + " (pid " + client.pid() + ")";
    }

    private static Explanation inTime(StatusAnswer status, DeviceState device, ClientState client, ClientDevice on) {
        String where = TextTable.printable(device.name()) + " " + device.uuid();
        boolean holds = device.holder() != null && device.holder() == client.id();
        List<String> because = because(device, on);
        if (on.ack().equals("draining")) {
            return explained(client, device, "drains", 0, "", label(client) + " finishes what it has queued on " + where
                    + "; then the next one gets the turn.", because, List.of());
        }
        if (holds) {
            long waiting = waiting(status, device);
            return explained(client, device, "holds", device.holderSinceNs(), "", label(client) + " has held " + where + " for "
                    + Durations.format(device.holderSinceNs()) + (waiting == 0 ? "; nobody waits for it."
                            : "; " + waiting + (waiting == 1 ? " waits" : " wait") + " for the turn to end."),
                    because, waiting == 0 ? List.of() : List.of("tessera quantum DURATION makes turns shorter or longer"));
        }
        if (on.waitingNs() > 0) {
            return waits(status, device, client, on, where, because);
        }
        if (on.turn().equals("free")) {
            return explained(client, device, "runs", 0, "", label(client) + " may run on " + where + " at any time, as everybody there.", because,
                    List.of("tessera scheduler on has programs take turns"));
        }
        return explained(client, device, "idle", 0, "", label(client) + " asks for nothing on " + where + " now; its next call asks for a turn.",
                because, List.of());
    }

    private static Explanation waits(StatusAnswer status, DeviceState device, ClientState client, ClientDevice on, String where,
            List<String> because) {
        Optional<ClientState> holder = status.clients().stream().filter(one -> device.holder() != null && one.id() == device.holder()).findFirst();
        boolean capped = device.holder() == null && isCapped(status, device, on);
        String whom = holder.map(one -> label(one) + " has held it for " + Durations.format(device.holderSinceNs()))
                .orElse(device.holder() != null ? "client " + device.holder() + " holds it"
                        : capped ? "nobody holds it: this tenant has had as much as its cap allows for now"
                        : "nobody holds it: the last holder drains, or memory moves");
        long others = waiting(status, device) - 1;
        List<String> changes = new ArrayList<>();
        if (on.residency() != null && on.residency().parked()) {
            changes.add("tessera wake '" + nameOf(status, client) + "' brings it back");
        }
        changes.add("tessera tenant '" + nameOf(status, client) + "'" + (capped ? " --cap SHARE (or --soft-cap) lets it have more of the time"
                : " --weight N gives it more of the time; tessera policy priority lets an interactive tenant go first"));
        changes.add("tessera scheduler off has everybody run at once, where memory suffices");
        return explained(client, device, "waits", on.waitingNs(), holder.map(ClientState::tenant).orElse(""), label(client) + " has waited "
                + Durations.format(on.waitingNs()) + " for its turn on " + where + ": " + whom
                + (others <= 0 ? "." : "; " + others + (others == 1 ? " other waits, too." : " others wait, too.")), because, changes);
    }

    /**
     * Returns whether a cap keeps a client waiting on a device without a holder: the client has a cap, and no client there drains or moves
     * memory.
     */
    private static boolean isCapped(StatusAnswer status, DeviceState device, ClientDevice waiting) {
        return hasCap(waiting.terms())
                && status.clients().stream().flatMap(client -> client.devices().stream()).filter(on -> on.uuid().equals(device.uuid()))
                        .noneMatch(on -> on.ack().equals("draining") || on.residency() != null && on.residency().state().startsWith("moving"));
    }

    private static long waiting(StatusAnswer status, DeviceState device) {
        return status.clients().stream().flatMap(client -> client.devices().stream())
                .filter(on -> on.uuid().equals(device.uuid()) && on.waitingNs() > 0).count();
    }

    private static List<String> because(DeviceState device, ClientDevice on) {
        List<String> because = new ArrayList<>();
        because.add("scheduler " + device.mode() + (device.reason().isEmpty() ? "" : ": " + TextTable.printable(device.reason())));
        if (device.effective().equals("exclusive")) {
            because.add("policy " + device.policy() + ", turns of " + Durations.format(device.quantumNs())
                    + (on.terms() == null ? "; nothing is set for this tenant" : "; set for this tenant: " + on.terms().text()));
        }
        because.add("it had " + on.turns() + (on.turns() == 1 ? " turn, " : " turns, ") + Durations.format(on.heldNs()) + " in all, and waited "
                + Durations.format(on.waitedNs()));
        if (on.residency() != null) {
            StatusAnswer.Residency memory = on.residency();
            because.add("memory is " + memory.state() + ": " + Sizes.format(memory.residentBytes()) + " on the GPU, "
                    + Sizes.format(memory.swappedBytes()) + " off it" + (memory.parked() ? ", parked" : "")
                    + (memory.shortOf().isEmpty() ? "" : "; " + TextTable.printable(memory.shortOf())));
        }
        if (device.memory() != null && !device.memory().standing().isEmpty()) {
            because.add("stands still: " + TextTable.printable(device.memory().standing()));
        }
        return because;
    }

    private static Explanation inSpace(StatusAnswer status, ExecutorState executor, ClientState client, ExecutorClient there) {
        String where = TextTable.printable(executor.name()) + " " + executor.uuid();
        long others = executor.clients().stream().filter(one -> one.client() != client.id()).count();
        List<String> because = new ArrayList<>();
        because.add("executor " + executor.ordinal() + " is " + executor.state()
                + (executor.reason().isEmpty() ? "" : ": " + TextTable.printable(executor.reason())));
        because.add(
                "kernels are fenced by " + TextTable.printable(there.fence()) + "; " + there.launches() + " launches, " + there.calls() + " calls");
        Optional<TenantWindow> window = executor.windows().stream().filter(one -> one.tenant().equals(there.tenant())).findFirst();
        long awayBytes = window.map(TenantWindow::awayBytes).orElse(0L);
        window.ifPresent(one -> because.add(Sizes.format(one.committedBytes()) + " of memory, of which " + Sizes.format(awayBytes)
                + " is off the GPU"));
        because.add(turns(executor, there));
        if (there.processors() < there.deviceProcessors()) {
            because.add("its kernels run on " + there.processors() + " of " + there.deviceProcessors()
                    + " processors, while another tenant has work that is of class interactive or needs the GPU for a small part of the time");
        }
        if (there.partLaunches() > 0) {
            because.add("its long grids were launched in " + there.partLaunches() + " parts, between which other tenants get the GPU");
        }
        if (there.replays() > 0) {
            because.add("kernels of it were stopped for an interactive tenant and run again, " + there.replays()
                    + (there.replays() == 1 ? " time" : " times") + " in all; they had run for " + Durations.format(there.lostNs()));
        }
        if (awayBytes > 0) {
            return new Explanation(client.tenant(), client.pid(), executor.uuid(), "space", "away", 0, "", label(client) + " shares " + where
                    + " by space, and " + Sizes.format(awayBytes)
                    + " of its memory is off the GPU: its next call brings it back, when it is its turn.",
                    because, List.of("tessera wake '" + nameOf(status, client) + "' brings it back now"));
        }
        if (executor.turns().now()) {
            return new Explanation(client.tenant(), client.pid(), executor.uuid(), "space", there.held() ? "waits" : "runs", 0, "", label(client)
                    + " shares " + where + " by space, where tenants take turns: "
                    + (!there.held() ? "its work is not held back now."
                            : hasCap(there.terms()) ? "its work waits for its tenant's turn, or for time under its cap."
                            : "its work waits until it is its tenant's turn."),
                    because,
                    List.of("tessera tenant '" + nameOf(status, client) + "' --weight N, --priority N or --cap SHARE changes what it gets",
                            "tessera scheduler off has everybody run at once"));
        }
        return new Explanation(client.tenant(), client.pid(), executor.uuid(), "space", "runs", 0, "", label(client) + " shares " + where
                + " by space: its kernels run at once with those of " + (others == 0 ? "any program that comes." : others == 1 ? "another program."
                        : others + " other programs."),
                because, List.of("tessera run --share time gives it turns of its own"));
    }

    private static boolean hasCap(Terms terms) {
        return terms != null && (terms.hardCap() < 1 || terms.softCap() < 1);
    }

    private static String turns(ExecutorState executor, ExecutorClient there) {
        return (executor.turns().now() ? "tenants take turns by policy " + executor.turns().policy() : "tenants run at once")
                + (there.terms() == null ? "; nothing is set for this tenant" : "; set for this tenant: " + there.terms().text()) + "; it had "
                + Durations.format(there.heldNs()) + " of the GPU's time, and waited " + Durations.format(there.waitedNs());
    }

    private static Explanation explained(ClientState client, DeviceState device, String state, long sinceNs, String waitsFor, String sentence,
            List<String> because, List<String> changes) {
        return new Explanation(client.tenant(), client.pid(), device.uuid(), "time", state, sinceNs, waitsFor, sentence, because, changes);
    }
}
