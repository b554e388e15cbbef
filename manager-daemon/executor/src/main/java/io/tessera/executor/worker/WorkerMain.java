package io.tessera.executor.worker;

import io.tessera.device.DriverOptions;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.linux.Linux;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;

/**
 * A worker process. It bounds its own memory before it reads anything. Then it reads one job after another from its standard input, and answers on its
 * standard output. It ends when its input ends, even in the middle of a job. Only {@link WorkerProcess} starts it.
 */
public final class WorkerMain {
    /** The worker has too little memory for its job; also the JVM's own exit status in this case (ExitOnOutOfMemoryError). */
    static final int EXIT_MEMORY = 3;
    private static final int EXIT_ENDED = 0;
    private static final int EXIT_BROKEN = 1;
    private static final int STANDARD_OUTPUT = 1;
    private static final int STANDARD_ERROR = 2;
    /** OOM score: if memory runs out, the kernel ends a worker first. Then only its tenant's job fails, and the next job gets a new worker. */
    private static final int ENDED_FIRST = 900;
    private static final int BUFFER_BYTES = 1 << 16;
    /** Stack of the thread that executes jobs: smaller than an executor's own threads have, so that too deep recursion ends here. */
    private static final long STACK_BYTES = 768 << 10;

    /** A kernel with instructions that most code has, for the warm-up. */
    private static final String ANYTHING = """
            .version 8.0
            .target sm_80
            .address_size 64
            .global .align 4 .b8 numbers[16] = {1, 2, 3};
            .visible .entry work(.param .u64 to, .param .u32 count)
            {
                .reg .pred %p<2>;
                .reg .b32 %r<6>;
                .reg .b64 %rd<6>;
                .shared .align 4 .b8 part[1024];
                ld.param.u64 %rd1, [to];
                ld.param.u32 %r1, [count];
                mov.u32 %r2, %tid.x;
                mov.u32 %r3, 0;
            again:
                mul.wide.u32 %rd3, %r2, 4;
                add.s64 %rd4, %rd1, %rd3;
                ld.global.u32 %r4, [%rd4];
                mov.u32 %r5, part;
                st.shared.u32 [%r5], %r4;
                bar.sync 0;
                atom.global.add.u32 %r4, [%rd4], %r4;
                st.global.u32 [numbers], %r4;
                add.u32 %r3, %r3, 1;
                setp.lt.u32 %p1, %r3, %r1;
                @%p1 bra again;
                ret;
            }
            """;

    private final SynchronousQueue<Message> jobs = new SynchronousQueue<>();
    private final DataOutputStream answers;
    private final AssembleJob assembling;
    private final long mostBytes;

    private WorkerMain(OutputStream answers, AssembleJob assembling, long mostBytes) {
        this.answers = new DataOutputStream(new BufferedOutputStream(answers, BUFFER_BYTES));
        this.assembling = assembling;
        this.mostBytes = mostBytes;
    }

    /** Arguments: bytes of data segment, most bytes of a message, provider, device, devices, memory of a device in software. */
    public static void main(String[] arguments) {
        try {
            Linux.limits().endedEarly(ENDED_FIRST);
            Linux.limits().dataBytes(Long.parseLong(arguments[0]));
            // Output of a driver must not come between the answers.
            SharedMemoryPort descriptors = Linux.sharedMemory();
            int told = descriptors.copy(STANDARD_OUTPUT);
            descriptors.duplicate(STANDARD_ERROR, STANDARD_OUTPUT);
            AssembleJob assembling = new AssembleJob(arguments[2], new DriverOptions(Integer.parseInt(arguments[3]),
                    Integer.parseInt(arguments[4]), Long.parseLong(arguments[5])));
            WorkerMain worker = new WorkerMain(new FileOutputStream("/proc/self/fd/" + told), assembling, Long.parseLong(arguments[1]));
            Thread.ofPlatform().name("input").daemon().start(worker::read);
            Thread jobs = new Thread(null, worker::work, "jobs", STACK_BYTES);
            jobs.start();
            jobs.join();
        } catch (IOException | InterruptedException e) {
            System.err.println(e.getMessage());
        }
        Runtime.getRuntime().halt(EXIT_BROKEN);
    }

    private void read() {
        int exit = EXIT_BROKEN;
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), BUFFER_BYTES))) {
            while (true) {
                jobs.put(Message.read(in, mostBytes));
            }
        } catch (EOFException e) {
            exit = EXIT_ENDED;
        } catch (IOException | InterruptedException e) {
            System.err.println(e.getMessage());
        } catch (OutOfMemoryError e) {
            exit = EXIT_MEMORY;
        }
        Runtime.getRuntime().halt(exit);
    }

    /** Loads classes before a client waits for them. */
    private static void warm() {
        List<byte[]> image = List.of(ANYTHING.getBytes(StandardCharsets.US_ASCII));
        FenceJob.run(FenceJob.message(new FenceRequest(FenceMode.MASK, new ComputeCapability(9, 0), false, Optional.empty(), PlainFunctions.none()),
                image));
    }

    /** Executes jobs. Each ends with an answer; anything else ends the process. */
    private void work() {
        int exit = EXIT_BROKEN;
        try {
            warm();
            while (true) {
                Message.of(Message.Kind.READY).write(answers);
                Message job = jobs.take();
                Message.of(Message.Kind.READY).write(answers);
                answer(job).write(answers);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println(e.getMessage());
        } catch (OutOfMemoryError e) {
            exit = EXIT_MEMORY;
        } catch (StackOverflowError e) {
            System.err.println("the code is nested too deeply");
        } catch (RuntimeException | Error e) {
            System.err.println(e);
        }
        Runtime.getRuntime().halt(exit);
    }

    private Message answer(Message job) {
        return switch (job.kind()) {
            case FENCE -> FenceJob.run(job);
            case ASSEMBLE, LINK -> assembling.run(job);
            case READY, ANSWER -> throw new IllegalStateException("no job: " + job.kind());
        };
    }
}
