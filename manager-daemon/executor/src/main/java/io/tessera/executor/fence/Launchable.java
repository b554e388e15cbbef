package io.tessera.executor.fence;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.load.MachineKernel;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.KernelWrites;
import java.util.concurrent.Future;

/** A kernel that a client may launch, attached to its handle. One owner thread. */
public final class Launchable {
    private static final long MOST_BYTES = 0xFFFF_FFFFL;
    /** To await a launch costs some 0.1 ms. */
    private static final int LAUNCHES_A_MEASUREMENT = 64;

    /** The client's handle, of a function or kernel. */
    final long handle;
    /** The driver's function or kernel. */
    final long function;
    /** The kernel's name, for logs. */
    final String name;
    /** The kernel's module; null: it has no PTX. */
    final TenantModule module;
    /** Offsets among the packed parameters of tensor maps that the program made, if the kernel has a module; below 0: unknown. */
    final long[] tensorMaps;
    /** Length of the kernel's packed parameters. */
    final long parameterBytes;
    /** Decides whether the kernel runs, if it has no module; else null. */
    final MachineKernel machine;
    /** The tensor maps of a kernel with fences in its machine code; null: it has no such fences, so that its pointers are checked if it has no module. */
    final MachineMaps machineMaps;
    /** Dynamic shared memory that is added to the program's own in each launch, in bytes. */
    final int addedSharedBytes;
    /** Code without fences, while the tenant is alone; of machine code, that for a window of 4 GiB ({@link KernelVariants}). */
    final OtherCode variant = new OtherCode();
    /** Code that executes a part of the grid. */
    final OtherCode part = new OtherCode();
    /** As above, while it is being made; null: it is not. */
    Future<FencedProgram> makingPart;
    final OtherCode fewBlocks = new OtherCode();
    private boolean left;
    private boolean partLaunched;
    private int fewBlockLaunches;
    private int localBytes = -1;
    private boolean launched;
    private final boolean waits;
    /** Time of the device for each of its blocks, in ns, while all processors run it; 0: it was never launched in parts. */
    private double blockNs;
    /** An upper bound of that time, measured by launches of whole grids; 0: none was timed or slow. */
    private double slowBlockNs;
    private long slowNs;
    /** Time that its last launch took which was awaited as a whole, in ns; 0: none was. */
    private long wholeNs;
    private int launchesSinceMeasured;
    private int timedLaunches;
    private boolean said;
    private Held held;

    /** The blocks of a function that a processor holds, with this many threads in a block and this much dynamic shared memory. */
    record Held(long function, long threads, long sharedBytes, int blocks) {
    }

    Launchable(long handle, long function, String name, TenantModule module, MachineKernel machine, long[] tensorMaps, long parameterBytes) {
        this.handle = handle;
        this.function = function;
        this.tensorMaps = tensorMaps;
        this.parameterBytes = parameterBytes;
        this.name = name;
        this.module = module;
        this.machine = machine;
        this.addedSharedBytes = module == null || module.program == null ? 0 : module.program.addedSharedBytes();
        this.waits = module == null ? machine == null || machine.mayWaitForBlocks() : module.program == null || module.program.mayWaitForBlocks(name);
        this.machineMaps = machine == null || machine.tensorMaps() == null ? null : new MachineMaps(machine.tensorMaps());
    }

    /** Returns the kernel's name, for logs. */
    public String name() {
        return name;
    }

    /** Records a launch. Returns whether it is the first one, at which the driver loads the kernel. */
    boolean launches() {
        boolean first = !launched;
        launched = true;
        return first;
    }

    /** Takes back the record of a launch that the driver refused. */
    void launchRefused() {
        launched = false;
    }

    /** Records a launch of a part of the grid. Returns whether it is the first one, at which the driver loads the code for parts. */
    boolean launchesPart() {
        boolean first = !partLaunched;
        partLaunched = true;
        return first;
    }

    /** Records a launch with few blocks. Returns the number of such launches, as long as that decides whether there is code for them. */
    int launchesFewBlocks() {
        return ++fewBlockLaunches;
    }

    /** Records that a launch gives the kernel tensor maps that lead out of its window. */
    void leavesWindow() {
        left = true;
    }

    /** Returns whether a launch gave it tensor maps that lead out of its window. */
    boolean hasLeftWindow() {
        return left;
    }

    /** Bytes of local memory that each of its threads has; below 0: not asked for yet, or the driver does not tell. */
    int localBytes() {
        return localBytes;
    }

    /** Sets the kernel's local memory as the driver reports it. */
    void localBytes(int bytes) {
        localBytes = bytes;
    }

    /** Returns how many blocks of the kernel a processor holds, from the driver's last answer; null: it was not asked. */
    Held held() {
        return held;
    }

    /** Sets how many blocks of the kernel a processor holds, as the driver reports it. */
    Held held(Held said) {
        held = said;
        return said;
    }

    /**
     * Returns the dynamic shared memory of a launch, in bytes, below 2^32.
     *
     * @param toLaunch the driver's function: code without fences needs no more than the program requests
     * @param asked    what the program requests
     */
    public long sharedBytes(long toLaunch, long asked) {
        return toLaunch == variant.function() ? asked : Math.min(asked + addedSharedBytes, MOST_BYTES);
    }

    /**
     * Checks a launch of which the driver has refused an argument; parameters as in {@link #sharedBytes}.
     *
     * @throws ProgramRefusedException if the added memory may be the reason
     */
    public void checkRoom(long toLaunch, long asked) throws ProgramRefusedException {
        if (sharedBytes(toLaunch, asked) > asked) {
            throw ProgramRefusedException.toTell(CudaResult.INVALID_VALUE,
                    "kernel " + name + " may access the shared memory of other blocks, so that each block has "
                            + addedSharedBytes + " bytes of shared memory more than the " + asked
                            + " that the launch asks for, and the device does not launch it so; "
                            + "ask for less" + ProgramRefusedException.REMEDY.replace("; ", ", or "));
        }
    }

    /** Length of its packed parameters, in bytes. */
    public long parameterBytes() {
        return parameterBytes;
    }

    /** Returns the time that a number of the kernel's blocks takes on the device, in ns; 0: unknown. */
    public long gridNs(long blocks) {
        return blockNs == 0 ? 0 : Math.max(1, (long) (blockNs * blocks));
    }

    /** Records the time per block, in ns above 0, as measured by parts of its grid that ran one after another on its whole part of the device. */
    public void took(double newBlockNs) {
        blockNs = newBlockNs;
    }

    /** Records that a grid of this many blocks was launched as a whole in a stream in which a launch takes this long on average. */
    public void slow(long blocks, long ns) {
        slowNs = ns;
        slowBlockNs = ns / (double) blocks;
    }

    /** Records that a grid of this many blocks, launched as a whole, took this long on the device. */
    public void timed(long blocks, long ns) {
        timedLaunches++;
        slowBlockNs = Math.max(slowBlockNs, ns / (double) blocks);
    }

    /** Records how long a launch took that was awaited as a whole, in ns. */
    public void tookWhole(long ns) {
        wholeNs = Math.max(1, ns);
    }

    /** Returns how long its last launch took that was awaited as a whole, in ns; 0: none was. */
    public long wholeNs() {
        return wholeNs;
    }

    /** Returns whether a launch of a short kernel is to be awaited, since it may take longer now: one of {@link #LAUNCHES_A_MEASUREMENT}. */
    public boolean isToBeMeasuredAgain() {
        return ++launchesSinceMeasured % LAUNCHES_A_MEASUREMENT == 0;
    }

    /** Returns what memory the kernel reads and writes; null: nothing is known of its code. */
    public KernelWrites writes() {
        return module == null || module.program == null ? null : module.program.writes(name);
    }

    /** Returns true at the first call only: how the kernel is launched is logged once. */
    public boolean toSay() {
        boolean first = !said;
        said = true;
        return first;
    }

    /** Returns how many launches of whole grids were timed. */
    public int timedLaunches() {
        return timedLaunches;
    }

    /** Returns the time that a number of the kernel's blocks may take, in ns, as measured by parts or by launches as a whole; 0: unknown. */
    public long expectedNs(long blocks) {
        return blockNs == 0 ? Math.max(slowNs, (long) (slowBlockNs * blocks)) : gridNs(blocks);
    }

    /** Returns whether the kernel was neither launched in parts nor timed, so that the time of a block is unknown. */
    public boolean isUnmeasured() {
        return blockNs == 0 && timedLaunches == 0;
    }

    /**
     * Returns whether its blocks may wait for each other although its launch is not cooperative: then all of its grid has to run at once, on however many
     * processors. True if nothing is known of its code.
     */
    public boolean mayWaitForBlocks() {
        return waits;
    }
}
